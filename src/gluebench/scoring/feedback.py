"""What a site shows of hidden labels: rounded scores, and the Ladder (docs/explanation/feedback.md).

Every digit of a score reveals something about the labels: twelve digits of a correlation give several at a
time. So what a leaderboard shows has as many values as its test set can tell apart. A step is two standard
errors of a proportion of that size, sqrt(p (1 - p) / n), so that rounding moves a score by one at most; for a
correlation it is twice that, because its range is. Between the lowest value and 1 there are whole steps.

Whoever sees every score can also fit a test set without a model: send random answers, keep those that
happened to score well, take their majority. The parameter-free Ladder (Blum and Hardt 2015) shows a new score
of a task only if it beats the best so far by more than one standard error of the difference, and shows that
best again otherwise. Both systems answer the same examples, so the error is that of paired answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import asin, ceil, isfinite, pi, sin, sqrt
from typing import TYPE_CHECKING, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.scoring.gold import Gold
from gluebench.scoring.grade import macro_average, pairs_of
from gluebench.scoring.metrics import is_proportion, metric_function, point, task_score
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import Report, Score, TaskReport, parts_of
from gluebench.submission.submission import Column, Submission

if TYPE_CHECKING:
    from gluebench.scoring.units import Units

DECIMALS = 4
"""Of a fraction: a hundredth of a point."""
P_LEVELS = (0.001, 0.01, 0.05, 1.0)
"""What p-values are rounded up to."""


def rounded_value(value: float, n: int, lowest: float) -> float:
    """A metric of `n` examples as it may be shown; `lowest` is the least value that it can have."""
    return _value(round(_steps(value, n, lowest)), n, lowest)


def rounded_score(score: Score, lowest: float) -> Score:
    """The score rounded, with the narrowest interval of whole half steps around it that covers its own.

    The interval is as wide to both sides: two ends rounded apart would reveal more than one width does.
    """
    if score.value is None:
        return score
    at = _steps(score.value, score.n, lowest)
    value = _value(round(at), score.n, lowest)
    if score.low is None or score.high is None:
        return score._replace(value=value)
    ends = [_steps(end, score.n, lowest) for end in (score.low, score.high)]
    reach = ceil(2 * max(at - ends[0], ends[1] - at) + 1) / 2
    low, high = (_value(round(at) + side * reach, score.n, lowest) for side in (-1, 1))
    return score._replace(value=value, low=low, high=high)


def rounded_p(p: float, exact: float, shown: float) -> float:
    """The p-value of a difference, rounded up, which keeps it one; 1 where no such difference is shown."""
    return next(level for level in P_LEVELS if p <= level) if exact * shown > 0 else 1.0


def rounded_report(report: Report, benchmark: Benchmark) -> Report:
    """The report with every metric rounded, and task scores and the average computed from what is shown.

    A task or diagnostic set whose labels are public stays as it is.
    """
    tasks = {name: _task(benchmark.task(name), task) for name, task in report.tasks.items()}
    diagnostics = dict(report.diagnostics)
    for name, part in report.diagnostics.items():
        task = benchmark.task(name)
        if part is not None and not task.labels_public:
            change = partial(rounded_score, lowest=lowest_of(task))
            diagnostics[name] = part.with_categories(change)._replace(overall=change(part.overall))
    score = report.score
    if score is not None:
        scores = {name: task.score for name, task in tasks.items()}
        average = macro_average(scores, intervals=score.low is not None)
        score = average and average._replace(withheld=score.withheld)
    return report._replace(score=score, tasks=tasks, diagnostics=diagnostics)


def lowest_of(task: Task, metric: str = "") -> float:
    """The lowest value of a task's metric; of its first one unless named."""
    chosen = next(candidate for candidate in task.metrics if metric in ("", candidate.name))
    return metric_function(chosen.function).lowest


def _task(task: Task, report: TaskReport) -> TaskReport:
    if task.labels_public:
        return report
    metrics = {name: rounded_score(score, lowest_of(task, name)) for name, score in report.metrics.items()}
    if report.score is None:
        return TaskReport(None, metrics)
    value = _mean([score.value for score in metrics.values()])
    low, high = None, None
    if report.score.low is not None:
        intervals = [part.interval for part in parts_of(metrics)]
        low = _mean([ends and ends.low for ends in intervals])
        high = _mean([ends and ends.high for ends in intervals])
    return TaskReport(report.score._replace(value=value, low=low, high=high), metrics)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return task_score(known) if known and len(known) == len(values) else None


def _steps(value: float, n: int, lowest: float) -> float:
    """How many steps a value is above the lowest one; above 0, where that is not known.

    Steps are equal arcs: of a proportion's arc, the arcsine of its root, the error is the same everywhere.
    """
    if not isfinite(lowest):
        return value * sqrt(n) / 2
    share = min(max((value - lowest) / (1 - lowest), 0.0), 1.0)
    return asin(sqrt(share)) / (pi / 2) * _whole(n)


def _value(steps: float, n: int, lowest: float) -> float:
    """The value at so many steps."""
    if not isfinite(lowest):
        return round(2 * steps / sqrt(n), DECIMALS)
    arc = min(max(steps / _whole(n), 0.0), 1.0) * pi / 2
    return round(lowest + (1 - lowest) * sin(arc) ** 2, DECIMALS) + 0.0  # no negative zero


