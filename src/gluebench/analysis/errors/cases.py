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
from gluebench.scoring.intervals import Bar, share_bar
from gluebench.scoring.metrics.cells import exact_match
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
    named = {suite.task(name).name for name in tasks} or {task.name for task in suite.tasks}
    names = tuple(systems) or tuple(run.source for run in submissions)
    files = [file for file in suite.files(gold.role) if file.task in named]
    readable = [
        file
        for file in files
        if suite.task(file.task).form not in GRADUAL
        and file.name in gold.columns
        and all(file.name in run.predictions for run in submissions)
    ]
    if gradual := [task for task in tasks if suite.task(task).form in GRADUAL]:
        raise DataError(
            [
                f"{name}: an answer of the form {suite.task(name).form} is neither right nor wrong"
                for name in gradual
            ]
        )
    if not readable:
        shown = ", ".join(file.path for file in files) or f"a {gold.role} split of these tasks"
        raise DataError(f"nothing to read: expected {shown} with gold labels and in every submission")
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
    metadata = gold.metadata.get(file.name)
    columns_of, groups = (metadata.columns, metadata.groups) if metadata else ({}, None)
    cases = []
    answers = marked(task, labels, columns, tolerance=tolerance)
    for at, (index, (right, given, wrong)) in enumerate(zip(indices, answers, strict=True)):
        texts = list(examples[index].inputs.values())
        case = Case(
            index,
            examples[index].inputs,
            right,
            given,
            wrong=wrong,
            phenomena=tuple(tags[at]),
            metadata={name: values[at] for name, values in columns_of.items()},
            group=None if groups is None else groups[at],
            length=sum(len(words(text)) for text in texts),
            overlap=overlap(*texts) if len(texts) == 2 else None,
        )
        cases.append(case)
    return CaseFile(task, file.name, split, names, tuple(cases))


def marked(
    task: Task, labels: Column, columns: Sequence[Column], *, tolerance: float = TOLERANCE
) -> Iterator[tuple[Answer, tuple[Answer, ...], tuple[bool, ...]]]:
    """Yield for each example the gold answer, every system's answer, and whether each is wrong."""
    margin = tolerance * (task.score_range[1] - task.score_range[0]) if task.score_range else 0.0
    own = (_answers(column, task) for column in columns)
    answers = zip(*own, strict=True) if columns else iter([()] * len(labels))
    for right, given in zip(_answers(labels, task, gold=True), answers, strict=True):
        yield right, given, tuple(_is_wrong(right, answer, task, margin) for answer in given)


def _answers(column: Column, task: Task, *, gold: bool = False) -> Sequence[Answer]:
    """Labels, numbers, or cells as a file has them; of probabilities the label of the highest."""
    if task.form == "probabilities" and not gold:
        return [task.vocabulary[cell.index(max(cell))] for cell in column.cells]
    return values_of(column, task, gold=gold)


def _is_wrong(gold: Answer, answer: Answer, task: Task, margin: float) -> bool:
    """Whether it is another answer; of a text, after normalization, none of the valid ones."""
    if isinstance(gold, str) or isinstance(answer, str):
        valid = cell_form(task, gold=True) if task.form == "text" else None
        return not exact_match(valid.read(str(gold)), str(answer)) if valid else gold != answer
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
        return (
            outcomes[self.show]
            and (self.gold is None or case.gold == self.gold)
            and (self.answer is None or self.answer in case.answers)
            and (not self.phenomena or not self.phenomena.isdisjoint(case.phenomena))
            and self.shortest <= case.length <= (case.length if self.longest is None else self.longest)
            and (
                (self.least, self.most) == (0.0, 1.0)
                if case.overlap is None
                else self.least <= case.overlap <= self.most
            )
            and (self.pattern is None or any(map(self.pattern.search, case.inputs.values())))
        )


class Rate(NamedTuple):
    """Errors of the systems in one group of examples; shares are fractions."""

    kind: str
    """OVERALL, "label", "length", "overlap", "phenomenon", or a column of the metadata."""
    name: str
    n: int
    wrong: tuple[int, ...]
    """Number of wrong answers of each system."""
    bars: tuple[Bar, ...]
    """95 % interval of each system's error rate, or the reason why it is withheld."""

    def share(self, system: int) -> float:
        """The error rate of a system."""
        return self.wrong[system] / self.n


def rates(file: CaseFile) -> list[Rate]:
    """Error rates over all examples, then by label, length, overlap, metadata and phenomenon.

    Intervals are Wilson's, wider if examples come in groups. Categories without examples are left out.
    """
    rows = []
    for kind, name, cases in _parts(file):
        if cases or kind == OVERALL:
            wrong = list(zip(*(case.wrong for case in cases), strict=True)) or [()] * len(file.systems)
            groups = [case.group for case in cases if case.group is not None] or None
            bars = tuple(share_bar(of_system, groups) for of_system in wrong)
            rows.append(Rate(kind, name, len(cases), tuple(map(sum, wrong)), bars))
    return rows


def _parts(file: CaseFile) -> Iterator[tuple[str, str, Sequence[Case]]]:
    """Yield kind, name and cases of every category."""
    cases = file.cases
    yield OVERALL, "", cases
    for word in file.task.words or (file.task.vocabulary if file.task.form == "probabilities" else ()):
        yield "label", word, [case for case in cases if case.gold == word]
    for low, high in length_bands([case.length for case in cases]):
        name = f"{low} words" if low == high else f"{low} to {high} words"
        yield "length", name, [case for case in cases if low <= case.length <= high]
    if len(file.task.columns) == 2:
        for band in range(BANDS):
            name = f"{100 * band // BANDS} to {100 * (band + 1) // BANDS} %"
            yield "overlap", name, [case for case in cases if overlap_band(case.overlap) == band]
    for column in file.task.metadata:
        for value in dict.fromkeys(case.metadata[column] for case in cases if column in case.metadata):
            yield column, value, [case for case in cases if case.metadata.get(column) == value]
    for phenomenon in file.task.phenomena:
        yield "phenomenon", phenomenon.name, [case for case in cases if phenomenon.name in case.phenomena]


def length_bands(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """At most BANDS inclusive ranges of lengths with about equal numbers of examples."""
    order = sorted(lengths)
    if not order:
        return []
    ends = sorted({order[max(0, len(order) * part // BANDS - 1)] for part in range(1, BANDS + 1)})
    starts = [order[0], *(end + 1 for end in ends[:-1])]
    return list(zip(starts, ends, strict=True))


def overlap_band(share: float | None) -> int | None:
    """The band of an overlap, from 0; an overlap of 1 is in the last band."""
    return None if share is None else min(int(share * BANDS + 1e-9), BANDS - 1)
