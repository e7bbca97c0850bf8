"""Fetching files over HTTP: patient, resumed after a cut, and believed only when they are as expected."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gluebench.data.dataset import SourceFile
from gluebench.data.errors import DataError
from gluebench.data.sources.connection import Connections
from gluebench.data.sources.faults import Again
from gluebench.data.sources.meter import Meter, Silent
from gluebench.data.sources.part import Part
from gluebench.data.sources.receive import ANOTHER, Wanted, receive

if TYPE_CHECKING:
    from urllib3 import Retry


class Patience(NamedTuple):
    """How long to go on."""

    retries: int = 5
    """How often to try again without one more byte having come."""
    timeout: float = 30.0
    """Seconds without an answer, or without a byte."""
    longest: float = 120.0
    """Seconds that a server may ask us to wait."""


class Fetcher:
    """Fetches files one by one."""

    def __init__(self, meter: Meter | None = None, patience: Patience | None = None) -> None:
        self._meter: Meter = meter or Silent()
        self._patience = patience or Patience()
        self._connections = Connections(self._patience.timeout)

    def expect_answer(self, address: str) -> None:
        """Raises DataError for a host that was given up before."""
        self._connections.expect_answer(address)

    def fetch(self, wanted: Wanted) -> SourceFile:
        """Bring the file to its place, where it appears whole and checked or not at all.

        What came before a cut stays as `<file>.part` and is gone on with, at the next run too. Raises
        DataError with what the server did or why the file cannot be written.
        """
        part = Part(wanted.path, wanted.address, checked=bool(wanted.sha256))
        with _written_to(part.path):
            if wanted.path.is_file() and (found := checked(wanted, wanted.path)):
                self._meter.advance(found.bytes)
                return found
            continued = part.size > 0
            self._meter.advance(part.size)
            self._complete(wanted, part)
            found = checked(wanted, part.path)
            if found is None and continued:  # its pieces may be of different files
                self._meter.advance(-part.size)
                part.drop()
                self._complete(wanted, part)
                found = checked(wanted, part.path)
            if found is None:
                problem = f"{wanted.address}: wrong content (sha256 {_digest(part.path)[:12]}..., expected "
                part.drop()
                raise DataError([f"{problem}{wanted.sha256[:12]}...); {ANOTHER}"])
            part.finish()
        return found

    def _complete(self, wanted: Wanted, part: Part) -> None:
        """Go on until all of the file is there."""
        policy = self._policy()
        while part.size == 0 or part.size != wanted.bytes:
            had = part.size
            try:
                self._attempt(wanted, part)
                break
            except Again as again:
                if part.size > had:
                    policy = self._policy()
                policy = self._wait(policy, again, wanted.address)

    def _attempt(self, wanted: Wanted, part: Part) -> None:
        from urllib3.exceptions import HTTPError

        from gluebench.data.sources.faults import of_connection

        response = self._connections.ask(wanted.address, part.headers())
        try:
            receive(response, wanted, part, self._meter)
        except HTTPError as error:
            raise self._connections.fault(of_connection(error, wanted.address), wanted.address) from error
        finally:
            response.close()

    def _wait(self, policy: Retry, again: Again, address: str) -> Retry:
        """Wait as long as the server asks, or a little longer each time; the retries that are left."""
        from urllib3.exceptions import MaxRetryError, ProtocolError

        try:
            policy = policy.increment("GET", address, error=ProtocolError(again.fault.problem))
        except MaxRetryError:
            raise self._connections.given_up(again.fault, address) from again
        seconds = max(policy.get_backoff_time(), _asked(policy, again.retry_after))
        if seconds > self._patience.longest:
            raise DataError(
                [f"{again.fault.problem}; the server asks to come back in {seconds:,.0f} seconds"]
            )
        self._meter.say(
            f"{again.fault.problem}; trying again{f' in {seconds:.0f} s' if seconds >= 1 else ''}"
        )
        time.sleep(seconds)
        return policy

    def _policy(self) -> Retry:
        from urllib3 import Retry

        return Retry(self._patience.retries, backoff_factor=0.5, backoff_jitter=0.5, backoff_max=60)


def _asked(policy: Retry, header: str) -> float:
    """Seconds of a Retry-After header, which may also be a date."""
    from urllib3.exceptions import InvalidHeader

    try:
        return policy.parse_retry_after(header) if header else 0.0
    except InvalidHeader:
        return 0.0


def checked(wanted: Wanted, path: Path) -> SourceFile | None:
    """The file that lies there; None where it is not the one that is wanted."""
    digest = _digest(path)
    if wanted.sha256 not in ("", digest):
        return None
    return SourceFile(wanted.name, path.stat().st_size, digest)


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _written_to(path: Path) -> Iterator[None]:
    """A full disk says no file's name; what could not be written does."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError([f"{error.filename or path}: {reason[:1].lower()}{reason[1:]}"]) from error
