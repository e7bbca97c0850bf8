"""Downloads over HTTP: retried, resumed after an interruption, and accepted only with the right content."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from gluebench.data.dataset import SourceFile, source_file
from gluebench.data.errors import DataError
from gluebench.data.sources import http

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

CHUNK = 1 << 18
_ANOTHER = "the server sent another version or another file; try again later, or use another source or mirror"
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class RemoteFile(NamedTuple):
    """A file to fetch."""

    name: str
    """Relative to the origin's location."""
    address: str
    path: Path
    """Where to put it."""
    bytes: int | None = None
    sha256: str = ""
    """Empty if none is published."""


class RetrySettings(NamedTuple):
    """How often to retry, and how long to wait."""

    retries: int = 5
    """Failed retries in a row, without a new byte, before giving up."""
    timeout: float = 30.0
    """Seconds to wait for a response, or for the next byte."""
    max_wait: float = 120.0
    """Longest pause, in seconds, that is accepted from a server (Retry-After)."""


class DownloadProgress:
    """Progress of downloads on standard error: lines and, on a terminal, a bar; nothing unless `shown`."""

    def __init__(self, *, shown: bool = False) -> None:
        from tqdm import tqdm

        self._tqdm = tqdm
        self._shown = shown
        self._bar: tqdm[None] = tqdm(disable=True)

    def say(self, line: str) -> None:
        """Show a line now, above the bar."""
        if self._shown:
            self._tqdm.write(line, file=sys.stderr)

    def start(self, name: str, total: int | None) -> None:
        """Begin a transfer of so many bytes; None if the number is not known."""
        form: dict[str, Any] = {"unit": "B", "unit_scale": True, "leave": False, "dynamic_ncols": True}
        hidden = None if self._shown else True  # None hides it where there is no terminal
        self._bar = self._tqdm(desc=name, total=total, disable=hidden, file=sys.stderr, **form)

    def expect(self, total: int) -> None:
        """Set the total number of bytes, once it is known."""
        self._bar.total = total

    def advance(self, number: int) -> None:
        """Add bytes; a negative number if a file is restarted."""
        self._bar.update(number)

    def stop(self) -> None:
        """End the transfer, complete or not."""
        self._bar.close()


