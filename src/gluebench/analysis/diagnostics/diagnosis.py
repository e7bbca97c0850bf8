"""Systems on a benchmark's diagnostic sets: scores by category, confusions, the two directions of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from gluebench.analysis.diagnostics.table5 import human
from gluebench.benchmark import Benchmark, Task
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
)
from gluebench.scoring.intervals import wilson
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import fields_of, json_ready, provenance, rounded
from gluebench.scoring.tags import OVERALL, Category

SCHEMA = "gluebench.diagnosis/1"


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many pairs, with the 95 % interval (Wilson's) of the share."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The share; None of no pairs."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its ends; None of no pairs."""
        if not self.of:
            return None
        bar = wilson(self.count, self.of)
        return None if bar.low is None or bar.high is None else (bar.low, bar.high)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        low, high = self.interval or (None, None)
        ends = {"low": rounded(low), "high": rounded(high)}
        return {**fields_of(self), "value": rounded(self.value), **ends}


class Directions(NamedTuple):
    """What a system makes of pairs that stand in both directions (section 4 of the paper)."""

    both: Share
    """Pairs with both directions right."""
    one: Share
    """Pairs with exactly one direction right."""
    neither: Share
    alike: Share
    """Of the pairs with one label in both directions: those answered alike both ways, right or wrong."""
    apart: Share
    """Of the pairs whose directions have two labels: those answered differently, right or wrong. A system
    that does not see which sentence is the premise has 0 here."""
    one_way: Share
    """Of the pairs with `mirrored` somewhere in the answers: those that have it in one direction alone, which
    cannot be right whatever the gold says."""
    mirrored: str | None
    """The label that holds in both directions or in none, as a contradiction; None if there is no such."""
    kinds: Mapping[tuple[str, str], tuple[int, int]]
    """Two labels, in no order of directions, to how many pairs have them in gold and in the answers."""
    unpaired: int
    """Examples that are not one of exactly two in their group, and are left out here."""

    def shares(self) -> dict[str, Share]:
        """The shares by name."""
        return {name: value for name, value in self._asdict().items() if isinstance(value, Share)}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        kinds = [
            {"labels": list(labels), "gold": gold, "answers": answers}
            for labels, (gold, answers) in self.kinds.items()
        ]
        return {**fields_of(self._replace(kinds={})), "kinds": kinds}


