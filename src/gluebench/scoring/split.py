"""The rows of a gold folder in two parts: public ones that are scored until a day, others from then on.

Which rows are public hangs on the key that is kept beside the labels, so that nobody outside can know it,
and on each row's own place, so that mending a label moves hardly a row from one part to the other. Examples
of one group stay together, and each label has its share in both parts.
"""

from __future__ import annotations

import hashlib
import hmac
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import floor
from typing import Literal

from gluebench.benchmark import Phenomenon
from gluebench.scoring.gold import Gold
from gluebench.scoring.tags import Metadata, Tagged, numbered, places_of
from gluebench.submission.submission import Column

Rows = Literal["public", "held back"]
WARNINGS: Mapping[Rows, str] = {
    "public": "scored on the public rows; the others are held back",
    "held back": "scored on the rows that were held back at first",
}

BINS = 10
"""Parts of equal size that a column of numbers is divided in, for its share of each."""

_DENOMINATOR = 1 << 64


def part_of(gold: Gold, rows: Rows, *, share: float, key: bytes) -> Gold:
    """The gold of one part; `share` is that of the public rows, `key` the gold folder's.

    A diagnostic set whose labels are public is in both parts whole. Raises ValueError for a share that is not
    between 0 and 1, or a file with fewer than two groups of examples, which cannot be divided.
    """
    if rows not in WARNINGS:
        raise ValueError(f"rows is {rows!r}; expected one of {', '.join(WARNINGS)}")
    if not 0 < share < 1:
        raise ValueError(f"the share of public rows is {share}; expected a number between 0 and 1")
    kept = {name: _kept(name, gold, rows, share=share, key=key) for name in gold.columns}
    return replace(
        gold,
        columns={name: _taken(gold.columns[name], at) for name, at in kept.items()},
        phenomena={name: _moved(tags, kept[name]) for name, tags in gold.phenomena.items()},
        metadata={name: _divided(about, kept[name]) for name, about in gold.metadata.items()},
        rows=rows,
        share=share,
        warnings=(*gold.warnings, WARNINGS[rows]),
    )


def _kept(name: str, gold: Gold, rows: Rows, *, share: float, key: bytes) -> list[int]:
    """The positions in a column that belong to the part, ascending."""
    column, about = gold.columns[name], gold.metadata.get(name)
    task = gold.benchmark.task(gold.benchmark.file(name).task)
    if not task.scored and task.labels_public:
        return list(range(len(column)))
    indices = column.row_indices
    groups = about.groups if about is not None and about.groups is not None else range(len(column))
    places = places_of(groups)
    if len(places) < 2:
        raise ValueError(f"{name} cannot be divided: expected two examples, or groups of them, or more")
    strata: dict[tuple[int, ...], list[list[int]]] = {}
    codes = _strata(column)
    for positions in places.values():
        strata.setdefault(tuple(sorted(codes[at] for at in positions)), []).append(positions)
    chosen = public_units(
        {repr(stratum): [indices[unit[0]] for unit in units] for stratum, units in strata.items()},
        share=share,
        key=hmac.digest(key, f"rows of {name}".encode(), hashlib.sha256),
    )
    public = rows == "public"
    units = (unit for unit in places.values() if (indices[unit[0]] in chosen) == public)
    return sorted(at for unit in units for at in unit)


def _strata(column: Column) -> Sequence[int]:
    """The label code of each value, or which tenth of the values a number is in.

    Cells of other forms are one stratum, since most of them are unique; sets and probabilities too.
    """
    if column.labels:
        return column.codes
    if isinstance(column.values, tuple):
        return bytes(len(column))
    order = sorted(range(len(column)), key=lambda at: (column.numbers[at], at))
    bins = {at: rank * BINS // len(order) for rank, at in enumerate(order)}
    return [bins[at] for at in range(len(column))]


def public_units(strata: Mapping[str, Sequence[int]], *, share: float, key: bytes) -> frozenset[int]:
    """The public ones of distinct units, each of which is in one stratum; at least one is, and one is not.

    In each stratum those with the smallest keyed hashes; their number is the share of it rounded up or down
    by chance, so that every unit is public with probability `share`.
    """
    hashes = {unit: _hash(key, f"unit {unit}") for units in strata.values() for unit in units}
    chosen: set[int] = set()
    for name, units in strata.items():
        luck = _hash(key, f"stratum {name}") / _DENOMINATOR
        chosen.update(sorted(units, key=hashes.__getitem__)[: floor(share * len(units) + luck)])
    ordered = sorted(hashes, key=hashes.__getitem__)
    if not chosen:
        chosen.add(ordered[0])
    if len(chosen) == len(ordered):
        chosen.remove(ordered[-1])
    return frozenset(chosen)


def _hash(key: bytes, of: str) -> int:
    return int.from_bytes(hmac.digest(key, of.encode(), hashlib.sha256)[:8])


def _taken(column: Column, positions: Sequence[int]) -> Column:
    if len(positions) == len(column):
        return column
    return replace(column.take(positions), indices=array("q", map(column.row_indices.__getitem__, positions)))


def _moved(tags: Tagged, kept: Iterable[int]) -> dict[Phenomenon, tuple[int, ...]]:
    """Tagged positions of the whole as positions of the part."""
    places = {position: at for at, position in enumerate(kept)}
    moved = {tag: tuple(places[at] for at in where if at in places) for tag, where in tags.items()}
    return {tag: where for tag, where in moved.items() if where}


def _divided(about: Metadata, kept: Sequence[int]) -> Metadata:
    columns = {name: tuple(values[at] for at in kept) for name, values in about.columns.items()}
    groups = None if about.groups is None else numbered([about.groups[at] for at in kept])
    return Metadata(groups, columns)