class Fetcher:
    """Fetches files one by one."""

    def __init__(
        self,
        meter: DownloadProgress | None = None,
        settings: RetrySettings | None = None,
        *,
        token: str = "",
    ) -> None:
        """`token`: of an account on the one leaderboard that all files come from."""
        self._meter = meter or DownloadProgress()
        self._settings = settings or RetrySettings()
        self._connections = http.Connections(self._settings.timeout)
        self._authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self._unreachable: dict[str, str] = {}
        """Failed host to its error; no other file is requested from it."""

    def check_reachable(self, address: str) -> None:
        """Raises DataError if the host has already failed in this run."""
        if reason := self._unreachable.get(http.host(address)):
            raise DataError(reason)

    def fetch(self, file: RemoteFile) -> SourceFile:
        """Download the file to its path, where it appears only when complete and checked.

        An interrupted transfer is kept as `<file>.part`; this run or a later one resumes it. Raises
        DataError with the server's failure, or with the reason why the file cannot be written.
        """
        part = _PartialFile(file)
        try:
            if record := verify_file(file, file.path):
                self._meter.advance(record.bytes)
                return record
            self._meter.advance(part.size)
            # The parts of a resumed file may come from different versions: then restart once.
            for _ in range(2 if part.size else 1):
                self._complete(file, part)
                if record := verify_file(file, part.path):
                    part.finish()
                    return record
                digest = source_file(part.path, file.name).sha256
                self._meter.advance(-part.size)
                part.drop()
        except OSError as error:  # the error of a full disk has no file name
            raise DataError(os_problem(error, part.path)) from error
        content = f"sha256 {digest[:12]}..., expected {file.sha256[:12]}..."
        raise DataError(f"{file.address}: wrong content ({content}); {_ANOTHER}")

    def _complete(self, file: RemoteFile, part: _PartialFile) -> None:
        """Request the rest, with retries, until the file is complete."""
        from urllib3.exceptions import HTTPError

        failures = 0
        while part.size == 0 or part.size != file.bytes:
            before = part.size
            self.check_reachable(file.address)
            try:
                headers = part.headers() | self._authorization
                with closing(self._connections.request(file.address, headers)) as response:
                    self._receive(response, file, part)
                return
            except http.TransferError as error:
                failure = error
            except HTTPError as error:
                failure = http.connection_error(error, file.address)
            failures = 1 if part.size > before else failures + 1
            if not failure.retryable or failures > self._settings.retries:
                if failure.unreachable:
                    self._unreachable[http.host(file.address)] = str(failure)
                raise DataError(str(failure)) from failure
            self._wait(failure, failures)

    def _wait(self, error: http.TransferError, failures: int) -> None:
        """Wait as long as the server asks, at least an exponential backoff."""
        from urllib3.exceptions import InvalidHeader
        from urllib3.util.retry import RequestHistory, Retry

        history = (RequestHistory("GET", None, error, None, None),) * failures
        retry = Retry(backoff_factor=0.5, backoff_jitter=0.5, backoff_max=60, history=history)
        seconds = retry.get_backoff_time()
        with suppress(InvalidHeader):
            seconds = max(seconds, retry.parse_retry_after(error.retry_after or "0"))
        if seconds > self._settings.max_wait:
            raise DataError(f"{error.problem}; the server asks to come back in {seconds:,.0f} seconds")
        message = f"{error.problem}; trying again"
        if seconds >= 1:
            message += f" in {seconds:.0f} s"
        self._meter.say(message)
        time.sleep(seconds)

    def _receive(self, response: BaseHTTPResponse, file: RemoteFile, part: _PartialFile) -> None:
        """Write the response. Raises TransferError if it ends early, DataError if it is another file."""
        received = part.size
        chunks = _chunks(response)
        if response.status in (206, 416):
            given = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if response.status == 416 or not given or int(given[1]) != received:
                self._meter.advance(-received)
                part.drop()
                problem = "the server has no such rest of the file"
                raise http.TransferError(f"{file.address}: {problem}", retryable=True)
            expected = _expected_size(file, given[2], received=received)
            output = part.resume()
        elif response.status == 200:
            length = response.headers.get("Content-Length", "")
            expected = _expected_size(file, length, received=0)
            head = next(chunks)
            if what := http.wrong_content(head):
                raise DataError(f"{file.address}: {what}")
            if file.bytes is not None and length.isdecimal() and int(length) != file.bytes:
                raise DataError(f"{file.address}: {int(length):,} bytes, expected {file.bytes:,}; {_ANOTHER}")
            chunks = chain([head], chunks)
            self._meter.advance(-received)
            output = part.begin(response.headers)
        else:
            raise http.status_error(response, file.address)
        if expected is not None and file.bytes is None:
            self._meter.expect(expected)
        with output:
            self._write(chunks, output, part, expected)
        if expected is not None and part.size > expected:
            size = part.size
            part.drop()
            raise DataError(f"{file.address}: {size:,} bytes or more, expected {expected:,}; {_ANOTHER}")
        if expected is not None and part.size < expected:
            sizes = f"{readable(part.size)} of {readable(expected)}"
            raise http.TransferError(f"{file.address}: the connection was cut after {sizes}", retryable=True)

    def _write(
        self, chunks: Iterator[bytes], output: IO[bytes], part: _PartialFile, expected: int | None
    ) -> None:
        """Write the chunks. A body of known length may end early: the caller checks its size."""
        from urllib3.exceptions import ProtocolError

        try:
            for chunk in chunks:
                output.write(chunk)
                output.flush()  # so that a killed process keeps all bytes received
                self._meter.advance(len(chunk))
                if expected is not None and part.size > expected:
                    return  # the server may send bytes forever
        except ProtocolError:
            if expected is None:
                raise


