"""Decisions on all pairs as short texts for JSON, and what pages read from them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import ALPHA, Bools, Floats, Ints, not_different, rank_sets

P_VALUES_UP_TO = 2000
"""Largest board whose p-values are kept: they grow with the square of the systems."""


class PValues(NamedTuple):
    """p-values of all pairs, shape (systems, systems), symmetric, 1 on the diagonal; float32."""

    adjusted: Floats
    raw: Floats


def pack_decisions(better: Bools) -> str:
    """The bits of the matrix row by row, compressed, as base64."""
    return _compress(np.packbits(better).tobytes())


def unpack_decisions(text: str, size: int) -> Bools:
    """Whether the system of the row is better than that of the column, shape (size, size)."""
    bits = np.frombuffer(_decompress(text), np.uint8)
    return np.unpackbits(bits, count=size * size).reshape(size, size).astype(np.bool_)


def restrict(better: Bools, positions: Sequence[int]) -> tuple[Ints, Ints]:
    """The rank sets of some of the systems among themselves; decisions hold for a part too."""
    chosen = np.asarray(positions, np.intp)
    return rank_sets(better[np.ix_(chosen, chosen)])


def indistinguishable(text: str, size: int, at: int) -> list[int]:
    """Positions of the systems that are not significantly different from the one at a position."""
    return not_different(unpack_decisions(text, size), at)


def pack_p_values(adjusted: Floats, raw: Floats) -> str:
    """The upper triangles, row by row and one after the other, as compressed float32 in base64.

    A p-value above the level stays above it when rounded, and one below it stays below.
    """
    upper = np.triu_indices(len(adjusted), 1)
    level = np.float32(ALPHA)  # just above ALPHA
    rounded = adjusted[upper].astype(np.float32)
    below = adjusted[upper] <= ALPHA
    rounded = np.where(below, np.minimum(rounded, np.nextafter(level, np.float32(0))), rounded)
    both = np.concatenate([rounded, raw[upper].astype(np.float32)])
    return _compress(both.astype("<f4").tobytes())


def unpack_p_values(text: str, size: int) -> PValues:
    """The adjusted and the unadjusted p-values of all pairs."""
    adjusted, raw = np.split(np.frombuffer(_decompress(text), "<f4"), 2)
    return PValues(_symmetric(adjusted, size), _symmetric(raw, size))


def _symmetric(upper: Floats, size: int) -> Floats:
    square: Floats = np.ones((size, size), np.float32)
    rows, columns = np.triu_indices(size, 1)
    square[rows, columns] = upper
    square[columns, rows] = upper
    return square


def _compress(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def _decompress(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
