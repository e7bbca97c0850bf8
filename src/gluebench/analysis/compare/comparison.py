"""Two systems on the same examples: how far apart they are, and whether that is significant."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from gluebench.analysis.compare import words
from gluebench.analysis.compare.columns import DIFFERENCE_COLUMNS
from gluebench.analysis.compare.scores import (
    Answers,
    Difference,
    answers_to,
    mean_score_test,
    task_tests,
    units_tests,
)
from gluebench.analysis.graded import GradedSystem, grade_systems
from gluebench.analysis.names import LETTERS, Names, distinct_names, short_names
from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import between, counted, on_split, p_text, points, without
from gluebench.benchmark.tables import Column, Table, TabularResult, numeric, show_count
from gluebench.scoring import Gold
from gluebench.scoring.grade import Labels, Path, Run, gold_of
from gluebench.scoring.intervals import holm
from gluebench.scoring.report import fields_of, provenance
from gluebench.scoring.tags import OVERALL, Category
from gluebench.scoring.units import units_of
from gluebench.submission.values import SOURCE as GIVEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gluebench.scoring.plots import Row

SCHEMA = "gluebench.comparison/1"
FIELDS = (
    "task", "metric", "breakdown", "category", "a", "b", "difference", "low", "high", "p", "adjusted", "test",
    "n", "same", "only_a", "only_b", "detectable", "withheld", "error", "margin", "equivalence_p", "verdict",
    "seeds",
)  # fmt: skip
"""Columns of a comparison as one table."""


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
    """The conclusion for this task, in a sentence or two."""
    categories: tuple[CategoryComparison, ...] = ()
    """The categories of a diagnostic set, phenomena and metadata, or those of a scored table, if tested."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values; `categories` only if there are any."""
        return fields_of(self, optional=("categories",))


