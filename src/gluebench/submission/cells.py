"""Check cells of any form in whole-array steps: every part of every row at once, as bytes.

Only the usual notation of a form is taken. Whatever is taken, `CellForm.read` reads too, and decimal numbers
are equal to those of `float` to the last bit; anything else is refused, and `rows.read_lines` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.submission.forms import SUM_ERROR, CellForm, Notation
from gluebench.submission.submission import Texts, Tuples

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

PAD = 24
"""Bytes before a text, so that the words before its first cell can be loaded."""
TAB, FEED = b"\t\n"
_MINUS, _POINT, _COLON, _SEMICOLON, _BLANK, _E = b"-.:; e"
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples differ in their high bits."""
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(9)], np.uint64)
"""The first bytes of a machine word, by their number."""
_HASHED = 8
"""Machine words of a part that its key depends on."""
_NEAR = 32
"""Parts of a row up to which each is compared with each; more are sorted."""
_MOST_PLACES, _MOST_POWER = 24, 270
_MOST_HIGH, _MOST_MANTISSA = 921, 9.2e18
"""Largest number before the last 16 digits of a mantissa, and largest mantissa, below 2 ** 63."""
_TENS = 10 ** np.arange(19)
_DOUBT = 2.0**-90
"""Bound of the relative error of a quotient before it is rounded, which is about 2 ** -103."""
_SUM_MARGIN = 1e-9


class Text(NamedTuple):
    """A text as bytes, and as the machine word that begins at each of them."""

    content: bytes
    data: Bytes
    words: Words


def text_of(body: bytes) -> Text:
    """The text with zeros before and after it."""
    content = bytes(PAD) + body + bytes(8)
    data = np.frombuffer(content, np.uint8)
    return Text(content, data, np.ndarray((len(data) - 7,), "<u8", buffer=data.data, strides=(1,)))


class Parts(NamedTuple):
    """Parts of cells, in their order."""

    starts: Ints
    ends: Ints
    rows: Ints
    left: Bytes
    """The byte before each."""
    right: Bytes
    """The byte behind each."""


def parts_of(text: Text, marks: Ints, tabs: Ints) -> Parts:
    """What stands between the marks, which are in the order of the text, without the first column."""
    kinds = text.data[marks]
    rows = np.cumsum(kinds == FEED)[:-1]
    inside = np.flatnonzero(marks[:-1] >= tabs[rows])
    return Parts(marks[inside] + 1, marks[inside + 1], rows[inside], kinds[inside], kinds[inside + 1])


