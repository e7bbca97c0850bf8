"""A visitor's second look: "nothing changed" is said before sessions, messages and policies are set up.

A 304 has no body, and what it leaves out of its head the browser keeps from the first answer.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseNotModified
from django.http.response import HttpResponseBase

from gluebench.leaderboard.boards.cache import Kept, kept, not_modified
from gluebench.leaderboard.boards.live import version_of

Answer = Callable[[HttpRequest], HttpResponseBase]


def unchanged(answer: Answer) -> Answer:
    """Middleware: answers for pages that were made before, to visitors who are not signed in."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return _answer(request) or answer(request)

    return middleware


def _answer(request: HttpRequest) -> HttpResponseNotModified | None:
    sent = request.META.get("HTTP_IF_NONE_MATCH")
    if not sent or request.method != "GET" or settings.SESSION_COOKIE_NAME in request.COOKIES:
        return None
    page: Kept | None = kept.get(request.get_full_path())
    version = version_of(page.benchmark) if page else None
    return not_modified(sent, page.name, str(version)) if page and version is not None else None
