"""Public pages, made once for each version of a benchmark and kept compressed, as nearly all take them."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

HTML = "text/html; charset=utf-8"
JSON = "application/json"
LEVEL = 9
"""A twentieth less than the usual one; the time is spent once."""
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)
"""In what a visitor accepts; a weight of zero refuses it."""


class Kept(NamedTuple):
    """A page that was made for visitors who are not signed in."""

    name: str
    benchmark: str


MOST_KEPT = 2000
kept: dict[str, Kept] = {}
"""By address. Only a hint: what it leads to is asked of the database each time."""

Response = TypeVar("Response", bound=HttpResponse)


def cached(
    request: HttpRequest,
    *,
    name: str,
    version: str,
    make: Callable[[], str],
    content_type: str = HTML,
    keep: bool = True,
    benchmark: str = "",
) -> HttpResponse:
    """The page of that name and version, made if nobody asked for it before.

    `make` must not use the request: what it returns is served to everybody. `keep` is false for what
    visitors type, of which there is no end. With `benchmark`, whose version it is, the next visitor gets the
    page early: see `early.py`; it must be HTML.
    """
    tag = _tag(name, version)
    if _has(request.headers.get("If-None-Match", ""), tag):
        return _sealed(HttpResponseNotModified(), tag)
    pages = caches["pages"]
    body: bytes | None = pages.get(tag) if keep else None
    if body is None:
        body = gzip.compress(make().encode(), LEVEL, mtime=0)
        if keep:
            pages.set(tag, body)
        if keep and benchmark and not request.user.is_authenticated:
            _note(request.get_full_path(), Kept(name, benchmark))
    return _answer(request, body, tag, content_type)


def again(request: HttpRequest, *, name: str, version: str) -> HttpResponse | None:
    """The HTML page of that name and version if it is kept, or that the visitor has it; else None."""
    tag = _tag(name, version)
    if _has(request.headers.get("If-None-Match", ""), tag):
        return _sealed(HttpResponseNotModified(), tag)
    body: bytes | None = caches["pages"].get(tag)
    return None if body is None else _answer(request, body, tag, HTML)


def _answer(request: HttpRequest, body: bytes, tag: str, content_type: str) -> HttpResponse:
    zipped = _GZIP.search(request.headers.get("Accept-Encoding", "")) is not None
    content = body if zipped else gzip.decompress(body)
    response = HttpResponse(content, content_type=content_type, headers={"Content-Length": str(len(content))})
    if zipped:
        response["Content-Encoding"] = "gzip"
    return _sealed(response, tag)


def _tag(name: str, version: str) -> str:
    return hashlib.sha256(f"{settings.VERSION}|{name}|{version}".encode()).hexdigest()[:24]


def _note(address: str, page: Kept) -> None:
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[address] = page


def _has(sent: str, tag: str) -> bool:
    tags = parse_etags(sent)
    return f'W/"{tag}"' in tags or f'"{tag}"' in tags


def _sealed(response: Response, tag: str) -> Response:
    response["ETag"] = f'W/"{tag}"'
    response["Cache-Control"] = "no-cache"
    patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
    return response
