"""Check cells of any form in whole-array steps: every part of every row at once, as bytes.

Only the usual notation of a form is taken. Whatever is taken, `CellForm.read` reads too, and decimal numbers
are equal to those of `float` to the last bit; anything else is refused, and `rows.read_lines` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.submission.forms import SUM_ERROR, CellForm, Notation
from gluebench.submission.submission import Unread

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

PAD = 24
"""Zero bytes before a text, so that the words before its first cell can be loaded."""
TAB, FEED = b"\t\n"
_MINUS, _POINT, _COLON, _SEMICOLON, _BLANK, _E = b"-.:; e"
_ZEROS = np.uint64(0x3030303030303030)
"""Eight digits 0."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples differ in their high bits."""
_HASHED = 8
"""Machine words of a part that its key depends on."""
_NEAR = 64
"""Most parts of a row that are compared, each with each."""
_MOST_PLACES, _MOST_POWER = 24, 270
_MOST_HIGH, _MOST_MANTISSA = 921, 9.2e18
"""Largest number before the last 16 digits of a mantissa, and largest mantissa, below 2 ** 63."""
_TENS = 10 ** np.arange(19)
_DOUBT = 2.0**-90
"""Bound of the relative error of a quotient before it is rounded, which is about 2 ** -103."""
_SUM_MARGIN = 1e-9


class Text(NamedTuple):
    """A text as bytes and as machine words, with zeros before and after it."""

    content: bytes
    end: int
    data: Bytes
    words: Words
    windows: Words
    """The eight bytes from each byte on."""


def text_of(body: bytes) -> Text:
    """The text of these bytes."""
    content = b"".join((bytes(PAD), body, bytes(24 - len(body) % 8)))
    data, words = np.frombuffer(content, np.uint8), np.frombuffer(content, "<u8")
    windows = np.ndarray((len(data) - 7,), "<u8", buffer=data.data, strides=(1,))
    return Text(content, PAD + len(body), data, words, windows)


def _load(text: Text, places: Ints) -> Words:
    """The eight bytes from each place on, the first as the lowest."""
    if 8 * len(places) > len(text.data):
        return text.windows.take(places)  # which copies all windows once
    return next(_before(text, places + 8))


def _before(text: Text, ends: Ints) -> Iterator[Words]:
    """The eight bytes before each end, then the eight before these: a part of each of two machine words."""
    place, bits = ends >> 3, ((ends & 7) << 3).view(np.uint64)
    others, upper = np.uint64(64) - bits, text.words.take(place)
    while True:
        place = place - 1
        lower = text.words.take(place)
        yield (lower >> bits) | (upper << others)
        upper = lower


def _not_digits(word: Words) -> Words:
    """The high bit of each byte that is no digit, of a word less `_ZEROS`; exact up to the first of them."""
    return ((word + np.uint64(0x7676767676767676)) | word) & np.uint64(0x8080808080808080)


