"""Grading on an organizer's own machine: the site has no label, and nothing is lost or graded twice."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.test import Client as Browser
from leaderboard.material import MANIFEST, PREDICTIONS, write_data, zip_bytes

from gluebench.cli import main
from gluebench.leaderboard.apps.accounts.models import User, issue
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions.grading import grade, grade_next
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.serving import remote_worker
from gluebench.submission.transport import RefusedByLeaderboardError, UnreachableError

pytestmark = pytest.mark.django_db
Send = Callable[..., Submission]


class Wire:
    """A client whose requests reach the site directly; the network can be cut."""

    def __init__(self, user: User, scopes: list[str]) -> None:
        token = issue(user, "a machine", scopes, timedelta(days=1))[1]
        self.browser = Browser(headers={"authorization": f"Bearer {token}"})
        self.cut = 0
        self.posted: list[str] = []

    def post(self, path: str, values: Mapping[str, Any]) -> Any:
        self.posted.append(path)
        if self.cut and path != "/work":
            self.cut -= 1
            raise UnreachableError("the network is cut")
        answer = self.browser.post(f"/api/v1{path}", values, content_type="application/json")
        if answer.status_code >= 400:
            raise RefusedByLeaderboardError(answer.status_code, answer.json())
        return answer.json() if answer.content else None


@pytest.fixture
def elsewhere(tiny: Benchmark) -> Benchmark:
    """The benchmark without its labels."""
    Benchmark.objects.filter(pk=tiny.pk).update(gold="", gold_digest="")
    return Benchmark.objects.get(pk=tiny.pk)


@pytest.fixture
def organizer(elsewhere: Benchmark, person: Any) -> User:
    user: User = person("organizer@example.org")
    elsewhere.organizers.add(user)
    return user


@pytest.fixture
def wire(organizer: User) -> Wire:
    return Wire(organizer, ["grade"])


def run(wire: Any, gold: Path, jobs: int) -> list[str]:
    """Let a machine work until so many submissions are done; returns what it says."""
    lines: list[str] = []
    stop = threading.Event()

    def say(line: str) -> None:
        lines.append(line)
        if sum(": " in line for line in lines) >= jobs:
            stop.set()

    remote_worker.work(wire, "tiny", gold, stop=stop, say=say)
    return lines


def test_a_machine_elsewhere_gives_the_same_report(
    tiny: Benchmark, graded: Send, person: Any, gold_folder: Path, send: Send
) -> None:
    here = graded().report
    Benchmark.objects.filter(pk=tiny.pk).update(gold="", gold_digest="")
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    row = send(name="Another", benchmark=Benchmark.objects.get(pk=tiny.pk))
    grade_next.call(row.pk)
    assert not grade(row.pk)
    assert Submission.objects.get(pk=row.pk).status == Status.QUEUED, "no worker of the site can grade it"
    assert run(Wire(user, ["grade"]), gold_folder, 1) == [f"{row.key}: graded"]
    there = Submission.objects.get(pk=row.pk)
    for report in (here, there.report):
        del report["provenance"]
    assert there.report == here
    assert len(there.results.get().labels) > 8
    page = Browser().get("/benchmarks/tiny")
    assert "Another" in page.content.decode()
    compared = Browser().get("/benchmarks/tiny/compare").content.decode()
    assert "on the organizer&#x27;s own machine" in compared


def test_an_invalid_file_is_explained_there_too(
    wire: Wire, send: Send, elsewhere: Any, gold_folder: Path
) -> None:
    row = send(zip_bytes({**PREDICTIONS, "Para": "10110x"}), benchmark=elsewhere)
    run(wire, gold_folder, 1)
    row.refresh_from_db()
    assert (row.status, row.report) == (Status.INVALID, None)
    assert row.problems["problems"][0]["file"] == "Para.tsv"


def test_only_a_token_of_an_organizer_gets_work(
    elsewhere: Benchmark, organizer: User, person: Any, send: Send
) -> None:
    send(benchmark=elsewhere)
    stranger = person("stranger@example.org")
    for user, scopes in ((organizer, ["read", "submit"]), (stranger, ["grade"])):
        with pytest.raises(RefusedByLeaderboardError) as refused:
            Wire(user, scopes).post("/work", {"benchmark": "tiny"})
        assert refused.value.status == 403
    assert Submission.objects.get().attempts == 0


def test_labels_that_are_here_are_not_graded_elsewhere(tiny: Benchmark, person: Any, send: Send) -> None:
    send()
    tiny.organizers.add(user := person("organizer@example.org"))
    with pytest.raises(RefusedByLeaderboardError):
        Wire(user, ["grade"]).post("/work", {"benchmark": "tiny"})
    with pytest.raises(SiteError):
        _ = Benchmark(name="x").gold_path


def test_a_cut_network_loses_nothing(wire: Wire, send: Send, elsewhere: Any, gold_folder: Path) -> None:
    rows = [send(name=name, benchmark=elsewhere) for name in "AB"]
    wire.cut = 3
    lines = run(wire, gold_folder, 2)
    assert lines.count("the network is cut") == 3
    assert {Submission.objects.get(pk=row.pk).status for row in rows} == {Status.GRADED}
    assert [Submission.objects.get(pk=row.pk).results.count() for row in rows] == [1, 1]


def test_who_lost_a_submission_cannot_write_its_result(wire: Wire, send: Send, elsewhere: Any) -> None:
    row = send(benchmark=elsewhere)
    task = wire.post("/work", {"benchmark": "tiny"})
    assert wire.post("/work", {"benchmark": "tiny"}) is None
    Submission.objects.filter(pk=row.pk).update(status=Status.QUEUED)  # a sweep has taken it back
    again = wire.post("/work", {"benchmark": "tiny"})
    assert (task["attempt"], again["attempt"]) == (1, 2)
    with pytest.raises(RefusedByLeaderboardError) as refused:
        wire.post(f"/work/{row.key}/1", {"error": "late"})
    assert refused.value.status == 404
    wire.post(f"/work/{row.key}/2", {"error": "The grader stopped."})
    with pytest.raises(RefusedByLeaderboardError) as refused:
        wire.post(f"/work/{row.key}/2", {"error": "once more"})
    assert refused.value.status == 409
    row.refresh_from_db()
    assert (row.status, row.failure) == (Status.FAILED, "The grader stopped.")


@pytest.mark.parametrize(
    "result", [{}, {"check": {}}, {"check": {"verdict": "valid", "problems": []}, "report": {"schema": "x"}}]
)
def test_what_is_no_result_is_refused_and_changes_nothing(
    wire: Wire, send: Send, elsewhere: Any, result: dict[str, Any]
) -> None:
    row = send(benchmark=elsewhere)
    wire.post("/work", {"benchmark": "tiny"})
    with pytest.raises(RefusedByLeaderboardError, match="take these values"):
        wire.post(f"/work/{row.key}/1", {"result": result})
    row.refresh_from_db()
    assert row.status == Status.RUNNING


def test_a_grader_that_dies_is_tried_again(wire: Wire, send: Send, elsewhere: Any) -> None:
    row = send(benchmark=elsewhere)
    for attempt in (1, 2, 3):
        assert wire.post("/work", {"benchmark": "tiny"})["attempt"] == attempt
        wire.post(f"/work/{row.key}/{attempt}", {"error": "It died.", "temporary": True})
    row.refresh_from_db()
    assert row.status == Status.FAILED


def test_a_machine_says_that_it_is_at_work(
    wire: Wire, send: Send, elsewhere: Any, gold_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = send(benchmark=elsewhere)
    graded = remote_worker._run

    def slow(*arguments: Any) -> Any:
        while wire.posted.count(f"/work/{row.key}/1") < 2:
            time.sleep(0.01)
        return graded(*arguments)

    monkeypatch.setattr(remote_worker, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(remote_worker, "_run", slow)
    monkeypatch.setattr(wire.browser, "post", serialized(wire.browser.post))
    run(wire, gold_folder, 1)
    assert Submission.objects.get().status == Status.GRADED


def serialized(post: Any) -> Any:
    """Only the test's own thread reaches the database; the beats of others are taken."""
    mine = threading.current_thread()

    class Taken:
        status_code, content = 204, b""

    return lambda *arguments, **options: (
        post(*arguments, **options) if threading.current_thread() is mine else Taken()
    )


