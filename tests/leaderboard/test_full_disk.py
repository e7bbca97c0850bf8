"""A real full disk: a site on a small file system of its own stays up, and loses nothing."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from leaderboard.served import Served
from leaderboard.test_serve import Visitor, children, until

from gluebench.leaderboard.keeping.folder import METRICS
from gluebench.leaderboard.serving import counters
from gluebench.leaderboard.serving.checks import FREE_BYTES

SIZE = FREE_BYTES + 50 * 1024**2
"""A site does not start with less than `FREE_BYTES`."""
PAGES = (
    *("/benchmarks/tiny", "/", "/benchmarks/tiny/submit", "/account/login/", "/benchmarks/tiny.csv"),
    *("/ledger", "/benchmarks/tiny/rules", "/nothing-here", "/healthz", "/api/v1/benchmarks", "/privacy"),
)
"""Each a counter that no request has made before."""


@pytest.fixture(params=["tmpfs", "ext4"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A small file system of this kind, mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "gluebench-test", str(place)]
    if request.param == "ext4":
        if shutil.which("mkfs.ext4") is None:
            pytest.skip("no mkfs.ext4 to make a small file system with")
        image = tmp_path / "image"
        with image.open("wb") as file:
            file.truncate(SIZE)
        subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
        command = ["mount", "-o", "loop", str(image), str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"a {request.param} file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(path: Path) -> None:
    """Take all the space that there is, to the last page."""
    with path.open("wb", buffering=0) as file:
        for size in (1024**2, 4096, 1):
            is_full = False
            while not is_full:
                try:
                    file.write(b"\1" * size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    is_full = True


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def counted(site: Served) -> dict[str, float]:
    """What /metrics says, by the text before each value."""
    with urllib.request.urlopen(f"{site.url}/metrics", timeout=60) as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@pytest.mark.slow
def test_a_full_disk_stops_no_process(disk: Path, gold_folder: Path, good_zip: bytes) -> None:
    site = Served(disk / "site", gold_folder)
    try:
        processes = until(lambda: children(site) if len(children(site)) == 2 else None)
        visitor = Visitor(site.url)
        visitor.post("/account/signup/", {"email": "ann@example.org", "password1": "a long password"})
        form = {"name": "Ann", "model": "CBoW", "regime": "frozen", "public": "on", "action": "submit"}
        fill(disk / "fill")
        answers = {page: status(site.url + page) for page in PAGES}
        fill(disk / "more")  # what the site has deleted meanwhile
        with pytest.raises(urllib.error.HTTPError) as refused:
            visitor.post("/benchmarks/tiny/submit", form, good_zip)
        assert children(site) == processes, f"a process ended: {answers}"
        assert answers["/healthz"] == 200
        assert answers["/benchmarks/tiny"] == 200
        assert set(answers.values()) <= {200, 302, 404, 507}
        assert refused.value.code == 507
        full = counted(site)
        assert full["gluebench_counters_unsaved"] == 1
        for name in ("fill", "more"):
            (disk / name).unlink()
        assert {page: status(site.url + page) for page in PAGES if page != "/nothing-here"}
        page = visitor.post("/benchmarks/tiny/submit", form, good_zip)
        until(lambda: json.loads(visitor.get(f"{page}/status.json"))["final"])
        assert children(site) == processes
        after = counted(site)
        assert after["gluebench_counters_unsaved"] == 0
        board = 'gluebench_request_seconds_count{method="GET",route="board",status="200"}'
        assert (full[board], after[board]) == (1, 2), "nothing that was counted is lost"
        folder = site.folder / "metrics"
        saved = [key for path in folder.iterdir() for key, _ in counters._read(path)]
        assert ("gluebench_request_seconds", "none", "GET", "404") in saved, "counted while the disk was full"
    finally:
        site.stop()


def test_counts_are_in_memory_until_they_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(METRICS, str(tmp_path))
    own, other = counters._Counts(), counters._Counts()
    write = os.pwrite

    def cut(file: int, data: bytes, place: int) -> int:
        return write(file, data[: len(data) // 2], place)

    own.add(("a", "x"), [1.0, 0.25])
    assert other.totals() == {("a", "x"): [1.0, 0.25]}
    monkeypatch.setattr(os, "pwrite", cut)
    own.add(("a", "x"), [1.0, 0.25])
    for _ in range(3):
        own.add(("a", "y"), [1.0, 0.5])
    assert not own.save()
    assert own.totals() == {("a", "x"): [2.0, 0.5], ("a", "y"): [3.0, 1.5]}
    assert other.totals() == {}, "of a line that is half new nothing is read"
    assert len(caplog.records) == 1, "once, not with each request"
    monkeypatch.setattr(os, "pwrite", write)
    assert own.save()
    other.add(("a", "x"), [1.0, 1.0])
    for counts in (own, other):
        assert counts.totals() == {("a", "x"): [3.0, 1.5], ("a", "y"): [3.0, 1.5]}


def test_a_folder_that_is_gone_is_no_fault_of_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(METRICS, str(tmp_path / "later"))
    counts = counters._Counts()
    counts.add(("a",), [1.0])
    assert not counts.save()
    (tmp_path / "later").mkdir()
    counts.add(("a",), [1.0])
    assert counts.save()
    assert counters._Counts().totals() == {("a",): [2.0]}
