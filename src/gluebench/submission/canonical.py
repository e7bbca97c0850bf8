"""The short way through a file written as nearly all are: every index in order, a label word or number each.

Only the standard library is used, at the speed of memory: the labels are a strided slice, and what is
left must equal a template. Anything else is refused with None, and `rows.py` reads it with care.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

CODE = 0x80
"""First byte value that stands for a label once words are replaced; the text itself must be ASCII."""
UNKNOWN = 0xFF
_IN_NUMBERS = b"0123456789.+-eE"
"""Of these alone `float` makes nothing but plain decimal numbers."""


class Block(NamedTuple):
    """The rows whose indices have the same number of digits."""

    digits: int
    first: int
    rows: int


def read_canonical(body: bytes, words: Sequence[str], size: int) -> bytes | None:
    """The label codes of the rows 0 to size - 1, or None when the body is written in any other way.

    `body` is what follows the header, each row ended by a line feed.
    """
    if not body.startswith(b"0\t"):
        return None
    if all(len(word) == 1 and word.isascii() for word in words):
        return _strided(body, b"\t0\n", 1, _translation(tuple(map(ord, words))), size)
    if not body.isascii() or len(words) > UNKNOWN - CODE:
        return None
    for code, word in enumerate(words):
        body = body.replace(b"\t%b\n" % word.encode(), bytes([CODE + code]))
    return _strided(body, bytes([CODE]), 0, _translation(tuple(range(CODE, CODE + len(words)))), size)


def read_canonical_numbers(body: bytes, size: int) -> array[float] | None:
    """The numbers of the rows 0 to size - 1, in any order, or None when the body is written in any other way."""
    rows = [row.split(b"\t") for row in body.split(b"\n")]
    if len(rows) != size + 1 or rows.pop() != [b""] or {*map(len, rows)} != {2}:
        return None
    indices, texts = zip(*rows, strict=True)
    written = _written_indices(size)
    in_order = indices == written
    if b"".join(texts).translate(None, _IN_NUMBERS) or not (in_order or {*indices} == {*written}):
        return None
    try:
        numbers = array("d", map(float, texts))
    except ValueError:  # "1e", "--1": `rows.py` says which
        return None
    if not in_order:
        for index, number in zip(map(int, indices), list(numbers), strict=True):
            numbers[index] = number
    return numbers if all(map(isfinite, numbers)) else None


@lru_cache(maxsize=8)
def _written_indices(size: int) -> tuple[bytes, ...]:
    return tuple([b"%d" % index for index in range(size)])


def _strided(body: bytes, tail: bytes, at: int, codes: bytes, size: int) -> bytes | None:
    """Take the label byte at offset `at` of each row's tail and compare the rest with the template."""
    template = _template(size, tail)
    if len(body) != len(template):
        return None
    rest = bytearray(body)
    found = bytearray()
    start = 0
    for digits, _, rows in _blocks(size):
        width = digits + len(tail)
        stop = start + rows * width
        labels = slice(start + digits + at, stop, width)
        found += body[labels]
        rest[labels] = tail[at : at + 1] * rows
        start = stop
    column = bytes(found).translate(codes)
    return column if rest == template and UNKNOWN not in column else None


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
def _template(size: int, tail: bytes) -> bytes:
    """The rows `0<tail>` to `size - 1<tail>`, written digit column by digit column."""
    blocks = []
    for digits, first, rows in _blocks(size):
        block = bytearray(b"0" * digits + tail) * rows
        for position in range(digits):
            run = 10 ** (digits - 1 - position)
            block[position :: digits + len(tail)] = _digit_column(first, rows, run=run)
        blocks.append(block)
    return b"".join(blocks)


def _digit_column(first: int, rows: int, *, run: int) -> bytes:
    """One decimal digit of `rows` consecutive numbers, each digit repeated `run` times; run divides first."""
    cycle = b"".join(bytes([ord("0") + digit]) * min(run, rows) for digit in range(10))
    skipped = first // run % 10 * min(run, rows)
    return (cycle * ((skipped + rows) // len(cycle) + 1))[skipped : skipped + rows]
