"""Results day: one act closes, reveals and makes the archive; what is in it equals the pages."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone
from leaderboard.material import CANARIES, GOLD, PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.ranks.models import Ranking
from gluebench.leaderboard.apps.ranks.places import RankWithSet
from gluebench.leaderboard.apps.ranks.renewing import enqueue_outdated, renew_ranking
from gluebench.leaderboard.apps.results.acts import make_due
from gluebench.leaderboard.apps.results.models import Results
from gluebench.leaderboard.apps.results.pack import certificate
from gluebench.leaderboard.apps.submissions.grading import grade, reveal_due
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status

pytestmark = pytest.mark.django_db
PAGE, HERE = "/benchmarks/tiny/results", "/benchmarks/tiny/organize/results"


@pytest.fixture
def organizer(tiny: Benchmark, person: Any) -> Client:
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def board(tiny: Benchmark, graded: Callable[..., Submission]) -> list[Submission]:
    worse = zip_bytes({**PREDICTIONS, "Refer": "1011", "Infer-mm": ["neutral"] * 3})
    return [
        graded(name="Best", team="Blue", description="# How"),
        graded(worse, name="Second"),
        graded(name="=Twin"),
    ]


def work(benchmark: Benchmark) -> None:
    """What workers do until nothing waits."""
    reveal_due()
    for row in Submission.objects.filter(status=Status.QUEUED):
        grade(row.pk)
    enqueue_outdated()
    renew_ranking.call(Ranking.objects.get(benchmark=benchmark).pk)
    make_due()


def archive(client: Client, address: str = f"{PAGE}.zip") -> dict[str, bytes]:
    answer = client.get(address)
    assert answer.status_code == 200
    data = b"".join(answer) if answer.streaming else answer.content
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_one_act_closes_and_makes_the_results(organizer: Client, tiny: Benchmark, board: Any) -> None:
    assert organizer.post(HERE, {"act": "announce"}).status_code == 422, "it has to be meant"
    assert Benchmark.objects.get().open
    assert organizer.post(HERE, {"act": "announce", "sure": "on", "reason": "The end"}).status_code == 302
    assert not Benchmark.objects.get().open
    assert organizer.get(PAGE).status_code == 404, "not before everything is ranked"
    assert "are being computed" in organizer.get(HERE).content.decode()
    work(tiny)
    page = Client().get(PAGE).content.decode()
    assert "1 · –" in page
    assert "has no rank set: too few examples on" in page
    row = Results.objects.get()
    assert row.sha256 in page
    assert "Final results" in Client().get("/benchmarks/tiny").content.decode()
    assert [entry.action for entry in Entry.objects.all()][:3] == ["results made", "results", "policy"]
    data = b"".join(Client().get(f"{PAGE}.zip"))
    assert hashlib.sha256(data).hexdigest() == row.sha256
    make_due()
    assert Results.objects.get().made == row.made, "it is made once"


def test_the_archive_has_what_the_pages_have(organizer: Client, tiny: Benchmark, board: Any) -> None:
    organizer.post(HERE, {"act": "announce", "sure": "on"})
    work(tiny)
    files = archive(Client())
    visitor = Client()
    for name, address in {
        "table.csv": "/benchmarks/tiny.csv",
        "table.tex": "/benchmarks/tiny.tex",
        "tasks/Para.csv": "/benchmarks/tiny/tasks/Para.csv",
        "pairs.csv": "/benchmarks/tiny/pairs.csv",
        "progress.csv": "/benchmarks/tiny/progress.csv",
    }.items():
        assert files[name] == visitor.get(address).content, name
    rows = list(csv.DictReader(io.StringIO(files["places.csv"].decode("utf-8-sig"))))
    assert [row["name"].lstrip("'") for row in rows] == [*("Best", "=Twin", "Second")]
    assert files["systems.bib"].count(b"@misc") == 3
    assert "## Best" in files["systems.md"].decode()
    for chart in ("charts/scores.svg", "charts/over-time.svg"):
        assert ElementTree.fromstring(files[chart]).tag.endswith("svg")
    assert not any(canary.encode() in data for data in files.values() for canary in CANARIES)
    assert not any(name.startswith("labels/") for name in files)


def test_labels_are_there_if_the_organizer_releases_them(
    organizer: Client, tiny: Benchmark, board: Any, gold_folder: Path
) -> None:
    organizer.post(HERE, {"act": "announce", "sure": "on", "labels": "on"})
    work(tiny)
    files = archive(Client())
    assert {name for name in files if name.startswith("labels/")} == {
        f"labels/{path.name}" for path in gold_folder.glob("*.tsv")
    }
    assert GOLD["Sim"][0].encode() in files["labels/Sim.tsv"]


def test_rows_that_were_held_back_count(organizer: Client, tiny: Benchmark, graded: Any) -> None:
    later = date.today() + timedelta(days=30)
    settings = {**tiny.settings, "public_share": 0.5, "reveal": later.isoformat()}
    Benchmark.objects.filter(pk=tiny.pk).update(settings=settings)
    row = graded(benchmark=Benchmark.objects.get())
    organizer.post(HERE, {"act": "announce", "sure": "on"})
    assert "not scored yet" in organizer.get(HERE).content.decode()
    work(tiny)
    assert Client().get(PAGE).status_code == 200
    assert row.results.count() == 2


def test_the_organizer_sees_a_draft_and_may_take_results_back(
    organizer: Client, tiny: Benchmark, board: Any
) -> None:
    assert "table.csv" in archive(organizer, f"{HERE}/draft.zip")
    organizer.post(HERE, {"act": "announce", "sure": "on"})
    work(tiny)
    assert organizer.post(HERE, {"act": "take-back", "reason": "A label was wrong"}).status_code == 302
    assert Client().get(PAGE).status_code == 404
    assert Entry.objects.first().reason == "A label was wrong"
    assert not Benchmark.objects.get().open


def test_phases_that_will_not_open_any_more_are_left_out(organizer: Client, tiny: Benchmark) -> None:
    now, day = timezone.now(), timedelta(days=1)
    for name, opens in (("Open now", now - day), ("Next month", now + 30 * day)):
        save_phase(Phase(benchmark=tiny, name=name, opens=opens, closes=opens + 2 * day))
    pages = ("/benchmarks/tiny", "/api/v1/benchmarks/tiny", "/api/v1/benchmarks/tiny/phases")
    assert all("Next month" in Client().get(page).content.decode() for page in pages)
    organizer.post(HERE, {"act": "announce", "sure": "on"})
    for page in pages:
        text = Client().get(page).content.decode()
        assert "Next month" not in text, page
        assert "Open now" in text, page
    phases = organizer.get("/benchmarks/tiny/organize/phases").content.decode()
    assert "Next month" in phases, "the organizer may still delete it"


def test_equal_results_give_equal_archives(organizer: Client, tiny: Benchmark, board: Any) -> None:
    from gluebench.leaderboard.apps.results.pack import pack

    at = timezone.now()
    assert pack(tiny, at, labels=False) == pack(tiny, at, labels=False)


def test_a_certificate_names_the_observed_rank_and_the_rank_set() -> None:
    assert certificate(RankWithSet(1, 1, 9), 300) == "1st by score of 300, true rank 1–9"
    assert (
        certificate(RankWithSet(2, 2, 2, by="rank score"), 1200) == "2nd by rank score of 1,200, true rank 2"
    )
    gone = RankWithSet(3, withheld="its predictions are no longer kept")
    assert certificate(gone, 4) == "3rd by score of 4; no rank set: its predictions are no longer kept"
