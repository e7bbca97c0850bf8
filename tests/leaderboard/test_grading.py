from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import Value
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from leaderboard.material import MANIFEST, PREDICTIONS, zip_bytes

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.submissions import grading, process, queries
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status, lease_renewal
from gluebench.scoring import grade as score
from gluebench.scoring import read_gold
from gluebench.scoring.feedback import rounded_report, without_hidden_classes
from gluebench.submission import check

Send = Callable[..., Submission]


def lapse(submission: Submission) -> None:
    Submission.objects.filter(pk=submission.pk).update(lease=0)


def test_the_report_is_the_one_that_grade_gives(
    graded: Send, good_zip: bytes, gold_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.zip").write_bytes(good_zip)
    benchmark = load_benchmark(MANIFEST)
    expected = score(check(tmp_path / "own.zip", benchmark), read_gold(gold_folder, benchmark))
    submission = graded()
    assert submission.status == Status.GRADED
    for kept, of_grade in (
        (submission.results.get().report, without_hidden_classes(expected, benchmark)),
        (submission.report, rounded_report(expected, benchmark)),
    ):
        report = of_grade.as_dict()
        for each in (kept, report):
            del each["provenance"]  # the site's copy of the labels may have a key of its own
        assert kept == report
    assert submission.scores["score"] == submission.report["score"]
    assert submission.verdict == "valid"


def test_file_row_and_task_are_there_before_the_answer(send: Send) -> None:
    submission = send()
    assert Path(submission.file.path).is_file()
    assert os.stat(submission.file.path).st_mode & 0o777 == 0o600
    assert DBTaskResult.objects.filter(args_kwargs__args=[submission.pk]).count() == 1


def test_a_file_whose_row_cannot_be_written_is_not_left_behind(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.uploads import accept

    kept = len([path for path in Path(send().file.storage.location).rglob("*") if path.is_file()])
    monkeypatch.setattr(accept, "grade_next", None)
    with pytest.raises(AttributeError):
        send(name="Another")
    storage = Path(Submission.objects.get().file.storage.location)
    assert len([path for path in storage.rglob("*") if path.is_file()]) == kept
    assert Submission.objects.count() == 1


def test_an_invalid_file_is_explained_and_has_no_score(graded: Send) -> None:
    broken = zip_bytes({**PREDICTIONS, "Refer": "01x0"})
    submission = graded(broken)
    assert submission.status == Status.INVALID
    assert submission.report is None
    [problem] = [each for each in submission.problems["problems"] if each["severity"] == "error"]
    assert (problem["file"], problem["line"], problem["value"]) == ("Refer.tsv", 4, "x")
    assert problem["expected"]
    assert problem["fix"]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nonsense", b"not a zip at all"])
def test_what_is_no_zip_is_invalid_not_a_failure(graded: Send, data: bytes) -> None:
    submission = graded(data)
    assert submission.status == Status.INVALID
    assert submission.problems["problems"]


def test_an_incomplete_submission_is_graded_without_a_score(graded: Send) -> None:
    submission = graded(zip_bytes({"Refer": PREDICTIONS["Refer"]}))
    assert (submission.status, submission.verdict) == (Status.GRADED, "incomplete")
    assert submission.scores["score"] is None
    assert submission.report["tasks"]["Refer"]["score"]["value"] == 1.0


def test_a_submission_is_claimed_once(send: Send) -> None:
    submission = send()
    assert Submission.objects.claim(submission.pk)
    assert not Submission.objects.claim(submission.pk)


def test_a_killed_worker_s_submission_is_graded_exactly_once_more(send: Send) -> None:
    submission = send()
    assert Submission.objects.claim(submission.pk)  # and the worker dies here
    assert grading.sweep() == 0, "its lease still runs"
    lapse(submission)
    assert grading.sweep() == 1
    assert grading.sweep() == 0, "handed out once, not again"
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert (submission.status, submission.attempts) == (Status.GRADED, 2)
    finished = submission.finished
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert (submission.finished, submission.attempts) == (finished, 2), "a task delivered twice does nothing"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the leases, which a test moves."""
    now = [1000.0]
    monkeypatch.setattr(queries, "clock", lambda: Value(now[0]))
    monkeypatch.setattr(grading, "clock", lambda: Value(now[0]))
    return now


@pytest.mark.parametrize("minutes", [-20, 0, 20])
def test_a_dead_worker_s_submission_is_free_in_20_seconds_whatever_the_time_of_day(
    minutes: int, send: Send, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = send()
    assert Submission.objects.claim(submission.pk)  # and the worker dies here
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(minutes=minutes))
    statuses = []
    for clock[0] in range(1002, 1021):  # the first two pass until another worker looks
        grading.sweep()
        statuses.append(Submission.objects.get().status)
    assert statuses[0] == Status.RUNNING, "it may be alive"
    assert statuses[-1] == Status.QUEUED


def test_a_clock_that_is_set_back_delays_a_dead_worker_s_submission_by_one_lease(
    send: Send, clock: list[float]
) -> None:
    submission = send()
    assert Submission.objects.claim(submission.pk)
    clock[0] -= 900
    assert grading.sweep() == 0
    clock[0] += 11
    assert grading.sweep() == 1


def test_a_lease_outlives_the_workers_that_watch_it(send: Send) -> None:
    """A sweep in a process that just started frees what others saw lapse: both read one clock."""
    submission = send()
    assert Submission.objects.claim(submission.pk)
    Submission.objects.filter(pk=submission.pk).update(lease=1)
    time.sleep(1.1)
    assert grading.sweep() == 1


def test_a_new_submission_waits_its_lease_before_it_is_handed_out_again(
    send: Send, clock: list[float]
) -> None:
    send()
    assert grading.sweep() == 0
    clock[0] += 9
    assert grading.sweep() == 0
    clock[0] += 1
    assert grading.sweep() == 1


def test_a_sign_of_life_keeps_a_submission_however_long_it_is_graded(
    send: Send, settings: Any, clock: list[float]
) -> None:
    submission = send()
    assert Submission.objects.claim(submission.pk)
    held = Submission.objects.with_lease(submission.pk, 1)
    for _ in range(20):
        clock[0] += settings.LEASE_SECONDS - 1
        assert held.update(**lease_renewal())
        assert grading.sweep() == 0


def test_a_worker_that_lost_its_lease_writes_nothing(send: Send) -> None:
    submission = send()
    Submission.objects.claim(submission.pk)
    late = Submission.objects.with_lease(submission.pk, 1)
    lapse(submission)
    grading.sweep()
    grading.grade(submission.pk)
    submission.refresh_from_db()
    grading._finish(submission, late, {"status": Status.FAILED, "failure": "too late"})
    submission.refresh_from_db()
    assert submission.status == Status.GRADED


def test_a_submission_that_kills_every_worker_fails_at_last(send: Send, settings: Any) -> None:
    submission = send()
    for _ in range(settings.GRADER_ATTEMPTS):
        assert Submission.objects.claim(submission.pk)
        lapse(submission)
        grading.sweep()
    submission.refresh_from_db()
    assert submission.status == Status.FAILED
    assert "3 times" in submission.failure


def test_a_stopping_worker_gives_the_submission_back(
    send: Send, monkeypatch: pytest.MonkeyPatch, own_grader: None
) -> None:
    submission = send()
    stop = threading.Event()
    stop.set()
    monkeypatch.setattr(grading, "stopping", stop)
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.status == Status.QUEUED
    stop.clear()
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.status == Status.GRADED, submission.failure


def test_grading_that_takes_too_long_is_stopped(send: Send, settings: Any, own_grader: None) -> None:
    settings.GRADER_SECONDS = 0.01
    submission = send()
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.status == Status.FAILED
    assert "longer than" in submission.failure


def test_grading_that_takes_too_much_memory_says_so_without_a_label(
    send: Send, settings: Any, own_grader: None
) -> None:
    settings.GRADER_BYTES = 40 * 1024**2
    submission = send()
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.status == Status.FAILED
    assert "Ask the organizer" in submission.failure


def test_the_grader_tells_where_an_error_was_and_not_what_it_said(
    send: Send, tiny: Any, own_grader: None
) -> None:
    submission = send()
    label = tiny.gold_path / "Refer.tsv"
    kept = label.read_text()
    label.write_text(kept.replace("\t0\n", "\tSECRET-LABEL\n"))
    try:
        grading.grade(submission.pk)
    finally:
        label.write_text(kept)
    submission.refresh_from_db()
    assert submission.status == Status.FAILED
    assert "GoldError at gluebench.scoring" in submission.failure
    assert "in Refer.tsv)" in submission.failure
    assert "SECRET-LABEL" not in submission.failure


def test_what_is_wrong_with_every_file_of_labels_fits_into_its_column(send: Send, tiny: Any) -> None:
    submission = send()
    kept = {path: path.read_text() for path in tiny.gold_path.glob("*.tsv")}
    try:
        for path in kept:
            path.write_text("index\tlabel\n0\twrong\n0\twrong\n")
        grading.grade(submission.pk)
    finally:
        for path, text in kept.items():
            path.write_text(text)
    submission.refresh_from_db()
    assert submission.status == Status.FAILED
    assert len(submission.failure) == Submission._meta.get_field("failure").max_length


def test_only_the_grader_and_the_organizer_s_command_read_labels() -> None:
    home = Path(grading.__file__).parents[2]
    readers = {
        path.relative_to(home).as_posix().removeprefix("apps/")
        for path in home.rglob("*.py")
        if "gluebench.scoring" in path.read_text() or "read_gold" in path.read_text()
    }
    rounding = {"submissions/feedback.py", "annotation/models.py"}  # of reports, by what opens no label
    adding = {"benchmarks/adding.py", "benchmarks/contents.py"}  # which publish no file that holds them
    adding |= {"benchmarks/seals.py"}  # which reads the key beside them, when labels are added or verified
    adding |= {"organizing/building.py", "organizing/rehearsing.py"}  # parts of the grader
    exports = {"boards/exports.py", "submissions/models.py", "api/work.py"}  # of reports, in other formats
    released = {"results/pack.py", "ledger/verify.py"}  # labels that the organizer released
    assert readers == {"serving/grader.py", *adding, *rounding, *exports, *released}


def test_new_labels_grade_everything_anew(graded: Send, tiny: Any, tmp_path: Path, gold_folder: Path) -> None:
    import shutil

    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark

    submission = graded()
    add_benchmark(str(MANIFEST), gold_folder)
    submission.refresh_from_db()
    assert submission.status == Status.GRADED, "the same labels change nothing"
    other = shutil.copytree(gold_folder, tmp_path / "other")
    (other / "Refer.tsv").write_text("index\tlabel\n0\t1\n1\t1\n2\t0\n3\t0\n")
    add_benchmark(str(MANIFEST), other)
    submission.refresh_from_db()
    assert submission.status == Status.QUEUED
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.results.first().report["tasks"]["Refer"]["score"]["value"] == 0.75


def test_the_free_check_needs_no_labels(tiny: Any, tmp_path: Path) -> None:
    (tmp_path / "own.zip").write_bytes(zip_bytes({**PREDICTIONS, "Sim": ["1", "2", "nan", "4", "5"]}))
    found = process.run_check(tiny.manifest_path, tmp_path / "own.zip", account=1)["check"]
    assert found["verdict"] == "invalid"
    assert found["source"] == ""


def test_a_listed_system_keeps_its_scores_while_it_is_graded_again(
    graded: Send, tiny: Any, client: Any
) -> None:
    submission = graded(public=True, name="Always there")
    before = client.get("/benchmarks/tiny.json").json()
    assert grading.regrade(tiny, "New labels.") == 1
    submission.refresh_from_db()
    assert (submission.status, submission.is_listed) == (Status.QUEUED, True)
    during = client.get("/benchmarks/tiny.json").json()
    assert during["rows"] == before["rows"]
    assert (before["graded_again"], during["graded_again"]) == (0, 1)
    page = client.get("/benchmarks/tiny").content.decode()
    assert "Always there" in page
    assert "1 of these systems is being graded again" in page
    assert client.get(submission.get_absolute_url()).status_code == 200
    assert client.get("/api/v1/benchmarks/tiny").json()["systems"] == 1
    grading.grade(submission.pk)
    assert "graded again" not in client.get("/benchmarks/tiny").content.decode()


def test_a_file_that_the_storage_lost_is_not_its_author_s_mistake(send: Send, settings: Any) -> None:
    submission = send()
    os.rename(submission.file.path, f"{submission.file.path}.away")
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.status == Status.RUNNING, "its lease runs out first"
    os.rename(f"{submission.file.path}.away", submission.file.path)
    lapse(submission)
    grading.sweep()
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.status == Status.GRADED


def test_a_file_that_never_comes_back_fails_at_last(send: Send, settings: Any) -> None:
    submission = send()
    os.unlink(submission.file.path)
    for _ in range(settings.GRADER_ATTEMPTS):
        grading.grade(submission.pk)
        lapse(submission)
        grading.sweep()
    submission.refresh_from_db()
    assert (submission.status, submission.verdict) == (Status.FAILED, "")


def test_the_file_stays_where_only_the_answer_to_the_commit_got_lost(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import contextmanager

    from django.db import OperationalError, transaction

    from gluebench.leaderboard.apps.uploads import accept

    atomic = transaction.atomic

    @contextmanager
    def broken() -> Any:
        with atomic():
            yield
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(accept, "transaction", SimpleNamespace(atomic=broken))
    with pytest.raises(OperationalError):
        send()
    monkeypatch.undo()
    assert Path(Submission.objects.get().file.path).is_file()


def test_what_changed_while_it_was_graded_is_seen_when_its_result_is_written(
    send: Send, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = send()

    def change(*arguments: Any, **details: Any) -> Any:
        found = process.run_grader(*arguments, **details)
        type(tiny).objects.filter(pk=tiny.pk).update(settings={"smallest_category": 2})
        return found

    monkeypatch.setattr(grading, "run_grader", change)
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert (submission.status, submission.spent) == (Status.QUEUED, 1)
    assert not submission.results.exists()
    monkeypatch.undo()
    grading.grade(submission.pk)
    submission.refresh_from_db()
    assert submission.status == Status.GRADED


def test_a_duty_of_the_worker_that_fails_holds_up_no_other(
    send: Send, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from gluebench.leaderboard.apps.ranks import renewing
    from gluebench.leaderboard.serving import maintenance

    submission = send()
    Submission.objects.claim(submission.pk)
    looked = []

    def reveal_due() -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(grading, "reveal_due", reveal_due)
    monkeypatch.setattr(renewing, "enqueue_outdated", lambda: looked.append(True))
    for _ in range(2):
        lapse(submission)
        maintenance.run_all()
    submission.refresh_from_db()
    assert submission.status == Status.QUEUED
    assert looked == [True, True]
    assert "reveal_due failed" in caplog.text


def test_the_doctor_tells_a_queue_that_is_worked_on_from_one_that_is_not(send: Send) -> None:
    from gluebench.leaderboard.serving import health

    send()
    assert "Start a worker" in health.queue().fix
    health.beat()
    assert health.queue().ok