class _PartialFile:
    """A partly downloaded file, kept across interruptions and runs: `<file>.part`.

    `<file>.part.json` has the server's validator (ETag or date) of that version of the file.
    """

    def __init__(self, file: RemoteFile) -> None:
        self.path = file.path.with_name(f"{file.path.name}.part")
        self._note = file.path.with_name(f"{file.path.name}.part.json")
        self._file = file

    @property
    def size(self) -> int:
        """Bytes downloaded so far."""
        if not self.path.exists():
            return 0
        return self.path.stat().st_size

    def headers(self) -> dict[str, str]:
        """Request headers for the rest; empty if the download must restart.

        Without a checksum, only a validator shows that both parts come from one version.
        """
        validator = self._validator()
        if not self.size or not (validator or self._file.sha256):
            return {}
        headers = {"Range": f"bytes={self.size}-"}
        if validator:
            headers["If-Range"] = validator
        return headers

    def begin(self, headers: Mapping[str, str]) -> IO[bytes]:
        """Open the file empty, and save the validator of this version."""
        validator = headers.get("ETag", "")
        if not validator or validator.startswith("W/"):  # a weak validator does not guarantee the same bytes
            validator = headers.get("Last-Modified", "")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._note.write_text(json.dumps({"address": self._file.address, "validator": validator}))
        return open(self.path, "wb")

    def resume(self) -> IO[bytes]:
        """Open the file for appending."""
        return open(self.path, "ab")

    def finish(self) -> None:
        """Rename the complete and checked file to its final name."""
        with open(self.path, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(self.path, self._file.path)
        self._note.unlink(missing_ok=True)

    def drop(self) -> None:
        """Delete the partial file and its validator."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _validator(self) -> str:
        """The saved validator; empty if there is none, or it belongs to another address."""
        try:
            note = json.loads(self._note.read_text())
            if note["address"] == self._file.address:
                return str(note["validator"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # no note, or one that was cut short: then none is known
        return ""


def _chunks(response: BaseHTTPResponse) -> Iterator[bytes]:
    """The body as it comes; the first chunk holds HEAD bytes, or all that came before an error."""
    from urllib3.exceptions import HTTPError

    head = b""
    failure = None
    try:
        while len(head) < http.HEAD and (chunk := response.read1(CHUNK)):
            head += chunk
    except HTTPError as error:
        failure = error
    yield head
    if failure:
        raise failure
    while chunk := response.read1(CHUNK):
        yield chunk


def _expected_size(file: RemoteFile, length: str, *, received: int) -> int | None:
    """The size of the complete file, if known. Raises OSError if the disk has no space for the rest."""
    expected = file.bytes
    if expected is None and length.isdecimal():
        expected = int(length)
    if expected is not None:
        check_space(file.path.parent, expected - received, what=file.name)
    return expected


def verify_file(file: RemoteFile, path: Path) -> SourceFile | None:
    """The record of the file at a path; None if it is absent or has another checksum."""
    if not path.is_file():
        return None
    record = source_file(path, file.name)
    if file.sha256 and file.sha256 != record.sha256:
        return None
    return record


def check_space(folder: Path, needed: int, *, what: str) -> None:
    """Raises OSError if the disk has fewer free bytes than `needed`; `what` needs them."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < needed:
        sizes = f"{what} needs {readable(needed)}, only {readable(free)} are free"
        raise OSError(errno.ENOSPC, f"{sizes}; make room, or name another folder", str(folder))


def readable(number: float) -> str:
    """A number of bytes with a unit: 326 kB, 54.1 MB."""
    if number < 1000:
        return f"{number:.0f} bytes"
    if number < 1000**2:
        return f"{number / 1000:.0f} kB"
    if number < 1000**3:
        return f"{number / 1000 / 1000:.1f} MB"
    return f"{number / 1000 / 1000 / 1000:.1f} GB"


def os_problem(error: OSError, path: Path) -> str:
    """The error as a message about the file that it names, else about `path`."""
    reason = error.strerror or str(error)
    return f"{error.filename or path}: {reason[:1].lower()}{reason[1:]}"
