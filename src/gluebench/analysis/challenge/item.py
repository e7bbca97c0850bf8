"""A challenge set: examples labeled by rule, their file format, and scores by case."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Task, UnknownNameError
from gluebench.data import DataError
from gluebench.data.errors import refuse
from gluebench.data.lint_diagnostic import PAIR_COLUMNS
from gluebench.data.organize.write import write_rows
from gluebench.data.tsv import text_lines
from gluebench.scoring.intervals import OptionalInterval, proportion_interval

ENTAILMENT = "entailment"
FIXED = ("index", "task", "case", "source")
"""Columns before the texts."""
ABOUT = ("label", "accepted", "backward", "domain", "phenomena", "set")
"""Columns after the texts."""
ORIGINAL = "original"
"""The case name of an example that others are made from."""


def english(section: str) -> dict[str, Any]:
    """One section of english.toml: words and sentences by name."""
    text = resources.files("gluebench.analysis.challenge").joinpath("english.toml").read_text("utf-8")
    words: dict[str, Any] = tomllib.loads(text)[section]
    return words


class Classes(NamedTuple):
    """The three classes as words of a task; with two labels, the last two are the same word."""

    entailment: str
    neutral: str
    contradiction: str

    def word(self, name: str) -> str:
        """The task's label for a class name; "" for "", an unknown class."""
        if not name:
            return ""
        return str(getattr(self, name))

    def opposite(self, label: str) -> str:
        """The label after the second text is negated; "" if it does not follow from `label`."""
        if label == self.entailment:
            return self.contradiction
        if self.neutral == self.contradiction:
            return ""
        if label == self.contradiction:
            return self.entailment
        return label

    def back(self, label: str) -> str:
        """The label with the texts swapped, known only for a contradiction; "" for other labels."""
        if label == self.contradiction and self.contradiction != self.neutral:
            return label
        return ""


def classes(task: Task) -> Classes:
    """The classes of an inference task on two texts.

    Three labels with other names are taken as entailment, neutral and contradiction, in this order.
    Raises DataError for another task, or for two labels without "entailment".
    """
    words = list(task.words)
    if len(task.columns) != 2 or len(words) not in (2, 3):
        raise DataError(f"{task.name}: expected an inference task, two texts with two or three labels")
    if len(words) == 3:
        if set(words) == {ENTAILMENT, "neutral", "contradiction"}:
            return Classes(ENTAILMENT, "neutral", "contradiction")
        return Classes(*words)
    if ENTAILMENT not in words:
        message = f"{task.name}: no label is called {ENTAILMENT}, so it cannot be told which of two it is"
        raise DataError(message)
    other = next(word for word in words if word != ENTAILMENT)
    return Classes(ENTAILMENT, other, other)


@dataclass(frozen=True, slots=True)
class Item:
    """An example with its label by rule. Its index is its position in the set."""

    task: str
    """The task whose model is tested on it."""
    case: str
    """What it tests: "lexical overlap, no: roles swapped", "negation added", ORIGINAL."""
    inputs: tuple[str, ...]
    label: str
    accepted: tuple[str, ...]
    """The labels that count as right; `label` is one of them."""
    backward: str = ""
    """The label with the two texts swapped; empty if the rule does not give it."""
    domain: str = ""
    phenomena: tuple[str, ...] = ()
    set: str = ""
    """Name shared by examples that are made from the same words."""
    source: int | None = None
    """Index of its original in the same set; None for an example without one."""


def write_items(path: str | os.PathLike[str], items: Sequence[Item], task: Task) -> None:
    """Write a challenge set; the same items give the same bytes. Raises DataError for a text with a tab."""
    problems = []
    rows = []
    for number, item in enumerate(items):
        if re.search(r"[\t\n\r]", "".join(item.inputs)):
            text = repr(item.inputs[0][:60])
            problem = "has a tab or a line end, and a tab-separated file cannot hold it"
            problems.append(f"{path}: {text} {problem}")
        row = [str(number), item.task, item.case, "" if item.source is None else str(item.source)]
        row += item.inputs
        row += [item.label, "|".join(item.accepted), item.backward, item.domain]
        row += ["; ".join(item.phenomena), item.set]
        rows.append(row)
    refuse(problems)
    write_rows(Path(path), [*FIXED, *task.columns, *ABOUT], rows)


def read_items(path: str | os.PathLike[str], benchmark: Benchmark) -> list[Item]:
    """Read a file of `write_items`. Raises DataError that lists every invalid row."""
    rows = text_lines(Path(path), Path(path).read_bytes())
    header = rows[0].split("\t")
    before = header[: len(FIXED)]
    inputs = header[len(FIXED) : -len(ABOUT)]
    after = header[-len(ABOUT) :]
    if before != list(FIXED) or after != list(ABOUT) or not inputs:
        expected = f"{', '.join(FIXED)}, the texts, {', '.join(ABOUT)}"
        raise DataError(f"{path}:1: the header is not a challenge set's; expected the columns {expected}")
    items: list[Item] = []
    problems: list[str] = []
    for number, line in enumerate(rows[1:]):
        cells = line.split("\t")
        if len(cells) != len(header):
            problems.append(f"{path}:{number + 2}: {len(cells)} columns, expected {len(header)}")
            continue
        row = dict(zip(header, cells, strict=True))
        of_row = _problems(row, number, inputs, benchmark)
        problems += [f"{path}:{number + 2}: {problem}" for problem in of_row]
        if not of_row:
            items.append(_item(row, inputs))
    if problems or not items:
        raise DataError(problems or [f"{path}: no examples: the file has a header alone"])
    return items


