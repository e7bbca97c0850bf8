"""The interface put together: its parts, its OpenAPI document and its addresses."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, re_path, reverse
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger
from ninja.openapi.docs import render_template as render

from gluebench.leaderboard.accounts.models import Token, User
from gluebench.leaderboard.api import benchmarks, schemas, submissions
from gluebench.leaderboard.api.callers import ANYBODY, PUBLIC, SIGNED_IN
from gluebench.leaderboard.api.problems import install
from gluebench.leaderboard.api.schemas import answers
from gluebench.leaderboard.common.problems import JSON, ProblemError, not_found
from gluebench.version import __version__

DESCRIPTION = """\
What the pages show and do, for programs. Reading a board needs no account. For the rest, make a token at
/account/tokens and send it as `Authorization: Bearer gluebench_...`.

Every refusal is `application/problem+json`: `type` for programs, `detail` for people, `errors` by value.
"""

ANY_REST = r"^(?P<rest>[\s\S]+)$"
"""The rest of an address. Django's "path" stops at a line's end, which %0A puts into one."""

View = Callable[..., HttpResponse]


class Page(Swagger):
    """Swagger's page with a language, a heading and the way back."""

    template = "api/docs.html"

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """The page; a session's calls carry its CSRF token."""
        context = {"openapi_url": self.get_openapi_url(api, kwargs), "api": api}
        return render(request, self.template, self.template_cdn, context)


class Interface(NinjaAPI):
    """Ninja's, whose document says of refusals what they are."""

    _document: Any = None

    def get_openapi_schema(self, **options: Any) -> Any:
        """The document, made once."""
        if self._document is None:
            document = super().get_openapi_schema()
            for operations in document["paths"].values():
                for operation in operations.values():
                    _declare_problems(operation["responses"])
            self._document = document  # not before it is whole: other threads answer with it
        return self._document


def _declare_problems(responses: dict[Any, Any]) -> None:
    """Ninja says application/json of every answer."""
    for status, answer in responses.items():
        if int(status) >= 400 and "content" in answer:
            (answer["content"],) = ({JSON: shape} for shape in answer["content"].values())


api = Interface(
    title="The interface of this leaderboard",
    version="1",
    description=DESCRIPTION,
    docs=Page(),
    docs_decorator=csp_update({"img-src": ["data:"]}),  # its style sheet holds small pictures
    urls_namespace="api",
)
install(api)
api.add_router("/benchmarks", benchmarks.router)
api.add_router("/benchmarks", submissions.sending)
api.add_router("/submissions", submissions.router)


@api.get("/", response=answers(schemas.About), auth=ANYBODY, openapi_extra=PUBLIC, tags=["Site"])
def about(request: HttpRequest) -> dict[str, Any]:
    """What answers here: to see whether an address is that of a leaderboard."""
    return {
        "software": "gluebench",
        "version": __version__,
        "upload_bytes": settings.UPLOAD_BYTES,
        "docs": reverse("api:openapi-view"),
        "openapi": reverse("api:openapi-json"),
    }


@api.get("/account", response=answers(schemas.Account), auth=SIGNED_IN, tags=["Site"])
def account(request: HttpRequest) -> dict[str, Any]:
    """Who the caller is, and what the token is good for."""
    token: Token | None = getattr(request, "token", None)
    user = request.user
    assert isinstance(user, User)
    return {
        "email": user.email,
        "team": user.team.name if user.team else None,
        "scopes": token.scopes if token else None,
        "expires": token.expires if token else None,
    }


def addresses() -> tuple[list[URLPattern | URLResolver], str, str]:
    """Everything below /api/v1/, where an address that does not exist is a problem too."""
    patterns, app, namespace = api.urls
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            pattern.callback = _well_mannered(pattern.callback)
    return [*patterns, re_path(ANY_REST, _nowhere)], app, namespace


def _well_mannered(view: View) -> View:
    """HEAD is answered as GET is (`head.py` drops the body); other wrong methods are problems."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        method = request.method
        request.method = "GET" if method == "HEAD" else method
        found = view(request, *args, **kwargs)
        request.method = method
        if found.status_code != 405:
            return found
        allowed = found["Allow"]
        detail = f"This address takes {allowed}, not {request.method}."
        return ProblemError(405, "method", detail, headers={"Allow": allowed}).response()

    return answer


@csrf_exempt
def _nowhere(request: HttpRequest, rest: str) -> HttpResponse:
    return not_found(f"There is no /api/v1/{rest}; /api/v1/docs lists what there is.").response()
