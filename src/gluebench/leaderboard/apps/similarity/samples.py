"""How far submissions agree, by all rows or by samples. Runs in the grader's process; opens no label."""

import base64
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any
from zlib import crc32

from gluebench.benchmark import Benchmark
from gluebench.submission import Column, Submission, check

ROWS = 1000
"""Rows of each file that are compared; all of a smaller file."""

NEAR = 0.97
"""Share of equal predictions from which a pair is reported."""

PAIRS = 100
"""Pairs that are reported, the nearest ones."""


def take_sample(path: str, benchmark: Benchmark) -> dict[str, str]:
    """Test-file name to the sampled predictions of a submitted file, one byte each, in base 64.

    A test file with errors is left out.
    """
    predictions = check(path, benchmark).predictions
    return {name: base64.b64encode(_bytes(column)).decode() for name, column in predictions.items()}


def _bytes(column: Column) -> bytes:
    rows = len(column)
    places = range(rows) if rows <= ROWS else [at * rows // ROWS for at in range(ROWS)]
    if column.labels:
        return bytes(map(column.codes.__getitem__, places))
    # Numbers are compared at two decimals, and cells by a hash: unequal ones share a byte once in 256 times.
    if isinstance(column.values, tuple):
        return bytes(crc32(repr(column.cells[at]).encode()) & 255 for at in places)
    return bytes(round(100 * column.numbers[at]) & 255 for at in places)


def near_pairs(samples: Sequence[Mapping[str, Any]]) -> list[tuple[int, int, float]]:
    """Pairs of different owners that agree almost everywhere, nearest first: two positions and the share.

    Each sample has `owner` and `files` as `take_sample` gives them. The share is the mean over the files that
    both have, so that a large file does not hide the small ones.
    """
    import numpy as np

    count = len(samples)
    names: set[str] = set()
    for sample in samples:
        names.update(sample["files"])
    tables = []
    for name in sorted(names):
        tables.append(_table([sample["files"].get(name, "") for sample in samples]))
    owners = np.array([sample["owner"] for sample in samples])
    pairs: list[tuple[int, int, float]] = []
    for first in range(count - 1):
        # By each later submission: the sum of the shares of equal rows, and the number of common files.
        equal = np.zeros(count - 1 - first)
        shared = np.zeros(count - 1 - first)
        for there, rows in tables:
            both = there[first + 1 :] & there[first]
            equal[both] += (rows[first + 1 :][both] == rows[first]).mean(axis=1)
            shared += both
        share = np.divide(equal, shared, out=np.zeros_like(equal), where=shared > 0)
        share[owners[first + 1 :] == owners[first]] = 0
        pairs += [(first, first + 1 + int(at), float(share[at])) for at in np.flatnonzero(share >= NEAR)]
    return sorted(pairs, key=lambda pair: (-pair[2], pair[:2]))[:PAIRS]


def _table(texts: Sequence[str]) -> tuple[Any, Any]:
    """Which submissions have a file, and their samples of it as rows; zeros where there is none."""
    import numpy as np

    data = [base64.b64decode(text) for text in texts]
    width = max(map(len, data))
    there = np.array([len(row) == width for row in data])
    blank = bytes(width)
    joined = b"".join(row if len(row) == width else blank for row in data)
    return there, np.frombuffer(joined, dtype=np.uint8).reshape(len(data), width)


LEAST = 0.95
"""Share of equal predictions from which two agree; of a smaller one, nobody learns it."""
TOLERANCE = 0.01
"""Numbers agree that differ by at most this, or by this share of the larger one."""
STEP = 10
"""Fewest rows by which a stated share changes, so that it tells nothing of a single row."""


def agreement(first: Submission, second: Submission) -> dict[str, Any]:
    """The share of `equal` predictions, of how many `rows`, diagnostic sets included; None below `LEAST`.

    A file that only one has agrees nowhere. The share is rounded down, to a thousandth and to tens of rows;
    it is 1 only if all are equal.
    """
    equal = rows = 0
    for name in first.predictions.keys() | second.predictions.keys():
        columns = [each.predictions[name].values for each in (first, second) if name in each.predictions]
        rows += max(map(len, columns))
        if len(columns) == 2:
            equal += sum(map(_same, *columns))
    share: float = 1
    if equal < rows:
        tens = equal // STEP * STEP
        share = tens * 1000 // rows / 1000
    return {"equal": share if share >= LEAST else None, "rows": rows}


def _same(one: Any, other: Any) -> bool:
    """Whether two label codes, numbers, texts or tuples of them agree."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(one == other)
