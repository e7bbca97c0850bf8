"""What can go wrong with a download: what to tell of it, and whether to try again."""

from __future__ import annotations

import ssl
from http import HTTPStatus
from typing import NamedTuple

from gluebench.data.sources.address import MIRROR, host

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may be another a moment later."""
_HINTS = {
    401: "it asks for a sign-in; fetch the file by hand and use --from",
    403: "the server refuses; fetch the file by hand and use --from, or name a mirror with --mirror",
    404: "the file is not there (any more); try the other --source, or a mirror with --mirror",
    410: "the file is not there any more; try the other --source, or a mirror with --mirror",
    407: "the proxy asks for a name and a password",
}


class Fault(NamedTuple):
    """One thing that went wrong."""

    problem: str
    passing: bool
    """Whether it may be gone a moment later."""
    unreachable: bool = False
    """Whether the same would befall any other file of the host."""
    hint: str = ""
    """What the user may do, for when it has not passed."""

    @property
    def told(self) -> str:
        """The problem and the hint."""
        return f"{self.problem}; {self.hint}" if self.hint else self.problem


class Again(Exception):  # noqa: N818 - no error until it has happened too often
    """It did not work, and may work when tried again."""

    def __init__(self, fault: Fault, *, retry_after: str = "") -> None:
        super().__init__(fault.problem)
        self.fault = fault
        self.retry_after = retry_after
        """The server's header of that name."""


def of_status(status: int, address: str) -> Fault:
    """An answer that is no file."""
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = str(status)
    return Fault(f"{address}: {phrase}", status in PASSING, hint=_HINTS.get(status, ""))


def of_connection(error: Exception, address: str) -> Fault:
    """An answer that did not come, or not to its end. `error` is one of urllib3's."""
    from urllib3 import exceptions as known

    reason = getattr(error, "reason", None) if isinstance(error, known.MaxRetryError) else error
    where = host(address)
    if isinstance(reason, known.ResponseError):
        return Fault(f"{address}: redirected too many times, perhaps in a circle", False)
    if isinstance(reason, known.SSLError):
        return _of_tls(reason, where)
    if isinstance(reason, known.ProxyError):
        text = f"{where}: not reached through the proxy ({_inner(reason.original_error)})"
        return Fault(text, True, True, "the environment names it: HTTPS_PROXY, HTTP_PROXY, NO_PROXY")
    if isinstance(reason, known.NameResolutionError):
        return Fault(f"{where}: no such host is known", True, True, f"are you online? {_AROUND}")
    if isinstance(reason, known.ConnectTimeoutError | known.NewConnectionError):
        return Fault(f"{where}: cannot be reached ({_inner(reason)})", True, True, _AROUND)
    if isinstance(reason, known.TimeoutError):
        return Fault(f"{address}: nothing came in time", True, hint="--timeout waits longer")
    if isinstance(reason, known.ProtocolError):
        return Fault(f"{address}: the connection was cut", True)
    return Fault(f"{address}: {_inner(reason or error)}", False)


_AROUND = f"a proxy is set with HTTPS_PROXY, a mirror with --mirror or {MIRROR}"


def _of_tls(error: Exception, where: str) -> Fault:
    cause = error.args[0] if error.args else error
    cut = isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)
    if isinstance(cause, ssl.SSLCertVerificationError):
        hint = "where your network has a certificate authority of its own, name its file in SSL_CERT_FILE"
        return Fault(f"{where}: its certificate is not trusted ({cause.verify_message})", False, True, hint)
    return Fault(f"{where}: no secure connection ({_inner(cause)})", cut, True)


def _inner(error: object) -> str:
    """The reason alone: urllib3 puts the object's name before it."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    cause = getattr(error, "__cause__", None)
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(error).rpartition(": ")[2] or type(error).__name__