def test_a_benchmark_is_added_without_labels_and_with_them_later(
    db: None, gold_folder: Path, tmp_path: Path, send: Send
) -> None:
    data = write_data(tmp_path / "data")
    assert add_benchmark(str(MANIFEST), None, data) == "tiny"
    row = Benchmark.objects.get()
    assert (row.gold, row.gold_digest, row.data_files.count() > 5) == ("", "", True)
    add_benchmark(str(MANIFEST), gold_folder)
    assert Benchmark.objects.get().gold_path.is_dir()


@pytest.mark.parametrize("options", [[], ["--gold", "gold", "--labels-elsewhere"]])
def test_the_command_asks_where_the_labels_are(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "gold").mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        answer = CliRunner().invoke(main, ["leaderboard", "add", str(MANIFEST), *options])
    assert (answer.exit_code, "Give --gold FOLDER, or --labels-elsewhere" in answer.output) == (2, True)


def mutations(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """For each value within a result: where it is, and others that a forger might put there."""
    for other in (None, "x", -1, 1e308, True, [], {}, [1], {"a": 1}, "\ud800", "\0", [[]], "<b>", 10**40):
        if type(other) is not type(value) or other != value:
            yield place, other
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items)[:3]:
        yield from mutations(inner, (*place, key))


def changed(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    copied = copy(value)
    copied[place[0]] = changed(value[place[0]], place[1:], other)
    return copied


@pytest.mark.parametrize("number", [15, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["valid", "incomplete", "invalid"])
def test_no_forged_result_of_a_machine_breaks_the_site(
    kind: str,
    number: int,
    wire: Wire,
    send: Send,
    gold_folder: Path,
    owner: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = {"Refer": PREDICTIONS["Refer"]} if kind == "incomplete" else PREDICTIONS
    row = send(zip_bytes({**PREDICTIONS, "Refer": "01x0"} if kind == "invalid" else some))
    honest: list[Any] = []
    post = wire.post

    def catch(path: str, values: Mapping[str, Any]) -> Any:
        if values.get("result"):
            honest.append(values["result"])
            raise RefusedByLeaderboardError(409, {"detail": "caught"})
        return post(path, values)

    monkeypatch.setattr(wire, "post", catch)
    run(wire, gold_folder, 1)
    Submission.objects.update(status=Status.QUEUED)
    assert honest[0]["check"]["verdict"] == kind
    wire.browser.raise_request_exception = owner.raise_request_exception = False
    forged = list(mutations(honest[0]))
    rng = random.Random(kind)
    for place, other in rng.sample(forged, min(number, len(forged))):
        Submission.objects.filter(pk=row.pk).update(status=Status.QUEUED, attempts=0, renewed=None)
        work = post("/work", {"benchmark": "tiny"})
        answer = wire.browser.post(
            f"/api/v1/work/{work['key']}/{work['attempt']}",
            json.dumps({"result": changed(honest[0], place, other)}),
            content_type="application/json",
        )
        assert answer.status_code in (204, 400, 422), (place, other)
        for page in (row.get_absolute_url(), f"{row.get_absolute_url()}.json", "/benchmarks/tiny"):
            shown = owner.get(page)
            assert shown.status_code in (200, 404), (place, other, page)
