"""Diagnose systems: scores by category, confusion tables, and the two directions of a pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gluebench.analysis.diagnostics.counts import Confusion, Directions, directions_of
from gluebench.analysis.diagnostics.heatmap import MOST_WITH_INTERVALS, ROWS_APART, cell_words, heat_plot
from gluebench.analysis.diagnostics.paper import human_references
from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.tables import Table, TabularResult, names_and_numbers, to_html
from gluebench.data import DataError
from gluebench.data.lint_diagnostic import symmetric_label
from gluebench.scoring import DiagnosticReport, Gold, Score
from gluebench.scoring.grade import (
    Labels,
    Path,
    Run,
    diagnostic_report,
    gold_of,
    pairs_of,
    require_gradable,
    submission_from,
    systems_by_name,
)
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import fields_of, json_ready, provenance
from gluebench.scoring.table import TableGold
from gluebench.scoring.tags import OVERALL, Category

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = "gluebench.diagnosis/1"
FIELDS = (
    "task", "system", "breakdown", "category", "measure", "gold", "answer",
    "value", "low", "high", "n", "withheld",
)  # fmt: skip
"""Columns of a diagnosis as one table."""


def withhold(report: DiagnosticReport, below: int) -> DiagnosticReport:
    """Remove the value and interval of every category with fewer than `below` examples; keep n."""
    categories = report.with_categories(partial(_withheld, below=below))
    return categories._replace(overall=_withheld(report.overall, below))


def _withheld(score: Score, below: int) -> Score:
    if score.n >= below:
        return score
    return score._replace(value=None, low=None, high=None, withheld=f"fewer than {below} examples")


@dataclass(frozen=True, slots=True)
class SystemDiagnosis:
    """One system on one diagnostic set."""

    scores: DiagnosticReport
    confusions: Mapping[tuple[str, str], Confusion]
    """(kind, category) to confusion table; (OVERALL, "") is the whole set. It is alone if categories are
    withheld, since counts could be subtracted. Empty for numbers, or if the whole set is withheld."""
    directions: Directions | None
    """None if examples do not come in pairs, or if the whole set is withheld."""

    def records(self, metric: str) -> Iterator[dict[str, object]]:
        """Yield a record for each score, confusion cell and share of pairs, without the system's name."""
        for kind, name, score in self.scores.parts():
            yield {"breakdown": kind, "category": name, "measure": metric, **score.as_dict()}
        for (kind, name), confusion in self.confusions.items():
            yield from ({"breakdown": kind, "category": name, **cell} for cell in confusion.cell_records())
        if self.directions is None:
            return
        for name, share in self.directions.shares().items():
            values = share.as_dict()
            figures = {"value": values["value"], "low": values["low"], "high": values["high"], "n": share.of}
            yield {"breakdown": "directions", "category": "", "measure": name, **figures}

    def counts(self) -> dict[str, Any]:
        """JSON-ready confusion tables, by kind and category, and directions."""
        confusions: dict[str, dict[str, Any]] = {}
        for (kind, name), confusion in self.confusions.items():
            confusions.setdefault(kind, {})[name] = confusion.as_dict()
        return {"confusions": confusions, "directions": json_ready(self.directions)}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; numbers are fractions."""
        categories = []
        for kind, name, score in self.scores.parts():
            confusion = self.confusions.get((kind, name))
            own: dict[str, Any] = {"kind": kind, "category": name, **score.as_dict()}
            if confusion is not None:
                own["confusion"] = confusion.as_dict()
            categories.append(own)
        return {"categories": categories, "directions": json_ready(self.directions)}


@dataclass(frozen=True, slots=True)
class SetDiagnosis:
    """All systems on one diagnostic set."""

    task: Task
    systems: Mapping[str, SystemDiagnosis]

    @property
    def reports(self) -> dict[str, DiagnosticReport]:
        """System name to scores."""
        return {name: diagnosis.scores for name, diagnosis in self.systems.items()}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; numbers are fractions."""
        references = []
        for name, value, source in human_references(self.task):
            references.append({"name": name, "value": value, "source": source})
        return {
            "title": self.task.title,
            "metric": self.task.metrics[0].name,
            "references": references,
            "systems": json_ready(self.systems),
        }

    def category_scores(self) -> Iterator[tuple[str, int, list[Score | None]]]:
        """Yield name, number of examples and each system's score for every category of any system."""
        by_category: dict[tuple[str, str], list[Score | None]] = {}
        sizes: dict[tuple[str, str], int] = {}
        for system, report in enumerate(self.reports.values()):
            for kind, name, score in report.parts():
                scores = by_category.setdefault((kind, name), [None] * len(self.systems))
                scores[system] = score
                sizes.setdefault((kind, name), score.n)
        for category, scores in by_category.items():
            yield category[1] or "all", sizes[category], scores

    def _repr_html_(self) -> str:
        return to_html(self.table())

    def table(self) -> Table:
        """The scores of the systems on the whole set and each category."""
        with_interval = len(self.systems) <= MOST_WITH_INTERVALS
        rows = []
        for name, n, scores in self.category_scores():
            row = [name, f"{n:,}"]
            for score in scores:
                row.append("-" if score is None else cell_words(score, with_interval=with_interval))
            rows.append(tuple(row))
        title = f"{self.task.title}: {self.task.metrics[0].title} x 100"
        columns = names_and_numbers("category", ("n", *self.systems))
        return Table(columns, rows, title=title, notes=[ROWS_APART])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a heat map of systems (columns) by phenomena (rows), shaded within each row.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        return heat_plot(self.task, self.reports, ax)


