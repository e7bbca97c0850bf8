"""The short way through a file written as nearly all are: every index in order, a label word or number each.

Only the standard library is used, at the speed of memory: the labels are a strided slice, and what is
left must equal a template. Anything else is refused with None, and `rows.py` reads it with care.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from math import isfinite
from typing import Any, NamedTuple

from gluebench.submission.forms import CellForm

CODE = 0x80
"""First byte value that stands for a label once words are replaced; the text itself must be ASCII."""
UNKNOWN = 0xFF
_AT_ONCE = 1 << 13
"""Rows compared at once: a copy of these stays in the processor's cache, where one of the file would not."""
_IN_NUMBERS = b"0123456789.+-eE"
"""Of these alone `float` makes nothing but plain decimal numbers."""
_NEITHER = bytes({*range(256)} - {*b"\t\n"})
"""All bytes but those between cells and rows."""


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


def read_canonical_numbers(body: bytes, size: int, ids: Sequence[str] = ()) -> array[float] | None:
    """The numbers of the rows 0 to size - 1, in any order, or None when they are written in any other way."""
    texts = _cells(body, [*ids] or _written_indices(size))
    if texts is None or "".join(texts).encode().translate(None, _IN_NUMBERS):
        return None
    try:
        numbers = [*map(float, texts)]
    except ValueError:  # "1e", "--1": `rows.py` says which
        return None
    finite = isfinite(sum(numbers)) or all(map(isfinite, numbers))  # the sum alone is fast, and may overflow
    return array("d", numbers) if finite else None


def read_canonical_cells(
    body: bytes, size: int, ids: Sequence[str], form: CellForm
) -> tuple[Any, ...] | None:
    """The values of the rows as in `read_canonical_numbers`, each different cell read once."""
    texts = _cells(body, [*ids] or _written_indices(size))
    if texts is None or ("" in texts and not form.blank):
        return None
    if form.verbatim and b'"' not in body:
        return tuple(texts)
    cells = [*dict.fromkeys(texts)]
    each = partial(map, form.read)
    for read_all in (form.read_all or each, each):
        with suppress(ValueError):
            values = tuple(read_all(cells))
            if len(cells) == len(texts):
                return values
            return tuple(map(dict(zip(cells, values, strict=True)).__getitem__, texts))
    return None


def _cells(body: bytes, names: list[str]) -> list[str] | None:
    """The second column in the order of these indices or ids, None unless each has one row of two columns."""
    if body.count(b"\n") != len(names) or body.translate(None, _NEITHER) != b"\t\n" * len(names):
        return None
    try:
        fields = body.decode().replace("\t", "\n").split("\n")
    except UnicodeDecodeError:
        return None
    written, texts = fields[:-1:2], fields[1::2]
    if written == names:
        return texts
    by_name = dict(zip(written, texts, strict=True))
    return [*map(by_name.__getitem__, names)] if by_name.keys() == {*names} else None


@lru_cache(maxsize=8)
def _written_indices(size: int) -> list[str]:
    return [*map(str, range(size))]


def _strided(data: bytes, start: int, *, tail: bytes, at: int, codes: bytes, size: int) -> bytes | None:
    """Take the label byte at offset `at` of each row's tail and compare the rest with the template."""
    template = _template(size, tail)
    if len(data) - start != len(template):
        return None
    label_bytes = bytearray()
    place = 0
    for digits, _, rows in _blocks(size):
        width = digits + len(tail)
        for first in range(0, rows, _AT_ONCE):
            end = place + min(_AT_ONCE, rows - first) * width
            piece = bytearray(data[start + place : start + end])
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
