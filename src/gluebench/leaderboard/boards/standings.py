"""Where every system of a board stands, without reading its report again: to rank, sort, search and page.

They are read once for each version of the board. What a page shows of its hundred rows is read afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.core.cache import caches
from django.db.models import F

from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.models import Submission


class Standing(NamedTuple):
    """One public submission: what it can be found by, and its numbers by task and metric."""

    pk: int
    name: str
    model: str
    team: str
    regime: str
    parameters: int | None
    submitted: datetime
    verified: bool
    value: float | None
    """Its score; None when it is incomplete."""
    numbers: tuple[float | None, ...]


class Standings(NamedTuple):
    """All systems of a board, in the order in which they were submitted."""

    rows: tuple[Standing, ...]
    place: Mapping[tuple[str, str], int]
    """Where a number stands in `numbers`: (task, metric), with "" for the task's score."""


def standings(benchmark: Benchmark) -> Standings:
    """The board's systems."""

    scored = benchmark.record.scored
    keys = [(task.name, name) for task in scored for name in ("", *(metric.name for metric in task.metrics))]

    def number(scores: Mapping[str, Any] | None, metric: str) -> float | None:
        """A task's score, or one of its metrics."""
        if scores is None:
            return None
        score = scores["metrics"].get(metric) if metric else scores["score"]
        return score["value"] if score else None

    def read() -> Standings:
        rows = [
            Standing._make((*row, tuple(number(scores["tasks"].get(task), metric) for task, metric in keys)))
            for *row, scores in _listed(benchmark, "scores")
            if scores
        ]
        return Standings(tuple(rows), {key: at for at, key in enumerate(keys)})

    return _once(benchmark, "", read)


def diagnosed_standings(benchmark: Benchmark, task: Task) -> Standings:
    """The systems that have a number on a diagnostic set: its only one is the overall number."""

    def read() -> Standings:
        listed = _listed(benchmark, F(f"report__diagnostics__{task.name}__overall"))
        rows = [Standing._make((*row, (overall["value"],))) for *row, overall in listed if overall]
        return Standings(tuple(rows), {(task.name, ""): 0})

    return _once(benchmark, task.name, read)


def _once(benchmark: Benchmark, name: str, read: Callable[[], Standings]) -> Standings:
    """What was read for this version of the board: numbers stand in reports, kilobytes of JSON each."""
    key = f"standings-{settings.VERSION}-{benchmark.pk}-{benchmark.version}-{name}"
    return cast("Standings", caches["pages"].get_or_set(key, read))


def _listed(benchmark: Benchmark, numbers: str | F) -> Iterable[tuple[Any, ...]]:
    """The board's submissions, oldest first: what finds them, then where their numbers are."""
    public = Submission.objects.public().filter(benchmark=benchmark).order_by("submitted", "pk")
    facts = ("pk", "name", "model", "team", "regime", "parameters", "submitted", "verified", "value")
    return public.values_list(*facts, numbers)
