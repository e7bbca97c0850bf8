"""`rows.read_lines` in whole-array steps, for large files of labels in any order and with any faults."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.submission.problems import SHOWN_PER_FILE
from gluebench.submission.rows import INDEX, Fault, Layout, Rows, read_line

Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_TAB, _FEED, _ZERO = b"\t\n0"
_NO_LABEL = 255
_MOST_DIGITS = 18
"""Digits of the longest index that `read_lines` reads."""
_SHORT = 9
"""Digits of a number that 32 bits hold; the sum of other bytes may wrap, and is not used."""
_MOST_LETTERS = 1000
"""Letters of all words above which comparing each is no faster than `read_lines`."""
_FEW = 1000
"""Fields in a chunk that are read one by one if they are longer than most."""
_CHUNK = 1 << 14
"""Rows handled at once, so that the work stays in the processor's cache."""


class _Fields(NamedTuple):
    """Offsets of each row into the body."""

    starts: Ints
    tabs: Ints
    """The first tab; the row's end where it has none."""
    ends: Ints
    regular: Flags | None
    """Rows of exactly two columns; None when all are."""


def read_arrays(body: bytes, layout: Layout, *, first_line: int = 2) -> Rows | None:
    """See `rows.read_lines`; None for what only that function reads: ids, other forms, very many labels."""
    words = layout.synonym_codes | layout.codes
    if not layout.words or layout.ids or len(b"".join(words)) > _MOST_LETTERS:
        return None
    data = np.frombuffer(body, np.uint8)
    fields = _split(data)
    if fields is None:
        return None
    number = len(fields.ends)
    indices, codes, synonym = (
        np.empty(number, np.int64),
        np.empty(number, np.uint8),
        np.empty(number, np.bool_),
    )
    for first in range(0, number, _CHUNK):
        rows = slice(first, first + _CHUNK)
        starts, tabs, ends = fields.starts[rows], fields.tabs[rows], fields.ends[rows]
        indices[rows] = _integers(data, starts, tabs, len(str(layout.size)))
        codes[rows], synonym[rows] = _labels(data, tabs + 1, ends, layout)
    order = _order(indices, layout.size) if fields.regular is None else None
    if order is None or codes.max(initial=0) == _NO_LABEL:
        return _with_faults(data, fields, indices, codes, synonym, layout, first_line)
    synonyms = int(np.count_nonzero(synonym))
    return Rows(codes[order].tobytes(), array("q"), [], Counter(), layout.size, 0, synonyms)


def _split(data: Bytes) -> _Fields | None:
    """The rows; None if there are none."""
    separators = np.flatnonzero((data - np.uint8(_TAB)) < 2)
    feeds = data.take(separators) == _FEED
    if len(separators) % 2 == 0 and not feeds[0::2].any() and feeds[1::2].all():
        tabs, ends = separators[0::2], separators[1::2]
        return _Fields(_starts(ends), tabs, ends, None) if len(ends) else None
    at = np.flatnonzero(feeds)
    ends = separators[at]
    first = np.concatenate([[0], at[:-1] + 1])
    return _Fields(_starts(ends), separators[first], ends, at - first == 1)


def _starts(ends: Ints) -> Ints:
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    return starts


def _integers(data: Bytes, starts: Ints, ends: Ints, usual: int) -> Ints:
    """The plain integers from 0, of up to 18 digits; -1 for any other field.

    Few are expected to have more than the `usual` number of digits.
    """
    lengths = ends - starts
    shortest = int(lengths.min(initial=usual))
    longest = int(lengths.max(initial=0))
    long: list[int] = np.flatnonzero(lengths > usual).tolist() if longest > usual else []
    if len(long) <= _FEW:
        longest = min(longest, usual)
    width = np.int32 if longest <= _SHORT else np.int64  # half as wide, half the time
    numbers: npt.NDArray[Any] = np.zeros(len(ends), width)
    largest = np.zeros(len(ends), np.uint8)
    for place in range(min(_MOST_DIGITS, longest)):
        digit = data.take(ends - (place + 1)) - np.uint8(_ZERO)
        if shortest <= place:
            digit *= lengths > place
        np.maximum(largest, digit, out=largest)
        numbers += np.multiply(digit, 10**place, dtype=width)
    padded = (data.take(starts) == _ZERO) & (lengths > 1)
    numbers[(largest > 9) | padded | (lengths < 1) | (lengths > _MOST_DIGITS)] = -1
    if len(long) > _FEW:
        return numbers
    numbers = numbers.astype(np.int64, copy=False)
    for row in long:
        text = data[starts[row] : ends[row]].tobytes()
        numbers[row] = int(text) if INDEX.fullmatch(text) else -1
    return numbers


