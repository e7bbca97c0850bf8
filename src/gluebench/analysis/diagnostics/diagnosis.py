"""Systems on a benchmark's diagnostic sets: scores by category, confusions, the two directions of a pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluebench.analysis.diagnostics.confusion import Confusion
from gluebench.analysis.diagnostics.directions import Directions, directions_of
from gluebench.analysis.diagnostics.withholding import withhold
from gluebench.benchmark import Task
from gluebench.data import DataError
from gluebench.data.lint_diagnostic import symmetric_label
from gluebench.scoring import DiagnosticReport, Gold, Score
from gluebench.scoring.diagnostics import diagnostic_report
from gluebench.scoring.grade import pairs_of, require_gradable
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.provenance import provenance
from gluebench.scoring.tags import OVERALL, Category
from gluebench.submission import Submission
from gluebench.submission.values import submission_of

SCHEMA = "gluebench.diagnosis/1"
Predictions = Mapping[str, Any]
"""Task or test file to its predictions: an array, a list, a Series, a DataFrame."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One system on one diagnostic set."""

    scores: DiagnosticReport
    confusions: Mapping[tuple[str, str], Confusion]
    """(kind, category) to its table, the whole set under (OVERALL, ""); the whole alone where categories are
    withheld, since counts can be subtracted from each other; empty for numbers, or a withheld whole."""
    directions: Directions | None
    """None where examples do not come in groups of two, and where the whole set is withheld."""

    def parts(self) -> Iterator[tuple[str, str, Score]]:
        """Every kind, category and score: the whole set, coarse, fine, then the columns of the metadata."""
        yield OVERALL, "", self.scores.overall
        kinds = {"coarse": self.scores.coarse, "fine": self.scores.fine, **self.scores.metadata}
        for kind, scores in kinds.items():
            for name, score in scores.items():
                yield kind, name, score

    def counts(self) -> dict[str, Any]:
        """JSON-ready: what stands beside the scores, confusions by kind and category and the directions."""
        confusions: dict[str, dict[str, Any]] = {}
        for (kind, name), confusion in self.confusions.items():
            confusions.setdefault(kind, {})[name] = confusion.as_dict()
        return {
            "confusions": confusions,
            "directions": self.directions.as_dict() if self.directions else None,
        }

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; numbers are fractions."""
        categories = []
        for kind, name, score in self.parts():
            confusion = self.confusions.get((kind, name))
            own: dict[str, Any] = {"kind": kind, "category": name, **score.as_dict()}
            if confusion is not None:
                own["confusion"] = confusion.as_dict()
            categories.append(own)
        return {
            "categories": categories,
            "directions": self.directions.as_dict() if self.directions else None,
        }


@dataclass(frozen=True, slots=True)
class SetDiagnosis:
    """The systems that answered one diagnostic set."""

    task: Task
    systems: Mapping[str, Finding]

    @property
    def reports(self) -> dict[str, DiagnosticReport]:
        """System to its scores."""
        return {name: finding.scores for name, finding in self.systems.items()}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; numbers are fractions."""
        metric = self.task.metrics[0]
        return {
            "title": self.task.title,
            "metric": metric.name,
            "references": [
                {"name": each.name, "value": each.scores[metric.name], "source": each.source}
                for each in self.task.references
                if metric.name in each.scores
            ],
            "systems": {name: finding.as_dict() for name, finding in self.systems.items()},
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `diagnose` returns."""

    benchmark: str
    split: str
    sets: Mapping[str, SetDiagnosis]
    """Diagnostic task to what was found, for those with gold that at least one system answered."""
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order."""
        return {
            "schema": SCHEMA,
            "benchmark": self.benchmark,
            "split": self.split,
            "sets": {name: found.as_dict() for name, found in self.sets.items()},
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }


def diagnose(
    systems: Mapping[str, Submission | Predictions],
    gold: Gold,
    *,
    intervals: bool = True,
    withhold_below: int = 0,
) -> Diagnosis:
    """Systems (by the names to show) on every diagnostic set of the gold's benchmark.

    A system may be a mapping of task or test file to predictions, as `grade` takes it; what it says of
    other tasks is passed over. Scores and intervals are those of `grade`.
    Categories with fewer than `withhold_below` examples are withheld, unless the manifest says that
    the labels are public (`private = false`). Raises SubmissionError for an invalid submission, ValueError
    for one of another benchmark or split, and DataError where there is nothing to diagnose.
    """
    submissions = {name: _submission(each, gold) for name, each in systems.items()}
    sets: dict[str, SetDiagnosis] = {}
    warnings = list(gold.warnings)
    for task in _labelled(gold):
        file = task.metrics[0].file
        findings: dict[str, Finding] = {}
        for name, submission in submissions.items():
            if file not in submission.predictions:
                warnings.append(f"{name}: {file}.tsv was not submitted; {task.name} is left out")
                continue
            pairs = pairs_of(submission, gold)[file]
            below = withhold_below if withholds(task, gold) else 0
            found = diagnostic_report(task, {file: pairs}, gold, intervals=intervals)
            assert found.report is not None  # there are pairs
            if not below:  # they name categories whose labels are all the same
                warnings += [f"{name}: {warning}" for warning in found.warnings]
            findings[name] = _finding(
                task, pairs, withhold(found.report, below), categories=gold.categories[file], below=below
            )
        if findings:
            sets[task.name] = SetDiagnosis(task, findings)
    if not sets:
        raise DataError(_nothing(submissions, gold))
    about = {**provenance(gold), "schema": SCHEMA}
    return Diagnosis(gold.benchmark.name, gold.role, sets, tuple(warnings), about)


def withholds(task: Task, gold: Gold) -> bool:
    """Whether small categories may be withheld: nothing says that the split's labels are public."""
    return not task.labels_public and gold.role == "test"


def _labelled(gold: Gold) -> list[Task]:
    return [task for task in gold.benchmark.diagnostics if task.metrics[0].file in gold.columns]


def _submission(given: Submission | Predictions, gold: Gold) -> Submission:
    if not isinstance(given, Submission):
        given = submission_of(given, gold.benchmark, role=gold.role)
    require_gradable(given, gold)
    return given


def _finding(
    task: Task, pairs: Pairs, scores: DiagnosticReport, *, categories: Sequence[Category], below: int
) -> Finding:
    if not pairs.gold.labels or scores.overall.value is None:
        return Finding(scores, {}, None)
    shown = [each for each in categories if not below or each.kind == OVERALL]
    tables = {
        (each.kind, each.name): Confusion(
            pairs.gold.labels, tuple(map(tuple, pairs.table_of(each.positions)))
        )
        for each in shown
    }
    return Finding(scores, tables, directions_of(pairs, mirrored=symmetric_label(task)))


def _nothing(submissions: Iterable[str], gold: Gold) -> list[str]:
    """Why there is nothing to say, and what would help."""
    benchmark = gold.benchmark
    if not benchmark.diagnostics:
        return [f"{benchmark.name} has no diagnostic set: a task with `scored = false` and phenomena"]
    names = [task.metrics[0].file for task in benchmark.diagnostics]
    wanted = " or ".join(f"{name}.tsv" for name in names)
    if not _labelled(gold):
        return [f"{gold.folder}: no labels of a diagnostic set; expected {wanted} for the {gold.role} split"]
    return [f"{name}: expected predictions in {wanted}; there are none" for name in submissions]
