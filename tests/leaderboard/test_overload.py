"""A site that has no room left: for one more check, for one more file, in time or on its disk."""

from __future__ import annotations

import errno
import io
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import filesystem
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import connection
from django.test import Client

from gluebench.leaderboard.apps.accounts.models import issue
from gluebench.leaderboard.apps.common.problems import ProblemError
from gluebench.leaderboard.apps.submissions import process
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.serving import maintenance

DETAILS = {"name": "A system", "model": "BiLSTM", "regime": "other"}


@pytest.fixture
def api(tiny: Any, ada: Any, good_zip: bytes) -> Callable[[str], Any]:
    """Send a file to an address of the interface below the benchmark's."""
    token = issue(ada, "a test", ["read", "submit"], timedelta(days=1))[1]
    client = Client(raise_request_exception=False, headers={"authorization": f"Bearer {token}"})
    return lambda what: client.post(f"/api/v1/benchmarks/tiny/{what}", _file(good_zip, "file", what))


@pytest.fixture
def page(tiny: Any, ada: Any, good_zip: bytes) -> Callable[..., Any]:
    """Send a file by the page's form."""
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    return lambda **more: client.post("/benchmarks/tiny/submit", {**_file(good_zip, "upload"), **more})


def _file(data: bytes, name: str, what: str = "submissions") -> dict[str, Any]:
    file = io.BytesIO(data)
    file.name = "predictions.zip"
    return {name: file, **(DETAILS if what == "submissions" else {})}


def stored_files() -> set[Path]:
    place = Path(Submission._meta.get_field("file").storage.location)
    return {path for path in place.rglob("*") if path.is_file()}


def test_an_account_checks_few_files_at_a_time(
    api: Callable[[str], Any], page: Callable[..., Any], ada: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process.CHECKS, "accounts", [ada.pk] * process.WAITING_OF_ACCOUNT)
    refused = api("check")
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert int(refused["Retry-After"]) > 0
    assert "checks of yours" in refused.json()["detail"]
    shown = page(action="check")
    assert (shown.status_code, "checks of yours" in shown.content.decode()) == (429, True)
    assert int(shown["Retry-After"]) > 0


