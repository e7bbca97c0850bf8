"""What holds for every answer: HEAD has no body, a Host of others is refused, what may be kept says so.

A full disk is answered with 507 instead of as a fault.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.views.defaults import server_error

from gluebench.leaderboard.storage import is_full

Answer = Callable[[HttpRequest], HttpResponseBase]

OTHER_HOST = "This site has another name. Whoever runs it lists its names in GLUEBENCH_HOSTS.\n"
DISK_FULL = "The site's disk is full. Nothing was kept or counted. Tell the organizer, and try again later."
DISK_FULL_STATUS = 507

logger = logging.getLogger(__name__)


def without_body(answer: Answer) -> Answer:
    """Middleware: drops the body, which the server leaves to the application, and keeps the headers, the
    length of the body among them.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        found = answer(request)
        if request.method == "HEAD":
            _empty(found)
        return found

    return middleware


def _empty(found: HttpResponseBase) -> None:
    if isinstance(found, StreamingHttpResponse):
        found.streaming_content = iter(())
    elif isinstance(found, HttpResponse) and found.content:
        found["Content-Length"] = str(len(found.content))
        found.content = b""


def private_unless_said(answer: Answer) -> Answer:
    """Middleware: an answer may be kept only where its view says so; what depends on who asks never does."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        found = answer(request)
        found.setdefault("Cache-Control", "private, no-store")
        return found

    return middleware


def own_host(answer: Answer) -> Answer:
    """Middleware: refuses a Host that is not this site's, in plain text and with one line in the log."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        try:
            request.get_host()
        except DisallowedHost:
            host = request.META.get("HTTP_HOST")
            logger.warning("Refused the host %.80r: GLUEBENCH_HOSTS does not name it.", host)
            return HttpResponseBadRequest(OTHER_HOST, content_type="text/plain")
        return answer(request)

    return middleware


def log_full_disk(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """The answer, after one line for the operator in place of Django's own, which has a traceback."""
    logger.error("%s %s was refused: no space is left on the disk.", request.method, request.path)
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer


def failed(request: HttpRequest) -> HttpResponse:
    """The page of an error that no view met; Django calls it while it handles the error."""
    if not is_full(sys.exc_info()[1]):
        return server_error(request)
    if request.headers.get("Accept") == "application/json":
        return log_full_disk(
            request, JsonResponse({"errors": {"__all__": [DISK_FULL]}}, status=DISK_FULL_STATUS)
        )
    return log_full_disk(request, render(None, "507.html", {"sentence": DISK_FULL}, status=DISK_FULL_STATUS))
