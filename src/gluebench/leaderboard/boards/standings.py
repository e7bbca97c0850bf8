"""Where every system of a board stands, without reading its report again: to rank, sort, search and page.

What a page shows of its hundred rows is read from the database afresh; only numbers are remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import F

from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.remembered import Numbers, Remembered
from gluebench.leaderboard.submissions.models import Submission

_remembered = Remembered(boards=64)


class Standing(NamedTuple):
    """One public submission: what it can be found by, and its numbers by task and metric."""

    pk: int
    name: str
    model: str
    team: str
    regime: str
    value: float | None
    """Its score; None when it is incomplete."""
    numbers: Numbers


class Standings(NamedTuple):
    """All systems of a board, in the order in which they were submitted."""

    rows: tuple[Standing, ...]
    place: Mapping[tuple[str, str], int]
    """Where a number stands in `numbers`: (task, metric), with "" for the task's score."""


def standings(benchmark: Benchmark) -> Standings:
    """The board's systems; a report is read when it is new since the last time."""
    keys = _keys(benchmark.record)
    found = _listed(benchmark)
    numbers = _remembered.numbers(
        (benchmark.pk, keys),
        {pk: row[5:] for pk, row in found.items()},
        lambda pks: _read(pks, keys),
    )
    rows = tuple(Standing._make((*row[:6], numbers[pk])) for pk, row in found.items() if pk in numbers)
    return Standings(rows, {key: at for at, key in enumerate(keys)})


def diagnosed_standings(benchmark: Benchmark, task: Task) -> Standings:
    """The systems that have a number on a diagnostic set: its only one is the overall number."""
    found = _listed(benchmark)
    numbers = _remembered.numbers(
        (benchmark.pk, task.name),
        {pk: row[5:] for pk, row in found.items()},
        lambda pks: _overall(pks, task.name),
    )
    rows = tuple(Standing._make((*row[:6], numbers[pk])) for pk, row in found.items() if numbers.get(pk))
    return Standings(rows, {(task.name, ""): 0})


def _listed(benchmark: Benchmark) -> dict[int, tuple[Any, ...]]:
    """The board's submissions, oldest first: what finds them, then what another grading changes."""
    public = Submission.objects.public().filter(benchmark=benchmark).order_by("submitted", "pk")
    fields = ("pk", "name", "model", "team", "regime", "value", "finished", "why")
    return {row[0]: row for row in public.values_list(*fields)}


def _keys(record: Record) -> tuple[tuple[str, str], ...]:
    return tuple(
        (task.name, metric)
        for task in record.scored
        for metric in ("", *(each.name for each in task.metrics))
    )


def _read(pks: Sequence[int], keys: Sequence[tuple[str, str]]) -> dict[int, Numbers]:
    rows = Submission.objects.filter(pk__in=pks).values_list("pk", "scores")
    return {
        pk: tuple(_number(scores["tasks"].get(task), metric) for task, metric in keys)
        for pk, scores in rows
        if scores
    }


def _number(found: Mapping[str, Any] | None, metric: str) -> float | None:
    """A task's score, or one of its metrics."""
    if found is None:
        return None
    score = found["metrics"].get(metric) if metric else found["score"]
    return score["value"] if score else None


def _overall(pks: Sequence[int], task: str) -> dict[int, Numbers]:
    """Empty for a submission without the set: that is remembered too."""
    overall = F(f"report__diagnostics__{task}__overall")
    rows = Submission.objects.filter(pk__in=pks).annotate(overall=overall).values_list("pk", "overall")
    return {pk: (found["value"],) if found else () for pk, found in rows}