def test_the_queue_of_checks_is_bounded_and_emptied(
    api: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [-number for number in range(1, process.CHECKS_QUEUED + 1)]
    monkeypatch.setattr(process.CHECKS, "accounts", others)
    assert api("check").status_code == 429
    others.pop()
    assert api("check").status_code == 200
    assert len(others) == process.CHECKS_QUEUED - 1, "it has left the queue"


def test_one_check_runs_at_a_time_behind_the_pages(
    api: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def run(job: Any, **details: Any) -> Any:
        free = process.CHECKS.free.acquire(blocking=False)
        seen.append((job["nice"], details["cpu_seconds"] <= 10, free))
        return {"check": {"verdict": "valid", "missing": [], "problems": [], "unshown": {}}}

    monkeypatch.setattr(process, "run_grader", run)
    api("check")
    assert seen == [(19, True, False)]


def test_checks_do_not_wait_for_an_organizer_s_build(
    api: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, answers = process.run_grader, []

    def build(job: Any, **limits: Any) -> Any:
        if "build" in job:
            assert not process.BUILDS.free.acquire(blocking=False), "one build at a time"
            answers.append(api("check").status_code)  # would wait for ever
            return {}
        assert process.CHECKS.free._value == 0  # type: ignore[attr-defined]
        return run(job, **limits)

    monkeypatch.setattr(process, "run_grader", build)
    process.run_build({}, account=1)
    assert answers == [200]
    assert process.BUILDS.free.acquire(blocking=False)
    process.BUILDS.free.release()


def test_an_account_s_builds_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process.BUILDS, "accounts", [7] * process.WAITING_OF_ACCOUNT)
    with pytest.raises(ProblemError, match="2 builds of yours are not done yet"):
        process.run_build({}, account=7)


def test_a_check_that_takes_too_much_processor_time_is_stopped(
    api: Callable[[str], Any], own_grader: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """from gluebench.leaderboard.serving import grader
def busy(job):
    while True: pass
grader._result = busy
grader.main()"""
    popen = process.subprocess.Popen
    busy = [sys.executable, "-c", code]
    monkeypatch.setattr(process.subprocess, "Popen", lambda command, **options: popen(busy, **options))
    monkeypatch.setattr(process, "CHECK_SECONDS", 1)
    refused = api("check")
    assert refused.status_code == 422
    assert "more than 1 seconds of processor time and was stopped" in refused.json()["detail"]


FAILURES = [
    (OSError(errno.ENOSPC, "No space left on device"), "disk-full", "disk is full"),
    (OSError(errno.EROFS, "Read-only file system"), "read-only", "may not write to its disk or its database"),
    (OSError(errno.EACCES, "Permission denied"), "read-only", "may not write to its disk or its database"),
]


def full(*arguments: Any, **details: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("module", "name"),
    [(TemporaryFileUploadHandler, "receive_data_chunk"), (filesystem, "file_move_safe"), (os, "fsync")],
)
@pytest.mark.parametrize(("error", "kind", "words"), FAILURES)
def test_a_disk_that_cannot_be_written_is_no_fault_and_keeps_nothing(
    error: OSError,
    kind: str,
    words: str,
    module: Any,
    name: str,
    api: Callable[[str], Any],
    page: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = stored_files()

    def refuse(*arguments: Any, **details: Any) -> Any:
        raise error

    monkeypatch.setattr(module, name, refuse)
    refused = api("submissions")
    assert (refused.status_code, refused["Content-Type"]) == (507, "application/problem+json")
    assert refused.json()["type"] == f"urn:gluebench:{kind}"
    shown = page(**DETAILS)
    assert shown.status_code == 507
    assert all(words in text for text in (shown.content.decode(), refused.json()["detail"]))
    assert "Nothing was kept or counted" in shown.content.decode()
    assert (Submission.objects.count(), stored_files()) == (0, before)
    assert [record.levelname for record in caplog.records] == ["ERROR"] * 2
    assert "Traceback" not in caplog.text


def test_a_read_only_database_is_no_fault_and_keeps_nothing(
    api: Callable[[str], Any], page: Callable[..., Any]
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite's errors; PostgreSQL has one of its own")
    before, database = stored_files(), connection.connection  # Django's would refuse after an error
    database.execute("PRAGMA query_only = 1")  # it answers as a file that may not be written
    try:
        refused, shown = api("submissions"), page(**DETAILS)
    finally:
        database.execute("PRAGMA query_only = 0")
    assert (refused.status_code, refused.json()["type"]) == (507, "urn:gluebench:read-only")
    assert (shown.status_code, "may not write" in shown.content.decode()) == (507, True)
    count = database.execute("SELECT COUNT(*) FROM submissions_submission").fetchone()[0]
    assert (count, stored_files()) == (0, before)


def test_a_half_written_file_does_not_stay(send: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored_files()
    monkeypatch.setattr(filesystem.locks, "lock", full)  # the file is open, and empty, by then
    with pytest.raises(OSError, match="No space left"):
        send()
    assert (Submission.objects.count(), stored_files()) == (0, before)


def test_a_file_without_a_row_is_deleted_after_a_day(send: Callable[..., Any]) -> None:
    kept = Path(send().file.path)
    old, new = kept.with_name("old"), kept.with_name("new")
    for path in (old, new):
        path.write_bytes(b"the process was killed before the row was written")
    two_days_ago = time.time() - 2 * 86400
    for path in (old, kept):
        os.utime(path, (two_days_ago, two_days_ago))
    maintenance.run_daily()
    assert (old.exists(), new.exists(), kept.exists()) == (False, True, True)
    new.unlink()