def _labels(data: Bytes, starts: Ints, ends: Ints, layout: Layout) -> tuple[Bytes, Flags]:
    """The label code of each row, 255 where the word is none of the labels; and which are synonyms."""
    lengths = ends - starts
    words = layout.synonym_codes | layout.codes
    longest = int(lengths.max(initial=0))
    by_letter = np.full(256, _NO_LABEL, np.uint8)
    for word, code in words.items():
        if len(word) == 1:
            by_letter[word[0]] = code
    codes = by_letter[data.take(starts, mode="clip")]  # the last row may be an index alone
    if longest != 1 or not lengths.all():
        codes[lengths != 1] = _NO_LABEL
    synonym = np.zeros(len(ends), np.bool_)
    for word, code in words.items():
        if len(word) > longest or (len(word) == 1 and word in layout.codes):
            continue
        rows = np.flatnonzero(lengths == len(word))
        for place, letter in enumerate(word):
            rows = rows[data.take(starts[rows] + place) == letter]
        codes[rows] = code
        synonym[rows] = word not in layout.codes
    return codes, synonym


def _order(indices: Ints, size: int) -> Ints | None:
    """The row of each index, if the indices are 0 to size - 1, once each."""
    if len(indices) != size or indices.min(initial=0) < 0 or indices.max(initial=0) >= size:
        return None
    order = np.full(size, -1)
    order[indices] = np.arange(size)
    return None if order.min(initial=0) < 0 else order


def _with_faults(
    data: Bytes, fields: _Fields, indices: Ints, codes: Bytes, synonym: Flags, layout: Layout, first_line: int
) -> Rows:
    # Most rows are sound even in a wrong file: only the others are looked at one kind of fault after another.
    strange = (indices < 0) | (indices >= layout.size)
    if fields.regular is not None:
        strange |= ~fields.regular
    inside = np.flatnonzero(~strange)
    own = indices[inside]
    first = np.full(layout.size, -1, np.int64)
    first[own[::-1]] = inside[::-1]  # the last one written stays: the first of the file
    present = np.flatnonzero(first >= 0)
    repeated = inside[:0] if len(present) == len(inside) else inside[first[own] != inside]
    strange |= codes == _NO_LABEL
    rows = np.flatnonzero(strange)
    starts, tabs, ends, numbers = fields.starts[rows], fields.tabs[rows], fields.ends[rows], indices[rows]
    blank = starts == ends
    regular = np.ones(len(rows), np.bool_) if fields.regular is None else fields.regular[rows]
    unlabeled = regular & (codes[rows] == _NO_LABEL)
    empty = unlabeled & (ends - tabs == 1)
    kinds = {
        "columns": ~regular & ~blank,
        "bad-index": regular & (numbers < 0),
        "extra-index": regular & (numbers >= layout.size),
        "empty-value": empty,
        "unknown-label": unlabeled & ~empty,
    }
    counts = Counter({code: int(np.count_nonzero(flags)) for code, flags in kinds.items()})
    counts["repeated-index"] = len(repeated)
    again = {*repeated[:SHOWN_PER_FILE].tolist()}
    shown: list[Fault] = []
    for row in sorted({*rows[~blank][:SHOWN_PER_FILE].tolist(), *again})[:SHOWN_PER_FILE]:
        line, text = first_line + int(row), data[fields.starts[row] : fields.ends[row]].tobytes()
        faults, index, *_ = read_line(line, text, layout)
        shown += [Fault("repeated-index", line, index, None)] * (row in again) + faults
    shown = shown[:SHOWN_PER_FILE]
    if layout.complete:
        missing = np.flatnonzero(first < 0)
        counts["missing-index"] = len(missing)
        room = SHOWN_PER_FILE - len(shown)
        shown += [Fault("missing-index", None, int(index), None) for index in missing[:room]]
    counts = +counts
    taken = first[present]
    return Rows(
        b"" if counts else codes[taken].tobytes(),
        array("q", b"" if counts or len(present) == layout.size else present.tobytes()),
        shown,
        counts,
        len(indices) - int(np.count_nonzero(blank)),
        int(np.count_nonzero(blank)),
        int(np.count_nonzero(synonym[taken])),
    )
