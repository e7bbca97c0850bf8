"""The downloader by itself: what it asks, how long it waits, what it tells its meter."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from time import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from local_server import LocalServer, cut, redirect, serving, status, unmeasured, unranged

from gluebench.data import DataError
from gluebench.data.sources.fetch import DownloadProgress, Fetcher, RemoteFile, RetrySettings

CONTENT = bytes(number * number % 251 for number in range(20_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Notes(DownloadProgress):
    """A meter that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.there = 0
        self.total: int | None = None

    def say(self, line: str) -> None:
        self.lines.append(line)

    def start(self, name: str, total: int | None) -> None:
        self.total = total

    def expect(self, total: int) -> None:
        self.total = total

    def advance(self, number: int) -> None:
        self.there += number
        assert self.there >= 0

    def stop(self) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving() as running:
        running.files["/file"] = CONTENT
        yield running


def wanted(server: LocalServer, folder: Path, *, known: bool = True, path: str = "/file") -> RemoteFile:
    facts = (len(CONTENT), SHA256) if known else (None, "")
    return RemoteFile("file", f"{server.address}{path}", folder / "file", *facts)


@pytest.mark.parametrize("known", [True, False])
def test_the_meter_ends_at_the_size_of_the_file_whatever_happened(
    server: LocalServer, tmp_path: Path, known: bool
) -> None:
    server.faults["/file"] = [cut(7000), status(503), unranged]
    notes = Notes()
    found = Fetcher(notes).fetch(wanted(server, tmp_path, known=known))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert found == ("file", len(CONTENT), SHA256)
    assert notes.there == len(CONTENT)
    assert notes.total == (None if known else len(CONTENT))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_without_a_checksum_pieces_are_joined_only_where_the_server_vouches(
    server: LocalServer, tmp_path: Path
) -> None:
    want = wanted(server, tmp_path, known=False)
    (tmp_path / "file.part").write_bytes(CONTENT[:500])  # nobody knows of which version
    Fetcher().fetch(want)
    assert [each.range for each in server.requests] == [None]
    server.requests.clear()
    (tmp_path / "file").unlink()
    (tmp_path / "file.part").write_bytes(CONTENT[:500])
    Fetcher().fetch(wanted(server, tmp_path))  # its sha256 will tell
    assert [each.range for each in server.requests] == ["bytes=500-"]


def test_a_file_without_length_that_is_cut_is_never_taken_for_whole(
    server: LocalServer, tmp_path: Path
) -> None:
    def cut_chunk(handler: object, content: bytes) -> None:
        handler.send_response(200)  # type: ignore[attr-defined]
        handler.send_header("Transfer-Encoding", "chunked")  # type: ignore[attr-defined]
        handler.end_headers()  # type: ignore[attr-defined]
        handler.wfile.write(b"2000\r\n" + content[:5000])  # type: ignore[attr-defined]
        handler.close_connection = True  # type: ignore[attr-defined]

    server.faults["/file"] = [cut_chunk, cut_chunk]
    with pytest.raises(DataError, match="the connection was cut"):
        Fetcher(settings=RetrySettings(retries=1)).fetch(wanted(server, tmp_path, known=False))
    assert not (tmp_path / "file").exists()
    server.faults["/file"] = [unmeasured]
    Fetcher().fetch(wanted(server, tmp_path, known=False))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_file_that_does_not_end_is_left(server: LocalServer, tmp_path: Path) -> None:
    server.files["/file"] = CONTENT * 50
    server.faults["/file"] = [unmeasured]
    with pytest.raises(DataError, match="or more, expected 20,000"):
        Fetcher().fetch(wanted(server, tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_date_to_come_back_at_is_heeded_too(server: LocalServer, tmp_path: Path) -> None:
    server.faults["/file"] = [status(503, Retry_After=formatdate(time() + 3600, usegmt=True))]
    with pytest.raises(
        DataError, match=r"503 Service Unavailable; the server asks to come back in 3,[56]\d\d s"
    ):
        Fetcher().fetch(wanted(server, tmp_path))
    server.faults["/file"] = [status(503, Retry_After="soon")]
    Fetcher().fetch(wanted(server, tmp_path))


def test_retries_are_counted_anew_when_something_came(server: LocalServer, tmp_path: Path) -> None:
    server.faults["/file"] = [cut(1), cut(1), cut(1), cut(1)]
    Fetcher(settings=RetrySettings(retries=1)).fetch(wanted(server, tmp_path))
    assert [each.range for each in server.requests] == [None, *(f"bytes={n}-" for n in range(1, 5))]


def test_a_few_redirects_are_followed_with_the_range(server: LocalServer, tmp_path: Path) -> None:
    server.faults["/file"] = [redirect("/there"), cut(5000)]
    server.faults["/there"] = [redirect("/file")]
    notes = Notes()
    Fetcher(notes).fetch(wanted(server, tmp_path))
    assert len(notes.lines) == 1


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 9000), max_size=4), st.booleans())
def test_wherever_it_is_cut_the_file_is_the_servers(
    server: LocalServer, tmp_path_factory: pytest.TempPathFactory, cuts: list[int], known: bool
) -> None:
    folder = tmp_path_factory.mktemp("cuts")
    server.faults["/file"] = [cut(after) for after in cuts]
    for _ in itertools.repeat(None, len(cuts) + 1):  # a run for each, as if it were stopped there
        try:
            Fetcher(settings=RetrySettings(retries=0)).fetch(wanted(server, folder, known=known))
        except DataError:
            continue
        break
    assert (folder / "file").read_bytes() == CONTENT
    assert len(list(folder.iterdir())) == 1