def digits(text: Text, starts: Ints, ends: Ints) -> tuple[Ints, Flags]:
    """The numbers of the last eight digits, and whether any of these is no digit: all in one machine word."""
    spare = ((8 - np.clip(ends - starts, 0, 8)) * 8).astype(np.uint64)
    word = text.words.take(ends - 8) ^ np.uint64(0x3030303030303030)
    word >>= spare  # what stands before the field is shifted out
    word <<= spare
    wrong = _not_digits(word) != 0
    word = word * np.uint64(10) + (word >> np.uint64(8))  # digits to pairs of digits, the lowest byte first
    pairs = np.uint64(0x000000FF000000FF)
    left = (word & pairs) * np.uint64(0x000F424000000064)
    right = ((word >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
    return ((left + right) >> np.uint64(32)).astype(np.int64), wrong


def _not_digits(word: Words) -> Words:
    """The high bit of each byte above 9, exact up to the first of them."""
    return ((word + np.uint64(0x7676767676767676)) | word) & np.uint64(0x8080808080808080)


def decimals(text: Text, starts: Ints, ends: Ints) -> Floats:
    """The numbers as `float` reads them; NaN for any notation but -12.5 and 1.25e-07, and for more digits."""
    negative = text.data[starts] == _MINUS
    begin = starts + negative
    stop, exponent, wrong = _exponents(text, begin, ends)
    leading = _not_digits(text.words.take(begin) ^ np.uint64(0x3030303030303030))
    width = np.bitwise_count((leading - np.uint64(1)) & ~leading) >> 3
    point = np.minimum(begin + width, stop)
    pointed = (text.data[point] == _POINT) & (point < stop)
    whole, _ = digits(text, begin, point)
    fraction = point + pointed
    places = stop - fraction
    wrong |= (point == begin) | (places > np.minimum(_MOST_PLACES, places * pointed))
    mantissa = np.zeros_like(whole)
    for block in range(0, int(np.clip(places.max(initial=0), 0, _MOST_PLACES)), 8):
        end = np.maximum(stop - block, fraction)
        number, not_digits = digits(text, np.maximum(end - 8, fraction), end)
        wrong |= not_digits | ((number > _MOST_HIGH) & (block == 16))
        mantissa += np.where(wrong, 0, number) * 10**block
    wrong |= (whole > 0) & ((whole + 1) * _powers()[0].take(places, mode="clip") > _MOST_MANTISSA)
    mantissa += np.where(wrong, 0, whole) * _TENS.take(places, mode="clip")
    power = places + exponent
    wrong |= power > _MOST_POWER
    value = _quotients(mantissa, np.where(wrong, 0, power))
    value[wrong] = np.nan
    return np.where(negative, -value, value)


def _exponents(text: Text, begin: Ints, ends: Ints) -> tuple[Ints, Ints, Flags]:
    """Where the mantissa ends, the negated exponent, and whether this is no number; for e-7 to e-270."""
    stop, exponent, wrong = ends, np.zeros_like(ends), np.zeros(len(ends), np.bool_)
    if b"e" not in text.content:
        return stop, exponent, wrong
    for width in (3, 4, 5):
        rows = np.flatnonzero((text.data[ends - width] == _E) & (ends - width > begin))
        at = ends[rows]
        rows = rows[text.data[at - width + 1] == _MINUS]
        stop = stop.copy()
        stop[rows] = ends[rows] - width
        exponent[rows], wrong[rows] = digits(text, ends[rows] - width + 2, ends[rows])
    return stop, exponent, wrong


@lru_cache(maxsize=1)
def _powers() -> tuple[Floats, Floats, Floats, Floats]:
    """Powers of ten, what is lost by rounding them, and the first 26 bits of each and the others."""
    rounded = np.array([float(10**power) for power in range(_MOST_POWER + 1)])
    lost = np.array([float(10**power - int(number)) for power, number in enumerate(rounded)])
    return rounded, lost, *_halves(rounded)


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    """Two numbers of half as many bits whose sum each is (Dekker 1971)."""
    scaled = numbers * 134217729.0
    high = scaled - (scaled - numbers)
    return high, numbers - high


def _quotients(mantissa: Ints, power: Ints) -> Floats:
    """The mantissas divided by powers of ten, correctly rounded; NaN where the rounding is uncertain.

    The remainder of the rounded quotient is computed without error, so its own quotient is a correction
    beyond the last bit. If both ends of the interval of its error round to one number, that is the result.
    """
    rounded, lost, first, second = (each[power] for each in _powers())
    dividend = mantissa.astype(np.float64)
    quotient = dividend / rounded
    high, low = _halves(quotient)
    product = quotient * rounded
    error = ((high * first - product) + high * second + low * first) + low * second
    rest = (dividend - product) - error + (mantissa - dividend.astype(np.int64)) - quotient * lost
    correction, doubt = rest / rounded, quotient * _DOUBT
    below, above = quotient + (correction - doubt), quotient + (correction + doubt)
    return np.where(below == above, below, np.nan)


def _chunks(text: Text, starts: Ints, lengths: Ints, number: int) -> list[Words]:
    """The first machine words of each part, with zeros behind its end."""
    return [
        text.words.take(starts + at, mode="clip") & _MASKS.take(lengths - at, mode="clip")
        for at in range(0, 8 * number, 8)
    ]


def _keys(chunks: Sequence[Words], lengths: Ints, mix: np.uint64) -> Words:
    """A number for each part, the same for the same bytes; its high bits differ for most others."""
    keys = lengths.astype(np.uint64) * _MIX
    for chunk in chunks:
        keys = (keys ^ chunk) * mix
    return keys


class _Vocabulary(NamedTuple):
    chunks: list[Words]
    lengths: Ints
    """Both with a last one that no part has."""
    mix: np.uint64
    shift: np.uint64
    table: Ints
    """The number of the word whose key has these high bits; that of the last one where none has."""


@lru_cache(maxsize=64)
def _vocabulary(words: tuple[bytes, ...]) -> _Vocabulary | None:
    """A table of different words without collisions; None if there is none of a moderate size."""
    lengths = np.array([len(word) for word in words], np.int64)
    ends = PAD + np.cumsum(lengths)
    number = -(-int(lengths.max()) // 8)
    chunks = _chunks(text_of(b"".join(words)), ends - lengths, lengths, number)
    bits = min(2 * len(words).bit_length() + 2, 20)
    for attempt in range(100):
        mix, shift = _MIX + np.uint64(2 * attempt), np.uint64(64 - bits)
        places = _keys(chunks, lengths, mix) >> shift
        if len(np.unique(places)) == len(words):
            table = np.full(1 << bits, len(words))
            table[places] = np.arange(len(words))
            return _Vocabulary(
                [np.append(chunk, np.uint64(0)) for chunk in chunks],
                np.append(lengths, -1),
                mix,
                shift,
                table,
            )
    return None


def lookup(text: Text, starts: Ints, ends: Ints, words: tuple[bytes, ...]) -> Ints | None:
    """The number of each part among these different words, and their count for any other part.

    None if the words cannot be looked up.
    """
    vocabulary = _vocabulary(words)
    if vocabulary is None:
        return None
    lengths = ends - starts
    chunks = _chunks(text, starts, lengths, len(vocabulary.chunks))
    keys = _keys(chunks, lengths, vocabulary.mix) >> vocabulary.shift
    found = vocabulary.table.take(keys.view(np.int64))
    equal = vocabulary.lengths.take(found) == lengths
    for known, chunk in zip(vocabulary.chunks, chunks, strict=True):
        equal &= known.take(found) == chunk
    return np.where(equal, found, len(words))


def read_cells(text: Text, marks: Ints, tabs: Ints, ends: Ints, form: CellForm) -> Texts | Tuples | None:
    """The cells of rows of two columns; None unless all have the usual notation of the form."""
    notation = form.notation
    if notation is None or (not form.blank and (ends - tabs == 1).any()):
        return None
    match notation.kind:
        case "text":
            usual = _decodes(text.content)
        case "numbers":
            return _rows_of_numbers(text, parts_of(text, marks, tabs), len(ends), notation)
        case "words":
            usual = _are_words(text, marks, parts_of(text, marks, tabs), notation)
        case "spans":
            usual = _are_spans(text, parts_of(text, marks, tabs), notation)
    return Texts(text.content, tabs + 1, ends, form.read) if usual else None


def _decodes(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _rows_of_numbers(text: Text, parts: Parts, rows: int, notation: Notation) -> Tuples | None:
    if len(parts.rows) != rows * notation.size:
        return None
    by_row = parts.rows.reshape(rows, notation.size)
    numbers = decimals(text, parts.starts, parts.ends).reshape(by_row.shape)
    each = (by_row == np.arange(rows)[:, np.newaxis]).all()
    within = each and (numbers >= 0).all() and (numbers <= 1 + SUM_ERROR).all()
    if within and notation.sum_to_one:
        within = (abs(numbers.sum(axis=1) - 1) <= SUM_ERROR - _SUM_MARGIN).all()
    return Tuples(numbers) if within else None


def _are_words(text: Text, marks: Ints, parts: Parts, notation: Notation) -> bool:
    """Whether each part is one of the words, or any printable one; and none is twice in a row of sets."""
    lengths = parts.ends - parts.starts
    empty = lengths == 0
    if (empty & ((parts.left != TAB) | (parts.right != FEED))).any():
        return False
    if notation.words:
        found = lookup(text, parts.starts, parts.ends, notation.words)
        if found is None or ((found == len(notation.words)) & ~empty).any():
            return False
    else:
        printable = (text.data - np.uint8(33)) < 94
        printable[marks] = True
        if not printable[PAD:-8].all():
            return False
    return not (notation.different and _repeated(text, parts, lengths))


def _repeated(text: Text, parts: Parts, lengths: Ints) -> bool:
    """Whether a row seems to have a part twice; it is not so if this is False."""
    number = min(_HASHED, -(-int(lengths.max(initial=0)) // 8))
    keys = _keys(_chunks(text, parts.starts, lengths, number), lengths, _MIX)
    keys += parts.rows.astype(np.uint64) * _MIX
    most = int(np.bincount(parts.rows).max(initial=0))
    if most > _NEAR:
        keys, most = np.sort(keys), 2
    return any((keys[step:] == keys[:-step]).any() for step in range(1, most))


def _are_spans(text: Text, parts: Parts, notation: Notation) -> bool:
    """Whether the cells are like "0-5:LOC; 12-20:PER"."""
    left, right, empty = parts.left, parts.right, parts.starts == parts.ends
    first = ((left == TAB) | (left == _BLANK)) & (right == _MINUS)
    second = (left == _MINUS) & (right == _COLON)
    label = (left == _COLON) & ((right == _SEMICOLON) | (right == FEED))
    between = empty & (((left == _SEMICOLON) & (right == _BLANK)) | ((left == TAB) & (right == FEED)))
    if not (first | second | label | between).all():
        return False
    ends = []
    for places in (first, second):
        start, end = parts.starts[places], parts.ends[places]
        number, wrong = digits(text, start, end)
        if (wrong | (end - start > 8) | (end == start)).any():
            return False
        ends.append(number)
    found = lookup(text, parts.starts[label], parts.ends[label], notation.words)
    return bool((ends[0] < ends[1]).all() and found is not None and (found < len(notation.words)).all())
