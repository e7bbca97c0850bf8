"""Several runs of one system: mean, interval, standard deviation and best (section 6 reports three)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.scoring.gold import Gold
from gluebench.scoring.grade import grade, pairs_of
from gluebench.scoring.report import Report, Score, fields_of
from gluebench.submission.submission import Submission

if TYPE_CHECKING:
    from gluebench.scoring.runs import RunsTest


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
    low: float | None = None
    high: float | None = None
    """Ends of the mean's 95 % interval over runs and examples together; None without predictions."""
    seeds: float | None = None
    """Share of the mean's variance that comes from the choice of runs, 0 to 1."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values; the interval only where there is one."""
        return fields_of(self, optional=("low", "high", "seeds"))


class Summary(NamedTuple):
    """What `summarize` returns."""

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
        return fields_of(self)


def summarize(reports: Sequence[Report]) -> Summary:
    """Mean, standard deviation and best of each number over the reports of several runs.

    Raises ValueError for no report, or reports of different benchmarks or splits.
    """
    if not reports:
        raise ValueError("there are no reports to summarize; expected one for each run")
    if len({(report.benchmark, report.split) for report in reports}) > 1:
        raise ValueError("the reports are of different benchmarks or splits; expected runs of one system")
    return _summary(reports, {}, None)


def grade_runs(runs: Sequence[Submission], gold: Gold) -> tuple[list[Report], Summary]:
    """The report of each of several runs of one system, and their summary with intervals.

    An interval is for other examples and other runs (docs/how-to/compare.md). Numbers that a run lacks, or
    that have no interval in a single report, have none here. Raises as `grade` and `summarize` do.
    """
    from gluebench.scoring.runs import mean_runs, runs_tests
    from gluebench.scoring.units import units_of

    reports = [grade(run, gold) for run in runs]
    answers = [pairs_of(run, gold) for run in runs]
    tests: dict[tuple[str, str], RunsTest] = {}
    for task in gold.benchmark.tasks:
        of_files, weights = [], []
        for name, metrics in task.metrics_by_file().items():
            if not all(name in pairs for pairs in answers):
                continue
            of_file = runs_tests(units_of(metrics, [pairs[name] for pairs in answers]), [len(runs)])
            tests |= {(task.name, metric.name): test for metric, test in zip(metrics, of_file, strict=False)}
            of_files.append(of_file[-1])
            weights.append(float(len(metrics)))
        if sum(weights) == len(task.metrics):
            tests[task.name, "score"] = mean_runs(of_files, weights)
    parts = [tests.get((task.name, "score")) for task in gold.benchmark.scored]
    whole = [part for part in parts if part is not None]
    average = mean_runs(whole, [1.0] * len(whole)) if len(whole) == len(parts) else None
    return reports, _summary(reports, tests, average)


def _summary(
    reports: Sequence[Report], tests: Mapping[tuple[str, str], RunsTest], average: RunsTest | None
) -> Summary:
    first = reports[0]
    tasks = {}
    for name in first.tasks:
        of_runs = [report.tasks[name] for report in reports]
        scores = {"score": [task.score for task in of_runs]}
        for metric in dict.fromkeys(metric for task in of_runs for metric in task.metrics):
            scores[metric] = [task.metrics.get(metric) for task in of_runs]
        tasks[name] = _spreads(scores, {metric: tests.get((name, metric)) for metric in scores})
    overall = {
        name: [part and part.overall for part in (report.diagnostics[name] for report in reports)]
        for name in first.diagnostics
    }
    return Summary(
        first.benchmark,
        first.split,
        len(reports),
        _spread([report.score for report in reports], average),
        tasks,
        _spreads(overall, {name: tests.get((name, "score")) for name in overall}),
    )


def _spreads(
    scores: Mapping[str, Sequence[Score | None]], tests: Mapping[str, RunsTest | None]
) -> dict[str, Spread]:
    """The spread of each score that a run has."""
    spreads = {name: _spread(of_runs, tests[name]) for name, of_runs in scores.items()}
    return {name: spread for name, spread in spreads.items() if spread is not None}


def _spread(scores: Sequence[Score | None], test: RunsTest | None = None) -> Spread | None:
    values = [None if score is None else score.value for score in scores]
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean, best = sum(known) / len(known), max(known)
    deviation = None
    if len(known) > 1:
        deviation = (sum((value - mean) ** 2 for value in known) / (len(known) - 1)) ** 0.5
    spread = Spread(mean, deviation, best, values.index(best), len(known))
    withheld = len(known) < len(values) or any(score is not None and score.withheld for score in scores)
    interval = None if test is None or withheld else test.interval()
    if test is None or interval is None:
        return spread
    return spread._replace(low=interval.low, high=min(1.0, interval.high), seeds=test.seeds_share)


summarise = summarize
"""The older spelling."""
