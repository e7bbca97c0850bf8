"""Check cells of any form in whole-array steps: every part of every row at once, as bytes.

Only the usual notation of a form is taken. Whatever is taken, `CellForm.read` reads too; anything else is
refused, and `rows.read_lines` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.reading.notation import LARGEST
from gluebench.submission.forms import SUM_ERROR, CellForm, Notation
from gluebench.submission.numerals import (
    PAD,
    STEP,
    Bytes,
    Flags,
    Ints,
    Text,
    Words,
    decimals,
    digits,
    integers,
    load,
    rounded_down,
    text_of,
)
from gluebench.submission.submission import Unread

TAB, FEED = b"\t\n"
_MINUS, _COLON, _SEMICOLON, _BLANK = b"-:; "
_QUOTE, _LESS, _GREATER = b'"<>'
_JOINTS = (b"\t[]\n", b'\t["', b'", "', b'","', b'"]\n')
"""What stands before, between and after the texts of a JSON list, from one mark to the next."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples differ in their high bits."""
_HASHED = 8
"""Machine words of a part that its key depends on."""
_NEAR = 64
"""Most parts of a row that are compared, each with each."""


def _chunks(text: Text, starts: Ints, lengths: Ints, number: int) -> list[Words]:
    """The first machine words of each part, without what stands behind its end."""
    return [
        load(text, np.minimum(starts + at, len(text.data) - 16) if at else starts)
        << np.maximum(64 + 8 * at - 8 * lengths, 0).view(np.uint64)
        for at in range(0, 8 * number, 8)
    ]


def _keys(chunks: Sequence[Words], mix: np.uint64) -> Words:
    """A number for each part, the same for the same bytes; its high bits differ for most others."""
    keys = chunks[0]
    for chunk in chunks[1:]:
        keys = _mixed(keys, mix) ^ chunk
    return _mixed(keys, mix)


def _mixed(keys: Words, mix: np.uint64) -> Words:
    return (keys ^ (keys >> np.uint64(32))) * mix  # the last bytes alone would change few bits


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


def lookup(
    text: Text, starts: Ints, lengths: Ints, words: tuple[bytes, ...]
) -> tuple[Flags, npt.NDArray[Any], Ints] | None:
    """Whether each part is one of these different words; its place in a table; and the word at each place.

    None if the words cannot be looked up, or if the text has zero bytes, which would not be distinguished.
    """
    vocabulary = _vocabulary(words)
    if vocabulary is None or -1 < text.content.find(b"\0", PAD) < text.end:
        return None
    chunks = _chunks(text, starts, lengths, len(vocabulary.chunks))
    places = (_keys(chunks, vocabulary.mix) >> vocabulary.shift).view(np.int64)
    equal = lengths <= 8 * len(chunks)
    for words_there, chunk in zip(vocabulary.chunks, chunks, strict=True):
        equal &= words_there.take(places) == chunk
    return equal, places, vocabulary.numbers


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
        case "arcs":
            usual = _are_arcs(text, marks, kinds, notation)
        case "spans":
            usual = _are_spans(text, marks, kinds, notation)
        case "relations":
            unusual = _other_relations(text, marks, kinds, notation)
            usual = unusual is not None and _are_read(text, unusual, tabs, ends, form.read)
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
    numbers = rounded_down(text, marks, notation.size)
    within = (numbers >= 0).all() and (numbers <= 1 + SUM_ERROR - STEP).all()
    if within and notation.sum_to_one:
        rest = 1 - numbers @ np.ones(notation.size)
        within = (abs(rest - STEP * notation.size / 2) <= SUM_ERROR - STEP * notation.size).all()
    make = partial(_numbers_at, content=text.content, marks=marks)
    return Unread(np.arange(len(marks)), make) if within else None


def _numbers_at(rows: Ints, *, content: bytes, marks: Ints) -> list[tuple[float, ...]]:
    """The numbers of one row, or of all rows in another order."""
    if len(rows) == 1:
        first, *_, last = marks[rows[0]]
        return [tuple(map(float, content[first:last].split()))]
    text, starts, ends = text_of(content[PAD:]), marks[:, :-1] + 1, marks[:, 1:]
    numbers = decimals(text, starts.ravel(), ends.ravel()).reshape(starts.shape)[rows]
    values = [*zip(*numbers.T.tolist(), strict=True)]
    for at in np.flatnonzero(np.isnan(numbers).any(axis=1)):  # more digits than `decimals` reads
        (values[at],) = _numbers_at(rows[at : at + 1], content=content, marks=marks)
    return values


