"""Middleware of all requests (request id, access log, check of the host), and the error page."""

import logging
import re
import secrets
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import Resolver404, ResolverMatch, resolve
from django.views.defaults import server_error

from gluebench.leaderboard.keeping.storage import is_full, is_read_only
from gluebench.leaderboard.serving.counters import REQUESTS, UPLOADS
from gluebench.leaderboard.serving.health import PROBES
from gluebench.leaderboard.serving.logs import REQUEST

Answer = Callable[[HttpRequest], HttpResponseBase]

UPLOAD_ROUTES = ("submit", "api:submit")
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")
_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
OTHER_HOST = "This site has another name. Whoever runs it lists its names in GLUEBENCH_HOSTS.\n"
NOT_KEPT = "Nothing was kept or counted. Tell the organizer, and try again later."
NOT_KEPT_STATUS = 507

access = logging.getLogger("gluebench.access")
logger = logging.getLogger(__name__)


def observe(answer: Answer) -> Answer:
    """Middleware, the first one: gives each request an id, counts it and writes it into the access log.

    It removes the body of an answer to HEAD, which the server leaves to the application. Answers may not be
    cached unless their view says otherwise, since most depend on the visitor.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        request_id = secrets.token_hex(8)
        # Only requests through the proxy have the scheme https, and may bring an id.
        if request.META["wsgi.url_scheme"] == "https":
            given = request.headers.get("X-Request-ID", "")
            if _ID.fullmatch(given):
                request_id = given
        token = REQUEST.set(request_id)
        start = time.perf_counter()
        try:
            response = answer(request)
            if request.method == "HEAD":
                _empty(response)
            response.setdefault("Cache-Control", "private, no-store")
            response["X-Request-ID"] = REQUEST.get()
            _log_request(request, response, time.perf_counter() - start)
        finally:
            REQUEST.reset(token)
        return response

    return middleware


def _empty(response: HttpResponseBase) -> None:
    if isinstance(response, StreamingHttpResponse):
        response.streaming_content = iter(())
    elif isinstance(response, HttpResponse) and response.content:
        response["Content-Length"] = str(len(response.content))
        response.content = b""


def own_host(answer: Answer) -> Answer:
    """Middleware: refuses a Host that is not this site's, in plain text and with one line in the log.

    Health checks are answered under any name.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if probe := PROBES.get(request.path_info):
            return probe(request)
        try:
            request.get_host()
        except DisallowedHost:
            host = request.META.get("HTTP_HOST")
            logger.warning("Refused the host %.80r: GLUEBENCH_HOSTS does not name it.", host)
            return HttpResponse(OTHER_HOST, content_type="text/plain", status=400)
        return answer(request)

    return middleware


def _log_request(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    match = request.resolver_match or _match(request.path_info)
    method = request.method if request.method in METHODS else "other"
    name = match.view_name or match.route if match else "none"
    status = response.status_code
    REQUESTS.observe(seconds, name, method, status)
    if method == "POST" and name in UPLOAD_ROUTES and status != 200:  # 200 is for a check only
        UPLOADS.count("accepted" if status < 400 else "rejected")
    if access.isEnabledFor(logging.INFO) and request.path_info not in PROBES:
        fields = {
            "method": method,
            "path": _path(request, match),
            "status": status,
            "ms": round(seconds * 1000, 1),
            "bytes": int(response.headers.get("Content-Length", 0)),
        }
        access.info(
            "%(method)s %(path)s %(status)d %(ms).1f ms %(bytes)d B", fields, extra={"fields": fields}
        )


@lru_cache(maxsize=512)
def _match(path: str) -> ResolverMatch | None:
    """Return the route of what was answered before Django looked for it, as the page cache does."""
    try:
        return resolve(path)
    except Resolver404:
        return None


def _path(request: HttpRequest, match: ResolverMatch | None) -> str:
    """Return the path without its query, and without the keys of links that were mailed or passed on."""
    path = request.path
    if match is not None:
        for name, value in match.kwargs.items():
            if name == "code" or match.route.startswith("account/"):
                path = path.replace(str(value), "…")
    return quote(path[:200], safe="/…:@-._~")


def reason_not_kept(error: BaseException | None) -> tuple[str, str]:
    """Why an error means that the site cannot keep anything now: a word and a sentence, or "" twice."""
    if is_full(error):
        return "disk-full", "The site's disk is full."
    if is_read_only(error):
        return "read-only", "The site may not write to its disk or its database."
    return "", ""


def log_not_kept(request: HttpRequest, answer: HttpResponse, reason: str) -> HttpResponse:
    """Return the answer, after one line for the operator in place of Django's own, which has a traceback."""
    logger.error("%s %s was refused: %s", request.method, request.path, reason)
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer


def server_error_page(request: HttpRequest) -> HttpResponse:
    """Answer an error that no view handled, with 507 where nothing can be written; Django calls it."""
    _, reason = reason_not_kept(sys.exc_info()[1])
    if not reason:
        return server_error(request)
    if request.headers.get("Accept") == "application/json":
        errors = {"__all__": [f"{reason} {NOT_KEPT}"]}
        refusal: HttpResponse = JsonResponse({"errors": errors}, status=NOT_KEPT_STATUS)
    else:
        context = {"title": reason.rstrip("."), "sentence": NOT_KEPT}
        refusal = render(None, "507.html", context, status=NOT_KEPT_STATUS)
    return log_not_kept(request, refusal, reason)