def _whole(n: int) -> int:
    """Steps from the lowest value to 1: an even number, so that the middle, where chance is, is one."""
    return 2 * max(round(pi / 4 * sqrt(n)), 1)


RESAMPLES = 4000
"""More than a rank interval takes: what they decide depends on a few percent of the error."""
_LUCK = 3.0
"""Standard errors of a resampled error that it is raised by."""
_ROUNDING = 1e-9
"""Share of a standard error that rounding may make."""


@dataclass(frozen=True)
class Step:
    """A task score against the best so far."""

    difference: float
    files: Sequence[tuple[float, float, Units]]
    """Of each test file its weight, the difference in it, and the answers of both."""
    seed: int = 0

    @cached_property
    def error(self) -> float:
        """The standard error of the difference; test files are independent of each other.

        For accuracies it is the jackknife's over examples or, where the gold has groups, over groups: of
        independent examples that is McNemar's statistic above 1. For other metrics it is that of a paired
        bootstrap. A single unit could go either way.
        """
        errors = [
            weight * (_error(units, self.seed) if units.size > 1 else abs(change))
            for weight, change, units in self.files
        ]
        return sqrt(sum(error * error for error in errors))

    @property
    def better(self) -> bool:
        """Whether it is higher by more than one standard error of the difference."""
        return self.difference > 0 and self.difference > self.error * (1 + _ROUNDING)


class Climb(NamedTuple):
    """What a submission may show, task by task."""

    shown: Submission
    """The submission with the best so far in the place of each task that is not clearly better."""
    new: tuple[str, ...]
    """Tasks whose score is a new best."""
    kept: tuple[str, ...]
    """Tasks that show the best so far again."""
    incomplete: tuple[str, ...]
    """Tasks answered only in part: they have no task score to compare, so no score is shown."""


def climb(submission: Submission, bests: Mapping[str, Submission], gold: Gold) -> Climb:
    """One step of the Ladder. `bests` is task name to the earlier submission with the best score shown.

    A task that is not in `bests` has its first score, which is shown. Diagnostic sets take the step with
    their overall score; those whose labels are public are shown as they are.
    """
    pairs = pairs_of(submission, gold)
    earlier = {name: pairs_of(best, gold) for name, best in bests.items()}
    shown: dict[str, Column] = {}
    outcome: dict[str, list[str]] = {"new": [], "kept": [], "incomplete": []}
    for task in gold.benchmark.tasks:
        names = [file.name for file in task.files if file.name in submission.predictions]
        source, kind = submission, "new"
        if not names:
            continue
        if not task.scored and task.labels_public:
            kind = ""
        elif not all(metric.file in pairs for metric in task.metrics):
            names, kind = [], "incomplete"
        elif task.name in bests and not step(task, pairs, earlier[task.name]).better:
            source, kind = bests[task.name], "kept"
        shown |= {name: source.predictions[name] for name in names}
        if kind:
            outcome[kind].append(task.name)
    in_order = {name: shown[name] for name in submission.predictions if name in shown}
    return Climb(
        replace(submission, predictions=in_order),
        *(tuple(outcome[kind]) for kind in ("new", "kept", "incomplete")),
    )


def step(task: Task, new: Mapping[str, Pairs], best: Mapping[str, Pairs], *, seed: int = 0) -> Step:
    """A task score against the best so far, both from answers to all of the task's test files."""
    from gluebench.scoring.units import units_of  # imports numpy

    files = []
    for name, metrics in task.metrics_by_file().items():
        values = [point(metric, new[name]).value - point(metric, best[name]).value for metric in metrics]
        units = units_of(metrics, [new[name], best[name]])
        files.append((len(metrics) / len(task.metrics), task_score(values), units))
    return Step(sum(weight * change for weight, change, _ in files), files, seed)


def _error(units: Units, seed: int) -> float:
    """The standard error of the difference in the mean of a file's metrics.

    A jackknife of a correlation can be fooled: leave out one of several answers far out of range, and the
    others still decide. So these are resampled, and the error is taken as high as the luck of the resamples
    may have made it low: one example that changed makes a difference of one standard error, and must never be
    decided by that luck.
    """
    from gluebench.scoring.inference import jackknife_spread
    from gluebench.scoring.units.base import generator

    if all(is_proportion(metric) for metric in units.metrics):
        left_out = units.left_out().mean(axis=0)
        return jackknife_spread(left_out[0] - left_out[1], units.counts).error
    drawn = units.bootstrap(RESAMPLES, generator(seed, units.metrics[0].file)).mean(axis=0)
    drawn = drawn[0] - drawn[1]
    variance = float(drawn.var(ddof=1))
    if variance <= 0:
        return 0.0
    kurtosis = float(((drawn - drawn.mean()) ** 4).mean()) / variance**2
    luck = sqrt(max(kurtosis - 1, 0.0) / (4 * len(drawn)))  # of the error, as a share of it
    return sqrt(variance) * (1 + _LUCK * luck)