class Confusion(NamedTuple):
    """How often each gold label was answered by each label, on some examples."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """`counts[gold][answer]`, both in the order of `labels`."""

    @property
    def n(self) -> int:
        """The number of examples."""
        return sum(map(sum, self.counts))

    @property
    def gold(self) -> tuple[int, ...]:
        """Examples of each gold label."""
        return tuple(map(sum, self.counts))

    @property
    def answered(self) -> tuple[int, ...]:
        """Examples answered by each label."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def recall(self) -> tuple[float | None, ...]:
        """Share of each gold label's examples that were answered by it; None for a label without examples."""
        return tuple(_share(self.counts[code][code], total) for code, total in enumerate(self.gold))

    @property
    def precision(self) -> tuple[float | None, ...]:
        """Share of each label's answers that were right; None for a label never answered."""
        return tuple(_share(self.counts[code][code], total) for code, total in enumerate(self.answered))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: gold label to answer to count."""
        return {
            gold: dict(zip(self.labels, row, strict=True))
            for gold, row in zip(self.labels, self.counts, strict=True)
        }

    @classmethod
    def of(cls, values: Mapping[str, Mapping[str, int]]) -> Confusion:
        """The table whose `as_dict` gave these values."""
        return cls(tuple(values), tuple(tuple(row[answer] for answer in values) for row in values.values()))


def _share(part: int, total: int) -> float | None:
    return part / total if total else None


def withhold(report: DiagnosticReport, below: int) -> DiagnosticReport:
    """The report without the value and interval of every category of fewer than `below` examples; n stays."""
    categories = report.with_categories(partial(_withheld, below=below))
    return categories._replace(overall=_withheld(report.overall, below))


def _withheld(score: Score, below: int) -> Score:
    if score.n >= below:
        return score
    return score._replace(value=None, low=None, high=None, withheld=f"fewer than {below} examples")


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
        return {"confusions": confusions, "directions": json_ready(self.directions)}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; numbers are fractions."""
        categories = []
        for kind, name, score in self.parts():
            confusion = self.confusions.get((kind, name))
            own: dict[str, Any] = {"kind": kind, "category": name, **score.as_dict()}
            if confusion is not None:
                own["confusion"] = confusion.as_dict()
            categories.append(own)
        return {"categories": categories, "directions": json_ready(self.directions)}


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
        return {
            "title": self.task.title,
            "metric": self.task.metrics[0].name,
            "references": [
                {"name": name, "value": value, "source": source} for name, value, source in human(self.task)
            ],
            "systems": json_ready(self.systems),
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
        return {"schema": SCHEMA, **fields_of(self)}


def diagnose(
    systems: Mapping[str, Run],
    gold: Labels,
    *,
    intervals: bool = True,
    withhold_below: int = 0,
    benchmark: Benchmark | Path = "glue",
) -> Diagnosis:
    """Systems (by the names to show) on every diagnostic set of the gold's benchmark.

    A system may be a path or a mapping of task or test file to predictions, as `grade` takes it, with `gold`
    and `benchmark` as there; predictions for other tasks are ignored. Scores and intervals are those of
    `grade`. Categories with fewer than `withhold_below` examples are withheld, unless the manifest says that
    the labels are public (`private = false`). Raises SubmissionError for an invalid submission, ValueError
    for one of another benchmark or split, and DataError where there is nothing to diagnose.
    """
    submissions = {}
    gold = gold_of(gold, benchmark, *systems.values())
    for name, run in systems.items():
        submissions[name] = submission_from(run, gold)
        require_gradable(submissions[name], gold)
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
            graded = diagnostic_report(task, {file: pairs}, gold, intervals=intervals)
            assert graded.report is not None  # there are pairs
            if not below:  # they name categories whose labels are all the same
                warnings += [f"{name}: {warning}" for warning in graded.warnings]
            findings[name] = _finding(
                task, pairs, withhold(graded.report, below), categories=gold.categories[file], below=below
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


def _finding(
    task: Task, pairs: Pairs, scores: DiagnosticReport, *, categories: Sequence[Category], below: int
) -> Finding:
    if not pairs.gold.labels or scores.overall.value is None:
        return Finding(scores, {}, None)
    shown = [category for category in categories if not below or category.kind == OVERALL]
    tables = {
        (category.kind, category.name): Confusion(
            pairs.gold.labels, tuple(map(tuple, pairs.table_of(category.positions)))
        )
        for category in shown
    }
    return Finding(scores, tables, directions_of(pairs, mirrored=symmetric_label(task)))


def _nothing(submissions: Iterable[str], gold: Gold) -> list[str]:
    """Why there is nothing to diagnose, and what would help."""
    benchmark = gold.benchmark
    if not benchmark.diagnostics:
        return [f"{benchmark.name} has no diagnostic set: a task with `scored = false` and phenomena"]
    names = [task.metrics[0].file for task in benchmark.diagnostics]
    files = " or ".join(f"{name}.tsv" for name in names)
    if not _labelled(gold):
        return [f"{gold.folder}: no labels of a diagnostic set; expected {files} for the {gold.role} split"]
    return [f"{name}: expected predictions in {files}; there are none" for name in submissions]


class _Pair(NamedTuple):
    """The codes of a pair's two examples."""

    gold: tuple[int, int]
    answers: tuple[int, int]

    @property
    def right(self) -> int:
        return sum(gold == answer for gold, answer in zip(self.gold, self.answers, strict=True))


def _answered_apart(pairs: Sequence[_Pair]) -> Share:
    return Share(sum(pair.answers[0] != pair.answers[1] for pair in pairs), len(pairs))


def directions_of(pairs: Pairs, *, mirrored: str | None = None) -> Directions | None:
    """How the two directions of each pair agree; None where the gold has no groups of two.

    `mirrored` is the label that must hold in both directions, as contradiction.
    """
    both_ways = _pairs(pairs)
    if not both_ways:
        return None
    labels = pairs.gold.labels
    right = Counter(pair.right for pair in both_ways)
    same = [pair for pair in both_ways if pair.gold[0] == pair.gold[1]]
    differ = [pair for pair in both_ways if pair.gold[0] != pair.gold[1]]
    code = labels.index(mirrored) if mirrored is not None else -1
    with_it = [pair for pair in both_ways if code in pair.answers]
    return Directions(
        both=Share(right[2], len(both_ways)),
        one=Share(right[1], len(both_ways)),
        neither=Share(right[0], len(both_ways)),
        alike=Share(sum(pair.answers[0] == pair.answers[1] for pair in same), len(same)),
        apart=_answered_apart(differ),
        mirrored=mirrored,
        one_way=_answered_apart(with_it),
        kinds=_kinds(both_ways, labels),
        unpaired=len(pairs) - 2 * len(both_ways),
    )


def _pairs(pairs: Pairs) -> list[_Pair]:
    members: dict[int, list[int]] = {}
    for position, group in enumerate(pairs.groups or ()):
        members.setdefault(group, []).append(position)
    gold, answers = pairs.gold.codes, pairs.predicted.codes
    return [
        _Pair((gold[a], gold[b]), (answers[a], answers[b]))
        for a, b in (tuple(positions) for positions in members.values() if len(positions) == 2)
    ]


def _kinds(both_ways: list[_Pair], labels: tuple[str, ...]) -> dict[tuple[str, str], tuple[int, int]]:
    """In the order of the labels; what occurs in neither is left out."""
    gold = Counter(tuple(sorted(pair.gold)) for pair in both_ways)
    answers = Counter(tuple(sorted(pair.answers)) for pair in both_ways)
    return {
        (labels[first], labels[second]): (gold[first, second], answers[first, second])
        for first in range(len(labels))
        for second in range(first, len(labels))
        if gold[first, second] or answers[first, second]
    }
