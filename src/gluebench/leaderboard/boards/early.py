"""A visitor's page that was made before is given before sessions, messages and accounts are set up.

So is "nothing changed", which has no body, and what it leaves out of its head the browser keeps.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from gluebench.leaderboard.boards.cache import Kept, again, kept
from gluebench.leaderboard.boards.live import version_of

Answer = Callable[[HttpRequest], HttpResponseBase]


def early(answer: Answer) -> Answer:
    """Middleware: answers for pages that are kept, to visitors who are not signed in."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return _answer(request) or answer(request)

    return middleware


def _answer(request: HttpRequest) -> HttpResponse | None:
    if request.method != "GET" or settings.SESSION_COOKIE_NAME in request.COOKIES:
        return None
    page: Kept | None = kept.get(request.get_full_path())
    version = version_of(page.benchmark) if page else None
    if page is None or version is None:
        return None
    request.get_host()  # refuses hosts that are not this site's, as other requests are
    return again(request, name=page.name, version=str(version))
