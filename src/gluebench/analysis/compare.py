"""Two systems on the same examples: how far apart they are, and whether that can be told from chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gluebench.analysis import wording
from gluebench.analysis.differences import Difference
from gluebench.analysis.significance import holm
from gluebench.analysis.trials import Trial, mean_of, task_trials
from gluebench.benchmark import Benchmark, Task
from gluebench.scoring import Gold
from gluebench.submission import Submission
from gluebench.version import __version__

SCHEMA = "gluebench.comparison/1"


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """The two systems on one task."""

    score: Difference | None
    """Of the task score; None while one of its files is missing. Its `adjusted` is Holm's over the tasks."""
    metrics: Mapping[str, Difference]
    words: str
    """One sentence that says what follows."""


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
    }


def compare(
    a: Submission, b: Submission, gold: Gold, *, resamples: int = 10_000, seed: int = 0
) -> Comparison:
    """Compare two submissions from their predictions, paired by example.

    Intervals are percentile intervals of the paired bootstrap. A p-value is exact McNemar's for an
    accuracy whose examples are independent, Williams' for Pearson, and of an exchange of the two
    systems' answers for everything else, scores and the average included (docs/compare.md).
    The same input and seed give the same numbers. Raises ValueError for submissions to two
    benchmarks or splits.
    """
    if (a.benchmark.name, a.role) != (b.benchmark.name, b.role):
        raise ValueError(
            f"{a.source} is for {a.benchmark.name} ({a.role}), {b.source} for {b.benchmark.name} ({b.role})"
        )
    benchmark = a.benchmark
    trials = {task.name: task_trials(task, a, b, gold, resamples=resamples, seed=seed) for task in benchmark.tasks}
    scores = {name: mean_of(each.values()) for name, each in trials.items() if _whole(benchmark.task(name), each)}
    scored = [task.name for task in benchmark.scored if task.name in scores]
    adjusted = dict(zip(scored, holm([scores[name].p for name in scored]), strict=True))
    overall = mean_of([scores[name] for name in scored]).difference(n=len(scored)) if scored else None
    tasks = {
        task.name: _compared(task, trials[task.name], scores.get(task.name), adjusted=adjusted.get(task.name))
        for task in benchmark.tasks
        if trials[task.name]
    }
    left_out = tuple(task.name for task in benchmark.scored if task.name not in scores)
    return Comparison(
        benchmark=benchmark.name,
        split=a.role,
        a=a.source,
        b=b.source,
        overall=overall,
        over=tuple(scored),
        left_out=left_out,
        tasks=_only(tasks, benchmark.scored),
        diagnostics=_only(tasks, benchmark.diagnostics),
        conclusion=wording.conclusion(
            overall, {name: tasks[name].score for name in scored}, left_out=left_out
        ),
        warnings=tuple(_warnings(a, b, benchmark, left_out)),
        provenance={"version": __version__, "resamples": resamples, "seed": seed},
    )


def _whole(task: Task, trials: Mapping[str, Trial]) -> bool:
    return len(trials) == len(task.metrics)


def _compared(
    task: Task, trials: Mapping[str, Trial], score: Trial | None, *, adjusted: float | None
) -> TaskComparison:
    metrics = {name: trial.difference() for name, trial in trials.items()}
    if score is None:
        return TaskComparison(None, metrics, wording.no_score(task))
    difference = replace(score.difference(), adjusted=adjusted)
    return TaskComparison(difference, metrics, wording.sentence(task, difference))


def _only(tasks: Mapping[str, TaskComparison], wanted: Iterable[Task]) -> dict[str, TaskComparison]:
    return {task.name: tasks[task.name] for task in wanted if task.name in tasks}


def _warnings(a: Submission, b: Submission, benchmark: Benchmark, left_out: tuple[str, ...]) -> Iterable[str]:
    for name in left_out:
        files = {file.name for file in benchmark.task(name).files}
        lacking = [
            which for which, each in (("A", a), ("B", b)) if not files <= set(each.predictions)
        ]
        reason = f"{' and '.join(lacking)} lack predictions" if lacking else "the gold lacks it"
        yield f"{name} is left out: {reason}."
