"""The short way through a file written as nearly all are: every index in order, one label word each.

Only the standard library is used, at the speed of memory: the labels are a strided slice, and what is
left must equal a template. Anything else is refused with None, and `rows.py` reads it with care.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

CODE = 0x80
"""First byte value that stands for a label once words are replaced; the text itself must be ASCII."""
UNKNOWN = 0xFF


class Block(NamedTuple):
    """The rows whose indices have the same number of digits."""

    digits: int
    first: int
    rows: int


def read_canonical(body: bytes, words: Sequence[str], size: int) -> bytes | None:
    """The label codes of the rows 0 to size - 1, or None when the body is written in any other way.

    `body` is what follows the header, each row ended by a line feed.
    """
    if all(len(word) == 1 and word.isascii() for word in words):
        return _strided(
            body, b"\t0\n", 1, _translation({ord(word): code for code, word in enumerate(words)}), size
        )
    if not body.isascii() or len(words) > UNKNOWN - CODE:
        return None
    for code, word in enumerate(words):
        body = body.replace(b"\t%b\n" % word.encode(), bytes([CODE + code]))
    return _strided(
        body, bytes([CODE]), 0, _translation({CODE + code: code for code in range(len(words))}), size
    )


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


def _translation(codes: dict[int, int]) -> bytes:
    return bytes(codes.get(byte, UNKNOWN) for byte in range(256))


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
        width = digits + len(tail)
        block = bytearray(width * rows)
        for position in range(digits):
            block[position::width] = _digit_column(first, rows, run=10 ** (digits - 1 - position))
        for position, byte in enumerate(tail, digits):
            block[position::width] = bytes([byte]) * rows
        blocks.append(bytes(block))
    return b"".join(blocks)


def _digit_column(first: int, rows: int, *, run: int) -> bytes:
    """One decimal digit of `rows` consecutive numbers, each digit repeated `run` times; run divides first."""
    cycle = b"".join(bytes([ord("0") + digit]) * min(run, rows) for digit in range(10))
    skipped = first // run % 10 * min(run, rows)
    return (cycle * ((skipped + rows) // len(cycle) + 1))[skipped : skipped + rows]
