"""The quick reader of every form: split the file, read each different cell once, put the values in order.

It takes a file only as most are written: a row of two columns for each index or id, and no fault. What it
refuses with None, `rows.read_lines` reads and explains.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from gluebench.reading.notation import LARGEST
from gluebench.submission.rows import Layout, Rows
from gluebench.submission.submission import Values

_NEITHER = bytes({*range(256)} - {*b"\t\n"})
"""All bytes but those between cells and rows."""
_IN_NUMBERS = b"0123456789.+-eE"
"""Bytes of which `float` reads just what `notation.decimal` reads, but for the size of the number."""


@lru_cache(maxsize=16)
def _indices(size: int) -> list[bytes]:
    return [b"%d" % index for index in range(size)]


def read_columns(body: bytes, layout: Layout) -> Rows | None:
    """See `rows.read_lines`; None for a file with a fault, a blank line or an unusual index."""
    if body.translate(None, _NEITHER) != b"\t\n" * layout.size:
        return None
    fields = body.replace(b"\n", b"\t").split(b"\t")
    cells = _in_order(fields[0:-1:2], fields[1::2], layout)
    if cells is None:
        return None
    synonyms = 0
    try:
        if layout.words:
            values: Values = bytes(map((layout.synonym_codes | layout.codes).__getitem__, cells))
            synonyms = sum(cells.count(word) for word in layout.synonym_codes if word not in layout.codes)
        elif layout.form:
            values = _read_each_once(cells, layout)
        else:
            values = _numbers(cells)
    except (KeyError, ValueError):
        return None
    return Rows(values, array("q"), [], Counter(), layout.size, 0, synonyms)


def _in_order(names: list[bytes], cells: list[bytes], layout: Layout) -> list[bytes] | None:
    """The cells in the order of their indices; None unless each index or id is there once."""
    usual = [*layout.places] if layout.ids else _indices(layout.size)
    if names == usual:
        return cells
    cell_of = dict(zip(names, cells, strict=True))
    if len(cell_of) != layout.size or not cell_of.keys() <= {*usual}:
        return None
    return [cell_of[name] for name in usual]


def _read_each_once(cells: Sequence[bytes], layout: Layout) -> Values:
    """The values of cells of a form. Raises ValueError."""
    form = layout.form
    assert form is not None
    different = {*cells}
    if b"" in different and not form.blank:
        raise ValueError
    if 2 * len(different) > len(cells):
        return tuple([form.read(cell.decode()) for cell in cells])
    values = {cell: form.read(cell.decode()) for cell in different}
    return tuple(map(values.__getitem__, cells))


def _numbers(cells: Sequence[bytes]) -> Values:
    """The numbers of cells. Raises ValueError."""
    if b"".join(cells).translate(None, _IN_NUMBERS):
        raise ValueError
    numbers = array("d", map(float, cells))
    if numbers and max(max(numbers), -min(numbers)) > LARGEST:
        raise ValueError
    return numbers
