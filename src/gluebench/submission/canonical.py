"""The short way through a file of labels written as nearly all are: every index in order.

Only the standard library is used, at the speed of memory: the labels are a strided slice, and what is
left must equal a template. Anything else is refused with None; `arrays.py` and `rows.py` read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

CODE = 0x80
"""First byte value that stands for a label once words are replaced; the text itself must be ASCII."""
UNKNOWN = 0xFF
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
    if not data.startswith(b"0\t", start):
        return None
    if all(len(word) == 1 and word.isascii() for word in words):
        return _strided(
            data, start, tail=b"\t0\n", at=1, codes=_translation(tuple(map(ord, words))), size=size
        )
    if not data.isascii() or len(words) > UNKNOWN - CODE:
        return None
    body = data[start:]
    for code, word in enumerate(words):
        body = body.replace(b"\t%b\n" % word.encode(), bytes([CODE + code]))
    codes = _translation(tuple(range(CODE, CODE + len(words))))
    return _strided(body, 0, tail=bytes([CODE]), at=0, codes=codes, size=size)


def _strided(data: bytes, start: int, *, tail: bytes, at: int, codes: bytes, size: int) -> bytes | None:
    """Take the label byte at offset `at` of each row's tail and compare the rest with the template."""
    template = _template(size, tail)
    if len(data) - start != len(template):
        return None
    view = memoryview(data)[start:]
    label_bytes = bytearray()
    place = 0
    for digits, _, rows in _blocks(size):
        width = digits + len(tail)
        for first in range(0, rows, _AT_ONCE):
            end = place + min(_AT_ONCE, rows - first) * width
            piece = bytearray(view[place:end])
            labels = slice(digits + at, None, width)
            label_bytes += piece[labels]
            piece[labels] = tail[at : at + 1] * ((end - place) // width)
            if piece != template[place:end]:
                return None
            place = end
    column = label_bytes.translate(codes)
    return bytes(column) if UNKNOWN not in column else None


@lru_cache(maxsize=64)
def _translation(bytes_of_codes: tuple[int, ...]) -> bytes:
    """The table that turns each of these bytes into its position, and any other into UNKNOWN."""
    positions = {byte: code for code, byte in enumerate(bytes_of_codes)}
    return bytes(positions.get(byte, UNKNOWN) for byte in range(256))


def _blocks(size: int) -> Iterator[Block]:
    digits, first = 1, 0
    while first < size:
        rows = min(size, 10**digits) - first
        yield Block(digits, first, rows)
        digits, first = digits + 1, first + rows


@lru_cache(maxsize=64)
def _template(size: int, tail: bytes) -> memoryview:
    """The rows `0<tail>` to `size - 1<tail>`."""
    template = bytearray(sum((digits + len(tail)) * rows for digits, _, rows in _blocks(size)))
    start = 0
    for block in _blocks(size):
        _number(template, start, block=block, tail=tail)
        start += (block.digits + len(tail)) * block.rows
    return memoryview(template).toreadonly()


def _number(template: bytearray, start: int, *, block: Block, tail: bytes) -> None:
    """Write the rows of one block: what is there is copied nine times, each with its digit before it."""
    width = block.digits + len(tail)
    template[start : start + width] = b"%d" % block.first + tail
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
