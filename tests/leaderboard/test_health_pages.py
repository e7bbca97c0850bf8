"""A benchmark's health: coarse for everybody, exact for organizers, and what needs no label in any case."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from leaderboard.test_ranks import renewed

pytestmark = pytest.mark.django_db
ROWS = 400
MANIFEST = f"""
[benchmark]
name = "large"
title = "Large"
references = [{{ name = "Human", scores = {{ score = 0.9 }}, source = "us" }}]

[tasks.Yes]
labels = {{ n = "no", y = "yes" }}
metrics = [{{ name = "accuracy" }}]
columns = ["sentence"]
splits.test.size = {ROWS}
references = [{{ name = "Human", scores = {{ accuracy = 0.95 }}, source = "us" }}]
"""


def table(heading: str, cells: list[str]) -> str:
    return f"index\t{heading}\n" + "".join(f"{at}\t{cell}\n" for at, cell in enumerate(cells))


def right(at: int) -> str:
    return "ny"[at % 2]


class Large:
    """A benchmark of one task; in the rows of `doubtful` every system contradicts the label."""

    def __init__(self, folder: Path, person: Callable[[str], Any]) -> None:
        from django.test import Client

        from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
        from gluebench.leaderboard.apps.benchmarks.models import Benchmark

        manifest, gold, data = folder / "large.toml", folder / "gold", folder / "data" / "Yes"
        gold.mkdir()
        data.mkdir(parents=True)
        manifest.write_text(MANIFEST)
        (gold / "Yes.tsv").write_text(table("label", [right(at) for at in range(ROWS)]))
        (data / "test.tsv").write_text(table("sentence", [f"sentence {at}" for at in range(ROWS)]))
        add_benchmark(str(manifest), gold, folder / "data")
        self.benchmark = Benchmark.objects.get(name="large")
        self.benchmark.settings = {"per_day": None, "at_once": None}
        self.benchmark.save()
        self.doubtful = [7, 123, 399]
        self.answers: list[list[str]] = []
        self.person, self.client = person, Client()
        self.organizer = person("org@example.org")
        self.benchmark.organizers.add(self.organizer)

    def send(self, number: int, *, skill: float, by: str = "") -> Any:
        from django.core.files.base import ContentFile

        from gluebench.leaderboard.apps.accounts.models import User
        from gluebench.leaderboard.apps.submissions.grading import grade
        from gluebench.leaderboard.apps.submissions.models import Submission
        from gluebench.leaderboard.apps.uploads.accept import accept

        rng = random.Random(number)
        wrong = {at for at in range(ROWS) if rng.random() > skill} | {*self.doubtful}
        cells = ["yn"[at % 2] if at in wrong else right(at) for at in range(ROWS)]
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("Yes.tsv", table("prediction", cells))
        email = by or f"p{number}@example.org"
        owner = User.objects.filter(email=email).first() or self.person(email)
        row = Submission(owner=owner, benchmark=self.benchmark, name=f"S{number}", model="M", public=True)
        sent = accept(row, ContentFile(data.getvalue(), name="run.zip"))
        grade(sent.pk)
        sent.refresh_from_db()
        if not by:
            self.answers.append(cells)
        return sent

    def rank(self) -> None:
        assert renewed(self.benchmark).failure == ""

    def json(self, address: str, *, organizer: bool = False) -> dict[str, Any]:
        if organizer:
            self.client.force_login(self.organizer)
        answer = self.client.get(f"/benchmarks/large/{address}.json")
        self.client.logout()
        return dict(answer.json())


@pytest.fixture
def large(tmp_path: Path, person: Callable[[str], Any]) -> Large:
    made = Large(tmp_path, person)
    for number, skill in enumerate((0.9, 0.85, 0.8)):
        made.send(number, skill=skill)
    made.send(9, skill=0.6, by="p0@example.org")
    made.rank()
    return made


def counted(large: Large) -> dict[str, list[int]]:
    """Rows that all, or none, of the best systems of each person have right, by a plain loop."""
    wrong = [[column[at] != right(at) for column in large.answers] for at in range(ROWS)]
    return {
        "all": [at for at in range(ROWS) if not any(wrong[at])],
        "none": [at for at in range(ROWS) if all(wrong[at])],
    }


def test_organizers_see_counts_and_the_rows_of_doubtful_labels(large: Large) -> None:
    facts = large.json("organize/health", organizer=True)["facts"]
    rows, task = counted(large), facts["tasks"]["Yes"]
    assert (facts["systems"], task["all"], task["none"]) == (3, len(rows["all"]), len(rows["none"]))
    assert task["rows"] == [["Yes", at] for at in rows["none"]]
    assert {*large.doubtful} <= {at for _, at in task["rows"]}
    large.client.force_login(large.organizer)
    page = large.client.get("/benchmarks/large/organize/health").content.decode()
    assert "Yes 123" in page
    assert f"{len(rows['all'])} (" in page


def test_the_public_sees_shares_in_steps_and_no_row(large: Large) -> None:
    shown = large.json("health")
    task, rows = shown["shares"]["tasks"]["Yes"], counted(large)
    for name in ("all", "none"):
        assert task[name] == pytest.approx(round(len(rows[name]) / ROWS / 0.05) * 0.05)
    assert "rows" not in json.dumps(shown)
    assert large.client.get("/api/v1/benchmarks/large/health").json() == shown
    page = large.client.get("/benchmarks/large/health").content.decode()
    assert "under 2.5 %" in page
    assert "Yes 123" not in page
    assert large.client.get("/benchmarks/large/organize/health.json").status_code == 302


@pytest.mark.parametrize(("share", "text"), [(0.0, "under 5"), (0.4, "about 40"), (1.0, "about 100")])
def test_the_public_sees_the_share_of_divisions_as_rounded_as_it_is(
    large: Large, share: float, text: str
) -> None:
    """It said "0.0 % of random divisions", beside "rounded to 10 %"."""
    from django.core.cache import caches

    from gluebench.leaderboard.apps.ranks.models import Ranking

    ranking = Ranking.objects.get()
    assert ranking.board is not None
    ranking.board["shares"]["stability"] = share
    ranking.save()
    caches["pages"].clear()
    page = large.client.get("/benchmarks/large/health").content.decode()
    assert f"in {text}&nbsp;% of random divisions" in page


def test_head_room_is_that_of_the_best_score_shown(large: Large) -> None:
    scores = large.client.get("/benchmarks/large.json").json()["rows"]
    best = max(row["score"]["value"] for row in scores)
    average, task = large.json("health")["headroom"]
    assert (average["best"], average["to_highest"]) == (best, pytest.approx(1 - best))
    assert average["to_human"] == pytest.approx(0.9 - best)
    assert task["to_human"] == pytest.approx(0.95 - best)


def test_attempts_failures_and_times_are_those_of_the_submissions(large: Large) -> None:
    from gluebench.leaderboard.apps.submissions.models import Submission

    rows = list(Submission.objects.order_by("pk"))
    bad = Submission.objects.create(
        **{name: getattr(rows[0], name) for name in ("owner", "benchmark", "sha256", "size", "file")},
        status="invalid",
        problems={"problems": [{"code": "duplicate", "severity": "error"}] * 2},
    )
    for row, waited in zip(rows, (1, 2, 3, 40), strict=True):
        begun = row.submitted + timedelta(seconds=waited)
        Submission.objects.filter(pk=row.pk).update(begun=begun, finished=begun + timedelta(seconds=5))
    Submission.objects.filter(pk=bad.pk).update(begun=None)
    facts = large.json("organize/health", organizer=True)
    first, second = facts["attempts"]
    assert (first["people"], second["people"]) == (3, 1)
    assert first["mean"] == pytest.approx(sum(row.value for row in rows[:3]) / 3)
    assert second["gain"] == pytest.approx(rows[3].value - rows[0].value)
    assert facts["failures"] == [["duplicate", 1]]
    assert (facts["queue"]["waiting"], facts["queue"]["of"], facts["queue"]["graded"]) == (0, 4, [5.0, 5.0])
    assert facts["queue"]["waited"][0] == 2.5
    assert facts["near_duplicates"] is None


def test_without_labels_here_the_page_names_what_is_missing(large: Large) -> None:
    type(large.benchmark).objects.filter(pk=large.benchmark.pk).update(gold="")
    large.client.force_login(large.organizer)
    for address in ("organize/health", "health"):
        page = large.client.get(f"/benchmarks/large/{address}").content.decode()
        assert "on the organizer&#x27;s own machine" in page
        assert "Not available: the rows that all or none solve" in page
    facts = large.json("organize/health", organizer=True)
    assert facts["facts"] is None
    assert facts["headroom"][0]["best"] is not None


def test_a_row_of_people_is_not_among_the_leading_systems(large: Large) -> None:
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.submissions.queries import Kind

    Submission.objects.filter(name="S0").update(kind=Kind.HUMAN)
    type(large.benchmark).objects.filter(pk=large.benchmark.pk).touch()
    large.rank()
    facts = large.json("organize/health", organizer=True)["facts"]
    assert facts["systems"] == 3  # the other submission of the same person takes its place
