"""Examples with every system's answers: selection of cases, and error rates."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gluebench.benchmark import Task, TestFile
from gluebench.data import DataError, load
from gluebench.data.tokens import overlap, words
from gluebench.scoring import Gold
from gluebench.scoring.grade import pairs_of
from gluebench.scoring.intervals import OptionalInterval, accuracy_interval
from gluebench.scoring.metrics.texts import exact_match
from gluebench.submission import Column, Submission
from gluebench.submission.forms import cell_form, values_of

Answer = str | float
TOLERANCE = 0.2
"""A number counts as wrong when it is further from the gold score than this share of the task's range."""
GRADUAL = ("distributions", "ranking", "relations")
"""Forms whose answers are neither right nor wrong; their test files are left out."""
Show = Literal["wrong", "all-wrong", "only", "disagree", "right", "all"]
"""Wrong for any system, for all, for the first only; answered differently; right for all; every case."""


@dataclass(frozen=True, slots=True)
class Case:
    """One example with every system's answer."""

    index: int
    inputs: Mapping[str, str]
    gold: Answer
    answers: tuple[Answer, ...]
    """The answer of each system, in the order of the file's `systems`."""
    wrong: tuple[bool, ...]
    phenomena: tuple[str, ...] = ()
    """Fine phenomena of a diagnostic set."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Metadata column, such as "domain" or "direction", to value."""
    group: int | None = None
    """Number of its group; None if examples are independent."""
    length: int = 0
    """Number of words of all its inputs."""
    overlap: float | None = None
    """Share of the distinct words of its two inputs that are in both; None unless there are two inputs."""

    @property
    def disagreed(self) -> bool:
        """Whether systems give different labels or, for numbers, some are right and some wrong."""
        if isinstance(self.gold, str):
            return len(set(self.answers)) > 1
        return len(set(self.wrong)) > 1


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The cases of one test file."""

    task: Task
    file: str
    split: str
    systems: tuple[str, ...]
    cases: tuple[Case, ...]
    """In index order; examples without gold are left out."""


OVERALL = "overall"
BANDS = 5


def read_cases(
    submissions: Sequence[Submission],
    gold: Gold,
    data: str | os.PathLike[str] | None,
    *,
    tasks: Sequence[str] = (),
    systems: Sequence[str] = (),
    tolerance: float = TOLERANCE,
) -> list[CaseFile]:
    """Read the cases of every test file with gold labels and predictions of all submissions.

    `data` is the folder of prepared examples, `tasks` limits the tasks, and `systems` are the names to show,
    by default the sources. Raises DataError for missing examples or if no file qualifies, and
    UnknownNameError for an unknown task.
    """
    suite = gold.benchmark
    chosen = [suite.task(name) for name in tasks] or suite.tasks
    without_errors = []
    for task in chosen:
        if tasks and task.form in GRADUAL:
            problem = f"{task.name}: an answer of the form {task.form} is neither right nor wrong"
            without_errors.append(problem)
    if without_errors:
        raise DataError(without_errors)

    files = []
    readable = []
    chosen_names = {task.name for task in chosen}
    for file in suite.files(gold.role):
        task = suite.task(file.task)
        if task.name not in chosen_names:
            continue
        files.append(file)
        is_answered = all(file.name in run.predictions for run in submissions)
        if task.form not in GRADUAL and file.name in gold.columns and is_answered:
            readable.append(file)
    if not readable:
        expected = ", ".join(file.path for file in files) or f"a {gold.role} split of these tasks"
        raise DataError(f"nothing to read: expected {expected} with gold labels and in every submission")
    names = tuple(systems) or tuple(run.source for run in submissions)
    return [
        _case_file(file, submissions, gold, data=data, names=names, tolerance=tolerance) for file in readable
    ]


def _case_file(
    file: TestFile,
    submissions: Sequence[Submission],
    gold: Gold,
    *,
    data: str | os.PathLike[str] | None,
    names: tuple[str, ...],
    tolerance: float,
) -> CaseFile:
    task = gold.benchmark.task(file.task)
    split = file.splits[gold.role].name
    table = load(task.name, split, data, benchmark=gold.benchmark)
    examples = {example.index: example for example in table}
    labels = gold.columns[file.name]
    indices = labels.row_indices
    absent = [index for index in indices if index not in examples]
    if absent:
        raise DataError(
            f"{task.name} {split}: no example with index {absent[0]} in the data, which the gold labels "
            f"have ({len(absent):,} such); prepare the same release that was labeled"
        )
    columns = [pairs_of(run, gold)[file.name].predicted for run in submissions]
    tags: list[list[str]] = [[] for _ in indices]
    for phenomenon, positions in gold.phenomena.get(file.name, {}).items():
        for position in positions:
            tags[position].append(phenomenon.name)
    metadata_columns: Mapping[str, Sequence[str]] = {}
    groups: Sequence[int] | None = None
    metadata = gold.metadata.get(file.name)
    if metadata:
        metadata_columns = metadata.columns
        groups = metadata.groups
    cases = []
    outcomes = mark_answers(task, labels, columns, tolerance=tolerance)
    for at, (index, outcome) in enumerate(zip(indices, outcomes, strict=True)):
        texts = list(examples[index].inputs.values())
        case = Case(
            index,
            examples[index].inputs,
            gold=outcome.gold,
            answers=outcome.answers,
            wrong=outcome.wrong,
            phenomena=tuple(tags[at]),
            metadata={name: values[at] for name, values in metadata_columns.items()},
            group=None if groups is None else groups[at],
            length=sum(len(words(text)) for text in texts),
            overlap=overlap(*texts) if len(texts) == 2 else None,
        )
        cases.append(case)
    return CaseFile(task, file.name, split, names, tuple(cases))


class Outcome(NamedTuple):
    """What the systems answered to one example."""

    gold: Answer
    answers: tuple[Answer, ...]
    """The answer of each system."""
    wrong: tuple[bool, ...]
    """Whether each is wrong."""


def mark_answers(
    task: Task, labels: Column, columns: Sequence[Column], *, tolerance: float = TOLERANCE
) -> Iterator[Outcome]:
    """Yield the outcome of each example; `columns` has the answers of each system."""
    margin = 0.0
    if task.score_range:
        margin = tolerance * (task.score_range[1] - task.score_range[0])
    of_systems = [_answers(column, task) for column in columns]
    for at, gold in enumerate(_answers(labels, task, gold=True)):
        answers = tuple(of_system[at] for of_system in of_systems)
        wrong = tuple(_is_wrong(gold, answer, task, margin) for answer in answers)
        yield Outcome(gold, answers, wrong)


def _answers(column: Column, task: Task, *, gold: bool = False) -> Sequence[Answer]:
    """Labels, numbers, or cells as a file has them; of probabilities the label of the highest."""
    if task.form == "probabilities" and not gold:
        return [task.vocabulary[cell.index(max(cell))] for cell in column.cells]
    return values_of(column, task, gold=gold)


def _is_wrong(gold: Answer, answer: Answer, task: Task, margin: float) -> bool:
    """Whether it is another answer; of a text, after normalization, none of the valid ones."""
    if task.form == "text":
        form = cell_form(task, gold=True)
        assert form is not None  # texts are cells
        return not exact_match(form.read(str(gold)), str(answer))
    if isinstance(gold, str) or isinstance(answer, str):
        return gold != answer
    return abs(gold - answer) > margin + 1e-9  # a distance equal to the margin is right; allow for rounding


class CaseFilter(NamedTuple):
    """Conditions on a case, all of which must hold."""

    show: Show = "wrong"
    gold: Answer | None = None
    """The gold label."""
    answer: Answer | None = None
    """An answer that at least one system gave."""
    phenomena: frozenset[str] = frozenset()
    """At least one of these is among its phenomena."""
    shortest: int = 0
    longest: int | None = None
    """Bounds on the number of words of all inputs."""
    least: float = 0.0
    most: float = 1.0
    """Bounds on the overlap of the two inputs; examples without an overlap pass only from 0 to 1."""
    pattern: re.Pattern[str] | None = None
    """A pattern that matches within one of the inputs."""

    def __call__(self, case: Case) -> bool:
        """Whether the case meets all conditions."""
        wrong = case.wrong
        outcomes: dict[Show, bool] = {
            "wrong": any(wrong),
            "all-wrong": all(wrong),
            "only": wrong[:1] == (True,) and not any(wrong[1:]),
            "disagree": case.disagreed,
            "right": not any(wrong),
            "all": True,
        }
        if not outcomes[self.show]:
            return False
        if self.gold is not None and case.gold != self.gold:
            return False
        if self.answer is not None and self.answer not in case.answers:
            return False
        if self.phenomena and self.phenomena.isdisjoint(case.phenomena):
            return False
        return self._has_length_and_overlap(case) and self._matches(case)

    def _has_length_and_overlap(self, case: Case) -> bool:
        if case.length < self.shortest or (self.longest is not None and case.length > self.longest):
            return False
        if case.overlap is None:
            return (self.least, self.most) == (0.0, 1.0)
        return self.least <= case.overlap <= self.most

    def _matches(self, case: Case) -> bool:
        return self.pattern is None or any(map(self.pattern.search, case.inputs.values()))


class Rate(NamedTuple):
    """Errors of the systems in one group of examples; shares are fractions."""

    kind: str
    """OVERALL, "label", "length", "overlap", "phenomenon", or a column of the metadata."""
    name: str
    n: int
    wrong: tuple[int, ...]
    """Number of wrong answers of each system."""
    bars: tuple[OptionalInterval, ...]
    """95 % interval of each system's error rate, or the reason why it is withheld."""

    def share(self, system: int) -> float:
        """The error rate of a system."""
        return self.wrong[system] / self.n


