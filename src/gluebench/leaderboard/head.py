"""HEAD is GET without its body, on every page. The server leaves that to the application."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

Answer = Callable[[HttpRequest], HttpResponseBase]


def without_body(answer: Answer) -> Answer:
    """Middleware: drops the body and leaves the headers alone, the length of the body among them."""

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
