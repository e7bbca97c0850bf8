"""Background tasks that renew rankings and compare pairs of systems for pages, after gradings.

Only the grader's process opens labels; this module prepares its jobs and stores its results.
"""

import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django_tasks import task

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.phases.models import at_phase, on_board, phase_on_board
from gluebench.leaderboard.apps.ranks import models
from gluebench.leaderboard.apps.ranks.models import (
    Decisions,
    Pair,
    Ranking,
    comparable,
    stamp_of,
    systems_by_rank,
)
from gluebench.leaderboard.apps.ranks.sets import counts_of
from gluebench.leaderboard.apps.submissions import process
from gluebench.leaderboard.apps.submissions.grading import job_of, stopping
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.process import GraderError, local_paths, run_grader
from gluebench.leaderboard.keeping.folder import make_private

AFTER_GRADING = -10
"""Priority of a task: below that of gradings."""
GIVEN_UP = timedelta(minutes=30)
"""Time after which a worker that has not finished counts as dead."""
PATIENCE = timedelta(minutes=10)
"""Time for which waiting submissions go before a ranking; after it, the ranking is computed anyway."""
MOST_WAITING = 50
"""Pairs that may wait at a time: anybody may ask for one."""
MOST_KEPT = 5000
"""Pairs that are kept, the newest ones."""


FILE_BYTES = 1024**3
"""Largest file that the grader may write of a ranking: covariances grow with the square of the systems."""


def enqueue_outdated() -> int:
    """Enqueue the rankings that are out of date; return how many."""
    number = 0
    outdated = Ranking.objects.exclude(version=F("benchmark__version")).values("benchmark")
    for benchmark in Benchmark.objects.filter(Q(rankings=None) | Q(pk__in=outdated)):
        boards = _boards(benchmark)
        phases = [board.board_phase for board in boards]
        for ranking in benchmark.rankings.defer("board", "pairs", "health"):
            if ranking.phase_id not in phases:
                _forget_cache(ranking)
                ranking.delete()
        for board in boards:
            if _renew_when_due(board):
                number += 1
    return number


def _boards(benchmark: Benchmark) -> list[Benchmark]:
    """The benchmark as each of its boards shows it: the usual one, then those of its other shown phases."""
    boards = [on_board(benchmark)]
    for phase in benchmark.phases.all():
        if phase.is_shown and phase.pk != benchmark.board_phase:
            boards.append(at_phase(benchmark, phase))
    return boards


def _renew_when_due(board: Benchmark) -> bool:
    """Enqueue the ranking of a board if it is out of date; return whether it was enqueued."""
    now = timezone.now()
    rankings = Ranking.objects.defer("board", "pairs", "health")
    ranking, _ = rankings.get_or_create(benchmark=board, phase=phase_on_board(board))
    if ranking.version == board.version:
        return False
    if ranking.stamp == stamp_of(board, systems_by_rank(board)):
        _settle(ranking, ranking.stamp)
        return False
    rows = Ranking.objects.filter(pk=ranking.pk)
    rows.filter(since=None).update(since=now)
    if not rows.filter(Q(asked=None) | Q(asked__lt=now - GIVEN_UP)).update(asked=now):
        return False
    renew_ranking.enqueue(ranking.pk)
    return True


def _settle(
    ranking: Ranking, stamp: str, decisions: Sequence[Decisions] | None = None, **values: Any
) -> None:
    """Store a computed ranking, and mark the benchmark's pages as changed.

    The benchmark's row is locked first, so that `enqueue_outdated` notices every
    change that is not noticed here.
    """
    with transaction.atomic():
        Benchmark.objects.filter(pk=ranking.benchmark_id).touch()
        benchmark = Benchmark.objects.get(pk=ranking.benchmark_id)
        board = at_phase(benchmark, ranking.phase)
        state: Values = {"stamp": stamp, "asked": None}
        if stamp_of(board, systems_by_rank(board)) == stamp:
            state |= {"version": benchmark.version, "since": None}
        Ranking.objects.filter(pk=ranking.pk).update(**state, **values)
        # That this ranking is there changes nothing that those of the benchmark's other boards depend on.
        others = Ranking.objects.filter(benchmark=benchmark, version=benchmark.version - 1)
        others.exclude(pk=ranking.pk).update(version=benchmark.version)
        if decisions is not None:
            ranking.decisions.all().delete()
            Decisions.objects.bulk_create(decisions)


