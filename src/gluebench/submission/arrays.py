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
    regular: Flags
    """Rows of exactly two columns."""


def read_arrays(body: bytes, layout: Layout, *, first_line: int = 2) -> Rows | None:
    """See `rows.read_lines`; None for what only that function reads: ids, other forms, very many labels.

    None, too, for a file of more than `layout.most_rows` rows or tabs.
    """
    words = layout.synonym_codes | layout.codes
    if not layout.words or layout.ids or len(b"".join(words)) > _MOST_LETTERS or not body:
        return None
    data = np.frombuffer(body, np.uint8)
    fields = _split(data, layout.most_rows)
    if fields is None:
        return None
    number = len(fields.ends)
    indices = np.empty(number, np.int64)
    codes = np.empty(number, np.uint8)
    synonym = np.empty(number, np.bool_)
    for first in range(0, number, _CHUNK):
        rows = slice(first, first + _CHUNK)
        tabs = fields.tabs[rows]
        indices[rows] = _integers(data, fields.starts[rows], tabs, len(str(layout.size)))
        codes[rows], synonym[rows] = _labels(data, tabs + 1, fields.ends[rows], layout)
    column = _column(indices, codes, layout.size)
    if column is None or not fields.regular.all():
        return _with_faults(data, fields, indices, codes, synonym, layout, first_line)
    synonyms = int(np.count_nonzero(synonym))
    return Rows(column.tobytes(), array("q"), [], Counter(), layout.size, 0, synonyms)


def _split(data: Bytes, most: int) -> _Fields | None:
    """The rows; None if there are more than `most` of them, or of tabs."""
    separates = (data - np.uint8(_TAB)) < 2
    if np.count_nonzero(separates) > 2 * most:
        return None
    separators = np.flatnonzero(separates)
    marks = data.take(separators)
    if marks.tobytes() == b"\t\n" * (len(marks) // 2):
        tabs = separators[0::2]
        ends = separators[1::2]
        regular = np.ones(len(ends), np.bool_)
    else:
        feeds = np.flatnonzero(marks == _FEED)
        if max(len(feeds), len(marks) - len(feeds)) > most:
            return None
        first = np.concatenate([[0], feeds[:-1] + 1])
        tabs = separators[first]
        ends = separators[feeds]
        regular = feeds - first == 1
    starts = np.zeros_like(ends)
    np.add(ends[:-1], 1, out=starts[1:])
    return _Fields(starts, tabs, ends, regular)


def _integers(data: Bytes, starts: Ints, ends: Ints, usual: int) -> Ints:
    """The plain integers from 0, of up to 18 digits; -1 for any other field.

    Few are expected to have more than the `usual` number of digits.
    """
    lengths = ends - starts
    longest = int(lengths.max())
    long: list[int] = np.flatnonzero(lengths > usual).tolist() if longest > usual else []
    if len(long) <= _FEW:
        longest = min(longest, usual)
    if lengths.max() > _MOST_DIGITS:
        lengths = np.minimum(lengths, _MOST_DIGITS + 1)
    sizes = lengths.astype(np.uint8)
    shortest = sizes.min()
    width: Any = np.int32 if longest <= _SHORT else np.int64  # half as wide, half the time
    numbers: npt.NDArray[Any] = np.zeros(len(ends), width)
    largest = np.zeros(len(ends), np.uint8)
    at = ends.copy()
    digits = []
    for place in range(min(_MOST_DIGITS, longest)):
        at -= 1
        digit = data.take(at) - np.uint8(_ZERO)
        if shortest <= place:
            digit *= (sizes > place).view(np.uint8)
        np.maximum(largest, digit, out=largest)
        digits.append(digit)
    for place in range(0, len(digits), 2):
        pair = digits[place]  # of two digits, which one byte holds
        if place + 1 < len(digits):
            pair += digits[place + 1] * np.uint8(10)
        numbers += np.multiply(pair, 10**place, dtype=width)
    padded = (data.take(starts) == _ZERO) & (sizes > 1)
    numbers[(largest > 9) | padded | (sizes < 1) | (sizes > _MOST_DIGITS)] = -1
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
    longest = int(lengths.max())
    codes = np.full(len(ends), _NO_LABEL, np.uint8)
    letters = {word[0]: code for word, code in layout.codes.items() if len(word) == 1}
    if letters:
        first = data.take(starts, mode="clip")  # the last row may be an index alone
        if longest != 1 or lengths.min() != 1:
            first *= (lengths == 1).view(np.uint8)
        table = bytearray([_NO_LABEL]) * 256
        for letter, code in letters.items():
            table[letter] = code
        codes = np.frombuffer(bytearray(first).translate(table), np.uint8)  # faster than an index
    synonym = np.zeros(len(ends), np.bool_)
    for word, code in (layout.synonym_codes | layout.codes).items():
        if len(word) > longest or (len(word) == 1 and word in layout.codes):
            continue
        rows = np.flatnonzero(lengths == len(word))
        same_length = np.ndarray(len(data) - len(word) + 1, f"S{len(word)}", data, strides=(1,))
        rows = rows[same_length[starts[rows]] == word]
        codes[rows] = code
        if word not in layout.codes:
            synonym[rows] = True
    return codes, synonym


def _column(indices: Ints, codes: Bytes, size: int) -> Bytes | None:
    """The label code of each index, if the indices are 0 to size - 1, once each, and all have a label."""
    if len(indices) != size or indices.min() < 0 or indices.max() >= size:
        return None
    column = np.full(size, _NO_LABEL, np.uint8)
    column[indices] = codes
    return None if column.max() == _NO_LABEL else column


def _with_faults(
    data: Bytes, fields: _Fields, indices: Ints, codes: Bytes, synonym: Flags, layout: Layout, first_line: int
) -> Rows:
    regular = fields.regular
    bad = indices < 0
    extra = indices >= layout.size
    inside = np.flatnonzero(regular & ~bad & ~extra)
    own = indices[inside]
    first = np.full(layout.size, -1, np.int64)
    first[own[::-1]] = inside[::-1]  # the last one written stays: the first of the file
    present = np.flatnonzero(first >= 0)
    repeated = inside[:0] if len(present) == len(inside) else inside[first[own] != inside]
    blank = fields.starts == fields.ends
    blanks = int(np.count_nonzero(blank))
    unlabeled = np.flatnonzero(regular & (codes == _NO_LABEL))
    empty = int(np.count_nonzero(fields.ends[unlabeled] - fields.tabs[unlabeled] == 1))
    counts = Counter(
        {
            "columns": len(indices) - int(np.count_nonzero(regular)) - blanks,
            "bad-index": int(np.count_nonzero(regular & bad)),
            "extra-index": int(np.count_nonzero(regular & extra)),
            "empty-value": empty,
            "unknown-label": len(unlabeled) - empty,
            "repeated-index": len(repeated),
        }
    )
    wrong = np.flatnonzero((~regular | bad | extra | (codes == _NO_LABEL)) & ~blank)
    again = {*repeated[:SHOWN_PER_FILE].tolist()}
    shown: list[Fault] = []
    for row in sorted({*wrong[:SHOWN_PER_FILE].tolist(), *again})[:SHOWN_PER_FILE]:
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
        len(indices) - blanks,
        blanks,
        int(np.count_nonzero(synonym[taken])),
    )
