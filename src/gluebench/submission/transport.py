"""Requests to a leaderboard, retried after temporary failures; files are streamed as forms."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import secrets
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from gluebench.version import __version__

ROOT = "/api/v1"
TRIES = 6
LONGEST_PAUSE = 30.0
LONGEST_WAIT = 120.0
"""Seconds to wait at most, if a leaderboard asks for it."""
MOST_BYTES = 64 * 1024**2
"""Largest response that is accepted."""
PASSING = frozenset({408, 425, 500, 502, 503, 504})
"""Status codes after which the same request may succeed a little later."""
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_VISIBLE = re.compile(r"[!-~]*")
PIECE = 64 * 1024

Progress = Callable[[int, int], None]
"""Receives the bytes sent and their total; restarts with each attempt."""


class SendError(Exception):
    """The leaderboard could not be reached, or refused; the message says what to do."""


class UnreachableError(SendError):
    """The leaderboard gave no complete response in any attempt."""


class RefusedByLeaderboardError(SendError):
    """The leaderboard refused the request. `problem` is its response (docs/reference/api.md)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        message = str(problem.get("detail") or f"The leaderboard answered {status}.")
        errors = problem.get("errors", [])
        if errors:
            message = "The leaderboard does not take these values:"
        for error in errors:
            message += f"\n  {error['field']}: {error['message']}"
        super().__init__(message)


