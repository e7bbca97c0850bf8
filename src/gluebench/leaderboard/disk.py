"""A full disk is answered with 507 instead of as a fault."""

from __future__ import annotations

import logging
import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.defaults import server_error

from gluebench.leaderboard.storage import is_full

FULL = "The site's disk is full. Nothing was kept or counted. Tell the organizer, and try again later."
STATUS = 507

logger = logging.getLogger(__name__)


def logged(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """The answer, after one line for the operator in place of Django's own, which has a traceback."""
    logger.error("%s %s was refused: no space is left on the disk.", request.method, request.path)
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer


def failed(request: HttpRequest) -> HttpResponse:
    """The page of an error that no view met; Django calls it while it handles the error."""
    if not is_full(sys.exc_info()[1]):
        return server_error(request)
    if request.headers.get("Accept") == "application/json":
        return logged(request, JsonResponse({"errors": {"__all__": [FULL]}}, status=STATUS))
    return logged(request, render(None, "507.html", {"sentence": FULL}, status=STATUS))
