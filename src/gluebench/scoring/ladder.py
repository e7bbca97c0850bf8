"""The Ladder (Blum and Hardt 2015): a new score is shown only where it is clearly better than one's best.

Whoever sees every score can fit a test set without a model: send random answers, keep those that happened
to score well, take their majority. The parameter-free Ladder shows a new score of a task only if it beats
the best so far by more than one standard error of the difference, and shows that best again otherwise; what
is shown is rounded to one n-th, for n examples. Both systems answer the same examples, so the error is that
of paired answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

from gluebench.benchmark import Metric, Task
from gluebench.scoring.averages import task_score
from gluebench.scoring.counts import COUNT_METRICS
from gluebench.scoring.gold import Gold
from gluebench.scoring.grade import pairs_of
from gluebench.scoring.pairs import Pairs, point
from gluebench.scoring.report import DiagnosticReport, Report, Score, TaskReport
from gluebench.submission.column import Column
from gluebench.submission.submission import Submission

RESAMPLES = 4000
"""More than an interval takes: what they decide hangs on a few per cent of the error."""
_LUCK = 3.0
"""Standard errors of a resampled error that it is raised by."""
_ROUNDING = 1e-9
"""Share of a standard error that rounding may make."""


class Step(NamedTuple):
    """A task score against the best so far."""

    better: bool
    """Whether it is higher by more than one standard error of the difference."""
    difference: float
    error: float
    """That standard error."""


class Climb(NamedTuple):
    """What a submission may show, task by task."""

    shown: Submission
    """The submission with the best so far in the place of each task that is not clearly better."""
    new: tuple[str, ...]
    """Tasks whose score is a new best."""
    kept: tuple[str, ...]
    """Tasks that show the best so far again."""
    incomplete: tuple[str, ...]
    """Tasks of which nothing is shown: answered in part, so that there is no task score to compare."""


def climb(
    submission: Submission, bests: Mapping[str, Submission], gold: Gold, *, resamples: int = RESAMPLES
) -> Climb:
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
        elif task.name in bests and not step(task, pairs, earlier[task.name], resamples=resamples).better:
            source, kind = bests[task.name], "kept"
        shown |= {name: source.predictions[name] for name in names}
        if kind:
            outcome[kind].append(task.name)
    whole = replace(submission, predictions=_in_order(shown, submission))
    return Climb(whole, *(tuple(outcome[kind]) for kind in ("new", "kept", "incomplete")))


def _in_order(shown: Mapping[str, Column], submission: Submission) -> dict[str, Column]:
    return {name: shown[name] for name in submission.predictions if name in shown}


def step(
    task: Task,
    new: Mapping[str, Pairs],
    best: Mapping[str, Pairs],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Step:
    """Whether a task score beats the best so far by more than one standard error of their difference.

    For accuracies the error is exact: the jackknife's over examples or, where the gold has groups, over
    groups. For other metrics it is that of a paired bootstrap. Test files are independent of each other.
    """
    names = list(dict.fromkeys(metric.file for metric in task.metrics))
    means = all(_is_mean(metric) for metric in task.metrics)
    if means and len(names) == 1 and new[names[0]].groups is None:
        return _beats(new[names[0]], best[names[0]])
    difference = variance = 0.0
    for name in names:
        metrics = [metric for metric in task.metrics if metric.file == name]
        weight = len(metrics) / len(task.metrics)
        if all(_is_mean(metric) for metric in metrics):
            part = _mean_part(new[name], best[name])
        else:
            part = _resampled_part(name, metrics, new[name], best[name], resamples=resamples, seed=seed)
        difference += weight * part.difference
        variance += weight**2 * part.variance
    error = sqrt(variance)
    return Step(difference > error * (1 + _ROUNDING), difference, error)


class _Part(NamedTuple):
    """The difference in the mean of one file's metrics, and the variance of that difference."""

    difference: float
    variance: float


def _is_mean(metric: Metric) -> bool:
    known = COUNT_METRICS.get(metric.function)
    return known is not None and known.proportion


def _mean_part(new: Pairs, best: Pairs) -> _Part:
    """The difference of two accuracies and its jackknife variance, as in `intervals.grouped_wilson`.

    One group has no variance to estimate: it counts as if it could have gone either way.
    """
    n, gains = len(new), _gains(new, best)
    mean = sum(gain.examples for gain in gains) / n
    if len(gains) < 2:
        return _Part(mean, mean * mean)
    squares = sum(((gain.examples - mean * gain.size) / (n - gain.size)) ** 2 for gain in gains)
    return _Part(mean, squares * (len(gains) - 1) / len(gains))


