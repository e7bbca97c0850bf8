"""How far several annotators agree: Fleiss' kappa from a table of counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def fleiss_kappa(counts: ArrayLike) -> float:
    """Fleiss' kappa (Fleiss 1971): agreement beyond what the labels' shares alone would give.

    `counts` is (items, labels): how many annotators gave each label to each item, as many to every item
    and at least two. At most 1; 1.0 where everybody gave one label throughout, although nothing is known of
    chance there. Raises ValueError for a table of another kind.
    """
    table = _table(counts)
    return float(weighted_kappas(table, np.ones((1, len(table))))[0])


def weighted_kappas(counts: ArrayLike, weights: ArrayLike) -> Floats:
    """(rows,): kappa with each item taken as often as its weight; `weights` is (rows, items)."""
    table, times = _table(counts), np.asarray(weights, np.float64)
    raters = table[0].sum()
    agreeing = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    items = times.sum(axis=1)
    observed = times @ agreeing / items
    shares = times @ table / (items * raters)[:, np.newaxis]
    chance = (shares * shares).sum(axis=1)
    beyond = 1 - chance
    known = beyond > 1e-12
    kappas: Floats = np.where(known, (observed - chance) / np.where(known, beyond, 1.0), 1.0)
    return kappas


def label_counts(labels: Sequence[Sequence[int]], *, classes: int) -> NDArray[np.int64]:
    """(items, classes): from (annotators, items) label codes, all of them given."""
    codes = np.asarray(labels, np.int64)
    return np.stack([(codes == code).sum(axis=0) for code in range(classes)], axis=1)


def _table(counts: ArrayLike) -> Floats:
    table = np.asarray(counts, np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"expected a table of items by labels, not an array of shape {table.shape}")
    raters = table.sum(axis=1)
    if (table < 0).any() or (raters != raters[0]).any() or raters[0] < 2:
        raise ValueError(
            "every item needs as many labels, two or more; leave out the items that somebody left blank"
        )
    return table
