"""`rows.read_lines` for large files: the same result in whole-array steps."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gluebench.submission.cells import FEED, TAB, lookup, read_cells
from gluebench.submission.numerals import (
    PAD,
    Bytes,
    Flags,
    Ints,
    Text,
    decimals,
    integers,
    text_of,
)
from gluebench.submission.problems import SHOWN_PER_FILE
from gluebench.submission.rows import Fault, Layout, Rows, read_line
from gluebench.submission.submission import Unread, Values

_CHUNK = 1 << 15
"""Rows handled at once, so that the work stays in the processor's cache."""
_MOST_MARKS = 1 << 22
_NO_LABEL = 255
_NEITHER = bytes({*range(256)} - {TAB, FEED})
"""All bytes but those between cells and rows."""


class _Fields(NamedTuple):
    """Offsets of each row into the padded body."""

    starts: Ints
    tabs: Ints
    """The first tab; the row's end where it has none."""
    ends: Ints
    regular: Flags | None
    """Rows of exactly two columns; None when all are."""
    marks: Ints
    """Every tab, line feed and mark of the notation."""
    kinds: Bytes
    """The bytes there."""


def read_arrays(body: bytes, layout: Layout, *, first_line: int = 2) -> Rows | None:
    """See `rows.read_lines`; None for a file that only that function reads."""
    indices: Ints | None = None
    if layout.ids:
        if body.translate(None, _NEITHER) != b"\t\n" * body.count(b"\n"):
            return None
        columns = body.replace(b"\t", b"\n").split(b"\n")
        indices = np.array([layout.places.get(name, -1) for name in columns[:-1:2]], np.int64)
        body = b"\t%b\n" % b"\n\t".join(columns[1::2])
    text = text_of(body)
    fields = _split(text.data, layout.form.notation.marks if layout.form and layout.form.notation else b"")
    if fields is None or (fields.regular is not None and not layout.words):
        return None
    indices = _indices(text, fields) if indices is None else indices
    order = _order(indices, layout.size) if fields.regular is None else None
    if layout.words and not (layout.ids and order is None):
        return _labels(text, fields, indices, order, layout, first_line)
    values = None if order is None else _values(text, fields, order, layout)
    return None if values is None else Rows(values, array("q"), [], Counter(), layout.size, 0, 0)


def _labels(
    text: Text, fields: _Fields, indices: Ints, order: Ints | None, layout: Layout, first_line: int
) -> Rows | None:
    columns = _codes(text, fields, layout)
    if columns is None:
        return None
    codes, synonym = columns
    if order is None or codes.max(initial=0) == _NO_LABEL:
        if layout.ids:
            return None
        return _with_faults(text.data, fields, indices, codes, synonym, layout, first_line)
    synonyms = int(np.count_nonzero(synonym))
    return Rows(codes[order].tobytes(), array("q"), [], Counter(), layout.size, 0, synonyms)


def _values(text: Text, fields: _Fields, order: Ints, layout: Layout) -> Values | Unread | None:
    """The values of a column of another form; None unless all have the usual notation."""
    tabs, ends = fields.tabs, fields.ends
    if layout.form:
        cells = read_cells(text, fields.marks, fields.kinds, tabs, ends, layout.form)
        return None if cells is None else replace(cells, rows=cells.rows[order])
    numbers = decimals(text, tabs + 1, ends)
    return None if np.isnan(numbers).any() else array("d", numbers[order].tobytes())


def _order(indices: Ints, size: int) -> Ints | None:
    """The row of each index, if the indices are 0 to size - 1, once each."""
    if len(indices) != size or indices.min(initial=0) < 0 or indices.max(initial=0) >= size:
        return None
    order = np.full(size, -1)
    order[indices] = np.arange(size)
    return None if order.min(initial=0) < 0 else order


def _split(data: Bytes, marks: bytes) -> _Fields | None:
    """The rows, and the marks of the notation; None if these are so many that they could fill the memory."""
    marked = (data - np.uint8(TAB)) < 2
    for mark in marks:
        marked |= data == mark
    if marks and np.count_nonzero(marked) > _MOST_MARKS:
        return None
    places = np.flatnonzero(marked)
    kinds = data.take(places)
    outer = np.flatnonzero(kinds <= FEED) if marks else slice(None)
    separators, feeds = places[outer], kinds[outer] == FEED
    if len(separators) % 2 == 0 and not feeds[0::2].any() and feeds[1::2].all():
        tabs, ends = separators[0::2], separators[1::2]
        return _Fields(_starts(ends), tabs, ends, None, places, kinds)
    at = np.flatnonzero(feeds)
    ends = separators[at]
    first = np.concatenate([[0], at[:-1] + 1])
    return _Fields(_starts(ends), separators[first], ends, at - first == 1, places, kinds)


