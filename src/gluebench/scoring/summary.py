"""Several runs of one system: mean, standard deviation and best (section 6 reports three)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.scoring.report import Report, Score, rounded


class Spread(NamedTuple):
    """One number over the runs that have it."""

    mean: float
    deviation: float | None
    """Standard deviation with n - 1; None for one run."""
    best: float
    run: int
    """The run that has the best, counted from 0; the first of several."""
    n: int
    """Runs that have the number."""


class Summary(NamedTuple):
    """What `summarise` returns."""

    benchmark: str
    split: str
    runs: int
    score: Spread | None
    """The macro-average, over the runs that have one; None where none has."""
    tasks: Mapping[str, Mapping[str, Spread]]
    """Task name to "score" and each metric."""
    diagnostics: Mapping[str, Spread]
    """Diagnostic set to its overall score."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values, 12 significant digits."""
        return {
            "benchmark": self.benchmark,
            "split": self.split,
            "runs": self.runs,
            "score": None if self.score is None else _as_dict(self.score),
            "tasks": {
                name: {metric: _as_dict(spread) for metric, spread in numbers.items()}
                for name, numbers in self.tasks.items()
            },
            "diagnostics": {name: _as_dict(spread) for name, spread in self.diagnostics.items()},
        }


def summarise(reports: Sequence[Report]) -> Summary:
    """Mean, standard deviation and best of each number over the reports of several runs.

    Raises ValueError for no report, or reports of different benchmarks or splits.
    """
    if not reports:
        raise ValueError("there are no reports to summarise; expected one for each run")
    if len({(report.benchmark, report.split) for report in reports}) > 1:
        raise ValueError("the reports are of different benchmarks or splits; expected runs of one system")
    first = reports[0]
    tasks: dict[str, dict[str, Spread]] = {}
    for name in first.tasks:
        found = {"score": _spread([_value(report.tasks[name].score) for report in reports])}
        metrics = dict.fromkeys(metric for report in reports for metric in report.tasks[name].metrics)
        for metric in metrics:
            found[metric] = _spread([_value(report.tasks[name].metrics.get(metric)) for report in reports])
        tasks[name] = {metric: spread for metric, spread in found.items() if spread is not None}
    diagnostics = {
        name: _spread(
            [_value(each.overall if (each := report.diagnostics[name]) else None) for report in reports]
        )
        for name in first.diagnostics
    }
    return Summary(
        first.benchmark,
        first.split,
        len(reports),
        _spread([_value(report.score) for report in reports]),
        tasks,
        {name: spread for name, spread in diagnostics.items() if spread is not None},
    )


def _value(score: Score | None) -> float | None:
    return None if score is None else score.value


def _spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean, best = sum(known) / len(known), max(known)
    deviation = None
    if len(known) > 1:
        deviation = (sum((value - mean) ** 2 for value in known) / (len(known) - 1)) ** 0.5
    return Spread(mean, deviation, best, values.index(best), len(known))


def _as_dict(spread: Spread) -> dict[str, Any]:
    fields = spread._asdict()
    return {name: rounded(value) if isinstance(value, float) else value for name, value in fields.items()}
