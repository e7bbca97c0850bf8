"""What pages show of submissions, read from the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, QuerySet

from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.fields import LISTED
from gluebench.leaderboard.submissions.attempts import earlier
from gluebench.leaderboard.submissions.models import Submission, again, listed

AT_ONCE = 500
"""Rows asked of the database in one query: SQLite takes no more than some thousand parameters."""
COLUMNS = (
    *("pk", "owner", "group"),  # for the site alone
    *("key", "kind", "verified", "submitted", "published", "scores"),
    *(field.name for field in LISTED),
)


def entries_of(benchmark: Benchmark, pks: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """The public submissions, or those of them with these keys, oldest first.

    `earlier` says how many submissions of the same person or team came before.
    """
    public = Submission.objects.public().filter(benchmark=benchmark).order_by("submitted", "pk")
    rows = [row for part in _parts(public, pks) for row in part.values(*COLUMNS)]
    for row, before in zip(rows, earlier(benchmark, rows), strict=True):
        row["earlier"] = before
    return rows


def with_systems(benchmarks: QuerySet[Benchmark]) -> QuerySet[Benchmark]:
    """Benchmarks, each with `systems`: how many submissions its board shows."""
    return benchmarks.annotate(systems=Count("submissions", filter=listed("submissions__")))


def graded_again(benchmark: Benchmark) -> int:
    """How many of the public submissions are being graded again, and have their former scores until then."""
    return Submission.objects.public().filter(again(), benchmark=benchmark).count()


def diagnosed(benchmark: Benchmark, task: Task, pks: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """The public submissions with their report on a diagnostic set, under "diagnostic"."""
    public = Submission.objects.public().filter(benchmark=benchmark).order_by("submitted", "pk")
    found = [
        {**row, "diagnostic": (row["report__diagnostics"] or {}).get(task.name)}
        for part in _parts(public, pks)
        for row in part.values(*("pk", "key", "name", "model", "regime", "report__diagnostics"))
    ]
    return [row for row in found if row["diagnostic"]]


def _parts(rows: Any, pks: Sequence[int] | None) -> list[Any]:
    """The query, in parts that every database takes."""
    if pks is None:
        return [rows]
    return [rows.filter(pk__in=pks[start : start + AT_ONCE]) for start in range(0, len(pks), AT_ONCE)]
