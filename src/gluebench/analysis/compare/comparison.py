"""Two systems on the same examples: how far apart they are, and whether that is significant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gluebench.analysis.compare import words
from gluebench.analysis.compare.scores import (
    Answers,
    Difference,
    TaskTested,
    file_tested,
    mean_tested,
    task_tested,
)
from gluebench.benchmark import Benchmark, Task
from gluebench.scoring import Gold, Report, grade
from gluebench.scoring.distributions import holm
from gluebench.scoring.grade import Path, Run, gold_of, submissions_from
from gluebench.scoring.report import fields_of, provenance
from gluebench.scoring.tags import OVERALL
from gluebench.submission import Submission

SCHEMA = "gluebench.comparison/1"


@dataclass(frozen=True, slots=True)
class CategoryComparison:
    """The two systems on the examples of one category of a diagnostic set."""

    kind: str
    """"coarse", "fine", or a column of the metadata ("direction", "domain")."""
    name: str
    difference: Difference
    """Of the set's first metric; `adjusted` is Holm's over the categories of the kind."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {"kind": self.kind, "name": self.name, **self.difference.as_dict()}


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """The two systems on one task."""

    score: Difference | None
    """Of the task score; None while one of its files is missing. Its `adjusted` is Holm's over the tasks."""
    metrics: Mapping[str, Difference]
    words: str
    """What follows, in a sentence or two."""
    categories: tuple[CategoryComparison, ...] = ()
    """A diagnostic set by phenomenon and by what else divides it; none for a scored task."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values; `categories` only of a diagnostic set."""
        return fields_of(self, optional=("categories",))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `compare` returns. A difference is A's score minus B's."""

    benchmark: str
    split: str
    a: str
    b: str
    """What the two are called; of several runs all names."""
    runs: tuple[int, int]
    """How many runs of each."""
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
        values = {"schema": SCHEMA, **fields_of(self)}
        if self.runs == (1, 1):
            del values["runs"]
        return values


def compare(
    a: Run | Sequence[Run],
    b: Run | Sequence[Run],
    gold: Gold | Path,
    *,
    equivalence: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    benchmark: Benchmark | Path = "glue",
) -> Comparison:
    """Compare two systems from their predictions, paired by example.

    Either may be a path or a mapping of task or test file to predictions, as `grade` takes it, or a sequence
    of several runs of one system; `gold` and `benchmark` are as there. Single submissions are tested by
    exchanging their answers at random, and the interval is the set of differences that this test does not
    reject; several runs are tested by Student's t over runs and examples together (docs/how-to/compare.md).
    `equivalence` is the largest difference that counts as equal, a fraction. The same input and seed give the
    same numbers. Raises SubmissionError, GoldError and ValueError as `grade` does, and ValueError for an
    `equivalence` that is not above 0 or for no run.
    """
    if equivalence is not None and not equivalence > 0:
        raise ValueError(f"equivalence is {equivalence}; expected a fraction above 0, as 0.01 for one point")
    gold = gold_of(gold, benchmark, a, b)
    sides = [submissions_from(system, gold) for system in (a, b)]
    if not all(sides):
        raise ValueError("a system has no runs; expected one submission or more")
    # Graded for what `grade` refuses and warns of; the values come with the tests.
    reports = [[grade(submission, gold, intervals=False) for submission in side] for side in sides]
    benchmark, answers = gold.benchmark, Answers(sides, gold)
    tested = {
        task.name: task_tested(task, answers, resamples=resamples, seed=seed) for task in benchmark.tasks
    }
    scores = {task.name: score for task in benchmark.scored if (score := tested[task.name].score) is not None}
    averaged = {name: score._replace(weight=1.0) for name, score in scores.items()}
    average = mean_tested(averaged, n=len(averaged)).difference(margin=equivalence) if averaged else None
    differences = _adjusted({name: score.difference(margin=equivalence) for name, score in scores.items()})
    tasks = {
        task.name: _compared(task, tested[task.name], differences.get(task.name))
        for task in benchmark.scored
        if tested[task.name].metrics
    }
    diagnostics: dict[str, TaskComparison] = {}
    for task in benchmark.diagnostics:
        whole = tested[task.name]
        if whole.metrics:
            difference = whole.score.difference(margin=equivalence) if whole.score else None
            parts = _categories(task, answers, gold, equivalence=equivalence, resamples=resamples, seed=seed)
            diagnostics[task.name] = divided(_compared(task, whole, difference), parts)
    left_out = tuple(task.name for task in benchmark.scored if task.name not in scores)
    return Comparison(
        benchmark=benchmark.name,
        split=gold.role,
        a=", ".join(run.source for run in sides[0]),
        b=", ".join(run.source for run in sides[1]),
        runs=(len(sides[0]), len(sides[1])),
        overall=average,
        over=tuple(scores),
        left_out=left_out,
        tasks=tasks,
        diagnostics=diagnostics,
        conclusion=words.conclusion(average, {name: tasks[name].score for name in scores}, left_out=left_out),
        warnings=tuple(_warnings(sides, gold, reports=reports, left_out=left_out)),
        provenance={**provenance(gold, resamples=resamples, seed=seed), "schema": SCHEMA},
    )


def _adjusted(differences: Mapping[str, Difference]) -> dict[str, Difference]:
    """With Holm's adjustment over all of them, of the p-values of equivalence too."""
    records = list(differences.values())
    p_values = holm([record.p for record in records])
    equivalences = holm([record.equivalence_p for record in records if record.equivalence_p is not None])
    return {
        name: replace(difference, adjusted=p, equivalence_p=equivalence)
        for (name, difference), p, equivalence in zip(
            differences.items(), p_values, equivalences or [None] * len(records), strict=True
        )
    }


