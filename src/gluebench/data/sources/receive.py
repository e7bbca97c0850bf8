"""Taking one answer of a server into the file under way, and seeing whether it can be what was asked for."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gluebench.data.errors import DataError
from gluebench.data.sources.content import HEAD, mistaken
from gluebench.data.sources.faults import Again, Fault, of_status
from gluebench.data.sources.meter import Meter, size
from gluebench.data.sources.part import Part

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

CHUNK = 1 << 18
ANOTHER = "another version of the file, or not the file at all"
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class Wanted(NamedTuple):
    """A file to fetch."""

    name: str
    """Seen from the origin's location."""
    address: str
    path: Path
    """Where to put it."""
    bytes: int | None = None
    sha256: str = ""
    """Empty where none is published."""


def receive(response: BaseHTTPResponse, wanted: Wanted, part: Part, meter: Meter) -> None:
    """Write what the answer brings. Raises Again where it ends early, DataError where it is another file."""
    had = part.size
    if response.status in (206, 416):
        found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if response.status == 416 or not found or int(found[1]) != had:
            meter.advance(-had)
            part.drop()
            raise Again(Fault(f"{wanted.address}: the server has no such rest of the file", True))
        expected = _expected(wanted, found[2], had=had)
        file, chunks = part.go_on(), _chunks(response)
    elif response.status == 200:
        expected = _expected(wanted, response.headers.get("Content-Length", ""), had=0)
        chunks = _with_head(response, wanted)
        meter.advance(-had)
        file = part.begin(response.headers)
    else:
        raise _refusal(response, wanted.address)
    if expected is not None and wanted.bytes is None:
        meter.expect(expected)
    with file, _measured(expected):
        for chunk in chunks:
            file.write(chunk)
            file.flush()  # so that a kill loses nothing that came
            meter.advance(len(chunk))
            if expected is not None and part.size > expected:
                break  # it may never end
    _whole(part, expected, wanted)


def _expected(wanted: Wanted, told: str, *, had: int) -> int | None:
    """The size of the whole file; what is still to come must find room."""
    size_told = int(told) if told.isdecimal() else None
    expected = size_told if wanted.bytes is None else wanted.bytes
    if expected is not None:
        enough_space(wanted.path.parent, expected - had, what=wanted.name)
    return expected


@contextmanager
def _measured(expected: int | None) -> Iterator[None]:
    """Lets a body end early where its length is known: `_whole` then says how much is missing."""
    from urllib3.exceptions import ProtocolError

    try:
        yield
    except ProtocolError:
        if expected is None:
            raise


def _whole(part: Part, expected: int | None, wanted: Wanted) -> None:
    there = part.size
    if expected is None or there == expected:
        return
    if there > expected:
        part.drop()
        raise DataError([f"{wanted.address}: {there:,} bytes or more, expected {expected:,}; {ANOTHER}"])
    raise Again(
        Fault(f"{wanted.address}: the connection was cut after {size(there)} of {size(expected)}", True)
    )


def _refusal(response: BaseHTTPResponse, address: str) -> Again | DataError:
    fault = of_status(response.status, address)
    if fault.passing:
        return Again(fault, retry_after=response.headers.get("Retry-After", ""))
    return DataError([fault.told])


def _chunks(response: BaseHTTPResponse) -> Iterator[bytes]:
    """The body as it comes."""
    while chunk := response.read1(CHUNK):
        yield chunk


def _with_head(response: BaseHTTPResponse, wanted: Wanted) -> Iterator[bytes]:
    """The body, once its beginning and its length have been found to be the file's."""
    from urllib3.exceptions import HTTPError

    chunks = _chunks(response)
    head = b""
    try:
        while len(head) < HEAD and (chunk := next(chunks, b"")):
            head += chunk
    except HTTPError as error:  # what came before the cut is kept
        chunks = _cut(error)
    if what := mistaken(head):
        raise DataError([f"{wanted.address}: {what}"])
    told = response.headers.get("Content-Length", "")
    if wanted.bytes is not None and told.isdecimal() and int(told) != wanted.bytes:
        raise DataError([f"{wanted.address}: {int(told):,} bytes, expected {wanted.bytes:,}; {ANOTHER}"])
    return chain([head], chunks)


def _cut(error: Exception) -> Iterator[bytes]:
    yield b""
    raise error


def enough_space(folder: Path, needed: int, *, what: str) -> None:
    """Raises OSError where the disk has less room than that."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < needed:
        text = f"{what} needs {size(needed)}, only {size(free)} are free; make room, or name another folder"
        raise OSError(errno.ENOSPC, text, str(folder))
