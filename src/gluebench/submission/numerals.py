"""Numbers in a text, read in whole-array steps: all at once, as bytes and as machine words.

Decimal numbers are equal to those of `float` to the last bit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

PAD = 24
"""Zero bytes before a text, so that the words before its first cell can be loaded."""
_MINUS, _POINT, _E = b"-.e"
_ZERO = 48
"""The digit 0."""
_ZEROS = np.uint64(0x3030303030303030)
"""Eight digits 0."""
_MOST_DIGITS, _MOST_PLACES, _MOST_POWER = 18, 24, 270
_MOST_HIGH, _MOST_MANTISSA = 921, 9.2e18
"""Largest number before the last 16 digits of a mantissa, and largest mantissa, below 2 ** 63."""
_TENS = 10 ** np.arange(19)
_DOUBT = 2.0**-90
"""Bound of the relative error of a quotient before it is rounded, which is about 2 ** -103."""
STEP = 1e-6
"""How much too small a number of `rounded_down` can be."""


class Text(NamedTuple):
    """A text as bytes and as machine words, with zeros before and after it."""

    content: bytes
    end: int
    data: Bytes
    windows: Words
    """The eight bytes from each byte on."""


def text_of(body: bytes) -> Text:
    """The text of these bytes."""
    content = b"".join((bytes(PAD), body, bytes(24)))
    data = np.frombuffer(content, np.uint8)
    windows = np.ndarray((len(data) - 7,), "<u8", buffer=data.data, strides=(1,))
    return Text(content, PAD + len(body), data, windows)


def load(text: Text, places: Ints) -> Words:
    """The eight bytes from each place on, the first as the lowest."""
    if 8 * len(places) > len(text.data):
        return text.windows.take(places)  # which copies all windows once
    words: Words = text.windows[places]
    return words


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
    """The numbers of the last 18 digits of each field, and whether any of these is no digit."""
    lengths, numbers, wrong = ends - starts, np.zeros_like(ends), np.zeros(len(ends), np.bool_)
    for place in range(min(_MOST_DIGITS, int(lengths.max(initial=0)))):
        digit = text.data.take(ends - (place + 1)) - np.uint8(_ZERO)
        digit *= lengths > place
        wrong |= digit > 9
        numbers += digit * np.int64(10**place)
    return numbers, wrong


def integers(text: Text, starts: Ints, ends: Ints) -> Ints:
    """The plain integers from 0, of up to 18 digits; -1 for any other field."""
    value, wrong = digits(text, starts, ends)
    length = ends - starts
    padded = (text.data[starts] == _ZERO) & (length > 1)
    value[wrong | padded | (length < 1) | (length > _MOST_DIGITS)] = -1
    return value


def decimals(text: Text, starts: Ints, ends: Ints) -> Floats:
    """The numbers as `float` reads them; NaN for any notation but -12.5 and 1.25e-07, and for more digits."""
    negative = text.data.take(starts) == _MINUS
    begin = starts + negative
    stop, exponent, wrong = _exponents(text, begin, ends)
    word = load(text, begin) ^ _ZEROS
    others = _not_digits(word)
    point = np.minimum(begin + (np.bitwise_count((others - np.uint64(1)) & ~others) >> 3), stop)
    whole = _number(word << (64 - 8 * (point - begin)).view(np.uint64))
    fraction = point + (text.data.take(point) == _POINT)
    places = stop - fraction
    wrong |= (point == begin) | (places > _MOST_PLACES) | ((places != 0) & (fraction == point))
    mantissa = np.zeros_like(whole)
    for block in range(0, int(places.max(initial=0, where=~wrong)), 8):
        word = _last(load(text, stop - (block + 8)), np.clip(places - block, 0, 8))
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


def rounded_down(text: Text, marks: Ints, size: int) -> Floats:
    """The numbers between marks, less than `STEP` too small; NaN for those that `decimals` does not read.

    Of numbers like 0.12345678 only the first eight bytes are read, if all other bytes of the text are digits:
    it has as many points as there are such numbers, and no other byte but those of exponents.
    """
    starts, lengths = (marks[:, :-1] + 1).ravel(), (np.diff(marks) - 1).ravel()
    word = load(text, starts) ^ _ZEROS
    word &= np.uint64(2**64 - 1) >> (64 - 8 * np.minimum(lengths, 8)).view(np.uint64)
    exact = (word >> np.uint64(8)) & np.uint64(255) != _POINT ^ _ZERO
    data = text.data[PAD : text.end]
    points, minuses = np.count_nonzero(data == _POINT), np.count_nonzero(data == _MINUS)
    exponents = np.flatnonzero(text.data == _E)
    others = len(data) - np.count_nonzero(data - np.uint8(_ZERO) < 10) - marks.size - points
    if points > len(exact) - np.count_nonzero(exact) or others > 2 * minuses or minuses > len(exponents):
        exact[:] = True
    ends = np.searchsorted(marks.ravel(), exponents)
    exact[ends - ends // marks.shape[1] - 1] = True
    numbers = _number(word >> np.uint64(16)) / 1e8 + (word & np.uint64(255))
    numbers[exact] = decimals(text, starts[exact], (starts + lengths)[exact])
    return numbers.reshape(-1, size)
