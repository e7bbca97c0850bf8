"""The rows of a gold folder in two parts: public ones that are scored until a day, others from then on.

Which rows are public depends on the key that is kept beside the labels, so that nobody outside can know it,
and on each row's own index, so that fixing a label moves few rows from one part to the other. Examples of one
group stay together, and each label has its share in both parts.
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
from gluebench.scoring.tags import Metadata, Tagged, places_of
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
    columns = {}
    phenomena = {}
    metadata = {}
    for name, column in gold.columns.items():
        positions = _positions_in_part(name, gold, rows, share=share, key=key)
        columns[name] = _take_positions(column, positions)
        if name in gold.phenomena:
            phenomena[name] = _tags_in_part(gold.phenomena[name], positions)
        if name in gold.metadata:
            metadata[name] = Metadata.of(*gold.metadata[name], positions)
    return replace(
        gold,
        columns=columns,
        phenomena=phenomena,
        metadata=metadata,
        rows=rows,
        share=share,
        warnings=gold.warnings + (WARNINGS[rows],),
    )


def _positions_in_part(name: str, gold: Gold, rows: Rows, *, share: float, key: bytes) -> list[int]:
    """The positions in a column that belong to the part, ascending."""
    column = gold.columns[name]
    task = gold.benchmark.task(gold.benchmark.file(name).task)
    if not task.scored and task.labels_public:
        return list(range(len(column)))
    groups: Sequence[int] = range(len(column))
    metadata = gold.metadata.get(name)
    if metadata is not None and metadata.groups is not None:
        groups = metadata.groups
    units = list(places_of(groups).values())  # of each unit, the positions of its examples
    if len(units) < 2:
        raise ValueError(f"{name} cannot be divided: expected two examples, or groups of them, or more")
    # A unit is known by the index of its first example, and in the stratum of its examples' labels.
    indices = column.row_indices
    codes = _strata(column)
    strata: dict[str, list[int]] = {}
    for positions in units:
        stratum = tuple(sorted(codes[position] for position in positions))
        strata.setdefault(repr(stratum), []).append(indices[positions[0]])
    key_of_file = hmac.digest(key, f"rows of {name}".encode(), hashlib.sha256)
    public = public_units(strata, share=share, key=key_of_file)
    positions_in_part: list[int] = []
    for positions in units:
        is_public = indices[positions[0]] in public
        if is_public == (rows == "public"):
            positions_in_part += positions
    return sorted(positions_in_part)


def _strata(column: Column) -> Sequence[int]:
    """The label code of each value, or which tenth of the values a number is in.

    Cells of other forms are one stratum, since most of them are unique; sets and probabilities too.
    """
    if column.labels:
        return column.codes
    if isinstance(column.values, tuple):
        return bytes(len(column))
    numbers = column.numbers
    ascending = sorted(range(len(column)), key=lambda position: (numbers[position], position))
    bins = [0] * len(column)
    for rank, position in enumerate(ascending):
        bins[position] = rank * BINS // len(column)
    return bins


def public_units(strata: Mapping[str, Sequence[int]], *, share: float, key: bytes) -> frozenset[int]:
    """The public ones of distinct units, each of which is in one stratum; at least one is, and one is not.

    In each stratum those with the smallest keyed hashes; their number is the share of it rounded up or down
    by chance, so that every unit is public with probability `share`.
    """
    hashes: dict[int, int] = {}
    public: set[int] = set()
    for name, units in strata.items():
        for unit in units:
            hashes[unit] = _hash(key, f"unit {unit}")
        by_chance = _hash(key, f"stratum {name}") / _DENOMINATOR  # from 0 to below 1
        number = floor(share * len(units) + by_chance)
        public.update(sorted(units, key=hashes.__getitem__)[:number])
    by_hash = sorted(hashes, key=hashes.__getitem__)
    if not public:
        public.add(by_hash[0])
    if len(public) == len(by_hash):
        public.remove(by_hash[-1])
    return frozenset(public)


def _hash(key: bytes, of: str) -> int:
    return int.from_bytes(hmac.digest(key, of.encode(), hashlib.sha256)[:8])


def _take_positions(column: Column, positions: Sequence[int]) -> Column:
    if len(positions) == len(column):
        return column
    indices = array("q", map(column.row_indices.__getitem__, positions))
    return replace(column.take(positions), indices=indices)


def _tags_in_part(tags: Tagged, positions: Iterable[int]) -> dict[Phenomenon, tuple[int, ...]]:
    """The tags, by the positions that their examples have in the part; without those of no example."""
    position_in_part = {position: number for number, position in enumerate(positions)}
    tags_in_part = {}
    for phenomenon, tagged in tags.items():
        kept = tuple(position_in_part[position] for position in tagged if position in position_in_part)
        if kept:
            tags_in_part[phenomenon] = kept
    return tags_in_part