@dataclass(frozen=True, slots=True)
class Comparison(TabularResult):
    """The result of `compare`. A difference is A's score minus B's."""

    benchmark: str
    split: str
    a: str
    b: str
    """The names of the two; for several runs, all their names."""
    runs: tuple[int, int]
    """How many runs of each."""
    overall: Difference | None
    """Of the mean over the tasks in `over`; None where there is none."""
    over: tuple[str, ...]
    """The tasks of the macro-average for which both systems have a complete score."""
    left_out: tuple[str, ...]
    """Those that a system lacks; if there are any, `overall` is not the macro-average."""
    tasks: Mapping[str, TaskComparison]
    diagnostics: Mapping[str, TaskComparison]
    """Reported separately: neither averaged nor part of Holm's adjustment."""
    conclusion: str
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    @property
    def words(self) -> tuple[str, ...]:
        """A sentence for each task and diagnostic set, then the conclusion."""
        sentences = [task.words for task in self.tasks.values()]
        sentences += [diagnostic_set.words for diagnostic_set in self.diagnostics.values()]
        return (*sentences, self.conclusion)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order; numbers are fractions."""
        values = {"schema": SCHEMA, **fields_of(self)}
        if self.runs == (1, 1):
            del values["runs"]
        return values

    def __repr__(self) -> str:
        what = f"<Comparison on {self.benchmark} {self.split}: "
        if self.overall is None:
            return f"{what}no task in common>"
        overall = self.overall
        loss = overall.loss
        difference = points(overall.difference, loss) + between(overall.low, overall.high, loss)
        if not loss:
            difference += " points"
        return f"{what}A - B = {difference}, {words.p_words(overall.p)}, {len(self.over)} tasks>"

    def records(self) -> Iterator[dict[str, object]]:
        """A record for each difference, with keys of FIELDS, as in JSON."""
        for name, part in chain(self.tasks.items(), self.diagnostics.items()):
            for metric, difference in part.metrics.items():
                yield {"task": name, "metric": metric, **difference.as_dict()}
            if part.score is not None:
                yield {"task": name, "metric": "score", **part.score.as_dict()}
            for row in part.categories:
                category = {"breakdown": row.kind, "category": row.name}
                yield {"task": name, **category, **row.difference.as_dict()}
        if self.overall is not None:
            yield {"metric": "average", **self.overall.as_dict()}

    def fields(self) -> Sequence[str]:
        """FIELDS."""
        return FIELDS

    def tables(self) -> list[Table]:
        """A row for each task, for the average and for each diagnostic set; the conclusion below."""
        scores = {name: part.score for name, part in self.tasks.items()}
        scores[f"average of {len(self.over)} tasks"] = self.overall
        scores |= {name: part.score for name, part in self.diagnostics.items()}
        rows = []
        for name, score in scores.items():
            rows.append((name, score, score, score, score and score.decisive, score and score.n))
        columns = [Column("task")] + DIFFERENCE_COLUMNS
        columns += [numeric("p", p_text), numeric("n", show_count)]
        return [Table(columns, rows, title=self._title, notes=[self.conclusion])]

    @property
    def _title(self) -> str:
        """The title of tables and plots; submissions are named without their folders."""
        where = on_split(self.benchmark, self.split, self.provenance)
        return words.title(where, _without_folders(self.a), _without_folders(self.b))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the differences in order, with intervals; marks are filled where significant after Holm.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        from gluebench.scoring.plots import forest

        loss = None
        average = []
        if self.overall is not None:
            loss = self.overall.loss
            average.append(_plot_row("average", self.overall, whole=True))
        sections = [average]
        others = []  # Losses and scores have no axis in common.
        for parts in (self.tasks, self.diagnostics):
            rows = []
            for name, part in parts.items():
                if part.score and part.score.loss == loss:
                    rows.append(_plot_row(name, part.score))
                elif part.score:
                    others.append(name)
            sections.append(rows)
        sections[1].sort(key=lambda row: -(row.value or 0.0))
        title = self._title
        if others:
            title = title.removesuffix(".") + without(others)
        unit = "in losses, above 0 is better," if loss else "in points"
        axis = f"A - B {unit} with 95 % interval; p after Holm, filled where significant"
        return forest(sections, title=title, axis=axis, zero=True, ax=ax)


def _without_folders(sources: str) -> str:
    names = [os.path.basename(os.path.normpath(source)) for source in sources.split(", ")]
    return ", ".join(names)


def _plot_row(name: str, difference: Difference, *, whole: bool = False) -> Row:
    from gluebench.scoring.plots import Row

    number = counted(difference.n, "task") if whole else f"n = {difference.n:,}"
    note = f"{words.p_words(difference.decisive)}, {number}"
    if difference.withheld:
        note += f", interval withheld: {difference.withheld}"
    fractions = (difference.difference, difference.low, difference.high)
    factor = 1 if difference.loss else 100
    return Row.of(name, fractions, note, filled=difference.better is not None, whole=whole, factor=factor)


def compare(
    a: Run | Sequence[Run],
    b: Run | Sequence[Run],
    gold: Labels,
    *,
    names: tuple[str, str] | None = None,
    equivalence: float | None = None,
    categories: bool = True,
    resamples: int = 10_000,
    seed: int = 0,
    benchmark: Benchmark | Path = "glue",
) -> Comparison:
    """Compare two systems from their predictions, paired by example.

    Either may be a path or a mapping of task or test file to predictions, as for `grade`, or a sequence of
    several runs of one system; `gold` and `benchmark` are as for `grade`. With a scored table as `gold`, they
    are names of systems in it. `names` are what to call the two.

    Single submissions are tested by exchanging their answers at random. The interval excludes 0 exactly where
    p is at most .05; elsewhere it rests on the standard error, or on counts where few answers differ. Several
    runs are tested by Student's t over runs and examples together; a single run against several has no
    p-value (docs/how-to/compare.md). The test is of one pair that was chosen before its results were seen.
    `equivalence` is the largest difference that counts as equal, a fraction. Without `categories`, those of
    diagnostic sets and tables are not tested, which halves the time on GLUE. The same input and seed give the
    same numbers. Raises SubmissionError, GoldError and ValueError as `grade` does, and ValueError for an
    `equivalence` that is not above 0 or for no run.
    """
    if equivalence is not None and not equivalence > 0:
        raise ValueError(f"equivalence is {equivalence}; expected a fraction above 0, as 0.01 for one point")
    gold = gold_of(gold, benchmark, a, b)
    systems = list(grade_systems({"A": a, "B": b}, gold).values())
    answers = [system.answers for system in systems]
    benchmark = gold.benchmark
    tests = {}
    scores = {}
    for task in benchmark.tasks:
        tests[task.name] = task_tests(task, answers, resamples=resamples, seed=seed)
        score = tests[task.name].score
        if task.scored and score is not None:
            scores[task.name] = score
    averaged = {}
    for task in benchmark.averaged:
        if task.name in scores:
            averaged[task.name] = scores[task.name]._replace(weight=task.weight)
    left_out = tuple(task.name for task in benchmark.averaged if task.name not in scores)
    average = None
    if averaged:
        average = mean_score_test(averaged, n=len(averaged)).difference(margin=equivalence)
    of_a, of_b = systems
    names, short = _names_of(systems, names)
    differences = _adjust({name: score.difference(margin=equivalence) for name, score in scores.items()})
    tested: Mapping[str, Sequence[Category]] = gold.categories if categories else {}

    tasks: dict[str, TaskComparison] = {}
    diagnostics: dict[str, TaskComparison] = {}
    for task in benchmark.tasks:
        by_metric = tests[task.name].metrics
        if not by_metric:
            continue
        score = tests[task.name].score
        difference = differences.get(task.name)
        if not task.scored and score is not None:
            difference = score.difference(margin=equivalence)
        metrics = {name: metric.difference() for name, metric in by_metric.items()}
        parts = _categories(task, answers, tested, equivalence=equivalence, resamples=resamples, seed=seed)
        of_kind = tasks if task.scored else diagnostics
        of_kind[task.name] = task_comparison(task, difference, metrics, parts, short)
    conclusion = words.conclusion(
        average, {name: tasks[name].score for name in scores}, short, over=averaged, left_out=left_out
    )
    return Comparison(
        benchmark=benchmark.name,
        split=gold.role,
        a=names[0],
        b=names[1],
        runs=(len(of_a.runs), len(of_b.runs)),
        overall=average,
        over=tuple(averaged),
        left_out=left_out,
        tasks=tasks,
        diagnostics=diagnostics,
        conclusion=f"{conclusion} {gold.scope}".strip(),
        warnings=tuple(_warnings(systems, gold, short, left_out=left_out)),
        provenance={**provenance(gold, resamples=resamples, seed=seed), "schema": SCHEMA},
    )


def _names_of(
    systems: Sequence[GradedSystem], names: tuple[str, str] | None
) -> tuple[tuple[str, str], Names]:
    """The names of both systems, by default their files, or letters for predictions given from Python.

    With them what sentences call the two.
    """
    if names is not None:
        return names, distinct_names(*names)
    sources = []
    for system in systems:
        sources.append([run.source for run in system.runs if run.source != GIVEN])
    a, b = sources
    short = LETTERS
    if a and b:
        short = short_names(a, b)
    return (", ".join(a) or "A", ", ".join(b) or "B"), short


def _adjust(differences: Mapping[str, Difference]) -> dict[str, Difference]:
    """Adjust the p-values by Holm's method over all differences; those of equivalence are another family."""
    of_difference = _holm({name: difference.p for name, difference in differences.items()})
    of_equivalence = _holm({name: difference.equivalence_p for name, difference in differences.items()})
    adjusted = {}
    for name, difference in differences.items():
        adjusted[name] = replace(
            difference, adjusted=of_difference.get(name), equivalence_p=of_equivalence.get(name)
        )
    return adjusted