def _number(word: Words) -> Ints:
    """The number of eight digits, of a word less `_ZEROS`."""
    word = word * np.uint64(10) + (word >> np.uint64(8))  # digits to pairs of digits, the lowest byte first
    pairs = np.uint64(0x000000FF000000FF)
    left = (word & pairs) * np.uint64(0x000F424000000064)
    right = ((word >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
    return ((left + right) >> np.uint64(32)).view(np.int64)


def _last(word: Words, length: Ints) -> Words:
    """The last bytes of a word, of a number from 0 to 8, as differences to `_ZEROS`; zeros before them."""
    spare = (64 - 8 * length).view(np.uint64)
    return ((word ^ _ZEROS) >> spare) << spare


def digits(text: Text, starts: Ints, ends: Ints) -> tuple[Ints, Flags]:
    """The numbers of the last eight digits of each field, and whether any of these is no digit."""
    word = _last(next(_before(text, ends)), np.minimum(ends - starts, 8))
    return _number(word), _not_digits(word) != 0


def decimals(text: Text, starts: Ints, ends: Ints) -> Floats:
    """The numbers as `float` reads them; NaN for any notation but -12.5 and 1.25e-07, and for more digits."""
    negative = text.data.take(starts) == _MINUS
    begin = starts + negative
    stop, exponent, wrong = _exponents(text, begin, ends)
    word = _load(text, begin) ^ _ZEROS
    others = _not_digits(word)
    point = np.minimum(begin + (np.bitwise_count((others - np.uint64(1)) & ~others) >> 3), stop)
    whole = _number(word << (64 - 8 * (point - begin)).view(np.uint64))
    fraction = point + (text.data.take(point) == _POINT)
    places = stop - fraction
    wrong |= (point == begin) | (places > _MOST_PLACES) | ((places != 0) & (fraction == point))
    mantissa = np.zeros_like(whole)
    before = _before(text, stop)
    for block in range(0, int(places.max(initial=0, where=~wrong)), 8):
        word = _last(next(before), np.clip(places - block, 0, 8))
        number = _number(word)
        wrong |= (_not_digits(word) != 0) | (number > (_MOST_HIGH if block == 16 else number))
        mantissa += number * 10**block
    wrong |= (whole > 0) & ((whole + 1) * _powers()[0].take(places, mode="clip") > _MOST_MANTISSA)
    mantissa += whole * _TENS.take(places, mode="clip")
    power = places + exponent
    wrong |= power > _MOST_POWER
    mantissa[wrong] = power[wrong] = 0
    value = _quotients(mantissa, power)
    value[wrong] = np.nan
    return np.where(negative, -value, value)


def _exponents(text: Text, begin: Ints, ends: Ints) -> tuple[Ints, Ints, Flags]:
    """Where each mantissa ends, the negated exponent, and whether this is no number; for e-7 to e-270."""
    stop, exponent, wrong = ends.copy(), np.zeros_like(ends), np.zeros(len(ends), np.bool_)
    places = np.flatnonzero(text.data == _E)
    rows = np.searchsorted(ends, places)
    stop[rows] = places
    exponent[rows], not_digits = digits(text, places + 2, ends[rows])
    width = ends[rows] - places
    wrong[rows] = (
        not_digits | (text.data[places + 1] != _MINUS) | (width < 3) | (width > 5) | (places <= begin[rows])
    )
    return stop, exponent, wrong


@lru_cache(maxsize=1)
def _powers() -> tuple[Floats, Floats]:
    """Powers of ten, and what is lost by rounding them."""
    rounded = np.array([float(10**power) for power in range(_MOST_POWER + 1)])
    lost = np.array([float(10**power - int(number)) for power, number in enumerate(rounded)])
    return rounded, lost


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    """Two numbers of half as many bits, whose sum each is (Dekker 1971)."""
    scaled = numbers * 134217729.0
    high = scaled - (scaled - numbers)
    return high, numbers - high


def _quotients(mantissa: Ints, power: Ints) -> Floats:
    """The mantissas divided by powers of ten, correctly rounded; NaN where the rounding is uncertain.

    The remainder of the rounded quotient is computed without error, so its own quotient is a correction
    beyond the last bit. If both ends of the interval of its error round to one number, that is the result.
    """
    rounded, lost = (of_power.take(power) for of_power in _powers())
    dividend = mantissa.astype(np.float64)
    quotient = dividend / rounded
    (high, low), (first, second) = _halves(quotient), _halves(rounded)
    product = quotient * rounded
    error = ((high * first - product) + high * second + low * first) + low * second
    rest = (dividend - product) - error + (mantissa - dividend.astype(np.int64)) - quotient * lost
    correction, doubt = rest / rounded, quotient * _DOUBT
    below, above = quotient + (correction - doubt), quotient + (correction + doubt)
    return np.where(below == above, below, np.nan)


def _chunks(text: Text, starts: Ints, lengths: Ints, number: int) -> list[Words]:
    """The first machine words of each part, without what stands behind its end."""
    return [
        _load(text, np.minimum(starts + at, len(text.data) - 16) if at else starts)
        << np.maximum(64 + 8 * at - 8 * lengths, 0).view(np.uint64)
        for at in range(0, 8 * number, 8)
    ]


def _keys(chunks: Sequence[Words], mix: np.uint64) -> Words:
    """A number for each part, the same for the same bytes; its high bits differ for most others."""
    keys = np.zeros_like(chunks[0])
    for chunk in chunks:
        keys ^= chunk
        keys = (keys ^ (keys >> np.uint64(32))) * mix  # the last bytes alone would change few bits
    return keys


def _most_chunks(lengths: Ints) -> int:
    return max(1, -(-int(lengths.max(initial=0)) // 8))


class _Vocabulary(NamedTuple):
    """A table of words without collisions: the high bits of a word's key are its place."""

    chunks: list[Words]
    """The machine words of the word at each place; those of the first word where there is none."""
    numbers: Ints
    """The number of the word at each place."""
    mix: np.uint64
    shift: np.uint64


@lru_cache(maxsize=16)
def _vocabulary(words: tuple[bytes, ...]) -> _Vocabulary | None:
    """The table of these different words; None if there is none of a moderate size."""
    lengths = np.array([*map(len, words)], np.int64)
    starts = PAD + np.cumsum(lengths) - lengths
    chunks = _chunks(text_of(b"".join(words)), starts, lengths, _most_chunks(lengths))
    bits = min(2 * len(words).bit_length() - 1, 20)
    rng, shift = Random(0), np.uint64(64 - bits)
    for _ in range(100):
        mix = np.uint64(rng.getrandbits(64) | 1)
        places = _keys(chunks, mix) >> shift
        if len(np.unique(places)) == len(words):
            numbers = np.zeros(1 << bits, np.int64)
            numbers[places] = np.arange(len(words))
            return _Vocabulary([chunk[numbers] for chunk in chunks], numbers, mix, shift)
    return None


def lookup(text: Text, starts: Ints, lengths: Ints, words: tuple[bytes, ...]) -> tuple[Flags, Ints] | None:
    """Whether each part is one of these different words, and the number of that word.

    None if the words cannot be looked up, or if the text has zero bytes, which would not be distinguished.
    """
    vocabulary = _vocabulary(words)
    if vocabulary is None or -1 < text.content.find(b"\0", PAD) < text.end:
        return None
    if max(map(len, words)) == 1:
        numbers = np.full(256, len(words))
        numbers[[*b"".join(words)]] = np.arange(len(words))
        number = numbers.take(text.data.take(starts))
        return (number < len(words)) & (lengths == 1), number
    chunks = _chunks(text, starts, lengths, len(vocabulary.chunks))
    places = (_keys(chunks, vocabulary.mix) >> vocabulary.shift).view(np.int64)
    equal = lengths <= 8 * len(chunks)
    for known, chunk in zip(vocabulary.chunks, chunks, strict=True):
        equal &= known.take(places) == chunk
    return equal, vocabulary.numbers.take(places)


def read_cells(
    text: Text, marks: Ints, kinds: Bytes, tabs: Ints, ends: Ints, form: CellForm
) -> Unread | None:
    """The cells of rows of two columns; None unless all have the usual notation of the form.

    `marks` are the places of all tabs, line feeds and marks of the notation, of which an index has none;
    `kinds` are the bytes there.
    """
    notation = form.notation
    if notation is None or (not form.blank and (ends - tabs == 1).any()):
        return None
    match notation.kind:
        case "text":
            usual = _decodes(text.content)
        case "numbers":
            return _rows_of_numbers(text, marks, kinds, notation)
        case "words":
            usual = _are_words(text, marks, kinds, notation)
        case "spans":
            usual = _are_spans(text, marks, kinds, notation)
    read = notation.known or partial(_each_once, read=form.read)
    make = partial(_values, content=text.content, read=read)
    return Unread(np.stack([tabs + 1, ends], axis=1), make) if usual else None


def _values(places: Ints, *, content: bytes, read: Callable[[list[str]], Iterable[Any]]) -> list[Any]:
    """The values of the cells at one place, or at those of all rows."""
    if len(places) == 1:
        return [*read([content[places[0, 0] : places[0, 1]].decode()])]
    cells = content.rstrip(b"\0").decode().replace("\t", "\n").split("\n")[1::2]
    in_file, starts = [*read(cells)], places[:, 0]
    if (starts[1:] > starts[:-1]).all():
        return in_file
    return [*map(in_file.__getitem__, starts.argsort().argsort().tolist())]


def _each_once(cells: list[str], *, read: Callable[[str], Any]) -> Iterable[Any]:
    values = {cell: read(cell) for cell in {*cells}}
    return map(values.__getitem__, cells)


def _tuples(rows: Floats) -> list[tuple[float, ...]]:
    return [*zip(*rows.T.tolist(), strict=True)]


def _decodes(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _rows_of_numbers(text: Text, marks: Ints, kinds: Bytes, notation: Notation) -> Unread | None:
    row = np.array([TAB, *[_BLANK] * (notation.size - 1), FEED], np.uint8)
    if len(kinds) % len(row) or (kinds.reshape(-1, len(row)) != row).any():
        return None
    marks = marks.reshape(-1, len(row))
    numbers = decimals(text, marks[:, :-1].ravel() + 1, marks[:, 1:].ravel()).reshape(-1, notation.size)
    within = (numbers >= 0).all() and (numbers <= 1 + SUM_ERROR).all()
    if within and notation.sum_to_one:
        within = (abs(numbers @ np.ones(notation.size) - 1) <= SUM_ERROR - _SUM_MARGIN).all()
    return Unread(numbers, _tuples) if within else None


def _are_words(text: Text, marks: Ints, kinds: Bytes, notation: Notation) -> bool:
    """Whether each part is one of the words, or any printable one; and none is twice in a row of sets."""
    starts, lengths, left = marks[:-1] + 1, np.diff(marks) - 1, kinds[:-1]
    passed = (left == FEED) | (
        (lengths == 0) & (left == TAB) & (kinds[1:] == FEED)
    )  # an index, an empty cell
    if any(mark in text.content for mark in notation.never):
        return False
    if notation.words:
        words = lookup(text, starts, lengths, notation.words)
        if words is None or not (passed | words[0]).all():
            return False
    else:
        printable = (text.data - np.uint8(33)) < 94
        printable[marks] = True
        if not printable[PAD : text.end].all() or not (passed | (lengths > 0)).all():
            return False
    return not (notation.different and _repeated(text, starts, lengths, left == FEED))


def _repeated(text: Text, starts: Ints, lengths: Ints, indices: Flags) -> bool:
    """Whether a row seems to have a part twice; it is not so if this is False."""
    keys = _keys(_chunks(text, starts, lengths, min(_HASHED, _most_chunks(lengths))), _MIX)
    keys[indices] = 1
    return _twice(keys, indices)


def _twice(keys: Words, first: Flags) -> bool:
    """Whether a key seems to be twice in a row; the first of each row are marked."""
    keys ^= np.cumsum(first).view(np.uint64) * _MIX  # the row
    most = int(np.diff(np.flatnonzero(first), prepend=0, append=len(first)).max())
    return most > _NEAR or any((keys[step:] == keys[:-step]).any() for step in range(1, most))


def _are_spans(text: Text, marks: Ints, kinds: Bytes, notation: Notation) -> bool:
    """Whether the cells are like "0-5:LOC; 12-20:PER"."""
    minus = np.flatnonzero(kinds == _MINUS)
    before, colon, end = kinds[minus - 1], minus + 1, kinds.take(minus + 2, mode="clip")
    further = minus[before == _BLANK]  # spans after others
    if ((kinds[:-1] == TAB) & (kinds[1:] == FEED) & (np.diff(marks) > 1)).any():
        return False
    if len(marks) != 2 * (np.count_nonzero(kinds == FEED) + len(minus) + len(further)):
        return False
    if (marks[further - 2] + 1 != marks[further - 1]).any():
        return False
    if (kinds[further - 2] != _SEMICOLON).any() or (kinds[further - 3] != _COLON).any():
        return False
    if not ((kinds[colon] == _COLON) & ((end == _SEMICOLON) | (end == FEED))).all():
        return False
    (first, wrong), (last, wrong_too) = (digits(text, marks[at - 1] + 1, marks[at]) for at in (minus, colon))
    lengths = np.concatenate([marks[at] - marks[at - 1] for at in (minus, colon)])
    labels = lookup(text, marks[colon] + 1, marks[colon + 1] - marks[colon] - 1, notation.words)
    usual = lengths.min(initial=2) >= 2 and lengths.max(initial=0) <= 9 and not (wrong | wrong_too).any()
    if not usual or labels is None or not labels[0].all() or not (first < last).all():
        return False
    spans = (first | last << 27 | labels[1] << 54).view(np.uint64)  # each of the ends is below 2 ** 27
    return not (len(further) and _twice(spans, before == TAB))
