"""Limit what scores reveal of hidden labels: rounding, and the Ladder (Blum and Hardt 2015).

A step of a rounded score is two standard errors of a proportion, sqrt(p (1 - p) / n); twice that for a
correlation, whose range is double; and of a loss without a bound a share of itself, 2 / sqrt(n), with four
digits. Where the metric's own error is larger, a step is two, four, eight times as wide (`Score.widening`).
docs/explanation/feedback.md gives the reasons, and what attackers gain in spite of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil, sqrt
from typing import TYPE_CHECKING, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.lookup import ByName
from gluebench.scoring.gold import Gold
from gluebench.scoring.grade import macro_average, pairs_of
from gluebench.scoring.metrics import function_of, is_proportion, point, task_score
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import Report, Score, TaskReport, by_class, parts_of
from gluebench.scoring.steps import nearest_step, steps_to, value_at
from gluebench.submission.submission import Column, Submission

if TYPE_CHECKING:
    from gluebench.scoring.units import Units

P_LEVELS = (0.001, 0.01, 0.05, 1.0)
"""Values that p-values are rounded up to."""


def rounded_value(value: float, n: int, lowest: float, highest: float = 1.0, *, widening: int = 1) -> float:
    """Round a metric over `n` examples for display, from its lowest to its highest possible value."""
    if value == highest:
        return highest
    return value_at(nearest_step(value, n, lowest, highest, widening), n, lowest, highest)


def rounding_width(value: float, n: int, lowest: float, highest: float = 1.0, *, widening: int = 1) -> float:
    """The width of the range of values over `n` examples that are shown as this one is."""
    step = nearest_step(value, n, lowest, highest, widening)
    low = value_at(step - widening / 2, n, lowest, highest)
    high = value_at(step + widening / 2, n, lowest, highest)
    return abs(high - low)


def rounded_score(score: Score, lowest: float, highest: float = 1.0) -> Score:
    """Round a score, and widen its interval to a whole number of half steps on each side.

    The interval is symmetric in steps: two ends rounded separately would reveal more than one width does.
    """
    if score.value is None:
        return score
    widening = score.widening or 1
    value = rounded_value(score.value, score.n, lowest, highest, widening=widening)
    if score.low is None or score.high is None:
        return score._replace(value=value, widening=None)
    steps = steps_to(score.value, score.n, lowest, highest)
    steps_below = steps - steps_to(score.low, score.n, lowest, highest)
    steps_above = steps_to(score.high, score.n, lowest, highest) - steps
    reach = ceil(2 * max(steps_below, steps_above) / widening + 1) / 2 * widening
    middle = nearest_step(score.value, score.n, lowest, highest, widening)
    low = value_at(middle - reach, score.n, lowest, highest)
    high = value_at(middle + reach, score.n, lowest, highest)
    return score._replace(value=value, low=low, high=high, widening=None)


def rounded_p(p: float, exact: float, shown: float) -> float:
    """A p-value rounded up, which keeps it valid; 1 unless both differences have the same sign."""
    if exact * shown <= 0:
        return 1.0
    return next(level for level in P_LEVELS if p <= level)


def rounded_report(report: Report, benchmark: Benchmark) -> Report:
    """Round every metric of a report, and compute task scores and the average from the rounded values.

    A task or diagnostic set whose labels are public keeps its scores, without the width of steps, and its
    classes.
    """
    tasks = {name: _task(benchmark.task(name), task) for name, task in report.tasks.items()}
    diagnostics = dict(report.diagnostics)
    for name, part in report.diagnostics.items():
        if part is not None:
            round_score = partial(_score_to_show, benchmark.task(name))
            rounded_part = part.with_categories(round_score)
            diagnostics[name] = rounded_part._replace(overall=round_score(part.overall))
    score = report.score
    if score is not None:
        scores = {name: task.score for name, task in tasks.items()}
        average = macro_average(scores, intervals=score.low is not None, weights=benchmark.weights)
        if average is not None:
            average = average._replace(withheld=score.withheld)
        score = average
    public = without_hidden_classes(report, benchmark)
    return replace(public, score=score, tasks=tasks, diagnostics=diagnostics)


def without_hidden_classes(report: Report, benchmark: Benchmark) -> Report:
    """The report with the classes of tasks whose labels are public; those of others reveal labels."""
    public: set[str] = set()
    for task in benchmark.tasks:
        if task.labels_public:
            public.update(file.name for file in task.files)
    classes = {name: scores for name, scores in report.classes.items() if name in public}
    return replace(report, classes=by_class(classes))


def bounds_of(task: Task, metric: str = "") -> tuple[float, float]:
    """The lowest and highest possible value of a task's metric, by default its first one."""
    chosen = next(candidate for candidate in task.metrics if metric in ("", candidate.name))
    return function_of(chosen).bounds


def _score_to_show(task: Task, score: Score, metric: str = "") -> Score:
    """The score rounded, unless the labels of its task are public; a width of steps is not shown."""
    if task.labels_public:
        return score._replace(widening=None)
    return rounded_score(score, *bounds_of(task, metric))


def _task(task: Task, report: TaskReport) -> TaskReport:
    scores = {name: _score_to_show(task, score, name) for name, score in report.metrics.items()}
    metrics = ByName(scores, what=f"metric of {task.name}")
    if report.score is None or task.labels_public:
        return TaskReport(report.score, metrics)
    value = _mean([score.value for score in metrics.values()])
    low = None
    high = None
    if report.score.low is not None:
        intervals = [part.interval for part in parts_of(metrics)]
        low = _mean([None if ends is None else ends.low for ends in intervals])
        high = _mean([None if ends is None else ends.high for ends in intervals])
    return TaskReport(report.score._replace(value=value, low=low, high=high), metrics)