def _starts(ends: Ints) -> Ints:
    starts = np.empty_like(ends)
    starts[:1] = PAD
    starts[1:] = ends[:-1] + 1
    return starts


def _indices(text: Text, fields: _Fields) -> Ints:
    """The index of each row, and -1 where its first field is not a plain integer."""
    indices = np.empty(len(fields.ends), np.int64)
    for start in range(0, len(indices), _CHUNK):
        rows = slice(start, start + _CHUNK)
        indices[rows] = integers(text, fields.starts[rows], fields.tabs[rows])
    return indices


def _codes(text: Text, fields: _Fields, layout: Layout) -> tuple[Bytes, Flags] | None:
    """The label code of each row, 255 where the word is none of the labels; and which are synonyms."""
    codes_of = layout.synonym_codes | layout.codes
    words = (*layout.codes, *(word for word in codes_of if word not in layout.codes))
    code = np.array([*map(codes_of.__getitem__, words), _NO_LABEL], np.uint8)
    number = np.empty(len(fields.ends), np.int64)
    for start in range(0, len(number), _CHUNK):
        rows = slice(start, start + _CHUNK)
        starts = fields.tabs[rows] + 1
        looked_up = lookup(text, starts, np.maximum(fields.ends[rows] - starts, 0), words)
        if looked_up is None:
            return None
        known, places, numbers = looked_up
        number[rows] = np.where(known, numbers.take(places), len(words))
    return code[number], (number >= len(layout.codes)) & (number < len(words))


def _with_faults(
    data: Bytes, fields: _Fields, indices: Ints, codes: Bytes, synonym: Flags, layout: Layout, first_line: int
) -> Rows:
    rows = np.arange(len(indices))
    blank = fields.starts == fields.ends
    regular = np.ones(len(rows), np.bool_) if fields.regular is None else fields.regular
    inside = regular & (indices >= 0) & (indices < layout.size)
    first = np.full(layout.size, -1, np.int64)
    first[indices[inside][::-1]] = rows[inside][::-1]  # the last one written stays: the first of the file
    repeated = inside.copy()
    repeated[inside] = first[indices[inside]] != rows[inside]
    unlabeled = regular & (codes == _NO_LABEL)
    empty = unlabeled & (fields.ends - fields.tabs == 1)
    kinds = {
        "columns": ~regular & ~blank,
        "repeated-index": repeated,
        "bad-index": regular & (indices < 0),
        "extra-index": regular & (indices >= layout.size),
        "empty-value": empty,
        "unknown-label": unlabeled & ~empty,
    }
    counts = Counter({code: int(np.count_nonzero(flags)) for code, flags in kinds.items()})
    shown: list[Fault] = []
    for row in np.flatnonzero(np.logical_or.reduce(list(kinds.values())))[:SHOWN_PER_FILE]:
        line, text = first_line + int(row), data[fields.starts[row] : fields.ends[row]].tobytes()
        faults, index, *_ = read_line(line, text, layout)
        shown += [Fault("repeated-index", line, index, None)] * bool(repeated[row]) + faults
    shown = shown[:SHOWN_PER_FILE]
    if layout.complete:
        missing = np.flatnonzero(first < 0)
        counts["missing-index"] = len(missing)
        room = SHOWN_PER_FILE - len(shown)
        shown += [Fault("missing-index", None, int(index), None) for index in missing[:room]]
    counts = +counts
    present = np.flatnonzero(first >= 0)
    taken = first[present]
    return Rows(
        b"" if counts else codes[taken].tobytes(),
        array("q", b"" if counts or len(present) == layout.size else present.tobytes()),
        shown,
        counts,
        len(rows) - int(np.count_nonzero(blank)),
        int(np.count_nonzero(blank)),
        int(np.count_nonzero(synonym[taken])),
    )