class _PassingError(Exception):
    """The request may succeed if it is sent again; `wait` is the delay in seconds that the site requested."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Answer(NamedTuple):
    """A response."""

    status: int
    data: Any
    """None if there is nothing (204) or nothing has changed (304)."""
    etag: str = ""


class FileChangedError(Exception):
    """The size of the file changed while it was sent."""


class Form:
    """A multipart form with one file; its body can be streamed again for each attempt."""

    def __init__(self, file: Path, fields: Mapping[str, Any]) -> None:
        boundary = secrets.token_hex(16)
        self._file = file
        self.kind = f"multipart/form-data; boundary={boundary}"
        start = f"--{boundary}\r\nContent-Disposition: form-data; name="
        head = ""
        for name, value in fields.items():
            if value is None:
                continue
            text = str(value)
            if isinstance(value, bool):
                text = text.lower()
            head += f'{start}"{name}"\r\n\r\n{text}\r\n'
        file_name = file.name.encode("ascii", "replace").decode().replace('"', "_").replace("\\", "_")
        head += f'{start}"file"; filename="{file_name}"\r\nContent-Type: application/zip\r\n\r\n'
        self._head = head.encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self.size = os.path.getsize(file)
        self.length = len(self._head) + self.size + len(self._tail)

    def open(self) -> IO[bytes]:
        """Open the file."""
        return self._file.open("rb")

    def pieces(self, opened: IO[bytes], progress: Progress | None) -> Iterator[bytes]:
        """Yield the body in pieces. Raises FileChangedError."""
        yield self._head
        sent = 0
        while piece := opened.read(PIECE):
            sent += len(piece)
            if sent > self.size:
                break
            yield piece
            if progress is not None:
                progress(sent, self.size)
        if sent != self.size:
            raise FileChangedError(f"{self._file} changed while it was sent. Send it again.")
        yield self._tail


class Transport:
    """Requests to one address, with one token."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        tries: int = TRIES,
        timeout: float = 60,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`say` receives a line before each retry. Raises SendError for an invalid address."""
        self.url = _address(url.strip())
        self._token = token.strip()
        if not _VISIBLE.fullmatch(self._token):  # not valid in a header; the message must not show it
            raise SendError(
                "The token holds characters that no token has: a space, a line's end, or one outside ASCII. "
                f"Copy it again, or make another at {self.url}/account/tokens."
            )
        self._tries = tries
        self._timeout = timeout
        self._say = say
        self._opener = urllib.request.build_opener(_NoRedirects)

    @property
    def is_open_to_readers(self) -> bool:
        """Whether the token would travel unencrypted over a network."""
        parts = urllib.parse.urlsplit(self.url)
        return parts.scheme == "http" and parts.hostname not in LOCAL

    def persist(self, once: Callable[[], Answer]) -> Answer:
        """Call `once` until it succeeds, is refused or has failed too often; pauses about double."""
        pause = 0.5
        for left in range(self._tries - 1, -1, -1):
            try:
                return once()
            except _PassingError as failure:
                if not left:
                    raise UnreachableError(f"{failure} Tried {self._tries} times.") from None
                wait = pause * random.uniform(0.7, 1.3)
                if failure.wait is not None:
                    wait = failure.wait
                self._say(f"{failure} Trying again in {wait:.1f} s.")
                time.sleep(wait)
                pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("the last try returns or raises")

    def ask(self, path: str, data: Any, headers: Mapping[str, str]) -> Answer:
        """Send one request. Raises SendError, or an error after which `persist` retries."""
        request = urllib.request.Request(self.url + ROOT + path, data, dict(headers))
        request.add_header("User-Agent", f"gluebench/{__version__}")
        request.add_header("Accept", "application/json")
        if self._token:
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                text = answer.read(MOST_BYTES + 1)
                if len(text) > MOST_BYTES:
                    raise ValueError("more bytes than any response of a leaderboard has")
                content = None
                if answer.status != 204:
                    content = json.loads(text)
                return Answer(answer.status, content, answer.headers.get("ETag") or "")
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 304:
                    return Answer(304, None)
                raise self._refusal(error) from None
        except urllib.error.URLError as error:
            raise self._connection_error(error.reason) from None
        except FileChangedError as error:
            raise SendError(str(error)) from None
        except ValueError:
            raise SendError(f"{self.url} does not answer as a leaderboard of gluebench does.") from None
        except (http.client.HTTPException, OSError) as error:
            raise self._connection_error(error) from None

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """The error for a response that says what is wrong; a passing one may be sent again."""
        problem = _problem(error)
        after = error.headers.get("Retry-After") or ""  # in seconds; the date form is ignored
        wait = None
        if after.isdigit():
            wait = min(float(after), LONGEST_WAIT)
        if error.code in PASSING or (error.code == 429 and problem.get("type") == "urn:gluebench:rate"):
            return _PassingError(str(problem.get("detail") or f"{self.url} answered {error.code}."), wait)
        if problem:
            return RefusedByLeaderboardError(error.code, problem)
        if error.code == 413:
            return SendError("The file is larger than this leaderboard takes.")
        return SendError(
            f"{self.url} answered {error.code} {error.reason}, not as a leaderboard of gluebench does. "
            "Give the address of its first page."
        )

    def _connection_error(self, reason: Any) -> Exception:
        if isinstance(reason, ssl.SSLCertVerificationError):
            return SendError(f"The certificate of {self.url} is not valid: {reason.verify_message}.")
        cause = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        return _PassingError(f"{self.url} could not be reached ({cause}).")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, so that submission and token go only to the given address."""

    def redirect_request(self, *arguments: Any) -> None:
        """Raise an error that names the new address instead of following it."""
        request, _, code, _, _, target = arguments
        raise SendError(
            f"{request.full_url} has moved ({code}) to {target}. If you trust that address, give it instead."
        )


def _address(url: str) -> str:
    """The address without a query and without slashes at the end. Raises SendError for an invalid one."""
    # Refuse it here: a request to an invalid address would be retried for a minute.
    invalid = SendError(
        f"{url!r} is not the address of a leaderboard; one looks like https://board.example.org."
    )
    try:
        parts = urllib.parse.urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        parts.port  # noqa: B018 - raises ValueError if it is not a number
    except ValueError:  # also for an incomplete IPv6 address, or too long a name
        raise invalid from None
    if parts.scheme not in ("http", "https") or not host or not _VISIBLE.fullmatch(url):
        raise invalid
    if parts.username or parts.password:
        raise SendError("Leave the name and password out of the address; a token signs you in.")
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _problem(error: urllib.error.HTTPError) -> dict[str, Any]:
    """The site's description of the error; empty if the response is not in the site's format."""
    if not (error.headers.get("Content-Type") or "").startswith("application/problem+json"):
        return {}
    try:
        problem = json.loads(error.read(1_000_000))
    except (ValueError, OSError, http.client.HTTPException):
        return {}
    if not isinstance(problem, dict):
        return {}
    return problem
