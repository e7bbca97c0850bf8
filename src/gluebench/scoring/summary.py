"""Several runs of one system: mean, interval, standard deviation and best (section 6 reports three)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import percent, points, with_interval
from gluebench.benchmark.tables import Table, TabularResult, names_and_numbers
from gluebench.scoring.grade import Labels, Path, Run, gold_of, grade, pairs_of, submission_from
from gluebench.scoring.report import Report, Score, fields_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gluebench.scoring.runs import RunsTest


FIELDS = ("task", "metric", "mean", "low", "high", "deviation", "best", "run", "n", "seeds")
"""Columns of a summary as one table."""


class Spread(NamedTuple):
    """Summary of one score over the runs that have it."""

    mean: float
    deviation: float | None
    """Standard deviation with n - 1; None for one run."""
    best: float
    run: int
    """The first run with the best score, counted from 0."""
    n: int
    """Number of runs that have the score."""
    low: float | None = None
    high: float | None = None
    """Ends of the mean's 95 % interval over runs and examples together; None without predictions."""
    seeds: float | None = None
    """Share of the mean's variance that comes from the choice of runs, 0 to 1."""
    loss: bool | None = None
    """True if mean and best are negated losses, else None."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values; the interval only if there is one."""
        return fields_of(self, optional=("low", "high", "seeds", "loss"))


