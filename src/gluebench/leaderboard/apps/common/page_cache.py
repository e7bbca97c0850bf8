"""Page cache: public pages, made once for each version of a benchmark and stored compressed."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import TypeVar, cast

from django.conf import settings
from django.core.cache import caches
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers

Value = TypeVar("Value")
Response = TypeVar("Response", bound=HttpResponseBase)
TYPES = {
    "": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}
"""Content types by form: a page's address ends in a dot and the form's name, or in neither."""
_LARGE = 1024**2
"""Bytes above which a body is compressed fast: 10,000 systems have 37 MB."""
_FAST = 1
_SMALLEST = 9
"""Levels of zlib."""
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)
"""Matches gzip in Accept-Encoding, unless its weight is zero."""


def serve_from_cache(
    request: HttpRequest,
    *,
    name: str,
    version: int | str,
    make: Callable[[], str | Iterator[str]],
    content_type: str = TYPES[""],
    keep: bool = True,
    filename: str = "",
) -> HttpResponseBase:
    """The page of that name and version, made on the first request for it; 304 if the client has it.

    `make` must not use the request: what it returns is served to everybody. `keep` is false for
    searches, whose number has no limit. A `filename` makes it a download. A large text comes in parts.
    """
    tag = hashlib.sha256(f"{settings.VERSION}|{name}|{version}".encode()).hexdigest()[:24]
    response: HttpResponseBase | None = get_conditional_response(request, etag=f'W/"{tag}"')
    if response is None:
        pages = caches["pages"]
        body: bytes | None = pages.get(tag) if keep else None
        if body is None:
            body = _compress(make())
            if keep:
                pages.set(tag, body)
        response = _answer(request, body, content_type)
    response["ETag"] = f'W/"{tag}"'
    response["Cache-Control"] = "no-cache"
    patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
    return as_download(response, filename) if filename else response


def _answer(request: HttpRequest, body: bytes, content_type: str) -> HttpResponseBase:
    """The compressed body, decompressed for a client that needs it so: a large one in parts."""
    headers = {}
    if _GZIP.search(request.headers.get("Accept-Encoding", "")):
        headers["Content-Encoding"] = "gzip"
    elif len(body) > _LARGE:
        return FileResponse(gzip.GzipFile(fileobj=BytesIO(body)), content_type=content_type)
    else:
        body = gzip.decompress(body)
    headers["Content-Length"] = str(len(body))
    return HttpResponse(body, content_type=content_type, headers=headers)


def _compress(content: str | Iterator[str]) -> bytes:
    """The text, or its parts one after the other, in gzip's format."""
    level = _FAST
    if isinstance(content, str):
        if len(content) < _LARGE:
            level = _SMALLEST
        content = iter([content])
    compressor = zlib.compressobj(level, wbits=zlib.MAX_WBITS + 16)  # 16: of gzip
    body = bytearray()
    for part in content:
        body += compressor.compress(part.encode())
    return bytes(body + compressor.flush())


def once(name: str, version: int, read: Callable[[], Value]) -> Value:
    """The value of that name and version, read on the first call of this process."""
    key = hashlib.sha256(f"{settings.VERSION}|{name}|{version}".encode()).hexdigest()
    return cast("Value", caches["pages"].get_or_set(key, read))


def as_download(response: Response, filename: str) -> Response:
    """The response as a file of that name."""
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
