"""The rules of two shared tasks as phases, with made submissions: the final tables are as their rules say."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone
from leaderboard.material import GOLD, zip_bytes

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import read_policy
from gluebench.leaderboard.apps.limits.acts import set_policy
from gluebench.leaderboard.apps.limits.quota import QuotaError
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.submissions import acts, grading
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.apps.uploads.accept import accept

LAST_OF_FIVE = """
per_day = "none"
at_once = "none"

[[phases]]
name = "Development"
opens = "2024-01-01 00:00"
closes = "2024-01-09 23:59"
zone = "AoE"
settings = { total = 999 }

[[phases]]
name = "Evaluation"
opens = "2024-01-11 00:00"
closes = "2024-01-31 23:59"
zone = "AoE"
settings = { total = 5, feedback = "with-board" }
shown = "closed"
counting = "last"
late = "graded"
"""
"""SemEval-2024 Task 5: 999 runs in development; 5 in the evaluation, of which the last counts."""

TWO_FINALS = """
per_day = 5
at_once = "none"
window = "calendar"

[[phases]]
name = "Competition"
opens = "2021-12-14 00:00"
closes = "2022-03-15 23:59"
rows = "both"
share = 0.5
counting = "chosen"
most = 2
otherwise = "best"
late = "refused"
"""
"""The Feedback Prize on Kaggle: five a day, a public and a private board, up to two chosen runs are final."""

ANSWERS = [f"{number:06b}" for number in range(64)]
"""All answers to the six examples of the task that the systems differ in."""


class Run(NamedTuple):
    """A file that somebody sends."""

    who: str
    at: datetime
    answers: str
    name: str
    chosen: bool = False


def files(answers: str) -> bytes:
    return zip_bytes({**GOLD, "Sim": ["1.5", "2.5", "0.5", "4", "3.5"], "Para": answers})


def quality(answers: str) -> float:
    """Mean of accuracy and F1, by counting."""
    gold = "".join(GOLD["Para"])
    right = sum(one == other for one, other in zip(answers, gold, strict=True))
    both = sum(one == other == "1" for one, other in zip(answers, gold, strict=True))
    marked = answers.count("1") + gold.count("1")
    return (right / len(gold) + 2 * both / marked) / 2


@pytest.fixture
def play(tiny: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[Run]]:
    """Send the runs of a task in their order, each at its time; returns those that were taken."""
    now = [datetime(2020, 1, 1, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: now[0])

    def played(
        policy: str, runs: Sequence[Run], end: datetime, *, choose: datetime | None = None
    ) -> list[Run]:
        file = tmp_path / "policy.toml"
        file.write_text(policy)
        set_policy("tiny", read_policy(file))
        taken = []
        for run in sorted(runs, key=lambda run: run.at):
            now[0] = run.at
            user, _ = User.objects.get_or_create(email=f"{run.who}@example.org")
            row = Submission(owner=user, benchmark=Benchmark.objects.get(), name=run.name, model="m")
            row.public, row.began = True, run.at
            try:
                grading.grade(accept(row, ContentFile(files(run.answers), name="run.zip")).pk)
            except QuotaError:
                continue
            taken.append(run)
        for run in taken:
            if choose and run.chosen:
                now[0] = choose
                row = Submission.objects.get(name=run.name)
                acts.choose(row, row.owner, chosen=True)
        now[0] = end
        grading.phases_due()
        for row in Submission.objects.filter(status=Status.QUEUED).order_by("pk"):
            grading.grade(row.pk)
        return taken

    return played


def runs_between(draw: random.Random, first: datetime, last: datetime, number: int, kind: str) -> list[Run]:
    span = int((last - first).total_seconds())
    return [
        Run(
            draw.choice("ab"),
            first + timedelta(seconds=draw.randrange(span)),
            draw.choice(ANSWERS),
            f"{kind} {at}",
        )
        for at in range(number)
    ]


def table(query: str = "") -> list[str]:
    return [row["name"] for row in Client().get(f"/benchmarks/tiny.json{query}").json()["rows"]]


def test_the_last_of_five_counts(play: Callable[..., list[Run]]) -> None:
    draw = random.Random(5)
    closes = datetime(2024, 2, 1, 12, 0, tzinfo=UTC)  # 31 January, 24:00, at UTC-12
    developed = runs_between(
        draw, datetime(2024, 1, 2, tzinfo=UTC), datetime(2024, 1, 10, tzinfo=UTC), 2, "dev"
    )
    opens = datetime(2024, 1, 11, 12, 0, tzinfo=UTC)
    evaluated = runs_between(draw, opens, closes, 13, "run")
    late = [Run(who, closes + timedelta(hours=1), "101100", f"late {who}") for who in "ab"]
    play(LAST_OF_FIVE, [*developed, *evaluated, *late], closes + timedelta(days=1))

    finals: dict[str, Run] = {}
    for who in "ab":
        mine = sorted((run for run in evaluated if run.who == who), key=lambda run: run.at)[:5]
        for run in mine:
            finals[who] = run
    shown = table()
    assert sorted(shown) == sorted(run.name for run in finals.values())
    rows = {row.name: row for row in Submission.objects.all()}
    values = [rows[name].value for name in shown]
    assert values == sorted(values, reverse=True)
    for run in finals.values():
        report = rows[run.name].results.first().report
        assert report["tasks"]["Para"]["score"]["value"] == pytest.approx(quality(run.answers))
    assert sorted(table(f"?phase={Phase.objects.get(name='Development').pk}")) == sorted(
        run.name for run in developed
    )
    assert set(Submission.objects.filter(late=True).values_list("name", flat=True)) <= {"late a", "late b"}


def test_up_to_two_chosen_runs_are_final_on_the_private_rows(play: Callable[..., list[Run]]) -> None:
    draw = random.Random(5)
    closes = datetime(2022, 3, 16, tzinfo=UTC)
    runs = runs_between(draw, closes - timedelta(days=1), closes, 13, "run")
    picks = {who: draw.sample([run.name for run in runs if run.who == who], 2) for who in "a"}
    runs = [run._replace(chosen=run.name in picks.get(run.who, [])) for run in runs]
    refused = [Run("a", closes + timedelta(minutes=1), "101100", "too late")]
    end = closes + timedelta(minutes=10)  # until then, uploads that began in time may end
    taken = play(TWO_FINALS, [*runs, *refused], end, choose=closes - timedelta(seconds=1))

    allowed = []
    for run in sorted(runs, key=lambda run: run.at):
        if sum((one.who, one.at.date()) == (run.who, run.at.date()) for one in allowed) < 5:
            allowed.append(run)
    assert [run.name for run in taken] == [run.name for run in allowed]
    expected = set()
    for who in "ab":
        mine = [run.name for run in allowed if run.who == who]
        chosen = [run.name for run in allowed if run.who == who and run.chosen]
        public = {name: first_score(name) for name in mine}
        best = [name for name in mine if public[name] == max(public.values())][:1]
        expected |= {*(chosen or best)}
    shown = table()
    assert len(taken) < len(runs)
    assert set(shown) == expected
    rows = {row.name: row for row in Submission.objects.all()}
    finals = [rows[name].value for name in shown]
    assert finals == sorted(finals, reverse=True)
    counts = {counted_rows(rows[name]) for name in shown}
    assert len(counts) == 1
    assert sum(counts.pop()) == len(GOLD["Para"])


def first_score(name: str) -> float:
    """What a run scored on the public rows, from the grading before the last one."""
    results = Submission.objects.get(name=name).results.order_by("pk")
    assert results.count() == 2
    return float(results[0].scores["score"]["value"])


def counted_rows(row: Submission) -> tuple[int, ...]:
    """How many rows each grading counted: those of the public share, then the others."""
    reports = [result.report for result in row.results.order_by("pk")]
    return tuple(report["tasks"]["Para"]["metrics"]["accuracy"]["n"] for report in reports)  # type: ignore[index]
