"""Which rows of a split differ from the published ones, and in what."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
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
    if own.texts != known.texts and sorted(zip(*own, strict=True)) == sorted(zip(*known, strict=True)):
        pairs = zip(zip(*own, strict=True), zip(*known, strict=True), strict=True)
        return [Difference(row, ORDER) for row, (here, there) in enumerate(pairs) if here != there]
    # Rows are recognized by their texts, or by their letters alone where most texts were rewritten.
    common = (Counter(own.texts) & Counter(known.texts)).total()
    by_text = 2 * common >= min(len(own), len(known))
    aligned = _aligned(own.texts, known.texts) if by_text else _aligned(own.letters, known.letters)
    rows = [
        difference
        for here, there in aligned
        for difference in _difference(task, examples, own, known, here=here, there=there)
    ]
    # A kind found by trying that few rows of many have is chance: 16 bits, some 30 trials a row.
    counts = Counter(difference.kind for difference in rows)
    chance = {kind for kind, _ in _CHANGES if counts[kind] <= len(rows) * BY_CHANCE}
    return [row._replace(kind=SPACING) if row.kind in chance else row for row in rows]


def summary(rows: Sequence[Difference]) -> dict[str, int]:
    """Kind to the number of rows, most frequent first."""
    return dict(Counter(difference.kind for difference in rows).most_common())


def _aligned(own: Sequence[int], known: Sequence[int]) -> Iterator[tuple[int | None, int | None]]:
    """Positions in both that belong together; None where one has no partner.

    Rows are matched one to one where the counts are the same and most agree in place; else by the longest
    runs of equal marks between the first and the last difference.
    """
    start = _common(own, known)
    end = min(_common(own[::-1], known[::-1]), min(len(own), len(known)) - start)
    here, there = range(start, len(own) - end), range(start, len(known) - end)
    agreeing = sum(own[row] == known[row] for row in here if row in there)
    in_place = len(here) == len(there) and agreeing * 2 >= len(here)
    yield from ((row, row) for row in range(start))
    if in_place or max(len(here), len(there)) > MOST_ALIGNED:
        yield from zip_longest(here, there)
    else:
        one, other = ([split[row] for row in rows] for split, rows in ((own, here), (known, there)))
        for _, low, high, begin, stop in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
            yield from zip_longest(here[low:high], there[begin:stop])
    yield from zip(range(here.stop, len(own)), range(there.stop, len(known)), strict=True)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Length of the common beginning."""
    for position, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return position
    return min(len(one), len(other))


def _difference(
    task: Task, examples: Sequence[Example], own: Marks, known: Marks, *, here: int | None, there: int | None
) -> Iterator[Difference]:
    if here is None and there is not None:
        yield Difference(there, MISSING)
    elif here is not None and there is None:
        yield Difference(here, ADDED)
    elif here is not None and there is not None:
        if own.texts[here] != known.texts[there]:
            values = tuple(examples[here].inputs.values())
            yield Difference(here, _kind(values, known.texts[there], known.letters[there]))
        label, published = own.labels[here], known.labels[there]
        if HIDDEN in (label, published) and label != published:
            yield Difference(here, HIDDEN_LABEL if label == HIDDEN else SHOWN_LABEL)
        elif label != published:
            words = task.words
            yield Difference(
                here, LABEL, f"{words[label]} here, {words[published]} published" if words else ""
            )


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


_CHANGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("a space at its end is lost", lambda value: value + " "),
    ("a space at its beginning is lost", lambda value: " " + value),
    ("spaces at its ends were added", str.strip),
    ("a quotation mark at its beginning is lost", lambda value: '"' + value),
    ("a quotation mark at its beginning is lost", lambda value: '" ' + value.removeprefix(" ")),
    ("quotation marks are lost", lambda value: f'"{value}"'),
    ("quotation marks are doubled", lambda value: value.replace('""', '"')),
    ("it is still quoted as in CSV", lambda value: value[1:-1].replace('""', '"')),
    ("its quotation as in CSV was undone", lambda value: '"' + value.replace('"', '""') + '"'),
    ("it was normalised (Unicode NFC)", lambda value: unicodedata.normalize("NFD", value)),
    ("it was decomposed (Unicode NFD)", lambda value: unicodedata.normalize("NFC", value)),
    ("it has a byte order mark", lambda value: value.removeprefix("\ufeff")),
    ("a byte order mark is lost", lambda value: "\ufeff" + value),
)
"""What copying and converting does to text, each with the change that undoes it."""