def _mean(values: Sequence[float | None]) -> float | None:
    """The score of a task from those of its metrics; None if one is missing, or there are none."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return task_score(known)


HALVES = 1000
"""Random halves for metrics of numbers, on files of up to HALVED / HALVES examples; fewer on larger ones."""
HALVED = 20_000_000
"""Examples in all these halves together."""
_LUCK = 3.0
"""Standard errors that are added to a standard error from random halves."""
_MARGIN = 1.05
"""What other errors than an accuracy's are raised by: a single answer changes a score by about its error."""
_ROUNDING = 1e-9
"""Rounding error allowed, as a share of a standard error."""


@dataclass(frozen=True)
class LadderStep:
    """The comparison of a task score with the best so far."""

    difference: float
    files: Sequence[tuple[float, float, Units]]
    """Weight, difference and answers of both systems for each test file."""

    @cached_property
    def error(self) -> float:
        """The standard error of the difference; test files are independent of each other.

        It follows from the influence of the examples or, if the gold has groups, of the groups. For accuracy
        on independent examples `better` then means a McNemar statistic above 1. For metrics of numbers, it
        comes from random halves. For a single unit, it is the size of the difference.
        """
        errors = []
        for weight, change, units in self.files:
            error = _error(units) if units.size > 1 else abs(change)
            errors.append(weight * error)
        return sqrt(sum(error * error for error in errors))

    @property
    def better(self) -> bool:
        """Whether it is higher by more than one standard error of the difference."""
        return self.difference > 0 and self.difference > self.error * (1 + _ROUNDING)


class LadderResult(NamedTuple):
    """The result of a Ladder step: what a submission may show, task by task."""

    shown: Submission
    """The submission, with the best so far for each task that is not clearly better."""
    new: tuple[str, ...]
    """Tasks whose score is a new best."""
    kept: tuple[str, ...]
    """Tasks that show the best so far again."""
    incomplete: tuple[str, ...]
    """Tasks answered only in part: they have no task score to compare, so no score is shown."""


def climb(submission: Submission, bests: Mapping[str, Submission], gold: Gold) -> LadderResult:
    """Take one step of the Ladder. `bests` maps tasks to the earlier submission with the best score shown.

    The first score of a task, which is not in `bests`, is shown. Diagnostic sets are compared by their
    overall score; those whose labels are public are always shown.
    """
    pairs = pairs_of(submission, gold)
    best_pairs = {name: pairs_of(best, gold) for name, best in bests.items()}
    shown: dict[str, Column] = {}
    new = []
    kept = []
    incomplete = []
    for task in gold.benchmark.tasks:
        names = [file.name for file in task.files if file.name in submission.predictions]
        if not names:
            continue
        source = submission
        if not task.scored and task.labels_public:
            pass  # always shown, and no step of the Ladder
        elif not all(metric.file in pairs for metric in task.metrics):
            incomplete.append(task.name)
            continue
        elif task.name in bests and not step(task, pairs, best_pairs[task.name]).better:
            kept.append(task.name)
            source = bests[task.name]
        else:
            new.append(task.name)
        for name in names:
            shown[name] = source.predictions[name]
    in_order = {name: shown[name] for name in submission.predictions if name in shown}
    return LadderResult(
        replace(submission, predictions=in_order),
        new=tuple(new),
        kept=tuple(kept),
        incomplete=tuple(incomplete),
    )


def step(task: Task, new: Mapping[str, Pairs], best: Mapping[str, Pairs]) -> LadderStep:
    """Compare a task score with the best so far, both from answers to all of the task's test files."""
    from gluebench.scoring.units import units_of  # imports numpy

    files = []
    for name, metrics in task.metrics_by_file().items():
        changes = [point(metric, new[name]).value - point(metric, best[name]).value for metric in metrics]
        weight = len(metrics) / len(task.metrics)
        units = units_of(metrics, [new[name], best[name]])
        files.append((weight, task_score(changes), units))
    return LadderStep(sum(weight * change for weight, change, _ in files), files)


def _error(units: Units) -> float:
    """The standard error of the difference in the mean of a file's metrics.

    Influence values can be fooled by several extreme numbers, since they tell of one at a time. Random halves
    cannot: half the difference of two halves has the variance of the whole (McCarthy 1969). The error is
    raised, since a single changed example makes a difference of about one standard error, and neither
    rounding nor chance may decide it.
    """
    from gluebench.scoring.inference import jackknife_spread
    from gluebench.scoring.units.base import generator

    if units.systems[0].gold.labels or isinstance(units.systems[0].gold.values, tuple):
        left_out = units.left_out().mean(axis=0)
        error = jackknife_spread(left_out[0] - left_out[1], units.counts).error
        if not all(is_proportion(metric) for metric in units.metrics):
            error *= _MARGIN
        return error
    splits = min(HALVES, max(HALVED // units.examples, 50))
    first, second = units.halves(splits, generator(0, units.metrics[0].file)).mean(axis=1)
    drawn = (first[0] - first[1] - second[0] + second[1]) / 2
    variance = float((drawn**2).mean())
    if variance <= 0:
        return 0.0
    kurtosis = float((drawn**4).mean()) / variance**2
    relative_error = sqrt(max(kurtosis - 1, 0.0) / (4 * splits))  # of the standard error
    return sqrt(variance) * (1 + _LUCK * relative_error)