def _are_words(text: Text, marks: Ints, kinds: Bytes, notation: Notation) -> bool:
    """Whether each part is one of the words, or any printable one; and none is twice in a row of sets."""
    starts, lengths, left = marks[:-1] + 1, np.diff(marks) - 1, kinds[:-1]
    if any(mark in text.content for mark in notation.never):
        return False
    if notation.words:
        words = lookup(text, starts, lengths, notation.words)
        if words is None:
            return False
        others = np.flatnonzero(~words[0])
    else:
        printed, marked = (
            np.count_nonzero(part - np.uint8(33) < 94) for part in (text.data[PAD : text.end], kinds)
        )
        if printed - marked < text.end - PAD - len(kinds):  # a byte that is not printable is no mark
            return False
        others = np.flatnonzero(lengths == 0)
    empty_cells = (lengths[others] == 0) & (left[others] == TAB) & (kinds[others + 1] == FEED)
    if not ((left[others] == FEED) | empty_cells).all():  # neither an index nor an empty cell
        return False
    return not (notation.different and _repeated(text, starts, lengths, left == FEED))


def _repeated(text: Text, starts: Ints, lengths: Ints, indices: Flags) -> bool:
    """Whether a row seems to have a part twice; it is not so if this is False."""
    chunks = _chunks(text, starts, lengths, min(_HASHED, _most_chunks(lengths)))
    keys = _keys(chunks, _MIX) if len(chunks) > 1 else chunks[0]
    keys[indices] = 1
    return _twice(keys, indices)


def _twice(keys: Words, first: Flags) -> bool:
    """Whether a key seems to be twice in a row; the first of each row are marked."""
    sizes = np.diff(np.flatnonzero(first), prepend=0, append=len(first))
    keys ^= np.repeat(np.arange(len(sizes), dtype=np.uint64) * _MIX, sizes)
    most = int(sizes.max())
    return most > _NEAR or any((keys[step:] == keys[:-step]).any() for step in range(1, most))


def _are_arcs(text: Text, marks: Ints, kinds: Bytes, notation: Notation) -> bool:
    """Whether the cells are like "2:nsubj 0:root": heads, up to the number of parts, and known words."""
    arcs = np.flatnonzero(kinds != TAB)
    places, after = marks[arcs], kinds[arcs][1::2]
    if len(arcs) % 2 or (kinds[arcs[0::2]] != _COLON).any() or (after == _COLON).any():
        return False
    colons, ends, last = places[0::2], places[1::2], np.flatnonzero(after == FEED)
    sizes = np.diff(last, prepend=-1)
    before = np.append(0, ends[:-1])
    before[last - sizes + 1] = marks[kinds == TAB]
    heads = integers(text, before + 1, colons)
    if ((heads < 0) | (heads > np.repeat(sizes, sizes))).any():
        return False
    words = lookup(text, colons + 1, ends - colons - 1, notation.words)
    return bool(words is not None and words[0].all())


def _are_spans(text: Text, marks: Ints, kinds: Bytes, notation: Notation) -> bool:
    """Whether the cells are like "0-5:LOC; 12-20:PER", or without known labels "0-5:0.7" or "0-5"."""
    minus = np.flatnonzero(kinds == _MINUS)
    size = 2 if notation.words or _COLON in kinds else 1  # marks of a span
    if not _stand_as_spans(marks, kinds, minus, size):
        return False
    after = minus + 1
    (first, wrong), (last, wrong_too) = (digits(text, marks[at - 1] + 1, marks[at]) for at in (minus, after))
    lengths = np.concatenate([marks[at] - marks[at - 1] for at in (minus, after)])
    if lengths.min(initial=2) < 2 or lengths.max(initial=0) > 9:
        return False
    if (wrong | wrong_too | (first >= last)).any():
        return False
    spans = (first | last << 27).view(np.uint64)  # each of the ends is below 2 ** 27
    if notation.words:
        labels = lookup(text, marks[after] + 1, marks[after + 1] - marks[after] - 1, notation.words)
        if labels is None or not labels[0].all():
            return False
        spans ^= (labels[2].take(labels[1]) << 54).view(np.uint64)
    elif size == 2:
        weights = decimals(text, marks[after] + 1, marks[after + 1])
        if not ((weights >= 0) & (weights <= LARGEST)).all():
            return False
    first_of_row = kinds[minus - 1] == TAB
    return bool(first_of_row.all()) or not _twice(spans, first_of_row)


