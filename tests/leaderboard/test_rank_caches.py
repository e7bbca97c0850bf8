"""What the grader keeps of a board's systems: private, used again, and gone with its board."""

from __future__ import annotations

import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from leaderboard.material import PREDICTIONS, zip_bytes
from leaderboard.test_ranks import renewed

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.ranks import renewing
from gluebench.leaderboard.apps.ranks.models import Ranking
from gluebench.leaderboard.apps.ranks.renewing import cache_of, enqueue_outdated, forget_caches, renew_ranking
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.process import KilledGraderError, SlowGraderError

pytestmark = pytest.mark.django_db
Graded = Callable[..., Submission]


@pytest.fixture
def two(graded: Graded) -> list[Submission]:
    return [graded(name="One"), graded(zip_bytes({**PREDICTIONS, "Refer": "1011"}), name="Two")]


def entries(ranking: Ranking) -> set[str]:
    return {path.name for path in cache_of(ranking).rglob("*") if path.is_file()}


def test_the_grader_keeps_what_it_measured_for_the_site_s_account_alone(
    two: list[Submission], tiny: Benchmark, graded: Graded, own_grader: None
) -> None:
    """In the process of its own, with its limits of files and memory."""
    first = renewed(tiny)
    assert first.failure == ""
    kept = entries(first)
    assert kept
    assert stat.S_IMODE(cache_of(first).stat().st_mode) == 0o700
    assert stat.S_IMODE(settings.FOLDER.rank_caches.stat().st_mode) == 0o700
    graded(zip_bytes({**PREDICTIONS, "Refer": "0011"}), name="Three")
    second = renewed(tiny)
    assert len(second.systems) == 3
    of_systems = {name for name in kept if name.endswith(".npz")}
    assert of_systems & entries(second), "the measured systems are used again"


@pytest.mark.parametrize("stopped", [SlowGraderError, KilledGraderError])
def test_a_ranking_that_is_stopped_goes_on_from_what_it_kept(
    two: list[Submission], tiny: Benchmark, monkeypatch: pytest.MonkeyPatch, stopped: type[Exception]
) -> None:
    finish = renewing.run_grader
    attempts: list[str] = []

    def stops_twice(job: Any, **options: Any) -> Any:
        attempts.append(job["cache"])
        if len(attempts) > 2:
            return finish(job, **options)
        Path(job["cache"], f"measured-{len(attempts)}").write_bytes(b"")
        raise stopped("It took too long.")

    monkeypatch.setattr(renewing, "run_grader", stops_twice)
    enqueue_outdated()
    ranking = Ranking.objects.get()
    for _ in range(2):
        assert not renew_ranking.call(ranking.pk)
        ranking.refresh_from_db()
        assert (ranking.failure, ranking.asked) == ("", None)
        assert enqueue_outdated() == 1, "it is enqueued again"
    assert renew_ranking.call(ranking.pk)
    ranking.refresh_from_db()
    assert len(ranking.systems) == 2
    assert {*attempts} == {str(cache_of(ranking))}


def test_a_ranking_that_comes_no_further_has_failed(
    two: list[Submission], tiny: Benchmark, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    def stops(job: Any, **options: Any) -> Any:
        raise SlowGraderError("Grading took longer than 600 seconds and was stopped.")

    monkeypatch.setattr(renewing, "run_grader", stops)
    ranking = renewed(tiny)
    assert "600 seconds" in ranking.failure
    page = client.get("/benchmarks/tiny").content.decode()
    assert "The ranks could not be computed. Grading took longer than 600 seconds" in page
    assert client.get("/benchmarks/tiny/ranks/status.json").json() == {"final": True}
    assert enqueue_outdated() == 0


def test_a_damaged_or_lost_cache_is_made_again(two: list[Submission], tiny: Benchmark) -> None:
    first = renewed(tiny)
    for path in cache_of(first).rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    for _ in range(2):
        Ranking.objects.update(version=0, stamp="")
        again = renewed(tiny)
        assert (again.failure, again.systems, again.board) == ("", first.systems, first.board)
        for path in cache_of(first).rglob("*"):
            if path.is_file():
                path.unlink()


def test_caches_go_with_their_boards(two: list[Submission], tiny: Benchmark) -> None:
    ranking = renewed(tiny)
    folder = cache_of(ranking)
    forget_caches()
    assert folder.is_dir()
    two[1].public = False
    two[1].save()
    Benchmark.objects.filter(pk=tiny.pk).touch()
    renewed(tiny)
    assert not folder.exists(), "a single system is not ranked"
    folder.mkdir()
    Ranking.objects.all().delete()
    forget_caches()
    assert not folder.exists()


def test_each_phase_that_is_shown_has_a_ranking_of_its_own(
    tiny: Benchmark, graded: Graded, client: Client
) -> None:
    now, day = timezone.now(), timedelta(days=1)
    phases = []
    for name, closes in (("First", now + day), ("Second", None)):
        phase = Phase(benchmark=tiny, name=name, opens=now - 2 * day, closes=closes)
        save_phase(phase)
        graded(name=f"One of {name}")
        graded(zip_bytes({**PREDICTIONS, "Refer": "1011"}), name=f"Another of {name}")
        if closes:
            phase.opens, phase.closes = now - 4 * day, now - 3 * day
            save_phase(phase)
        phases.append(phase)
    assert enqueue_outdated() == 2
    for ranking in Ranking.objects.all():
        renew_ranking.call(ranking.pk)
    assert enqueue_outdated() == 0
    tiny.refresh_from_db()
    assert {ranking.version for ranking in Ranking.objects.all()} == {tiny.version}
    for phase in phases:
        page = client.get(f"/benchmarks/tiny?phase={phase.pk}").content.decode()
        assert "<b>1</b><i> · </i>–" in page
        assert "are being computed" not in page
        assert client.get(f"/benchmarks/tiny/ranks/status.json?phase={phase.pk}").json() == {"final": True}
    assert client.get("/benchmarks/tiny/ranks/status.json?phase=77").status_code == 404
