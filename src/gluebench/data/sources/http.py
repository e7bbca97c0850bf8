"""Requests for files: proxies, redirects, timeouts, and messages about failures."""

from __future__ import annotations

import html
import re
import ssl
from dataclasses import dataclass, field
from http.client import responses
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gluebench.data.errors import DataError
from gluebench.version import __version__

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

MIRROR = "GLUEBENCH_MIRROR"
REDIRECTS = 5
HEADERS = {
    "User-Agent": f"gluebench/{__version__}",
    "Accept-Encoding": "identity",  # sizes, ranges and hashes are of the file itself
}
RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses of temporary errors."""
_HINTS = {
    401: "it asks for a sign-in; fetch the file by hand and use --from",
    403: "the server refuses; fetch the file by hand and use --from, or name a mirror with --mirror",
    404: "the file is not there (any more); try the other --source, or a mirror with --mirror",
    410: "the file is not there any more; try the other --source, or a mirror with --mirror",
    407: "the proxy asks for a name and a password",
}
_MIRRORS = f"a proxy is set with HTTPS_PROXY, a mirror with --mirror or {MIRROR}"


def host(address: str) -> str:
    """Host and port of an address, as messages show them."""
    return urlsplit(address).netloc.rpartition("@")[2]


def proxy(address: str) -> str:
    """The proxy that the environment names for the address; empty for a direct connection."""
    from urllib.request import getproxies, proxy_bypass

    if proxy_bypass(host(address)):
        return ""
    proxies = getproxies()
    named = proxies.get(urlsplit(address).scheme) or proxies.get("all") or ""
    if named and "://" not in named:
        return f"http://{named}"
    return named


@dataclass(eq=False)
class TransferError(Exception):
    """A failed request, or an incomplete response."""

    problem: str
    """The message without the hint."""
    hint: str = field(default="", kw_only=True)
    retryable: bool = field(kw_only=True)
    unreachable: bool = field(default=False, kw_only=True)
    """Whether every other file of the host would fail too."""
    retry_after: str = field(default="", kw_only=True)
    """The Retry-After header."""

    def __str__(self) -> str:
        if not self.hint:
            return self.problem
        return f"{self.problem}; {self.hint}"


class Connections:
    """Connections that are reused for several files."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._pools: dict[str, PoolManager] = {}

    def request(self, address: str, headers: dict[str, str]) -> BaseHTTPResponse:
        """Send a request; the response's body is not read yet. Raises DataError, and urllib3's HTTPError."""
        from urllib3 import Retry, Timeout

        only_redirects = Retry(None, connect=0, read=0, status=0, other=0, redirect=REDIRECTS)
        only_redirects.respect_retry_after_header = False  # the caller decides how long to wait
        response = self._pool(address).request(
            "GET",
            address,
            headers={**HEADERS, **headers},
            preload_content=False,
            decode_content=False,
            timeout=Timeout(self._timeout, self._timeout),
            retries=only_redirects,
        )
        if address.startswith("https:") and (response.geturl() or "").startswith("http:"):
            response.close()
            raise DataError(f"{address}: leads on to {response.geturl()}, where anyone may change it")
        return response

    def _pool(self, address: str) -> PoolManager:
        import urllib3

        proxy_url = proxy(address)
        if proxy_url not in self._pools:
            if not proxy_url:
                self._pools[proxy_url] = urllib3.PoolManager()
            elif not proxy_url.startswith(("http://", "https://")):
                raise DataError(f"{host(proxy_url)}: a proxy of this kind is not supported; expected http://")
            else:
                headers = urllib3.make_headers(proxy_basic_auth=urllib3.util.parse_url(proxy_url).auth)
                self._pools[proxy_url] = urllib3.ProxyManager(proxy_url, proxy_headers=headers)
        return self._pools[proxy_url]


def status_error(response: BaseHTTPResponse, address: str) -> TransferError:
    """The error for a response that is not a file."""
    status = response.status
    return TransferError(
        f"{address}: {status} {responses.get(status, '')}".rstrip(),
        hint=_HINTS.get(status, ""),
        retryable=status in RETRYABLE,
        retry_after=response.headers.get("Retry-After", ""),
    )


def connection_error(error: Exception, address: str) -> TransferError:
    """The error for a missing or incomplete response. `error` is one of urllib3's."""
    from urllib3 import exceptions as known

    reason = error.reason if isinstance(error, known.MaxRetryError) else error
    where = host(address)
    hint = ""
    retryable = True
    match reason:
        case known.ResponseError():
            problem = f"{address}: redirected too many times, perhaps in a circle"
            retryable = False
        case known.SSLError():
            return _tls_error(reason, where)
        case known.ProxyError():
            problem = f"{where}: not reached through the proxy ({_reason(reason.original_error)})"
            hint = "the environment names it: HTTPS_PROXY, HTTP_PROXY, NO_PROXY"
        case known.NameResolutionError():
            problem = f"{where}: no such host is known"
            hint = f"are you online? {_MIRRORS}"
        case known.ConnectTimeoutError() | known.NewConnectionError():
            problem = f"{where}: cannot be reached ({_reason(reason)})"
            hint = _MIRRORS
        case known.TimeoutError():
            problem = f"{address}: nothing came in time"
            hint = "--timeout waits longer"
        case known.ProtocolError():
            problem = f"{address}: the connection was cut"
        case _:
            problem = f"{address}: {_reason(reason or error)}"
            retryable = False
    unreachable = problem.startswith(where)  # about the host, not one address
    return TransferError(problem, hint=hint, retryable=retryable, unreachable=unreachable)


def _tls_error(error: Exception, where: str) -> TransferError:
    cause = error.args[0] if error.args else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        hint = "where your network has a certificate authority of its own, name its file in SSL_CERT_FILE"
        problem = f"{where}: its certificate is not trusted ({cause.verify_message})"
        return TransferError(problem, hint=hint, retryable=False, unreachable=True)
    cut = isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)
    return TransferError(f"{where}: no secure connection ({_reason(cause)})", retryable=cut, unreachable=True)


def _reason(error: object) -> str:
    """The reason without the object's name, which urllib3 puts before it."""
    for cause in (error, getattr(error, "__cause__", None)):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    return str(error).rpartition(": ")[2] or type(error).__name__


HEAD = 4096
"""Number of first bytes of a download to search for a web page."""
GIT_LFS = b"version https://git-lfs"
_PAGE = re.compile(rb"\s*(?><!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_NO_TEXT = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>|<[^>]*\Z", re.IGNORECASE | re.DOTALL)
_LONGEST = 80
"""Largest number of characters of a web page in a message."""


def wrong_content(head: bytes) -> str:
    """What was sent instead of the file: a web page with its title, or a Git LFS pointer; else empty."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head.startswith(GIT_LFS):
        return "a Git LFS pointer, not the file it stands for"
    if not _PAGE.match(head):
        return ""
    page = head.decode("utf-8", "replace")
    title = _TITLE.search(page)
    text = title[1] if title and title[1].strip() else page
    words = " ".join(html.unescape(_NO_TEXT.sub(" ", text)).split())
    shown = "".join(letter if letter.isprintable() else "?" for letter in words[:_LONGEST])
    if len(words) > _LONGEST:
        shown += "..."
    if not shown:
        return "a web page, not the file"
    return f'a web page, not the file: "{shown}"'
