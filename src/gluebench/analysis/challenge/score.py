"""What a system makes of a challenge set, case by case, and what is kept of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gluebench.analysis.challenge.item import ORIGINAL, Item
from gluebench.data import DataError
from gluebench.data.lint_diagnostic import PAIR_COLUMNS
from gluebench.scoring.intervals import Bar, proportion_bar


class CaseScore(NamedTuple):
    """The answers to one case."""

    case: str
    n: int
    right: int
    bar: Bar
    """Wilson's 95 % interval of the share that is right, or why there is none."""
    broken: int
    """Wrong ones whose original is right."""
    sound: int
    """Those whose original is right: what `broken` is to be held against; 0 without originals."""

    @property
    def share(self) -> float:
        """The share that is right."""
        return self.right / self.n


class Scored(NamedTuple):
    """A challenge set with a system's answers."""

    cases: tuple[CaseScore, ...]
    """In the order in which cases first appear."""
    groups: tuple[CaseScore, ...]
    """The cases put together up to the colon of their names: "subsequence, no"."""
    failed: tuple[int, ...]
    """Indices of the items that were answered wrongly, originals left out."""
    broken: tuple[int, ...]
    """Those of them whose original is right."""


def score(items: Sequence[Item], answers: Sequence[str]) -> Scored:
    """Score one answer for each item, in order. Raises ValueError for another number of answers."""
    right = [answer in item.accepted for item, answer in zip(items, answers, strict=True)]
    cases: dict[str, list[int]] = {}
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        cases.setdefault(item.case, []).append(number)
        group, colon, _ = item.case.partition(": ")
        if colon:
            groups.setdefault(group, []).append(number)
    failed = tuple(number for number, item in enumerate(items) if not right[number] and item.case != ORIGINAL)
    sources = [(number, items[number].source) for number in failed]
    return Scored(
        tuple(_scored(case, numbers, items, right) for case, numbers in cases.items()),
        tuple(_scored(group, numbers, items, right) for group, numbers in groups.items()),
        failed,
        tuple(number for number, source in sources if source is not None and right[source]),
    )


def _scored(case: str, numbers: Sequence[int], items: Sequence[Item], right: Sequence[bool]) -> CaseScore:
    hits = sum(right[number] for number in numbers)
    sources = {number: items[number].source for number in numbers}
    sound = [number for number, source in sources.items() if source is not None and right[source]]
    bar = proportion_bar(hits, len(numbers))
    return CaseScore(case, len(numbers), hits, bar, sum(not right[number] for number in sound), len(sound))


class Kept(NamedTuple):
    """What was written of the failures."""

    pairs: int
    unlabelled: int
    """Pairs whose other direction has no label by rule: a person has to give it."""


def keep(path: str | os.PathLike[str], items: Sequence[Item], failed: Sequence[int]) -> Kept:
    """Write the failures as a diagnostic set: a row for each pair, to go on with by hand.

    `gluebench data lint-diagnostic` reads it. Raises DataError where nothing failed, or items are no pairs.
    """
    if not failed:
        raise DataError([f"{path}: nothing failed, so there is nothing to keep"])
    first = items[failed[0]]
    if len(first.inputs) != 2:
        raise DataError([f"{path}: a diagnostic set has pairs of texts, and {first.task} has one text"])
    pairs: dict[frozenset[str], Item] = {}
    for item in (items[number] for number in failed):
        pairs.setdefault(frozenset(text.strip() for text in item.inputs), item)
    rows = [
        (item.domain, "; ".join(item.phenomena), *sides, item.label, item.backward, item.set)
        for item in pairs.values()
        for sides in [[text.strip() for text in item.inputs]]
    ]
    lines = ["\t".join(row) for row in [(*PAIR_COLUMNS, "set"), *rows]]
    Path(path).write_bytes(("\n".join(lines) + "\n").encode())
    return Kept(len(rows), sum(not item.backward for item in pairs.values()))
