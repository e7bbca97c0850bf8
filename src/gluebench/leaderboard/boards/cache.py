"""Public pages, made once for each version of a benchmark and kept both plain and compressed."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

HTML = "text/html; charset=utf-8"
JSON = "application/json"


class Page(NamedTuple):
    """A page's body in both encodings."""

    plain: bytes
    gzipped: bytes


def cached(
    request: HttpRequest, *, name: str, version: str, make: Callable[[], str], content_type: str = HTML
) -> HttpResponse:
    """The page of that name and version, made if nobody asked for it before.

    `make` must not use the request: what it returns is served to everybody.
    """
    tag = _tag(name, version)
    if _has(request, tag):
        return _sealed(HttpResponseNotModified(), tag)
    pages = caches["pages"]
    page: Page | None = pages.get(tag)
    if page is None:
        page = _page(make())
        pages.set(tag, page)
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(page.gzipped if zipped else page.plain, content_type=content_type)
    if zipped:
        response["Content-Encoding"] = "gzip"
    return _sealed(response, tag)


def _page(text: str) -> Page:
    body = text.encode()
    return Page(body, gzip.compress(body, 6, mtime=0))


def _tag(name: str, version: str) -> str:
    return hashlib.sha256(f"{settings.VERSION}|{name}|{version}".encode()).hexdigest()[:24]


def _has(request: HttpRequest, tag: str) -> bool:
    sent = parse_etags(request.headers.get("If-None-Match", ""))
    return f'W/"{tag}"' in sent or f'"{tag}"' in sent


def _sealed(response: HttpResponse, tag: str) -> HttpResponse:
    response["ETag"] = f'W/"{tag}"'
    response["Cache-Control"] = "no-cache"
    patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
    return response
