"""Two systems on the same examples: how far apart they are, and whether that can be told from chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gluebench.analysis import wording
from gluebench.analysis.categories import CategoryComparison, compare_categories
from gluebench.analysis.differences import Difference
from gluebench.analysis.significance import holm
from gluebench.analysis.trial import mean_of
from gluebench.analysis.trials import TaskTrials, task_trials
from gluebench.benchmark import Task
from gluebench.scoring import Gold, Report, grade
from gluebench.scoring.provenance import provenance
from gluebench.submission import Submission
from gluebench.submission.values import submission_of

SCHEMA = "gluebench.comparison/1"
Predictions = Mapping[str, Any]
"""Task or test file to its predictions: an array, a list, a Series, a DataFrame."""


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """The two systems on one task."""

    score: Difference | None
    """Of the task score; None while one of its files is missing. Its `adjusted` is Holm's over the tasks."""
    metrics: Mapping[str, Difference]
    words: str
    """What follows, in a sentence or two."""
    categories: tuple[CategoryComparison, ...] = ()
    """A diagnostic set by phenomenon and by what else divides it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `compare` returns. A difference is A's score minus B's."""

    benchmark: str
    split: str
    a: str
    b: str
    overall: Difference | None
    """Of the mean over the tasks in `over`; None where there is none."""
    over: tuple[str, ...]
    """The scored tasks of which both systems have the whole score."""
    left_out: tuple[str, ...]
    """The scored tasks that at least one lacks: with any, `overall` is not the macro-average."""
    tasks: Mapping[str, TaskComparison]
    diagnostics: Mapping[str, TaskComparison]
    """Reported apart: neither averaged nor counted in Holm's adjustment."""
    conclusion: str
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    @property
    def words(self) -> tuple[str, ...]:
        """A sentence for each task and diagnostic set, then the conclusion."""
        parts = [*self.tasks.values(), *self.diagnostics.values()]
        return (*(part.words for part in parts), self.conclusion)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order; numbers are fractions."""
        return {
            "schema": SCHEMA,
            "benchmark": self.benchmark,
            "split": self.split,
            "a": self.a,
            "b": self.b,
            "overall": self.overall.as_dict() if self.overall else None,
            "over": list(self.over),
            "left_out": list(self.left_out),
            "tasks": {name: _as_dict(task) for name, task in self.tasks.items()},
            "diagnostics": {name: _as_dict(task) for name, task in self.diagnostics.items()},
            "conclusion": self.conclusion,
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }


def _as_dict(task: TaskComparison) -> dict[str, Any]:
    return {
        "score": task.score.as_dict() if task.score else None,
        "metrics": {name: difference.as_dict() for name, difference in task.metrics.items()},
        "words": task.words,
    } | ({"categories": [each.as_dict() for each in task.categories]} if task.categories else {})


def compare(
    a: Submission | Predictions,
    b: Submission | Predictions,
    gold: Gold,
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare two submissions from their predictions, paired by example.

    Either may be a mapping of task or test file to predictions, as `grade` takes it. Intervals are
    percentile intervals of the paired bootstrap. A p-value is exact McNemar's for an accuracy whose
    examples are independent, Williams' for Pearson, and of an exchange of the two systems' answers for
    everything else, scores and the average included (docs/compare.md). The same input and seed give the
    same numbers. Raises SubmissionError, GoldError and ValueError as `grade` does.
    """
    ours, theirs = (_submission(each, gold) for each in (a, b))
    # Graded for what `grade` refuses and warns of; the values come with the trials.
    reports = [grade(each, gold, resamples=0) for each in (ours, theirs)]
    benchmark = gold.benchmark
    trials = {
        task.name: task_trials(task, ours, theirs, gold, resamples=resamples, seed=seed)
        for task in benchmark.tasks
    }
    scores = {task.name: score for task in benchmark.scored if (score := trials[task.name].score) is not None}
    averaged = [score._replace(weight=1.0) for score in scores.values()]
    average = mean_of(averaged, n=len(averaged)).difference() if averaged else None
    adjusted = dict(zip(scores, holm([score.p for score in scores.values()]), strict=True))
    tasks = {
        task.name: _compared(task, trials[task.name], adjusted=adjusted.get(task.name))
        for task in benchmark.tasks
        if trials[task.name].metrics
    }
    for task in benchmark.diagnostics:
        if task.name in tasks:
            parts = compare_categories(task, ours, theirs, gold, resamples=resamples, seed=seed)
            tasks[task.name] = _divided(tasks[task.name], task, parts)
    left_out = tuple(task.name for task in benchmark.scored if task.name not in scores)
    return Comparison(
        benchmark=benchmark.name,
        split=gold.role,
        a=ours.source,
        b=theirs.source,
        overall=average,
        over=tuple(scores),
        left_out=left_out,
        tasks=_only(tasks, benchmark.scored),
        diagnostics=_only(tasks, benchmark.diagnostics),
        conclusion=wording.conclusion(
            average, {name: tasks[name].score for name in scores}, left_out=left_out
        ),
        warnings=tuple(_warnings(ours, theirs, gold, reports=reports, left_out=left_out)),
        provenance={**provenance(gold, resamples=resamples, seed=seed), "schema": SCHEMA},
    )


def _submission(given: Submission | Predictions, gold: Gold) -> Submission:
    return given if isinstance(given, Submission) else submission_of(given, gold.benchmark, role=gold.role)


def _compared(task: Task, trials: TaskTrials, *, adjusted: float | None) -> TaskComparison:
    metrics = {name: trial.difference() for name, trial in trials.metrics.items()}
    if trials.score is None:
        return TaskComparison(None, metrics, wording.no_score(task))
    difference = replace(trials.score.difference(), adjusted=adjusted)
    return TaskComparison(difference, metrics, wording.sentence(task, difference))


def _divided(whole: TaskComparison, task: Task, parts: tuple[CategoryComparison, ...]) -> TaskComparison:
    words = " ".join([whole.words, *wording.by_kind(task, parts)])
    return replace(whole, words=words, categories=parts)


def _only(tasks: Mapping[str, TaskComparison], wanted: Iterable[Task]) -> dict[str, TaskComparison]:
    return {task.name: tasks[task.name] for task in wanted if task.name in tasks}


def _warnings(
    a: Submission, b: Submission, gold: Gold, *, reports: Sequence[Report], left_out: tuple[str, ...]
) -> Iterator[str]:
    for name in left_out:
        files = [file.name for file in gold.benchmark.task(name).files]
        lacking = [who for who, each in (("A", a), ("B", b)) if not set(files) <= set(each.predictions)]
        if lacking:
            yield f"{name} is left out: predictions are missing from {' and '.join(lacking)}"
    of_a, of_b = (report.warnings for report in reports)
    yield from (warning for warning in of_a if warning in of_b)
    yield from (f"A: {warning}" for warning in of_a if warning not in of_b)
    yield from (f"B: {warning}" for warning in of_b if warning not in of_a)
