"""Which rows of a split differ from the published ones, and in what."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.data.tsv import Example
from gluebench.data.verify.marks import HIDDEN, Marks, letters_mark, marks, text_mark

MOST_ALIGNED = 5_000
"""Rows between the first and last difference up to which missing rows are distinguished from changed ones."""

BY_CHANCE = 0.005
"""Share of the differing rows up to which a kind found by trying is not believed."""

ORDER = "another order"
MISSING = "missing"
ADDED = "added"
LABEL = "another label"
HIDDEN_LABEL = "label hidden"
SHOWN_LABEL = "label not published"
SPACING = "spaces, quotation marks, punctuation or case"
OTHER = "other text"


class Difference(NamedTuple):
    """One row that is not as published."""

    row: int
    """Its position in the file, from 0; for a missing row, its position in the published file."""
    kind: str
    detail: str = ""
    """Details beyond the kind: the two labels."""


def differences(task: Task, examples: Sequence[Example], known: Marks) -> list[Difference]:
    """Every row that differs from the marks of the published ones, in file order."""
    own = marks(task, examples)
    if own == known:
        return []
    if own.texts != known.texts and sorted(_rows(own)) == sorted(_rows(known)):
        moved = [
            row for row, pair in enumerate(zip(_rows(own), _rows(known), strict=True)) if pair[0] != pair[1]
        ]
        return [Difference(row, ORDER) for row in moved]
    return _without_chance(
        [
            difference
            for here, there in _aligned(*_comparable(own, known))
            for difference in _difference(task, examples, own, known, here=here, there=there)
        ]
    )


def _without_chance(rows: list[Difference]) -> list[Difference]:
    """A kind found by trying that few rows of many have is chance: 16 bits, some 30 trials a row."""
    tried = {kind for kind, _ in _CHANGES}
    counts = Counter(difference.kind for difference in rows)
    chance = {kind for kind in tried if counts[kind] <= len(rows) * BY_CHANCE}
    return [
        difference._replace(kind=SPACING) if difference.kind in chance else difference for difference in rows
    ]


def summary(rows: Sequence[Difference]) -> dict[str, int]:
    """Kind to the number of rows, most frequent first."""
    return dict(Counter(difference.kind for difference in rows).most_common())


def _rows(split: Marks) -> list[tuple[int, int, int]]:
    return list(zip(split.texts, split.letters, split.labels, strict=True))


def _comparable(own: Marks, known: Marks) -> tuple[Sequence[int], Sequence[int]]:
    """What rows are recognised by: their texts, or their letters alone where most texts were rewritten."""
    common = (Counter(own.texts) & Counter(known.texts)).total()
    if 2 * common >= min(len(own), len(known)):
        return own.texts, known.texts
    return own.letters, known.letters


def _aligned(own: Sequence[int], known: Sequence[int]) -> Iterator[tuple[int | None, int | None]]:
    """Positions in both that belong together; None where one has no partner.

    Rows are matched one to one where the counts are the same and most agree in place; else by the longest
    runs of equal marks between the first and the last difference.
    """
    start = _common(own, known)
    end = min(_common(own[::-1], known[::-1]), min(len(own), len(known)) - start)
    yield from ((row, row) for row in range(start))
    yield from _middle(own, known, start=start, end=end)
    shift = len(known) - len(own)
    yield from ((row, row + shift) for row in range(len(own) - end, len(own)))


def _middle(
    own: Sequence[int], known: Sequence[int], *, start: int, end: int
) -> Iterator[tuple[int | None, int | None]]:
    here, there = own[start : len(own) - end], known[start : len(known) - end]
    agreeing = sum(one == other for one, other in zip(here, there, strict=False))
    in_place = len(here) == len(there) and agreeing * 2 >= len(here)
    if in_place or max(len(here), len(there)) > MOST_ALIGNED:
        for row in range(max(len(here), len(there))):
            yield (
                start + row if row < len(here) else None,
                start + row if row < len(there) else None,
            )
        return
    matcher = SequenceMatcher(None, list(here), list(there), autojunk=False)
    for _, low, high, low_there, high_there in matcher.get_opcodes():
        for row in range(max(high - low, high_there - low_there)):
            yield (
                start + low + row if low + row < high else None,
                start + low_there + row if low_there + row < high_there else None,
            )


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Length of the common beginning."""
    for position, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return position
    return min(len(one), len(other))


def _difference(
    task: Task,
    examples: Sequence[Example],
    own: Marks,
    known: Marks,
    *,
    here: int | None,
    there: int | None,
) -> Iterator[Difference]:
    if here is None and there is not None:
        yield Difference(there, MISSING)
    elif here is not None and there is None:
        yield Difference(here, ADDED)
    elif here is not None and there is not None:
        if own.texts[here] != known.texts[there]:
            values = tuple(examples[here].inputs.values())
            yield Difference(here, _kind(values, known.texts[there], known.letters[there]))
        if own.labels[here] != known.labels[there]:
            yield _label_difference(task, here, own.labels[here], known.labels[there])


def _label_difference(task: Task, row: int, here: int, there: int) -> Difference:
    if here == HIDDEN:
        return Difference(row, HIDDEN_LABEL)
    if there == HIDDEN:
        return Difference(row, SHOWN_LABEL)
    words = task.words
    return Difference(row, LABEL, f"{words[here]} here, {words[there]} published" if words else "")


def _kind(values: tuple[str, ...], text: int, letters: int) -> str:
    """What would make the row the published one, where that can be found by trying."""
    for kind, change in _CHANGES:
        for column in (*range(len(values)), None):
            changed = tuple(
                change(value) if column in (None, position) else value
                for position, value in enumerate(values)
            )
            if changed != values and text_mark(changed) == text:
                return kind
    return SPACING if letters_mark(values) == letters else OTHER


def _quoted(value: str) -> str:
    """The value as CSV would quote it."""
    return '"' + value.replace('"', '""') + '"'


_CHANGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("a space at its end is lost", lambda value: value + " "),
    ("a space at its beginning is lost", lambda value: " " + value),
    ("spaces at its ends were added", str.strip),
    ("a quotation mark at its beginning is lost", lambda value: '"' + value),
    ("a quotation mark at its beginning is lost", lambda value: '" ' + value.removeprefix(" ")),
    ("quotation marks are lost", lambda value: f'"{value}"'),
    ("quotation marks are doubled", lambda value: value.replace('""', '"')),
    ("it is still quoted as in CSV", lambda value: value[1:-1].replace('""', '"')),
    ("its quotation as in CSV was undone", _quoted),
    ("it was normalised (Unicode NFC)", lambda value: unicodedata.normalize("NFD", value)),
    ("it was decomposed (Unicode NFD)", lambda value: unicodedata.normalize("NFC", value)),
    ("it has a byte order mark", lambda value: value.removeprefix("\ufeff")),
    ("a byte order mark is lost", lambda value: "\ufeff" + value),
)
"""What copying and converting does to text, each with the change that undoes it."""