@dataclass(frozen=True, slots=True)
class Diagnosis(TabularResult):
    """The result of `diagnose`."""

    benchmark: str
    split: str
    sets: Mapping[str, SetDiagnosis]
    """Diagnostic task to its results, for those with gold labels and predictions of any system."""
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order."""
        return {"schema": SCHEMA, **fields_of(self)}

    def __repr__(self) -> str:
        sets = (f"{len(part.systems)} systems on {name}" for name, part in self.sets.items())
        return f"<Diagnosis on {self.benchmark} {self.split}: {', '.join(sets)}>"

    def records(self) -> Iterator[dict[str, object]]:
        """Yield a JSON-ready record of FIELDS for each score, confusion cell and share of pairs."""
        for task, part in self.sets.items():
            for system, diagnosis in part.systems.items():
                for record in diagnosis.records(part.task.metrics[0].name):
                    yield {"task": task, "system": system, **record}

    def fields(self) -> Sequence[str]:
        """FIELDS."""
        return FIELDS

    def tables(self) -> list[Table]:
        """A table for each diagnostic set."""
        return [part.table() for part in self.sets.values()]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the first diagnostic set as a heat map of phenomena; `sets` has the others.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        return next(iter(self.sets.values())).plot(ax)


def diagnose(
    systems: Mapping[str, Run] | Sequence[str],
    gold: Labels,
    *,
    intervals: bool = True,
    withhold_below: int = 0,
    benchmark: Benchmark | Path = "glue",
) -> Diagnosis:
    """Diagnose systems, by display name, on every diagnostic set of the gold's benchmark.

    A system may be a path or a mapping of task or test file to predictions; it, `gold` and `benchmark` are as
    in `grade`. With a scored table as `gold`, which needs categories, a sequence of names of systems in it
    does. Predictions for other tasks are ignored. Scores and intervals are those of
    `grade`. Categories with fewer than `withhold_below` examples are withheld, unless the manifest says that
    the labels are public (`private = false`). Raises SubmissionError for an invalid submission, ValueError
    for one of another benchmark or split, and DataError if there is nothing to diagnose.
    """
    systems = systems_by_name(systems)
    gold = gold_of(gold, benchmark, *systems.values())
    submissions = {}
    for name, run in systems.items():
        submissions[name] = submission_from(run, gold)
        require_gradable(submissions[name], gold)

    sets: dict[str, SetDiagnosis] = {}
    names = (file.name for file in gold.benchmark.files(gold.role))
    others = tuple(f"{name}: " for name in names if name not in gold.categories)
    warnings = [warning for warning in gold.warnings if not warning.startswith(others)]
    for task in _tasks_with_categories(gold):
        file = task.metrics[0].file
        diagnoses: dict[str, SystemDiagnosis] = {}
        for name, submission in submissions.items():
            if file not in submission.predictions:
                warnings.append(f"{name}: {file}.tsv was not submitted; {task.name} is left out")
                continue
            pairs = pairs_of(submission, gold)[file]
            below = withhold_below if withholds(task, gold) else 0
            graded = diagnostic_report(task, {file: pairs}, gold, intervals=intervals)
            assert graded.report is not None  # since `pairs` exist
            if not below:  # the warnings would reveal categories with a single label
                warnings += [f"{name}: {warning}" for warning in graded.warnings]
            scores = withhold(graded.report, below)
            if isinstance(gold, TableGold):  # of right and wrong, neither confusion nor directions say more
                diagnoses[name] = SystemDiagnosis(scores, {}, None)
                continue
            diagnoses[name] = _diagnosis(task, pairs, scores, categories=gold.categories[file], below=below)
        if diagnoses:
            sets[task.name] = SetDiagnosis(task, diagnoses)
    if not sets:
        raise DataError(_why_nothing(submissions, gold))
    about = {**provenance(gold), "schema": SCHEMA}
    return Diagnosis(gold.benchmark.name, gold.role, sets, tuple(warnings), about)


def withholds(task: Task, gold: Gold) -> bool:
    """Whether small categories may be withheld: the split is test and its labels are not public."""
    return not task.labels_public and gold.role == "test"


def _tasks_with_categories(gold: Gold) -> list[Task]:
    return [task for task in gold.benchmark.tasks if task.metrics[0].file in gold.categories]


def _diagnosis(
    task: Task, pairs: Pairs, scores: DiagnosticReport, *, categories: Sequence[Category], below: int
) -> SystemDiagnosis:
    if not pairs.predicted.labels or scores.overall.value is None:
        return SystemDiagnosis(scores, {}, None)
    tables = {}
    for category in categories:
        if not below or category.kind == OVERALL:
            counts = tuple(map(tuple, pairs.table_of(category.positions)))
            tables[category.kind, category.name] = Confusion(pairs.gold.labels, counts)
    return SystemDiagnosis(scores, tables, directions_of(pairs, mirrored=symmetric_label(task)))


def _why_nothing(submissions: Iterable[str], gold: Gold) -> list[str]:
    """The reasons why there is nothing to diagnose, with what was expected."""
    benchmark = gold.benchmark
    if isinstance(gold, TableGold):
        return [f"{gold.folder} has no categories; expected a column category or category:NAME"]
    if not benchmark.diagnostics:
        return [f"{benchmark.name} has no diagnostic set: a task with `scored = false` and phenomena"]
    names = [task.metrics[0].file for task in benchmark.diagnostics]
    files = " or ".join(f"{name}.tsv" for name in names)
    if not _tasks_with_categories(gold):
        return [f"{gold.folder}: no labels of a diagnostic set; expected {files} for the {gold.role} split"]
    return [f"{name}: expected predictions in {files}; there are none" for name in submissions]