def _item(row: Mapping[str, str], inputs: Sequence[str]) -> Item:
    """The item of a row without problems."""
    tags = [tag.strip() for tag in row["phenomena"].split(";")]
    return Item(
        task=row["task"],
        case=row["case"],
        inputs=tuple(row[name] for name in inputs),
        label=row["label"],
        accepted=tuple(row["accepted"].split("|")),
        backward=row["backward"],
        domain=row["domain"],
        phenomena=tuple(filter(None, tags)),
        set=row["set"],
        source=int(row["source"]) if row["source"] else None,
    )


def _problems(row: Mapping[str, str], number: int, inputs: Sequence[str], benchmark: Benchmark) -> list[str]:
    """The problems of one row."""
    try:
        task = benchmark.task(row["task"])
    except UnknownNameError as error:
        return [str(error)]
    problems = []
    if row["index"] != str(number):
        problems.append(
            f'the index is "{row["index"]}", expected {number}: rows are numbered from 0, in order'
        )
    if tuple(inputs) != task.columns:
        problems.append(f"the texts are called {', '.join(inputs)}, expected {', '.join(task.columns)}")
    expected = ", ".join(task.words)
    accepted = row["accepted"].split("|")
    labels = [row["label"], *accepted]
    if row["backward"]:
        labels.append(row["backward"])
    for word in labels:
        if word not in task.words:
            problems.append(f'the label "{word}" is none of {task.name}: expected one of {expected}')
    if row["label"] not in accepted:
        problems.append(f'the label "{row["label"]}" is not among those accepted ({row["accepted"]})')
    source = row["source"]
    if source and not (source.isascii() and source.isdigit() and int(source) < number):
        problems.append(f'the source is "{source}", expected the index of a row above')
    return problems


class CaseScore(NamedTuple):
    """Correct and broken answers of one case."""

    case: str
    n: int
    right: int
    bar: OptionalInterval
    """Wilson's 95 % interval of the accuracy, or the reason why it is withheld."""
    broken: int
    """Wrong answers to items whose original is right."""
    sound: int
    """Items whose original is right, the denominator of `broken`; 0 without originals."""

    @property
    def share(self) -> float:
        """Accuracy."""
        return self.right / self.n


class ChallengeScores(NamedTuple):
    """The scores of a system on a challenge set."""

    cases: tuple[CaseScore, ...]
    """In the order in which cases first appear."""
    groups: tuple[CaseScore, ...]
    """Cases grouped by their names up to the colon, such as "subsequence, no"."""
    failed: tuple[int, ...]
    """Indices of items answered wrongly, without originals."""
    broken: tuple[int, ...]
    """The items of `failed` whose original is right."""


def score(items: Sequence[Item], answers: Sequence[str]) -> ChallengeScores:
    """Score one answer for each item, in order. Raises ValueError for another number of answers."""
    right = [answer in item.accepted for item, answer in zip(items, answers, strict=True)]
    cases: dict[str, list[int]] = {}
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        cases.setdefault(item.case, []).append(number)
        group, colon, _ = item.case.partition(": ")
        if colon:
            groups.setdefault(group, []).append(number)
    failed = []
    broken = []
    for number, item in enumerate(items):
        if not right[number] and item.case != ORIGINAL:
            failed.append(number)
            if item.source is not None and right[item.source]:
                broken.append(number)
    return ChallengeScores(
        tuple(_case_score(case, numbers, items, right) for case, numbers in cases.items()),
        tuple(_case_score(group, numbers, items, right) for group, numbers in groups.items()),
        tuple(failed),
        tuple(broken),
    )


def _case_score(case: str, numbers: Sequence[int], items: Sequence[Item], right: Sequence[bool]) -> CaseScore:
    hits = sum(right[number] for number in numbers)
    broken = 0
    sound = 0
    for number in numbers:
        source = items[number].source
        if source is not None and right[source]:
            sound += 1
            broken += not right[number]
    return CaseScore(case, len(numbers), hits, proportion_interval(hits, len(numbers)), broken, sound)


class KeptPairs(NamedTuple):
    """Counts of the pairs that `keep_failures` wrote."""

    pairs: int
    unlabeled: int
    """Pairs whose other direction has no label by rule and needs manual annotation."""


def keep_failures(path: str | os.PathLike[str], items: Sequence[Item], failed: Sequence[int]) -> KeptPairs:
    """Write the failures as a diagnostic set to complete by hand, with a row for each pair.

    `gluebench data lint-diagnostic` reads it. Raises DataError if nothing failed, or items are not pairs.
    """
    if not failed:
        raise DataError(f"{path}: nothing failed, so there is nothing to keep")
    first = items[failed[0]]
    if len(first.inputs) != 2:
        raise DataError(f"{path}: a diagnostic set has pairs of texts, and {first.task} has one text")
    pairs: dict[frozenset[str], list[str]] = {}
    unlabeled = 0
    for number in failed:
        item = items[number]
        sides = [text.strip() for text in item.inputs]
        row = [item.domain, "; ".join(item.phenomena), *sides, item.label, item.backward, item.set]
        if frozenset(sides) not in pairs:  # else its other direction failed too
            pairs[frozenset(sides)] = row
            unlabeled += not item.backward
    write_rows(Path(path), [*PAIR_COLUMNS, "set"], pairs.values())
    return KeptPairs(len(pairs), unlabeled)