def _holm(p_values: Mapping[str, float | None]) -> dict[str, float]:
    """The adjusted p-value of each name that has one."""
    known = {name: p for name, p in p_values.items() if p is not None}
    return dict(zip(known, holm(list(known.values())), strict=True))


def task_comparison(
    task: Task,
    score: Difference | None,
    metrics: Mapping[str, Difference],
    categories: tuple[CategoryComparison, ...],
    names: Names,
) -> TaskComparison:
    """A task or diagnostic set with its conclusion, which sums up the categories too."""
    sentences = [words.sentence(task, score, names)]
    for kind in ("coarse", "fine"):
        of_kind = {part.name: part.difference for part in categories if part.kind == kind}
        if of_kind:
            sentences.append(words.of_kind(kind, of_kind, names))
    return TaskComparison(score, metrics, " ".join(sentences), categories)


def _categories(
    task: Task,
    answers: Answers,
    tested: Mapping[str, Sequence[Category]],
    *,
    equivalence: float | None,
    resamples: int,
    seed: int,
) -> tuple[CategoryComparison, ...]:
    """The categories of a diagnostic set in the manifest's order; Holm's adjustment is within each kind."""
    metric = task.metrics[0]
    sides = answers_to(metric.file, answers)
    if sides is None:
        return ()
    whole = units_of([metric], list(chain.from_iterable(sides)))
    runs = [len(side) for side in sides]
    kinds: dict[str, dict[str, Difference]] = {}
    for category in tested.get(metric.file, ()):
        if category.kind != OVERALL:
            units = whole.subset(category.positions)
            name = f"{metric.file}/{category.kind}/{category.name}"
            [test] = units_tests(units, runs, resamples=resamples, seed=seed, name=name)
            kinds.setdefault(category.kind, {})[category.name] = test.difference(margin=equivalence)
    categories = []
    for kind, differences in kinds.items():
        for name, difference in _adjust(differences).items():
            categories.append(CategoryComparison(kind, name, difference))
    return tuple(categories)


def _warnings(
    systems: Sequence[GradedSystem], gold: Gold, names: Names, *, left_out: Sequence[str]
) -> Iterator[str]:
    for task in left_out:
        files = {file.name for file in gold.benchmark.task(task).files}
        lacking = []
        for name, system in zip(names, systems, strict=True):
            if any(not files <= set(run.predictions) for run in system.runs):
                lacking.append(name)
        if lacking:
            yield f"{task} is left out: predictions are missing from {' and '.join(lacking)}"
    most_runs = max(len(system.runs) for system in systems)
    for name, system in zip(names, systems, strict=True):
        if len(system.runs) == 1 < most_runs:
            yield (
                f"{name} is a single run, so that how much its score depends on the seed is not known: "
                "there is no p-value, and the intervals are over examples alone, for these runs"
            )
    of_a, of_b = (system.warnings for system in systems)
    yield from (warning for warning in of_a if warning in of_b)
    yield from (f"{names[0]}: {warning}" for warning in of_a if warning not in of_b)
    yield from (f"{names[1]}: {warning}" for warning in of_b if warning not in of_a)
