"""The API as a whole: its routers, errors, OpenAPI document and addresses."""

import logging
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.decorators import csp_update
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.exceptions import ValidationError as FieldsError
from django.core.signals import got_request_exception
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.urls import URLPattern, URLResolver, re_path, reverse
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.docs import Swagger
from ninja.openapi.docs import render_template as render
from ninja.operation import Operation

from gluebench.leaderboard.apps.accounts.models import Token, User, teams_of
from gluebench.leaderboard.apps.api import (
    benchmarks,
    organizing,
    registration,
    schemas,
    submissions,
    teams,
    work,
)
from gluebench.leaderboard.apps.api.callers import ANYBODY, PUBLIC, SIGNED_IN
from gluebench.leaderboard.apps.api.schemas import answers
from gluebench.leaderboard.apps.common import problems
from gluebench.leaderboard.apps.common.parameters import refusal_of
from gluebench.leaderboard.apps.common.problems import FieldError, ProblemError, invalid, not_found
from gluebench.leaderboard.serving.middleware import NOT_KEPT, NOT_KEPT_STATUS, log_not_kept, reason_not_kept
from gluebench.version import __version__

DESCRIPTION = """\
What the pages show and do, for programs. Reading a board needs no account. For the rest, make a token on the
page account/tokens of this site and send it as `Authorization: Bearer gluebench_...`.

Every refusal is `application/problem+json`: `type` for programs, `detail` for people, `errors` by value.
"""

ANY_REST = r"^(?P<rest>[\s\S]+)$"
"""The rest of an address. Django's "path" stops at a line's end, which %0A puts into one."""

NO_ROLE = "Your account has no role that allows this."
View = Callable[..., HttpResponse]
logger = logging.getLogger(__name__)


class Page(Swagger):
    """Swagger's page with a language, a heading and a link back to the site."""

    template = "api/docs.html"

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """The page; a session's calls carry its CSRF token."""
        context = {"openapi_url": self.get_openapi_url(api, kwargs), "api": api}
        return render(request, self.template, self.template_cdn, context)


class Interface(NinjaAPI):
    """Ninja's, with an OpenAPI document that describes refusals as problems."""

    _document: Any = None

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The function's name alone, so that a generated client outlives a move between modules."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> Any:
        """Return the document, which is made once."""
        if self._document is None:
            document = super().get_openapi_schema()
            for operations in document["paths"].values():
                for operation in operations.values():
                    for status, answer in operation["responses"].items():
                        if int(status) >= 400 and "content" in answer:  # Ninja says application/json
                            (shape,) = answer["content"].values()
                            answer["content"] = {problems.JSON: shape}
            self._document = document  # set last, as other threads may already read it
        return self._document


def install(api: NinjaAPI) -> None:
    """Answer every exception below an operation by a problem."""
    translations: list[tuple[type[Exception], Any]] = [
        (ProblemError, lambda error: error),
        (AuthenticationError, lambda error: problems.unauthorized()),
        (HttpError, lambda error: ProblemError(error.status_code, "request", str(error))),
        (Http404, lambda error: not_found(str(error))),
        (PermissionDenied, lambda error: ProblemError(403, "role", str(error) or NO_ROLE)),
        (ValidationError, lambda error: invalid(_pydantic_errors(error))),
        (FieldsError, lambda error: invalid(_django_errors(error))),
        (RequestDataTooBig, lambda error: ProblemError(413, "too-large", "The request is too large.")),
        (SuspiciousOperation, lambda error: ProblemError(400, "request", "The request cannot be read.")),
        (MultiPartParserError, lambda error: ProblemError(400, "request", f"Not a readable form: {error}")),
    ]
    for kind, translate in translations:
        api.add_exception_handler(kind, _handler(translate))
    api.add_exception_handler(Exception, _internal_error)


def _handler(translate: Any) -> Any:
    return lambda request, error: translate(error).response()


def _internal_error(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Log a fault of the site, and answer without its text."""
    kind, reason = reason_not_kept(error) if isinstance(error, Exception) else ("", "")
    if kind:
        refusal = ProblemError(NOT_KEPT_STATUS, kind, f"{reason} {NOT_KEPT}")
        return log_not_kept(request, refusal.response(), reason)
    got_request_exception.send(sender=None, request=request)
    logger.error("%s %s failed", request.method, request.path, exc_info=True)
    return ProblemError(500, "fault", "The site failed; its log says where. Ask the organizer.").response()


def _pydantic_errors(error: ValidationError) -> list[FieldError]:
    """Errors by the names that the sender used: without the part of the request and internal names."""
    errors = []
    for item in error.errors:
        place = [str(part) for part in item["loc"][1:] if part not in ("details", "changes")]
        errors.append(FieldError(field=".".join(place) or "body", message=item["msg"]))
    return errors


def _django_errors(error: FieldsError) -> list[FieldError]:
    if not hasattr(error, "error_dict"):
        return [FieldError(field="", message=" ".join(error.messages))]
    errors = []
    for field, texts in error.message_dict.items():
        errors += [FieldError(field=field, message=text) for text in texts]
    return errors


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
api.add_router("/benchmarks", registration.router)
api.add_router("/submissions", submissions.router)
api.add_router("/team", teams.router)
api.add_router("/work", work.router)
api.add_router("", organizing.router)


@api.get("/", response=answers(schemas.SiteInfo), auth=ANYBODY, openapi_extra=PUBLIC, tags=["Site"])
def site_info(request: HttpRequest) -> dict[str, Any]:
    """The software at this address, to see whether it is a leaderboard."""
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
    teams = teams_of(user)
    general = teams.get(None)
    return {
        "email": user.email,
        "team": general.name if general else None,
        "teams": {team.benchmark.name: team.name for team in teams.values() if team.benchmark},
        "scopes": token.scopes if token else None,
        "expires": token.expires if token else None,
    }


def addresses() -> tuple[list[URLPattern | URLResolver], str, str]:
    """Everything below /api/v1/, where an address that does not exist is a problem too."""
    patterns, app, namespace = api.urls
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            pattern.callback = _with_method_errors(pattern.callback)
    return patterns + [re_path(ANY_REST, _unknown_address)], app, namespace


def _with_method_errors(view: View) -> View:
    """Answer HEAD as GET (the middleware drops the body), and other wrong methods with a problem."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        method = request.method
        if method == "HEAD":
            request.method = "GET"
        refusal = _unknown_parameters(request) if request.GET else None
        if refusal is None:
            response = view(request, *args, **kwargs)
        else:
            response = refusal.response()
        request.method = method
        if response.status_code != 405:
            return response
        allowed = response["Allow"]
        detail = f"This address takes {allowed}, not {request.method}."
        return ProblemError(405, "method", detail, headers={"Allow": allowed}).response()

    return answer


def _unknown_parameters(request: HttpRequest) -> ProblemError | None:
    """The refusal of parameters in the address that the OpenAPI document does not list; None for none."""
    match = request.resolver_match
    assert match is not None
    path = reverse("home") + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", match.route)
    operation = api.get_openapi_schema()["paths"].get(path, {}).get(str(request.method).lower())
    if operation is None:  # another method, or the document itself
        return None
    known = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
    return refusal_of(request.GET, known)


@csrf_exempt
def _unknown_address(request: HttpRequest, rest: str) -> HttpResponse:
    return not_found(
        f"There is no {request.path}; {reverse('api:openapi-view')} lists what there is."
    ).response()
