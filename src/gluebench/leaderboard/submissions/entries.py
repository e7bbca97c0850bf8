"""What pages show of submissions, read from the database."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.fields import LISTED
from gluebench.leaderboard.submissions.models import Status, Submission, again, listed

AT_ONCE = 500
"""Rows fetched in one query: SQLite takes no more than some thousand parameters."""
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
    rows = [
        {**row, "diagnostic": (row["report__diagnostics"] or {}).get(task.name)}
        for part in _parts(public, pks)
        for row in part.values(*("pk", "key", "name", "model", "regime", "report__diagnostics"))
    ]
    return [row for row in rows if row["diagnostic"]]


def _parts(rows: Any, pks: Sequence[int] | None) -> list[Any]:
    """The query, in parts that every database takes."""
    if pks is None:
        return [rows]
    return [rows.filter(pk__in=pks[start : start + AT_ONCE]) for start in range(0, len(pks), AT_ONCE)]


def earlier(benchmark: Benchmark, entries: Iterable[Mapping[str, Any]]) -> list[int]:
    """For each entry, submissions of the same person or team before it, private and withdrawn ones too.

    The best of many tries looks better than it is. Invalid and failed ones reveal nothing about the
    labels, and do not count.
    """
    entries = list(entries)
    people = {entry["owner"] for entry in entries}
    teams = {entry["group"] for entry in entries} - {None}
    same = Q(owner__in=people) | Q(group__in=teams)
    kept = benchmark.submissions.filter(same).exclude(status__in=[Status.INVALID, Status.FAILED])
    times: dict[tuple[str, Any], list[Any]] = defaultdict(list)
    for owner, group, submitted in kept.order_by("submitted").values_list("owner", "group", "submitted"):
        for key in _keys(owner, group):
            times[key].append(submitted)
    return [_before(times, entry) for entry in entries]


def earlier_than(submission: Submission) -> int:
    """The same for one submission."""
    entry = {"owner": submission.owner_id, "group": submission.group_id, "submitted": submission.submitted}
    return earlier(submission.benchmark, [entry])[0]


def _before(times: Mapping[tuple[str, Any], list[Any]], entry: Mapping[str, Any]) -> int:
    """Those of the person and those of the team, less those that are both."""
    counts = [
        bisect_left(times.get(key, []), entry["submitted"]) for key in _keys(entry["owner"], entry["group"])
    ]
    return counts[0] if len(counts) == 1 else counts[0] + counts[1] - counts[2]


def _keys(owner: int, group: int | None) -> list[tuple[str, Any]]:
    keys: list[tuple[str, Any]] = [("person", owner)]
    return keys if group is None else [*keys, ("team", group), ("both", (owner, group))]
