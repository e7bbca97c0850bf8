"""The short way through a file of labels of one letter written as nearly all are: every index in order.

Only the standard library is used, at the speed of memory: the labels are a strided slice, and what is
left must equal a template. Anything else is refused with None; `arrays.py` and `rows.py` read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

UNKNOWN = 0xFF
"""What stands for a letter that is no label."""
_TAIL = b"\t0\n"
"""What follows the index in the template."""
_AT_ONCE = 1 << 13
"""Rows compared at once: a copy of these stays in the processor's cache, where one of the file would not."""


class Block(NamedTuple):
    """The rows whose indices have the same number of digits."""

    digits: int
    first: int
    rows: int


def read_canonical(data: bytes, start: int, *, words: Sequence[str], size: int) -> bytes | None:
    """The label codes of the rows 0 to size - 1, or None when they are written in any other way.

    The rows begin at `start`, behind the header, and each ends in a line feed.
    """
    if not all(len(word) == 1 and word.isascii() for word in words):
        return None
    template = _template(size)
    if len(data) - start != len(template):
        return None
    view = memoryview(data)[start:]
    letters = bytearray()
    place = 0
    for digits, _, rows in _blocks(size):
        width = digits + len(_TAIL)
        for first in range(0, rows, _AT_ONCE):
            end = place + min(_AT_ONCE, rows - first) * width
            piece = bytearray(view[place:end])
            labels = slice(digits + 1, None, width)
            letters += piece[labels]
            piece[labels] = b"0" * ((end - place) // width)
            if piece != template[place:end]:
                return None
            place = end
    codes = letters.translate(_translation(tuple(words)))
    return bytes(codes) if UNKNOWN not in codes else None


@lru_cache(maxsize=64)
def _translation(letters: tuple[str, ...]) -> bytes:
    """The table that turns each of these letters into its position, and any other byte into UNKNOWN."""
    table = bytearray([UNKNOWN]) * 256
    for code, letter in enumerate(letters):
        table[ord(letter)] = code
    return bytes(table)


def _blocks(size: int) -> Iterator[Block]:
    digits, first = 1, 0
    while first < size:
        rows = min(size, 10**digits) - first
        yield Block(digits, first, rows)
        digits, first = digits + 1, first + rows


@lru_cache(maxsize=64)
def _template(size: int) -> memoryview:
    """The rows 0 to `size - 1`, each with the label 0."""
    template = bytearray(sum((digits + len(_TAIL)) * rows for digits, _, rows in _blocks(size)))
    start = 0
    for block in _blocks(size):
        _number(template, start, block)
        start += (block.digits + len(_TAIL)) * block.rows
    return memoryview(template).toreadonly()


def _number(template: bytearray, start: int, block: Block) -> None:
    """Write the rows of one block: what is there is copied nine times, each with its digit before it."""
    width = block.digits + len(_TAIL)
    template[start : start + width] = b"%d" % block.first + _TAIL
    filled = 1
    for position in reversed(range(block.digits)):
        zero = template[start + position]
        for digit in range(1, 10):
            rows = min(filled, block.rows - filled * digit)
            if rows <= 0:
                return
            place = start + filled * digit * width
            end = place + rows * width
            template[place:end] = memoryview(template)[start : start + rows * width]
            template[place + position : end : width] = bytes([zero + digit]) * rows
        filled *= 10