@dataclass(frozen=True, slots=True)
class Summary(TabularResult):
    """The result of `summarize`."""

    benchmark: str
    split: str
    runs: int
    score: Spread | None
    """The macro-average over the runs that have one; None if none has."""
    tasks: Mapping[str, Mapping[str, Spread]]
    """Task name to "score" and each metric."""
    diagnostics: Mapping[str, Spread]
    """Diagnostic set to its overall score."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values, 12 significant digits."""
        return fields_of(self)

    def __repr__(self) -> str:
        score = "no macro-average" if self.score is None else spread_words(self.score)
        return f"<Summary of {self.runs} runs on {self.benchmark} {self.split}: {score}>"

    def records(self) -> Iterator[dict[str, object]]:
        """Yield a JSON-ready record of FIELDS for each score."""
        for task, spreads in self.tasks.items():
            for metric, spread in spreads.items():
                yield {"task": task, "metric": metric, **spread.as_dict()}
        if self.score is not None:
            yield {"metric": "macro-average", **self.score.as_dict()}
        for task, spread in self.diagnostics.items():
            yield {"task": task, "metric": "overall", **spread.as_dict()}

    def fields(self) -> Sequence[str]:
        """FIELDS."""
        return FIELDS

    def _of_tasks(self) -> dict[str, Spread]:
        return {name: spreads["score"] for name, spreads in self.tasks.items() if "score" in spreads}

    def tables(self) -> list[Table]:
        """A row for the average and for each task and diagnostic set."""
        spreads = self._of_tasks()
        if self.score is not None:
            spreads["macro-average"] = self.score
        spreads |= self.diagnostics
        rows = []
        for name, spread in spreads.items():
            deviation = points(spread.deviation, spread.loss)
            best = percent(spread.best, spread.loss)
            rows.append((name, spread_words(spread), deviation, best, str(spread.n)))
        title = f"{self.benchmark}, {self.split} split: {self.runs} runs"
        figures = ("mean [95 % interval]", "sd", "best", "runs")
        return [Table(names_and_numbers("task", figures), rows, title=title)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean of the runs, of each task and as a macro-average, with intervals.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        from gluebench.scoring.plots import Row, forest_of_scores

        def plot_row(name: str, spread: Spread, *, whole: bool = False) -> Row:
            fractions = (spread.mean, spread.low, spread.high)
            note = f"{spread.n} runs, best {percent(spread.best, spread.loss)}"
            factor = -1 if spread.loss else 100
            return Row.of(name, fractions, note, filled=spread.low is not None, whole=whole, factor=factor)

        tasks = self._of_tasks()
        if self.score is not None:
            loss = bool(self.score.loss)
        else:
            loss = any(spread.loss for spread in tasks.values())
        return forest_of_scores(
            self.score,
            tasks,
            self.diagnostics,
            plot_row,
            loss=loss,
            title=f"{self.benchmark}, {self.split} split: mean of {self.runs} runs",
            over=" over runs and examples",
            ax=ax,
        )


def spread_words(spread: Spread) -> str:
    """The mean with its interval: "84.8 [83.0, 86.4]"."""
    return with_interval(spread.mean, spread.low, spread.high, spread.loss)


def summarize(reports: Sequence[Report]) -> Summary:
    """Mean, standard deviation and best of each score over the reports of several runs.

    Raises ValueError for no report, or reports of different benchmarks or splits.
    """
    if not reports:
        raise ValueError("there are no reports to summarize; expected one for each run")
    if len({(report.benchmark, report.split) for report in reports}) > 1:
        raise ValueError("the reports are of different benchmarks or splits; expected runs of one system")
    return _summary(reports, {}, None)


def grade_runs(
    runs: Sequence[Run], gold: Labels, *, benchmark: Benchmark | Path = "glue"
) -> tuple[list[Report], Summary]:
    """Grade several runs of one system, and summarize their reports with intervals.

    Runs, `gold` and `benchmark` are as in `grade`. An interval covers the variation of examples and of runs
    (docs/how-to/compare.md). A score that a run lacks, or that has no interval in some report, has none here.
    Raises the errors of `grade` and `summarize`.
    """
    from gluebench.scoring.runs import mean_runs, runs_tests
    from gluebench.scoring.units import units_of

    labels = gold_of(gold, benchmark, *runs)
    submissions = [submission_from(run, labels) for run in runs]
    reports = [grade(submission, labels) for submission in submissions]
    answers = [pairs_of(submission, labels) for submission in submissions]
    tests: dict[tuple[str, str], RunsTest] = {}
    for task in labels.benchmark.tasks:
        tests_of_files = []
        weights = []
        for name, metrics in task.metrics_by_file().items():
            if not all(name in pairs for pairs in answers):
                continue
            units = units_of(metrics, [pairs[name] for pairs in answers])
            tests_of_file = runs_tests(units, [len(runs)])
            for metric, test in zip(metrics, tests_of_file, strict=False):  # their mean may come after them
                tests[task.name, metric.name] = test
            tests_of_files.append(tests_of_file[-1])
            weights.append(float(len(metrics)))
        if sum(weights) == len(task.metrics):
            tests[task.name, "score"] = mean_runs(tests_of_files, weights)
    averaged = labels.benchmark.averaged
    tests_of_tasks = [tests[task.name, "score"] for task in averaged if (task.name, "score") in tests]
    average = None
    if len(tests_of_tasks) == len(averaged):
        average = mean_runs(tests_of_tasks, [task.weight for task in averaged])
    return reports, _summary(reports, tests, average)


def _summary(
    reports: Sequence[Report], tests: Mapping[tuple[str, str], RunsTest], average: RunsTest | None
) -> Summary:
    first = reports[0]
    tasks = {}
    for name in first.tasks:
        of_runs = [report.tasks[name] for report in reports]
        scores = {"score": [task.score for task in of_runs]}
        for task in of_runs:
            for metric in task.metrics:
                if metric not in scores:
                    scores[metric] = [other.metrics.get(metric) for other in of_runs]
        tasks[name] = _spreads(scores, {metric: tests.get((name, metric)) for metric in scores})
    overall: dict[str, list[Score | None]] = {}
    for name in first.diagnostics:
        overall[name] = []
        for report in reports:
            diagnostic = report.diagnostics[name]
            overall[name].append(None if diagnostic is None else diagnostic.overall)
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
    spreads = {}
    for name, scores_of_runs in scores.items():
        spread = _spread(scores_of_runs, tests[name])
        if spread is not None:
            spreads[name] = spread
    return spreads


def _spread(scores: Sequence[Score | None], test: RunsTest | None = None) -> Spread | None:
    values = [None if score is None else score.value for score in scores]
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean = sum(known) / len(known)
    best = max(known)
    deviation = None
    if len(known) > 1:
        deviation = (sum((value - mean) ** 2 for value in known) / (len(known) - 1)) ** 0.5
    loss = next(score.loss for score in scores if score is not None)
    spread = Spread(mean, deviation, best, values.index(best), len(known), loss=loss)
    withheld = len(known) < len(values) or any(score is not None and score.withheld for score in scores)
    if test is None or withheld:
        return spread
    interval = test.interval()
    if interval is None:
        return spread
    highest = 0.0 if loss else 1.0
    return spread._replace(low=interval.low, high=min(highest, interval.high), seeds=test.seeds_share)


summarise = summarize
"""The older spelling."""
