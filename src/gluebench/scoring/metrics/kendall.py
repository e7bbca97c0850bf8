"""Kendall's tau-b, and its exact value without each unit, in O(n log n)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.numeric import Floats, Ints, np


def kendall_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Kendall's tau-b of two columns of n finite numbers, -1 to 1; 0.0 if either is constant."""
    x = _ranks(gold)
    y = _ranks(predicted)
    pairs = len(x) * (len(x) - 1) // 2
    tied_x = int(_ties(x).sum()) // 2
    tied_y = int(_ties(y).sum()) // 2
    tied = int(_ties(_joint(x, y)).sum()) // 2
    concordant = int(_smaller_before(y[np.lexsort((-y, x))]).sum())
    net = 2 * concordant - (pairs - tied_x - tied_y + tied)
    return float(_tau_b(_Pairs(net, pairs - tied_x, pairs - tied_y)))


def kendall_without(gold: Sequence[float], predicted: Sequence[float], units: Ints) -> Floats:
    """Tau-b without each unit, exactly, shape (units,); `units` numbers the unit of each row from 0."""
    x = _ranks(gold)
    y = _ranks(predicted)
    sizes = np.bincount(units)
    of_rows = _pairs_of_rows(x, y, np.full(len(x), len(x) - 1))
    whole = [int(column.sum()) // 2 for column in of_rows]
    lost: list[Any] = [np.bincount(units, column) for column in of_rows]
    if len(sizes) < len(x):
        # A pair within a unit is lost once, not once for each of its rows. Units that ascend in x descend
        # in y, so that rows of two units are neither concordant nor tied.
        within_x = _ranks(units * len(x) + x)
        within_y = _ranks(-units * len(x) + y)
        within = _pairs_of_rows(within_x, within_y, sizes[units] - 1)
        for position, column in enumerate(within):
            lost[position] = lost[position] - np.bincount(units, column) / 2
    left = [number - lost_by_unit for number, lost_by_unit in zip(whole, lost, strict=True)]
    return np.asarray(_tau_b(_Pairs(*left)))


class _Pairs(NamedTuple):
    """Numbers of pairs of rows."""

    net: Any
    """Concordant minus discordant ones."""
    untied_x: Any
    untied_y: Any


def _tau_b(pairs: _Pairs) -> Any:
    """Tau-b, at most 1 in size; 0.0 where all rows are tied."""
    spread = np.sqrt(np.multiply(pairs.untied_x, pairs.untied_y, dtype=np.float64))
    return np.clip(ratio(pairs.net, spread), -1.0, 1.0)


def _ranks(column: Sequence[float] | Ints) -> Ints:
    """The values as numbers from 0 in their order, shape (n,)."""
    return np.unique(np.asarray(column), return_inverse=True)[1]


def _joint(x: Ints, y: Ints) -> Ints:
    return _ranks(x * (y.max() + 1) + y)


def _ties(codes: Ints) -> Ints:
    """The number of other rows with the same code, shape (n,)."""
    return np.bincount(codes)[codes] - 1


def _pairs_of_rows(x: Ints, y: Ints, others: Ints) -> _Pairs:
    """The pairs that each row is in, each of shape (n,); `others` says how many there are."""
    tied_x = _ties(x)
    tied_y = _ties(y)
    tied = _ties(_joint(x, y))
    concordant = np.zeros(len(x), np.int64)
    ascending = np.lexsort((-y, x))
    concordant[ascending] = _smaller_before(y[ascending])
    descending = np.lexsort((y, -x))
    concordant[descending] += _smaller_before(y.max() - y[descending])
    net = 2 * concordant - (others - tied_x - tied_y + tied)
    return _Pairs(net, others - tied_x, others - tied_y)


def _smaller_before(codes: Ints) -> Ints:
    """How many earlier codes are smaller than each, shape (n,).

    From the highest bit on, rows with the same higher bits lie together, in their order. Those with a 0 in
    the next bit are smaller than those with a 1.
    """
    smaller = np.zeros(len(codes), np.int64)
    order = np.arange(len(codes))
    for bit in reversed(range(int(codes.max()).bit_length())):
        here = codes[order]
        is_one = (here >> bit) & 1 == 1
        begins = np.diff(here >> (bit + 1), prepend=-1) != 0  # where the higher bits change
        block = np.cumsum(begins) - 1
        start = np.flatnonzero(begins)
        zeros_before = np.cumsum(~is_one) - ~is_one
        zeros_in_block = zeros_before - zeros_before[start][block]
        smaller[order[is_one]] += zeros_in_block[is_one]
        zeros_of_block = np.add.reduceat(~is_one, start, dtype=np.int64)[block]
        place_in_block = np.arange(len(order)) - start[block]
        ones_in_block = place_in_block - zeros_in_block
        moved_to = start[block] + np.where(is_one, zeros_of_block + ones_in_block, zeros_in_block)
        moved = np.empty_like(order)
        moved[moved_to] = order
        order = moved
    return smaller
