"""The careful way through a file: any order of rows, and every fault of every row found.

There are two readers with one result: `read_lines` in plain Python is the definition, and fast enough for
small files without importing numpy; `arrays.read_arrays` is the same for large files, in whole-array steps.
A test holds one against the other on mutated files.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

_INDEX = re.compile(rb"0|[1-9][0-9]{0,17}")
_NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Fault(NamedTuple):
    """One thing wrong with one row, or one index that no row has."""

    code: str
    line: int | None
    example: int | None
    value: bytes | None


class Rows(NamedTuple):
    """What a body holds: a value for every index, and every fault counted."""

    values: bytes | array[float]
    """In the order of `indices`; empty where there are faults."""
    indices: array[int]
    """Ascending; empty where there are faults, or when they are 0 to size - 1."""
    shown: list[Fault]
    """The first faults in the order of lines; missing indices last."""
    faults: Counter[str]
    """Every fault, by its code."""
    rows: int
    """Rows that are not blank."""
    blank: int
    synonyms: int
    """Rows whose label was a synonym."""


class Expected(NamedTuple):
    """What a file should hold."""

    labels: Mapping[bytes, int]
    """Label word to code; empty for numbers."""
    synonyms: Mapping[bytes, int]
    size: int
    """Indices run from 0 to size - 1."""
    complete: bool
    """Whether every index must be there."""
    shown: int
    """Faults to describe; the rest are counted."""
    first_line: int
    """Physical line of the first row."""


def read_lines(body: bytes, expected: Expected) -> Rows:
    """The definition: one line at a time."""
    values: dict[int, int | float] = {}
    shown: list[Fault] = []
    faults: Counter[str] = Counter()
    blank = synonyms = rows = 0
    for line, text in enumerate(body.split(b"\n")[:-1], expected.first_line):
        if not text:
            blank += 1
            continue
        rows += 1
        line_faults, index, value, synonym = _read_line(line, text, expected)
        if index is not None:
            if index in values:
                line_faults.insert(0, Fault("repeated-index", line, index, None))
            else:
                values[index] = value
                synonyms += synonym
        for fault in line_faults:
            faults[fault.code] += 1
            if len(shown) < expected.shown:
                shown.append(fault)
    if expected.complete and len(values) < expected.size:
        missing = [index for index in range(expected.size) if index not in values]
        faults["missing-index"] += len(missing)
        room = max(0, expected.shown - len(shown))
        shown += [Fault("missing-index", None, index, None) for index in missing[:room]]
    indices = [] if faults else sorted(values)
    ordered = [values[index] for index in indices]
    column = bytes(map(int, ordered)) if expected.labels else array("d", ordered)
    partial = array("q", [] if len(indices) == expected.size else indices)
    return Rows(column, partial, shown, faults, rows, blank, synonyms)


def _read_line(
    line: int, text: bytes, expected: Expected
) -> tuple[list[Fault], int | None, int | float, bool]:
    """Faults, index (None when the row has none that counts), value, and whether that is a synonym."""
    fields = text.split(b"\t")
    if len(fields) != 2:
        return [Fault("columns", line, None, text)], None, 0, False
    faults: list[Fault] = []
    index: int | None = None
    if not _INDEX.fullmatch(fields[0]):
        faults.append(Fault("bad-index", line, None, fields[0]))
    elif int(fields[0]) >= expected.size:
        faults.append(Fault("extra-index", line, int(fields[0]), None))
    else:
        index = int(fields[0])
    value, code = _read_value(fields[1], expected)
    if code:
        faults.append(Fault(code, line, index, fields[1]))
    return faults, index, value, bool(expected.labels) and not code and fields[1] not in expected.labels


def _read_value(text: bytes, expected: Expected) -> tuple[int | float, str | None]:
    """The label code or number, and the code of what is wrong with it."""
    if not text:
        return 0, "empty-value"
    if expected.labels:
        value = expected.labels.get(text, expected.synonyms.get(text))
        return (0, "unknown-label") if value is None else (value, None)
    if not _NUMBER.fullmatch(text):
        named = text.strip(b"+-").lower() in (b"nan", b"inf", b"infinity")
        return 0.0, "not-finite" if named else "not-a-number"
    number = float(text)
    return (number, None) if isfinite(number) else (0.0, "not-finite")
