"""What a policy lets be seen of a result, and the history of results, through the real grader's process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from leaderboard.material import MANIFEST, PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import Policy, policy_of, sentences
from gluebench.leaderboard.apps.submissions import acts, facts, feedback, grading
from gluebench.leaderboard.apps.submissions.models import Result, Submission
from gluebench.leaderboard.apps.submissions.queries import Status

Send = Callable[..., Submission]

WORSE = {**PREDICTIONS, "Refer": "1011", "Para": "010011"}

ALLOWED = {"per_day": None, "at_once": None}


@pytest.fixture
def policy(tiny: Any) -> Callable[..., None]:
    def put(**values: Any) -> None:
        before = Benchmark.objects.get(pk=tiny.pk).policy
        Benchmark.objects.filter(pk=tiny.pk).update(settings=policy_of({**ALLOWED, **values}).as_dict())
        tiny.refresh_from_db()
        grading.follow_policy(Benchmark.objects.get(pk=tiny.pk), before)

    return put


def work() -> None:
    """Grade whatever waits, oldest last: the order must not matter."""
    for _ in range(10):
        waiting = list(
            Submission.objects.waiting().order_by("-submitted", "-pk").values_list("pk", flat=True)
        )
        for pk in waiting:
            grading.grade(pk)


def task(submission: Submission, name: str) -> float | None:
    submission.refresh_from_db()
    score = submission.report["tasks"][name]["score"]
    return score["value"] if score else None


def as_shown(submission: Submission) -> dict[str, Any]:
    """Its own latest report, rounded: what everybody may see off the Ladder."""
    result = submission.results.first()
    return feedback.as_shown(result.report, submission.benchmark.record, smallest=30)


def test_every_grading_adds_a_result_and_the_same_labels_give_the_same_bytes(graded: Send, tiny: Any) -> None:
    submission = graded()
    grading.regrade(tiny, "To see whether anything changes.")
    work()
    newest, first = submission.results.all()
    assert (first.why, newest.why) == ("", "To see whether anything changes.")
    assert json.dumps(newest.report) == json.dumps(first.report)
    assert newest.labels == first.labels == tiny.gold_digest
    assert newest.package == newest.report["provenance"]["version"]


def test_new_labels_keep_both_results_side_by_side(
    graded: Send, client: Any, gold_folder: Path, tmp_path: Path
) -> None:
    submission = graded()
    other = shutil.copytree(gold_folder, tmp_path / "other")
    (other / "Refer.tsv").write_text("index\tlabel\n0\t1\n1\t1\n2\t0\n3\t0\n")
    add_benchmark(str(MANIFEST), other)
    work()
    submission.refresh_from_db()
    found = facts.history_of(submission)
    assert found is not None
    assert [each["why"] for each in found["gradings"]] == ["The labels changed.", ""]
    assert len({each["report__provenance"]["labels"] for each in found["gradings"]}) == 2
    assert dict(found["lines"])["Refer"] == ["85.4", "100.0"], "three of four, to what four can tell"
    page = client.get(submission.get_absolute_url()).content.decode()
    assert "The labels changed." in page
    assert "<b>85.4</b>" in page, "what changed stands out"
    assert submission.benchmark.gold_digest not in page, "a plain digest of labels can be guessed at"
    assert Entry.objects.filter(action="labels").count() == 1


def test_mended_labels_keep_the_key_beside_them(tiny: Any, gold_folder: Path, tmp_path: Path) -> None:
    first = (tiny.gold_path / ".label-key").read_bytes()
    other = shutil.copytree(gold_folder, tmp_path / "other", ignore=shutil.ignore_patterns(".label-key"))
    (other / "Refer.tsv").write_text("index\tlabel\n0\t1\n1\t1\n2\t0\n3\t0\n")
    add_benchmark(str(MANIFEST), other)
    assert (Benchmark.objects.get(pk=tiny.pk).gold_path / ".label-key").read_bytes() == first


def test_a_worker_from_before_a_regrading_writes_nothing(send: Send, tiny: Any) -> None:
    submission = send()
    assert Submission.objects.claim(submission.pk)
    submission.refresh_from_db()
    stale = Submission.objects.with_lease(submission.pk, submission.attempts)
    grading.regrade(tiny, "New labels.")
    assert Submission.objects.claim(submission.pk), "another worker takes it"
    assert not stale.exists()
    submission.refresh_from_db()
    assert (submission.attempts, submission.spent) == (2, 1)


def test_the_ladder_shows_the_best_again(tiny: Any, send: Send, policy: Callable[..., None]) -> None:
    policy(feedback="ladder")
    bad, good, worse = send(zip_bytes(WORSE)), send(name="B"), send(zip_bytes(WORSE), name="C")
    work()
    assert task(bad, "Refer") == 0.0
    assert task(good, "Refer") == 1.0
    assert task(worse, "Refer") == 1.0, "the best again"
    truth = worse.results.get()
    assert truth.report["tasks"]["Refer"]["score"]["value"] == 0.0, "organizers have the whole truth"
    assert truth.best["Refer"] == good.key
    assert any(warning.startswith("Para, ") for warning in worse.report["warnings"])
    assert worse.value == good.value
    assert worse.scores["score"] == good.scores["score"]


def test_the_ladder_is_replayed_in_order_when_labels_change(
    tiny: Any, send: Send, policy: Callable[..., None], gold_folder: Path, tmp_path: Path
) -> None:
    policy(feedback="ladder")
    rows = [send(zip_bytes(WORSE)), send(name="B"), send(zip_bytes(WORSE), name="C")]
    work()
    other = shutil.copytree(gold_folder, tmp_path / "other")
    (other / "Refer.tsv").write_text("index\tlabel\n0\t1\n1\t0\n2\t1\n3\t1\n")
    add_benchmark(str(MANIFEST), other)
    work()
    assert [task(each, "Refer") for each in rows] == [1.0, 1.0, 1.0], "now the first is the best"
    assert {each.results.first().best["Refer"] for each in rows} == {rows[0].key}


def test_the_ladder_takes_people_apart_and_turns_in_order(
    send: Send, policy: Callable[..., None], person: Callable[[str], Any]
) -> None:
    policy(feedback="ladder")
    first, second = send(), send(zip_bytes(WORSE), name="B")
    other = send(zip_bytes(WORSE), name="C", owner=person("bob@example.org"))
    grading.grade(second.pk)
    second.refresh_from_db()
    assert (second.status, second.attempts) == (Status.QUEUED, 0), "its turn is after the first's"
    grading.grade(other.pk)
    assert task(other, "Refer") == 0.0, "another person's first"
    work()
    assert task(second, "Refer") == task(first, "Refer") == 1.0


def test_a_report_is_withheld_until_it_is_published(
    client: Any, ada: Any, graded: Send, policy: Callable[..., None]
) -> None:
    policy(feedback="on-publish")
    submission = graded(public=False)
    assert (submission.status, submission.report, submission.value) == (Status.GRADED, None, None)
    client.force_login(ada)
    page = client.get(submission.get_absolute_url())
    assert "once its author publishes" in page.content.decode()
    assert client.get(submission.get_absolute_url() + ".json").json()["report"] is None
    client.post(submission.get_absolute_url() + "/publish", {"public": "1"})
    submission.refresh_from_db()
    assert submission.report == as_shown(submission)
    assert submission.scores is not None
    assert graded(name="B", public=True).report is not None


def test_what_is_withdrawn_is_not_published(graded: Send, policy: Callable[..., None]) -> None:
    policy(feedback="on-publish")
    submission = graded(public=False)
    acts.withdraw(submission)
    hidden = acts.publish(submission, public=True)
    assert (hidden.published, hidden.report, hidden.value) == (None, None, None)
    shown = acts.restore(submission)
    assert shown.published is not None
    assert shown.report == as_shown(submission)


def test_small_categories_are_withheld_unless_the_labels_are_public(graded: Send, tiny: Any) -> None:
    report = graded().results.get().report
    record = tiny.record
    for private, shown in (
        (True, None),
        (None, None),
        (False, report["diagnostics"]["DX"]["fine"]["Negation"]["value"]),
    ):
        tasks = tuple(each._replace(private=private) if each.name == "DX" else each for each in record.tasks)
        found = feedback.as_shown(report, record._replace(tasks=tasks), smallest=4)
        assert found["diagnostics"]["DX"]["fine"]["Negation"]["value"] == shown
        assert found["diagnostics"]["DX"]["overall"] == report["diagnostics"]["DX"]["overall"]
        if private is not False:
            assert (
                found["diagnostics"]["DX"]["coarse"]["Logic"]
                == report["diagnostics"]["DX"]["coarse"]["Logic"]
            ), "4"
            assert found["diagnostics"]["DX"]["fine"]["Negation"]["withheld"] == "fewer than 4 examples"


def test_rows_are_held_back_until_the_reveal_and_both_results_are_kept(
    tiny: Any, graded: Send, policy: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tomorrow = timezone.now().date() + timedelta(days=1)
    policy(public_share=0.5, reveal=tomorrow.isoformat())
    submission = graded(zip_bytes(WORSE))
    assert submission.report["provenance"]["rows"] == "public"
    assert submission.report["complete"]
    sizes = {name: found["score"]["n"] for name, found in submission.report["tasks"].items()}
    grading.reveal_due()
    assert Submission.objects.get().status == Status.GRADED, "not yet"
    monkeypatch.setattr(grading, "_reveal_is_due", lambda policy: True)
    grading.reveal_due()
    grading.reveal_due()
    assert Entry.objects.filter(action="reveal").count() == 1
    work()
    submission.refresh_from_db()
    assert submission.report["provenance"]["rows"] == "held back"
    for name, found in submission.report["tasks"].items():
        total = sum(file.size() for file in tiny.record.task(name).files)
        assert found["score"]["n"] + sizes[name] == total
    assert [result.report["provenance"]["rows"] for result in submission.results.all()] == [
        "held back",
        "public",
    ]
    assert submission.results.first().why == "The rows that were held back count now."


def test_the_reveal_ends_the_ladder_for_what_was_sent_before(
    graded: Send, policy: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(feedback="ladder", public_share=0.5, reveal="2999-01-01")
    graded()
    worse = graded(zip_bytes(WORSE), name="B")
    assert worse.report != as_shown(worse)
    monkeypatch.setattr(grading, "_reveal_is_due", lambda policy: True)
    grading.reveal_due()
    work()
    worse.refresh_from_db()
    assert worse.report == as_shown(worse)


def test_another_policy_shows_or_grades_anew(graded: Send, policy: Callable[..., None]) -> None:
    submission = graded(public=False)
    policy(feedback="on-publish")
    submission.refresh_from_db()
    assert (submission.status, submission.report) == (Status.GRADED, None)
    policy()
    submission.refresh_from_db()
    assert submission.report is not None
    assert submission.results.count() == 1
    policy(feedback="ladder")
    assert Submission.objects.get().status == Status.QUEUED


def test_a_killed_grader_is_tried_again_and_then_given_up(
    send: Send, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    from gluebench.leaderboard.apps.submissions import process

    start = process._start
    killed = []

    def kill(*arguments: Any) -> Any:
        child = start(*arguments)
        if len(killed) < 1:
            child.kill()
            killed.append(child)
        return child

    monkeypatch.setattr(process, "_start", kill)
    submission = send()
    work()
    submission.refresh_from_db()
    assert (submission.status, submission.attempts, submission.results.count()) == (Status.GRADED, 2, 1)
    monkeypatch.setattr(process, "_start", lambda *arguments: _killed(start(*arguments)))
    hopeless = send(name="B")
    work()
    hopeless.refresh_from_db()
    assert (hopeless.status, hopeless.attempts) == (Status.FAILED, settings.GRADER_ATTEMPTS)
    assert "SIGKILL" in hopeless.failure


def _killed(child: Any) -> Any:
    child.kill()
    return child


def test_a_policy_is_told_in_sentences() -> None:
    usual = sentences(Policy())
    assert "You may send 2 within 24 hours; what is not valid or fails does not count." in usual
    assert "You see the full report as soon as it is graded." in usual
    assert any("fewer than 30 examples" in each for each in usual)
    assert not any("fewer than" in each for each in sentences(Policy(), categories=False))
    split = Policy(
        public_share=0.3, reveal=date(2027, 6, 30), feedback="ladder", per="team", window="calendar"
    )
    told = " ".join(sentences(split))
    assert "about 30 % of the rows" in told
    assert "on 30 June 2027" in told
    assert "beats the best that your team sent" in told
    assert "Your team may send 2 a day (UTC)" in told
    assert "held back until the reveal" in " ".join(sentences(split, revealed=True))


def test_the_form_tells_the_policy(client: Any, ada: Any, tiny: Any) -> None:
    client.force_login(ada)
    tiny.settings = {}
    tiny.save(update_fields=["settings"])
    assert "You may send 2 within 24 hours" in client.get(f"/benchmarks/{tiny.name}/submit").content.decode()


def test_the_bound_is_told_while_it_waits(client: Any, ada: Any, send: Send) -> None:
    client.force_login(ada)
    page = client.get(send().get_absolute_url()).content.decode()
    assert f"at most {grading.bound_minutes()} minutes" in page


def test_results_are_no_part_of_what_is_public(
    client: Any, graded: Send, policy: Callable[..., None]
) -> None:
    policy(feedback="ladder")
    graded()
    worse = graded(zip_bytes(WORSE), name="B")
    truth = Result.objects.get(submission=worse).report["score"]["value"]
    for address in (worse.get_absolute_url(), worse.get_absolute_url() + ".json", "/benchmarks/tiny.json"):
        assert f"{truth:.6g}" not in client.get(address).content.decode()


@pytest.mark.parametrize("stated", ["", "private = true\n"])
@pytest.mark.parametrize("feedback", ["full", "ladder", "on-publish"])
def test_full_digits_are_the_organizer_s_alone(
    client: Client,
    ada: Any,
    graded: Send,
    tiny: Any,
    policy: Callable[..., None],
    feedback: str,
    stated: str,
) -> None:
    """Nothing that can be fetched has a correlation's digits: a few of them tell a label."""
    text = tiny.manifest.replace('title = "Similarity"\n', f'title = "Similarity"\n{stated}')
    type(tiny).objects.filter(pk=tiny.pk).update(manifest=text)
    policy(feedback=feedback)
    submission = graded()
    digits = str(submission.results.get().report["tasks"]["Sim"]["metrics"]["pearson"]["value"])[2:8]
    assert digits.isdigit()
    client.force_login(ada)
    own, board, api = submission.get_absolute_url(), "/benchmarks/tiny", "/api/v1"
    addresses = [
        own,
        f"{own}.json",
        *(f"{board}{end}" for end in ("", ".json", ".csv", ".md", ".tex", "/Sim", "/Sim.json", "/Sim.csv")),
        *(f"{board}/{page}{end}" for page in ("efficiency", "progress") for end in ("", ".json", ".csv")),
        *(f"{board}/{page}" for page in ("health", "health.json")),
        f"{api}{board}/board",
        *(f"{api}/submissions/{submission.key}{end}" for end in ("", "/report", "/history")),
    ]
    for address in addresses:
        answer = client.get(address)
        assert digits not in answer.content.decode(), address
    score = submission.results.get().report["score"]["value"]
    shown = client.get(f"{api}/submissions/{submission.key}/history").json()["results"][0]["score"]
    assert shown == submission.scores["score"]
    assert shown["value"] != score