def _compared(task: Task, tested: TaskTested, score: Difference | None) -> TaskComparison:
    metrics = {name: metric.difference() for name, metric in tested.metrics.items()}
    if score is None:
        return TaskComparison(None, metrics, words.no_score(task))
    return TaskComparison(score, metrics, words.sentence(task, score))


def _categories(
    task: Task, answers: Answers, gold: Gold, *, equivalence: float | None, resamples: int, seed: int
) -> tuple[CategoryComparison, ...]:
    """The categories of a diagnostic set in the manifest's order, each kind adjusted for its number."""
    metric = task.metrics[0]
    sides = answers.of(metric.file)
    if sides is None:
        return ()
    kinds: dict[str, dict[str, Difference]] = {}
    for category in gold.categories.get(metric.file, ()):
        if category.kind != OVERALL:
            some = [[pairs.subset(category.positions) for pairs in side] for side in sides]
            name = f"{metric.file}/{category.kind}/{category.name}"
            tested = file_tested([metric], some, resamples=resamples, seed=seed, name=name)[0]
            kinds.setdefault(category.kind, {})[category.name] = tested.difference(margin=equivalence)
    return tuple(
        CategoryComparison(kind, name, difference)
        for kind, differences in kinds.items()
        for name, difference in _adjusted(differences).items()
    )


def divided(whole: TaskComparison, parts: tuple[CategoryComparison, ...]) -> TaskComparison:
    """A diagnostic set with its categories, and a sentence that sums them up."""
    by_kind = {
        kind: {part.name: part.difference for part in parts if part.kind == kind}
        for kind in ("coarse", "fine")
    }
    sentences = [words.of_kind(kind, differences) for kind, differences in by_kind.items() if differences]
    return replace(whole, words=" ".join([whole.words, *sentences]), categories=parts)


def _warnings(
    sides: Sequence[Sequence[Submission]],
    gold: Gold,
    *,
    reports: Sequence[Sequence[Report]],
    left_out: tuple[str, ...],
) -> Iterator[str]:
    for name in left_out:
        files = {file.name for file in gold.benchmark.task(name).files}
        lacking = [
            who
            for who, side in zip("AB", sides, strict=True)
            if any(not files <= set(submission.predictions) for submission in side)
        ]
        if lacking:
            yield f"{name} is left out: predictions are missing from {' and '.join(lacking)}"
    if max(map(len, sides)) > 1:
        for who, side in zip("AB", sides, strict=True):
            if len(side) == 1:
                yield f"{who} is a single run: how much its score depends on the seed is not known"
    of_a, of_b = (
        list(dict.fromkeys(warning for report in side for warning in report.warnings)) for side in reports
    )
    yield from (warning for warning in of_a if warning in of_b)
    yield from (f"A: {warning}" for warning in of_a if warning not in of_b)
    yield from (f"B: {warning}" for warning in of_b if warning not in of_a)