class _Gain(NamedTuple):
    """What a group of examples gains, and how many there are."""

    examples: int
    """Right answers more than the best has."""
    size: int


def _gains(new: Pairs, best: Pairs) -> list[_Gain]:
    gold, ours, theirs = new.gold.codes, new.predicted.codes, best.predicted.codes
    each = [(g == a) - (g == b) for g, a, b in zip(gold, ours, theirs, strict=True)]
    if new.groups is None:
        return [_Gain(gain, 1) for gain in each]
    gains: Counter[int] = Counter()
    for group, gain in zip(new.groups, each, strict=True):
        gains[group] += gain
    sizes = Counter(new.groups)
    return [_Gain(gains[group], size) for group, size in sizes.items()]


def _beats(new: Pairs, best: Pairs) -> Step:
    """The step for an accuracy of independent examples, in integers.

    With w examples won and l lost, (w - l) / n exceeds the root of the paired variance exactly where
    (w - l)**2 > w + l: McNemar's statistic is above 1.
    """
    ours, theirs, n = _wrong(new), _wrong(best), len(new)
    won, lost = (theirs & ~ours).bit_count(), (ours & ~theirs).bit_count()
    gain, changed = won - lost, won + lost
    error = sqrt((changed - gain * gain / n) / (n * (n - 1))) if n > 1 else float(changed)
    return Step(gain > 0 and gain * gain > changed, gain / n, error)


_NOT_ZERO = bytes([0, *[1] * 255])


def _wrong(pairs: Pairs) -> int:
    """The examples answered wrongly as an integer with a set bit for each, as `submission.column.bits`."""
    gold, predicted = (int.from_bytes(column.codes, "little") for column in (pairs.gold, pairs.predicted))
    different = (gold ^ predicted).to_bytes(len(pairs), "little")
    return int.from_bytes(different.translate(_NOT_ZERO), "little")


def _resampled_part(
    name: str, metrics: Sequence[Metric], new: Pairs, best: Pairs, *, resamples: int, seed: int
) -> _Part:
    """The same for other metrics, by a paired bootstrap.

    The error is taken as high as the luck of the resamples may have made it low: one example that changed
    makes a difference of one standard error, and must never be decided by that luck.
    """
    from gluebench.scoring.paired import differences  # imports numpy

    values = [point(metric, new).value - point(metric, best).value for metric in metrics]
    drawn = differences(name, metrics, new, best=best, resamples=resamples, seed=seed)
    return _Part(task_score(values), drawn.variance * (1 + _LUCK * drawn.luck) ** 2)


def rounded_report(report: Report) -> Report:
    """The report with every number at one n-th, n the examples it rests on, and the averages of those.

    More digits would tell more of the labels than whether a score is better. The ends of the average's
    interval are at a hundredth of a per cent.
    """
    tasks = {name: _rounded_task(task) for name, task in report.tasks.items()}
    score = report.score
    if score is not None:
        value = _mean([task.score for task in tasks.values() if task.score is not None])
        score = _at(score, 10_000)._replace(value=value)
    diagnostics = {
        name: None if found is None else _rounded_diagnostic(found)
        for name, found in report.diagnostics.items()
    }
    return report._replace(score=score, tasks=tasks, diagnostics=diagnostics)


def _rounded_task(task: TaskReport) -> TaskReport:
    metrics = {name: _at(score, score.n) for name, score in task.metrics.items()}
    if task.score is None:
        return TaskReport(None, metrics)
    return TaskReport(_at(task.score, task.score.n)._replace(value=_mean([*metrics.values()])), metrics)


def _mean(scores: Sequence[Score]) -> float:
    return task_score([score.value for score in scores if score.value is not None])


def _rounded_diagnostic(found: DiagnosticReport) -> DiagnosticReport:
    coarse, fine = ({name: _at(score, score.n) for name, score in part.items()} for part in found[1:3])
    metadata = {
        column: {name: _at(score, score.n) for name, score in part.items()}
        for column, part in found.metadata.items()
    }
    return DiagnosticReport(_at(found.overall, found.overall.n), coarse, fine, metadata)


def _at(score: Score, parts: int) -> Score:
    """The score with its value and ends at multiples of one `parts`-th."""
    value, low, high = (
        None if number is None else round(number * parts) / parts
        for number in (score.value, score.low, score.high)
    )
    return score._replace(value=value, low=low, high=high)