def _stand_as_spans(marks: Ints, kinds: Bytes, minus: Ints, size: int) -> bool:
    """Whether the marks are those of spans with "; " between them: each a minus, and a colon if of size 2."""
    before, after, end = kinds[minus - 1], minus + 1, kinds.take(minus + size, mode="clip")
    further = minus[before == _BLANK]  # spans after others
    last_mark = _COLON if size == 2 else _MINUS
    return not (
        ((kinds[:-1] == TAB) & (kinds[1:] == FEED) & (np.diff(marks) > 1)).any()
        or len(marks) != 2 * np.count_nonzero(kinds == FEED) + size * len(minus) + 2 * len(further)
        or (marks[further - 2] + 1 != marks[further - 1]).any()
        or (kinds[further - 2] != _SEMICOLON).any()
        or (kinds[further - 3] != last_mark).any()
        or not ((end == _SEMICOLON) | (end == FEED)).all()
        or (size == 2 and (kinds[after] != _COLON).any())
    )


def _are_read(text: Text, places: Ints, tabs: Ints, ends: Ints, read: Callable[[str], Any]) -> bool:
    """Whether the rows of these places, read one by one, have a value."""
    try:
        for row in np.unique(np.searchsorted(ends, places)):
            read(text.content[tabs[row] + 1 : ends[row]].decode())
    except ValueError:
        return False
    return True


def _other_relations(text: Text, marks: Ints, kinds: Bytes, notation: Notation) -> Ints | None:
    """Places in all cells that are not like `["<A>rain</A> fell", "rain <A>fell</A>"]`; None if all may be.

    In such a cell, each tag is closed by the next.
    """
    control = np.count_nonzero(text.data[PAD : text.end] < _BLANK) - np.count_nonzero(kinds <= FEED)
    tags = _other_tags(text, marks, kinds, notation.words)
    outer = np.flatnonzero((kinds != _LESS) & (kinds != _GREATER))
    marks, kinds = marks[outer], kinds[outer]
    tabs = np.flatnonzero(kinds == TAB)
    number = np.arange(len(marks)) - np.repeat(tabs, np.diff(tabs, append=len(marks)))
    closing = np.flatnonzero(number & 1 == 0)  # the tab of each row, and the quotes that end a text
    lengths = marks.take(closing + 1, mode="clip") - marks[closing] + 1
    joints = lookup(text, marks[closing], lengths, _JOINTS)
    if control or tags is None or joints is None or not _decodes(text.content):
        return None
    # Quotes that begin a text after another, which has as many words.
    further = np.flatnonzero((number > 2) & (number & 1 == 1) & (kinds == _QUOTE))
    blanks = np.cumsum(text.data == _BLANK, dtype=np.int32)
    before, end, start, stop = (blanks.take(marks[further + step]) for step in (-2, -1, 0, 1))
    differ = end - before != stop - start
    return np.concatenate([tags, marks[closing[~joints[0]]], marks[further[differ]]])


def _other_tags(text: Text, marks: Ints, kinds: Bytes, tags: tuple[bytes, ...]) -> Ints | None:
    """The places of all tags but pairs: one that opens and, before any other mark, the one that closes it."""
    less = np.flatnonzero(kinds == _LESS)
    known = lookup(text, marks[less], marks[less + 1] - marks[less] + 1, tags)
    if known is None:
        return None
    numbers = np.where(known[0], known[2].take(known[1]), -1)  # even for a tag that opens
    pairs = (numbers & 1 == 0) & (np.diff(numbers, append=-1) == 1) & (np.diff(less, append=-1) == 2)
    within = text.data.take(marks[less + 1] + 1)
    pairs &= (within != _BLANK) & (within != _LESS)
    others: Ints = marks[less[~(pairs | np.roll(pairs, 1))]]
    return others