@task(priority=AFTER_GRADING)
def renew_ranking(pk: int) -> bool:
    """Compute a ranking in the worker, after waiting submissions; return whether it was computed."""
    rankings = Ranking.objects.select_related("benchmark", "phase").defer("board", "pairs", "health")
    ranking = rankings.filter(pk=pk).first()
    if ranking is None:
        return False
    board = at_phase(ranking.benchmark, ranking.phase)
    systems = systems_by_rank(board)
    stamp = stamp_of(board, systems)
    nothing: Values = {
        "systems": [],
        "board": None,
        "pairs": None,
        "health": None,
        "failure": "",
        "at": timezone.now(),
    }
    if len(systems) < 2:
        _forget_cache(ranking)
        _settle(ranking, stamp, [], **nothing)
        return True
    overdue = (ranking.since or timezone.now()) + PATIENCE
    cache = cache_of(ranking)
    make_private(cache)
    before = _entries(cache)
    try:
        with local_paths(systems) as paths:
            result = run_grader(
                _job(board, systems, paths) | {"cache": str(cache), "file_bytes": FILE_BYTES},
                alive=lambda: timezone.now() > overdue or not Submission.objects.waiting().exists(),
                stop=stopping,
                seconds=settings.RANKING_SECONDS,
            )
    except process.InterruptedGradingError:
        Ranking.objects.filter(pk=ranking.pk).update(asked=None)
        return False
    except GraderError as failure:
        stopped = isinstance(failure, process.SlowGraderError | process.KilledGraderError)
        if stopped and _entries(cache) - before:  # the next attempt goes on from what this one kept
            Ranking.objects.filter(pk=ranking.pk).update(asked=None)
        else:
            _settle(ranking, stamp, [], **nothing | {"failure": str(failure)[:200]})
        return False
    if not result["names"]:
        _settle(ranking, stamp, [], **nothing)
        return True
    pks = {row.key: row.pk for row in systems}
    done = {
        "systems": [[pks[key], key] for key in result["names"]],
        "board": {"boards": result["boards"], "shares": result["shares"]},
        "pairs": result["pairs"],
        "health": result["health"],
        "at": timezone.now(),
    }
    decisions = []
    for score, counts in counts_of(result):
        better = result["decisions"][score]
        p_values = result["p_values"].get(score, "")
        decisions.append(
            Decisions(ranking=ranking, score=score, counts=counts, better=better, p_values=p_values)
        )
    _settle(ranking, stamp, decisions, **nothing | done)
    return True


def _job(board: Benchmark, systems: Sequence[Submission], paths: Sequence[str]) -> Values:
    """What the grader ranks. Scores are as shown, so that no order reveals what rounding hides."""
    shown: dict[str, dict[str, float]] = {}
    for row in systems:
        tasks = (row.scores or {}).get("tasks", {})
        shown[row.key] = {name: task["score"]["value"] for name, task in tasks.items() if task["score"]}
    keys = [row.key for row in systems]
    # The board as it is, then with each of these tasks answered by its most frequent label.
    majorities: list[list[str]] = [[]]
    majorities += [[task] for task in models.majority_tasks(board.record)]
    return {
        **job_of(board, phase_on_board(board)),
        "smallest": board.policy.smallest_category,
        "leaders": models.leaders([row for row in systems if row.value is not None]),
        "majorities": majorities,
        "shown": shown,
        "systems": dict(zip(keys, paths, strict=True)),
    }


def cache_of(ranking: Ranking) -> Path:
    """The folder in which the grader keeps what it needs of each system of a board, for the grader alone."""
    return Path(settings.FOLDER.rank_caches, str(ranking.pk))


def _entries(cache: Path) -> set[str]:
    return {path.name for path in cache.rglob("*") if path.is_file()}


def _forget_cache(ranking: Ranking) -> None:
    shutil.rmtree(cache_of(ranking), ignore_errors=True)


def forget_caches() -> None:
    """Delete the caches of rankings that are gone: what they keep tells which answers are right."""
    known = {str(pk) for pk in Ranking.objects.values_list("pk", flat=True)}
    for folder in settings.FOLDER.rank_caches.glob("*"):
        if folder.name not in known:
            shutil.rmtree(folder, ignore_errors=True)


def request_comparison(a: Submission, b: Submission) -> Pair | None:
    """The comparison of two systems, the older one first; enqueue it if it is missing.

    None if too many are waiting. Both must be comparable.
    """
    stamp = stamp_of(a.in_phase, [a, b])
    now = timezone.now()
    pair = Pair.objects.filter(a=a, b=b).first()
    if pair is not None and pair.stamp == stamp and (pair.at or pair.asked > now - GIVEN_UP):
        return pair
    if Pair.objects.filter(at=None, asked__gt=now - GIVEN_UP).count() >= MOST_WAITING:
        return None
    values = {"stamp": stamp, "asked": now, "at": None, "found": None, "failure": ""}
    pair, _ = Pair.objects.update_or_create(a=a, b=b, defaults=values)
    compare_pair.enqueue(pair.pk)
    return pair


@task(priority=AFTER_GRADING)
def compare_pair(pk: int) -> bool:
    """Compute one comparison in the worker, unless it is done or not allowed; return whether it ran."""
    pair = Pair.objects.select_related("a__benchmark", "b__benchmark").filter(pk=pk, at=None).first()
    if pair is None:
        return False
    stamp = stamp_of(pair.a.in_phase, [pair.a, pair.b])
    rows = Pair.objects.filter(pk=pk)
    if pair.stamp != stamp or not (comparable(pair.a) and comparable(pair.b)):
        rows.delete()
        return False
    job = {**job_of(pair.a.benchmark, pair.a.phase), "smallest": pair.a.benchmark.policy.smallest_category}
    try:
        with local_paths([pair.a, pair.b]) as paths:
            result = run_grader({**job, "pair": paths}, stop=stopping, seconds=settings.RANKING_SECONDS)
    except process.InterruptedGradingError:
        compare_pair.enqueue(pk)
        return False
    except GraderError as failure:
        rows.update(failure=str(failure)[:200], at=timezone.now())
        return False
    rows.update(found=result["comparison"], at=timezone.now())
    old = Pair.objects.exclude(at=None).order_by("-at").values_list("pk", flat=True)[MOST_KEPT:]
    Pair.objects.filter(pk__in=list(old[:500])).delete()
    return True
