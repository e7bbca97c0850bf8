"""Query parameters: each page names those that it takes, and refuses others, as the API does."""

import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render

from gluebench.leaderboard.apps.common.problems import FieldError, ProblemError

View = TypeVar("View", bound=Callable[..., HttpResponseBase])
_TRACKING = re.compile(r"utm_\w+|fbclid|gclid")
"""Parameters that mail programs and social sites append to links."""


def takes(*names: str, forms: Collection[str] = ("",)) -> Callable[[View], View]:
    """Decorator of a view: name its query parameters, in these of its forms. Without it a view takes none.

    Several of them name the parameters of all.
    """

    def decorate(view: View) -> View:
        known = dict(getattr(view, "parameters", {}))
        for form in forms:
            known[form] = known.get(form, ()) + names
        view.parameters = known  # type: ignore[attr-defined]
        return view

    return decorate


takes_phase = takes("phase", forms=("", "json", "csv"))
"""Decorator of a view that shows the board's phase, or another one that the address names."""


MOST_PINNED = 10
"""Systems that an address may select or pin."""


def names_in(query: QueryDict, parameter: str) -> list[str]:
    """The names of a parameter that is given once with commas, or several times as a form sends it."""
    return ",".join(query.getlist(parameter)).split(",")


def pinned_keys(query: QueryDict) -> tuple[str, ...]:
    """The keys of the systems that an address selects or pins, each once."""
    keys = dict.fromkeys(key for key in names_in(query, "pin") if key.isalnum())
    return tuple(keys)[:MOST_PINNED]


def refusal_of(given: Collection[str], known: Collection[str]) -> ProblemError | None:
    """The refusal of query parameters other than the known ones; None if there are none.

    Without it, a misspelled filter would answer with other rows than those asked for.
    """
    unknown = [name for name in given if name not in known]
    if not unknown:
        return None
    names = f"takes {', '.join(known)}" if known else "takes none"
    detail = f"There is no parameter {', '.join(map(repr, unknown))} of this address, which {names}."
    errors = [FieldError(field=name, message="There is no such parameter.") for name in unknown]
    return ProblemError(400, "parameter", detail, errors=errors)


def refuse_unknown_parameters(answer: Callable[[HttpRequest], HttpResponseBase]) -> Any:
    """Middleware: refuses query parameters that a page of the site does not take."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return answer(request)

    middleware.process_view = _refuse_unknown  # type: ignore[attr-defined]
    return middleware


def _refuse_unknown(
    request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]
) -> HttpResponse | None:
    """Return the refusal, or None. The API and the pages of libraries check their own parameters."""
    match = request.resolver_match
    if not view.__module__.startswith("gluebench.") or (match and match.namespaces):
        return None
    known = getattr(view, "parameters", {}).get(kwargs.get("form", ""), ())
    refusal = refusal_of([name for name in request.GET if not _TRACKING.fullmatch(name)], known)
    if refusal is None:
        return None
    if "." in request.path.rpartition("/")[2]:  # a file or JSON
        return refusal.response()
    context = {"title": "Unknown parameter", "lead": refusal.detail}
    return refusal.mark(render(request, "problem.html", context))
