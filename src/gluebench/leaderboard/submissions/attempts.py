"""How many submissions came before an entry: the best of many tries looks better than it is."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Q

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.models import Status, Submission


def earlier(benchmark: Benchmark, entries: Iterable[Mapping[str, Any]]) -> list[int]:
    """For each entry, submissions of the same person or team before it, private and withdrawn ones too.

    Invalid and failed ones told their author nothing about the labels, and do not count.
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
