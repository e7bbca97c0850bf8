"""Steps over whole arrays: decimal numbers to the last bit, words by their bytes, and values when used."""

from __future__ import annotations

import copy
import math
import pickle
import random
import struct
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gluebench.submission import arrays
from gluebench.submission.cells import lookup
from gluebench.submission.forms import CellForm, Notation
from gluebench.submission.numerals import decimals, text_of
from gluebench.submission.rows import Layout
from gluebench.submission.submission import Column, Unread


def places(cells: Sequence[bytes]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the cells of "x<TAB>cell<LF>" begin and end."""
    lengths = np.array([len(cell) for cell in cells])
    ends = 24 + np.cumsum(lengths + 3) - 1
    return ends - lengths, ends


def read(cells: Sequence[str]) -> list[float]:
    encoded = [cell.encode() for cell in cells]
    text = text_of(b"".join(b"x\t%b\n" % cell for cell in encoded))
    return decimals(text, *places(encoded)).tolist()


def same(cells: Sequence[str], *, least: float = 0) -> None:
    """Every number that is read has the bits of `float`'s; at least this share is read."""
    numbers = read(cells)
    for cell, number in zip(cells, numbers, strict=True):
        if not math.isnan(number):
            assert struct.pack("<d", number) == struct.pack("<d", float(cell)), cell
    assert len(cells) - sum(map(math.isnan, numbers)) >= least * len(cells)


DIGITS = st.text("0123456789", min_size=1, max_size=26)
NOTATIONS = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["", "-"]), DIGITS),
    st.builds("{}{}.{}".format, st.sampled_from(["", "-"]), DIGITS, DIGITS | st.just("")),
    st.builds("{}{}.{}e-{}".format, st.sampled_from(["", "-"]), DIGITS, DIGITS, st.integers(0, 330)),
    st.builds("{}e-{:02}".format, DIGITS, st.integers(0, 330)),
)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
@settings(max_examples=500)
def test_numbers_written_by_python_are_read_to_the_last_bit(numbers: list[float]) -> None:
    same([*map(repr, numbers)])


@given(st.lists(NOTATIONS, min_size=1, max_size=50))
@settings(max_examples=1000, deadline=None)
@example(["0.1", "0.30000000000000004", "9007199254740993", "9007199254740992.5", "-0", "-0.0", "1e-270"])
@example(
    ["9.2199999999999999", "0.092233720368547758079", "0.92233720368547758070000", "92233720368.54775808"]
)
def test_any_decimal_notation_is_read_to_the_last_bit(cells: list[str]) -> None:
    same(cells)


def test_numbers_near_the_middle_of_two_floats_are_rounded_as_by_python() -> None:
    """The exact middles, and decimals of up to 19 digits that are nearest to them."""
    rng, cells = random.Random(0), []
    for _ in range(5_000):
        number = rng.random() * 10.0 ** -rng.randrange(9)
        middle = (Decimal(number) + Decimal(np.nextafter(number, 1))) / 2
        cells += [f"{middle:f}", *(f"{middle:.{digits}f}" for digits in (16, 17, 18, 19)), f"{middle:.16e}"]
    same(cells, least=0.6)


def test_nearly_all_numbers_of_usual_notation_are_taken() -> None:
    rng = random.Random(0)
    for write in (repr, "{:.3f}".format, "{:.6g}".format, "{:.17g}".format, "{:e}".format):
        same(
            [write(rng.random() ** rng.choice([1, 4, 40]) * rng.choice([-1, 1])) for _ in range(5000)],
            least=0.99,
        )


@pytest.mark.parametrize(
    "cell",
    ["", "-", ".", ".5", "+1", "1e5", "1E-5", "1e-", "e-05", "1e-e-5", "1.2.3", "1-2", "--1", "nan", "inf",
     "1_0", " 1", "1 ", "\u0661", "1e-+5", "1e--5", "1.e-1e", "1" * 9, "0." + "1" * 25, "/", ":", "1/"],
)  # fmt: skip
def test_other_notations_are_no_numbers(cell: str) -> None:
    numbers = read(["0.5", cell, "1e-05"])
    assert numbers[0::2] == [0.5, 1e-05]
    assert np.isnan(numbers[1])


WORDS = st.lists(
    st.binary(min_size=1, max_size=20).filter(lambda word: 0 not in word), min_size=1, max_size=40
)


@given(WORDS.map(lambda words: tuple(dict.fromkeys(words))), st.lists(st.binary(max_size=20), max_size=9))
@settings(deadline=None)
def test_words_are_found_by_all_their_bytes(words: tuple[bytes, ...], others: list[bytes]) -> None:
    cells = [*words, *(word[:-1] for word in words), *(word + b"x" for word in words), *others]
    text = text_of(b"".join(b"x\t%b\n" % cell for cell in cells))
    starts, ends = places(cells)
    found = lookup(text, starts, ends - starts, words)
    assert (found is None) == any(0 in cell for cell in cells)
    if found is not None:
        known, places_there, of_place = found
        numbers = [
            number if there else None
            for there, number in zip(known.tolist(), of_place[places_there].tolist(), strict=True)
        ]
        assert numbers == [words.index(cell) if cell in words else None for cell in cells]


def column(cells: Sequence[str]) -> Column:
    form = CellForm(str.upper, str, "", True, Notation("text"))
    body = "".join(f"{at}\t{cell}\n" for at, cell in enumerate(cells)).encode()
    rows = arrays.read_arrays(body, Layout((), len(cells), form=form))
    assert rows is not None
    assert isinstance(rows.values, Unread)
    return Column((), rows.values)


def test_values_are_made_when_they_are_used() -> None:
    lazy, eager = column(["a", "b", "a"]), Column((), ("A", "B", "A"))
    assert (len(lazy), lazy.constant, column(["a", "a"]).constant) == (3, False, True)
    assert isinstance(vars(lazy)["values"], Unread)
    assert pickle.loads(pickle.dumps(copy.copy(lazy))) == eager
    assert lazy == eager
    assert (lazy.cells, repr(lazy), lazy.take([1])) == (eager.cells, repr(eager), eager.take([1]))
    assert lazy.values is lazy.values


def test_a_row_of_very_many_marks_is_left_to_the_careful_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    form = CellForm(str.split, " ".join, "", True, Notation("words", b" "))
    body, layout = b"0\ta b c\n1\td\n", Layout((), 2, form=form)
    assert arrays.read_arrays(body, layout) is not None
    monkeypatch.setattr(arrays, "_MOST_MARKS", 5)
    assert arrays.read_arrays(body, layout) is None


@pytest.mark.parametrize("pattern", ["{}", "label-{}", "news_entertainment_{}", "{}-of-many"])
def test_many_words_that_differ_in_their_numbers_are_found(pattern: str) -> None:
    words = tuple(pattern.format(at).encode() for at in range(1000))
    text = text_of(b"".join(b"x\t%b\n" % word for word in words))
    starts, ends = places(words)
    found = lookup(text, starts, ends - starts, words)
    assert found is not None
    assert found[0].all()
    assert found[2][found[1]].tolist() == [*range(1000)]
