"""`rows.read_lines` for large files: the same result in whole-array steps."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.submission.problems import SHOWN_PER_FILE
from gluebench.submission.rows import Fault, Layout, Rows, read_line

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

_CHUNK = 1 << 15
"""Rows handled at once, so that the work stays in the processor's cache."""
_TAB, _FEED, _ZERO = 9, 10, 48
_PAD = 8
_NO_LABEL = 255


class _Fields(NamedTuple):
    """Offsets of each row into the padded body."""

    starts: Ints
    tabs: Ints
    """The first tab; the row's end where it has none."""
    ends: Ints
    regular: Flags | None
    """Rows of exactly two columns; None when all are."""


def read_arrays(body: bytes, layout: Layout, *, first_line: int = 2) -> Rows:
    """See `rows.read_lines`; for labels only."""
    data = np.frombuffer(b"\0" * _PAD + body, np.uint8)
    fields = _split(data)
    indices = _indices(data, fields)
    codes, synonym = _codes(data, fields, layout)
    if fields.regular is None and len(indices) == layout.size and layout.complete:
        values = _scattered(indices, codes, layout.size)
        if values is not None:
            return Rows(
                values.tobytes(), array("q"), [], Counter(), layout.size, 0, int(np.count_nonzero(synonym))
            )
    return _with_faults(data, fields, indices, codes, synonym, layout, first_line)


def _split(data: Bytes) -> _Fields:
    separators = np.flatnonzero((data - np.uint8(_TAB)) < 2)
    feeds = data[separators] == _FEED
    if len(separators) % 2 == 0 and not feeds[0::2].any() and feeds[1::2].all():
        tabs, ends = separators[0::2], separators[1::2]
        return _Fields(_starts(ends), tabs, ends, None)
    at = np.flatnonzero(feeds)
    ends = separators[at]
    first = np.concatenate([[0], at[:-1] + 1])
    return _Fields(_starts(ends), separators[first], ends, at - first == 1)


def _starts(ends: Ints) -> Ints:
    starts = np.empty_like(ends)
    starts[:1] = _PAD
    starts[1:] = ends[:-1] + 1
    return starts


def _indices(data: Bytes, fields: _Fields) -> Ints:
    """The index of each row, and -1 where its first field is not a plain integer."""
    words = np.ndarray((len(data) - 7,), "<u8", buffer=data.data, strides=(1,))
    indices = np.empty(len(fields.ends), np.int64)
    for start in range(0, len(indices), _CHUNK):
        rows = slice(start, start + _CHUNK)
        indices[rows] = _integers(data, words, fields.starts[rows], fields.tabs[rows])
    return indices


def _integers(data: Bytes, words: npt.NDArray[np.uint64], starts: Ints, tabs: Ints) -> Ints:
    """Integers of up to eight digits, all digits of one number in one machine word."""
    digits = tabs - starts
    spare = ((8 - np.clip(digits, 1, 8)) * 8).astype(np.uint64)
    word = words[tabs - 8] ^ np.uint64(0x3030303030303030)
    word >>= spare  # what stands before the field is shifted out
    word <<= spare
    wrong = ((word + np.uint64(0x7676767676767676)) | word) & np.uint64(0x8080808080808080)
    word = word * np.uint64(10) + (word >> np.uint64(8))  # digits to pairs of digits, the lowest byte first
    pairs = np.uint64(0x000000FF000000FF)
    left = (word & pairs) * np.uint64(0x000F424000000064)
    right = ((word >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
    value: Ints = ((left + right) >> np.uint64(32)).astype(np.int64)
    padded = (data[starts] == _ZERO) & (digits > 1)
    value[(wrong != 0) | padded | (digits < 1)] = -1
    for row in np.flatnonzero(digits > 8):
        text = data[starts[row] : tabs[row]].tobytes()
        is_index = text.isdigit() and text[:1] != b"0" and len(text) <= 18
        value[row] = int(text) if is_index else -1
    return value


def _codes(data: Bytes, fields: _Fields, layout: Layout) -> tuple[Bytes, Flags]:
    """The label code of each row, 255 where the word is none of the labels; and which are synonyms."""
    codes = _letters(data, fields, layout)
    synonym = np.zeros(len(codes), np.bool_)
    longer = {word: code for word, code in layout.codes.items() if len(word) > 1}
    for words, is_synonym in ((longer, False), (layout.synonym_codes, True)):
        for word, code in words.items():
            rows = np.flatnonzero(fields.ends - fields.tabs == len(word) + 1)
            for offset, byte in enumerate(word, 1):
                rows = rows[data[fields.tabs[rows] + offset] == byte]
            codes[rows], synonym[rows] = code, is_synonym
    return codes, synonym


def _letters(data: Bytes, fields: _Fields, layout: Layout) -> Bytes:
    """The codes of labels of one byte; such a row ends two places after its tab."""
    codes = np.full(len(fields.ends), _NO_LABEL, np.uint8)
    letters = {word[0]: code for word, code in layout.codes.items() if len(word) == 1}
    if not letters:
        return codes
    table = np.full(256, _NO_LABEL, np.uint8)
    table[list(letters)] = list(letters.values())
    for start in range(0, len(codes), _CHUNK):
        rows = slice(start, start + _CHUNK)
        tabs, ends = fields.tabs[rows], fields.ends[rows]
        codes[rows] = np.where(ends - tabs == 2, table[data[ends - 1]], _NO_LABEL)
    return codes


def _scattered(indices: Ints, codes: Bytes, size: int) -> Bytes | None:
    """The codes in index order, if every row has a label and the indices are 0 to size - 1, once each."""
    if codes.max(initial=0) == _NO_LABEL or indices.min(initial=0) < 0 or indices.max(initial=0) >= size:
        return None
    values = np.full(size, _NO_LABEL, np.uint8)
    values[indices] = codes
    return None if values.max(initial=0) == _NO_LABEL else values


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
