"""Numbers of hidden labels, rounded to what their test set can resolve.

Every digit of a score reveals something about the labels: twelve digits of a correlation give several at a
time. So what a leaderboard shows has as many values as its test set can tell apart. A step is two standard
errors of a proportion of that size, sqrt(p (1 - p) / n), so that rounding moves a score by one at most; for a
correlation it is twice that, because its range is. Between the lowest value and 1 there are whole steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import asin, ceil, isfinite, pi, sin, sqrt

from gluebench.benchmark import Benchmark, Task
from gluebench.scoring.intervals import mean_interval
from gluebench.scoring.metrics import metric_function, task_score
from gluebench.scoring.report import DiagnosticReport, Report, Score, TaskReport, parts_of

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
    diagnostics = {name: _set(benchmark.task(name), part) for name, part in report.diagnostics.items()}
    return report._replace(score=_average(report.score, tasks), tasks=tasks, diagnostics=diagnostics)


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


def _average(average: Score | None, tasks: Mapping[str, TaskReport]) -> Score | None:
    if average is None:
        return None
    parts = parts_of({name: task.score for name, task in tasks.items()})
    value = task_score([part.value for part in parts])
    if average.low is None or any(part.interval is None for part in parts):
        return average._replace(value=value, low=None, high=None)
    return average._replace(**{**mean_interval(parts)._asdict(), "value": value})


def _set(task: Task, report: DiagnosticReport | None) -> DiagnosticReport | None:
    if report is None or task.labels_public:
        return report
    lowest = lowest_of(task)
    rounded = report.with_categories(partial(rounded_score, lowest=lowest))
    return rounded._replace(overall=rounded_score(report.overall, lowest))


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
