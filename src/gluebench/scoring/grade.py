"""From a submission and gold to a report: which scores there are, what they average, and what was amiss."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.scoring.averages import Part, macro_average, task_score
from gluebench.scoring.diagnostics import diagnostic_report
from gluebench.scoring.gold import PARTIAL, SUFFIX, Gold, GoldError, read_gold
from gluebench.scoring.intervals import NO_BAR, Bar
from gluebench.scoring.metrics import Point, point
from gluebench.scoring.pairs import Pairs, matched
from gluebench.scoring.provenance import provenance
from gluebench.scoring.report import Report, Score, TaskReport
from gluebench.submission.problems import Problem
from gluebench.submission.submission import Submission, missing_files
from gluebench.submission.values import SubmissionError, submission_of

if TYPE_CHECKING:
    from gluebench.scoring.inference import TaskBars


def grade(
    submission: Submission | Mapping[str, Any],
    gold: Gold | str | os.PathLike[str],
    *,
    intervals: bool = True,
    benchmark: Benchmark | str | os.PathLike[str] = "glue",
) -> Report:
    """Every score of a submission, each with its 95 % interval unless `intervals` is False.

    `submission` may be a mapping of task or test-file name to predictions, and `gold` a folder; `benchmark`
    says of what, where neither does. Raises SubmissionError, GoldError, or ValueError where the two are
    not of one benchmark and split.
    """
    labels = _gold(submission, gold, benchmark)
    if not isinstance(submission, Submission):
        submission = submission_of(submission, labels.benchmark, role=labels.role)
    require_gradable(submission, labels)
    _require_gold(submission, labels)
    pairs = pairs_of(submission, labels)
    results = [_task(task, pairs, intervals=intervals) for task in labels.benchmark.scored]
    average = macro_average([result.report.score for result in results])
    if average is not None and intervals:
        average = _with_interval(average, results)
    diagnostics = {
        task.name: diagnostic_report(task, pairs, labels, intervals=intervals)
        for task in labels.benchmark.diagnostics
    }
    return Report(
        benchmark=labels.benchmark.name,
        split=labels.role,
        complete=average is not None,
        missing=missing_files(labels.benchmark, labels.role, submission.predictions),
        score=average,
        tasks={result.name: result.report for result in results},
        diagnostics={name: found.report for name, found in diagnostics.items()},
        warnings=(
            *labels.warnings,
            *_coverage_warnings(submission, labels, pairs),
            *(warning for result in results for warning in result.warnings),
            *(warning for found in diagnostics.values() for warning in found.warnings),
        ),
        provenance=provenance(labels),
    )


def _gold(
    submission: Submission | Mapping[str, Any],
    gold: Gold | str | os.PathLike[str],
    benchmark: Benchmark | str | os.PathLike[str],
) -> Gold:
    if isinstance(gold, Gold):
        return gold
    if isinstance(submission, Submission):
        return read_gold(gold, submission.benchmark, role=submission.role)
    return read_gold(gold, benchmark)


def require_gradable(submission: Submission, gold: Gold) -> None:
    """Raise ValueError for gold of another benchmark or split, SubmissionError for an invalid submission."""
    if (submission.benchmark.name, submission.role) != (gold.benchmark.name, gold.role):
        raise ValueError(
            f"the submission is for {submission.benchmark.name} ({submission.role}) and the gold labels for "
            f"{gold.benchmark.name} ({gold.role}); expected both of one benchmark and split"
        )
    if submission.verdict == "invalid":
        raise SubmissionError(submission.errors, source=submission.source, unshown=submission.unshown)


def _require_gold(submission: Submission, gold: Gold) -> None:
    unlabelled = [name for name in submission.predictions if name not in gold.columns]
    if unlabelled and not gold.partial:
        raise GoldError([_no_gold(name) for name in unlabelled], folder=gold.folder)


def _no_gold(name: str) -> Problem:
    expected = "expected labels for a test file that was submitted"
    return Problem("no-gold", "error", f"{name}{SUFFIX}", expected, PARTIAL)


def pairs_of(submission: Submission, gold: Gold) -> dict[str, Pairs]:
    """Test-file name to its gold and predictions, for the files that have both."""
    pairs = {}
    for name, predicted in submission.predictions.items():
        if name in gold.columns:
            about = gold.metadata.get(name)
            size = gold.benchmark.file(name).size(gold.role)
            groups = None if about is None else about.groups
            pairs[name] = matched(gold.columns[name], predicted, groups=groups, size=size)
    return pairs


class _Result(NamedTuple):
    """What a report says of one task."""

    name: str
    report: TaskReport
    warnings: tuple[str, ...]


def _with_interval(average: Score, results: Sequence[_Result]) -> Score:
    """The macro-average of tasks that all have a score, with its interval."""
    from gluebench.scoring.inference import mean_bar  # imports numpy

    scores = {result.name: result.report.score for result in results}
    bar = mean_bar(
        [
            Part(name, score.value, Bar(score.low, score.high, score.withheld))
            for name, score in scores.items()
            if score is not None and score.value is not None
        ]
    )
    return average._replace(low=bar.low, high=bar.high, withheld=bar.withheld)


def _task(task: Task, pairs: Mapping[str, Pairs], *, intervals: bool) -> _Result:
    metrics = [metric for metric in task.metrics if metric.file in pairs]
    points = {metric.name: point(metric, pairs[metric.file]) for metric in metrics}
    bars: TaskBars | None = None
    if intervals and metrics:
        from gluebench.scoring.inference import task_bars  # imports numpy

        bars = task_bars(task, pairs, points)
    scores = {
        metric.name: _score(
            points[metric.name], pairs[metric.file], bars.metrics[metric.name] if bars else NO_BAR
        )
        for metric in metrics
    }
    whole = len(metrics) == len(task.metrics)
    score = _task_score(task, points, pairs, bars.score if bars else NO_BAR) if whole else None
    return _Result(task.name, TaskReport(score, scores), tuple(_undefined_warnings(task.name, points)))


def _score(found: Point, pairs: Pairs, bar: Bar) -> Score:
    return Score(found.value, bar.low, bar.high, len(pairs), bar.withheld, pairs.covered)


def _task_score(task: Task, points: Mapping[str, Point], pairs: Mapping[str, Pairs], bar: Bar) -> Score:
    files = list(dict.fromkeys(metric.file for metric in task.metrics))
    n = sum(len(pairs[name]) for name in files)
    covered = None
    if any(pairs[name].covered is not None for name in files):
        covered = n / sum(len(pairs[name]) / (pairs[name].covered or 1.0) for name in files)
    value = task_score([found.value for found in points.values()])
    return Score(value, bar.low, bar.high, n, bar.withheld, covered)


def _undefined_warnings(task: str, points: Mapping[str, Point]) -> Iterator[str]:
    for metric, found in points.items():
        if found.undefined:
            yield f"{task}: {metric} is not defined where {found.undefined}, and counts as 0"


def _coverage_warnings(submission: Submission, gold: Gold, pairs: Mapping[str, Pairs]) -> Iterator[str]:
    bare = [f"{name}{SUFFIX}" for name in submission.predictions if name not in pairs]
    if bare:
        yield f"there are no gold labels for {', '.join(bare)}: submitted, but not scored"
    for name in pairs:
        if pairs[name].covered is not None and not gold.rows:
            size = gold.benchmark.file(name).size(gold.role)
            yield f"{name}: there are gold labels for {len(pairs[name]):,} of {size:,} examples only"
