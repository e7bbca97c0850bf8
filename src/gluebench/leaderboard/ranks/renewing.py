"""Background tasks that renew rankings and compare pairs of systems for pages, after gradings.

Only the grader's process opens labels; this module prepares its jobs and stores its results.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django_tasks import task

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.phases.models import phase_on_board
from gluebench.leaderboard.ranks import models
from gluebench.leaderboard.ranks.models import Pair, Ranking, comparable, ranked_systems, stamp_of
from gluebench.leaderboard.submissions import process
from gluebench.leaderboard.submissions.grading import job_of, stopping
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.process import GraderError, local_paths, run_grader

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


def look() -> int:
    """Enqueue the rankings that are out of date; return how many."""
    now, number = timezone.now(), 0
    for benchmark in Benchmark.objects.filter(Q(ranking=None) | ~Q(ranking__version=F("version"))):
        ranking, _ = Ranking.objects.defer("pairs", "health").get_or_create(benchmark=benchmark)
        if ranking.stamp == stamp_of(benchmark, ranked_systems(benchmark)):
            _settle(ranking, ranking.stamp)
            continue
        rows = Ranking.objects.filter(pk=ranking.pk)
        rows.filter(since=None).update(since=now)
        if rows.filter(Q(asked=None) | Q(asked__lt=now - GIVEN_UP)).update(asked=now):
            renew_ranking.enqueue(benchmark.pk)
            number += 1
    return number


def _settle(ranking: Ranking, stamp: str, **values: Any) -> None:
    """Store a computed ranking, and mark the board's pages as changed.

    The board's row is locked first, so that `look` notices every change that is not noticed here.
    """
    with transaction.atomic():
        Benchmark.objects.filter(pk=ranking.benchmark_id).touch()
        benchmark = Benchmark.objects.get(pk=ranking.benchmark_id)
        state: dict[str, Any] = {"stamp": stamp, "asked": None}
        if stamp_of(benchmark, ranked_systems(benchmark)) == stamp:
            state |= {"version": benchmark.version, "since": None}
        Ranking.objects.filter(pk=ranking.pk).update(**state, **values)


@task(priority=AFTER_GRADING)
def renew_ranking(benchmark: int) -> bool:
    """Compute a ranking in the worker, after waiting submissions; return whether it was computed."""
    ranking = (
        Ranking.objects.select_related("benchmark").defer("board", "pairs", "health").get(benchmark=benchmark)
    )
    systems = ranked_systems(ranking.benchmark)
    stamp = stamp_of(ranking.benchmark, systems)
    nothing = {"board": None, "pairs": None, "health": None, "failure": "", "at": timezone.now()}
    if len(systems) < 2:
        _settle(ranking, stamp, **nothing)
        return True
    overdue = (ranking.since or timezone.now()) + PATIENCE
    keys = [row.key for row in systems]
    # Rank by the task scores as shown, so that no order reveals what rounding hides.
    shown = [(row.scores or {}).get("tasks", {}) for row in systems]
    job = {
        **job_of(ranking.benchmark, phase_on_board(ranking.benchmark)),
        "leaders": models.leaders(systems),
        "majorities": [[], *([task] for task in models.majority_tasks(ranking.benchmark.record))],
        "shown": {
            key: {name: task["score"]["value"] for name, task in tasks.items() if task["score"]}
            for key, tasks in zip(keys, shown, strict=True)
        },
    }
    try:
        with local_paths(systems) as paths:
            result = run_grader(
                {**job, "systems": dict(zip(keys, paths, strict=True))},
                alive=lambda: timezone.now() > overdue or not Submission.objects.waiting().exists(),
                stop=stopping,
                seconds=settings.RANKING_SECONDS,
            )
    except process.InterruptedGradingError:
        Ranking.objects.filter(pk=ranking.pk).update(asked=None)
        return False
    except GraderError as failure:
        _settle(ranking, stamp, **nothing | {"failure": str(failure)[:200]})
        return False
    ranked = result["names"]
    pks = [row.pk for row in systems if row.key in ranked]
    board = {"keys": ranked, "pks": pks, "boards": result["boards"], "shares": result["shares"]}
    pairs = {"keys": ranked, "boards": result["pairs"]}
    done = {"board": board, "pairs": pairs, "health": result["health"], "at": timezone.now()}
    _settle(ranking, stamp, **nothing | done)
    return True


def ask(a: Submission, b: Submission) -> Pair | None:
    """The comparison of two systems, the older one first; enqueue it if it is missing.

    None if too many are waiting. Both must be comparable.
    """
    stamp, now = stamp_of(a.benchmark, [a, b]), timezone.now()
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
    stamp = stamp_of(pair.a.benchmark, [pair.a, pair.b])
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