def rates(file: CaseFile) -> list[Rate]:
    """Error rates over all examples, then by label, length, overlap, metadata and phenomenon.

    Intervals are Wilson's, wider if examples come in groups. Categories without examples are left out.
    """
    rows = []
    for kind, name, cases in _categories(file):
        if not cases and kind != OVERALL:
            continue
        groups = [case.group for case in cases if case.group is not None] or None
        wrong = []
        bars = []
        for system in range(len(file.systems)):
            of_system = [case.wrong[system] for case in cases]
            wrong.append(sum(of_system))
            bars.append(accuracy_interval(of_system, groups))
        rows.append(Rate(kind, name, len(cases), tuple(wrong), tuple(bars)))
    return rows


def _categories(file: CaseFile) -> Iterator[tuple[str, str, Sequence[Case]]]:
    """Yield kind, name and cases of every category."""
    cases = file.cases
    yield OVERALL, "", cases
    labels = file.task.words
    if not labels and file.task.form == "probabilities":
        labels = file.task.vocabulary
    for word in labels:
        yield "label", word, [case for case in cases if case.gold == word]
    for low, high in length_bands([case.length for case in cases]):
        name = f"{low} words" if low == high else f"{low} to {high} words"
        yield "length", name, [case for case in cases if low <= case.length <= high]
    if len(file.task.columns) == 2:
        for band in range(BANDS):
            name = f"{100 * band // BANDS} to {100 * (band + 1) // BANDS} %"
            yield "overlap", name, [case for case in cases if overlap_band(case.overlap) == band]
    for column in file.task.metadata:
        values = [case.metadata[column] for case in cases if column in case.metadata]
        for value in dict.fromkeys(values):
            yield column, value, [case for case in cases if case.metadata.get(column) == value]
    for phenomenon in file.task.phenomena:
        yield "phenomenon", phenomenon.name, [case for case in cases if phenomenon.name in case.phenomena]


def length_bands(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """At most BANDS inclusive ranges of lengths with about equal numbers of examples."""
    order = sorted(lengths)
    if not order:
        return []
    bands = []
    start = order[0]
    for part in range(1, BANDS + 1):
        end = order[max(0, len(order) * part // BANDS - 1)]
        if end >= start:  # else the examples of this part are as long as those before
            bands.append((start, end))
            start = end + 1
    return bands


def overlap_band(share: float | None) -> int | None:
    """The band of an overlap, from 0; an overlap of 1 is in the last band."""
    if share is None:
        return None
    return min(int(share * BANDS + 1e-9), BANDS - 1)
