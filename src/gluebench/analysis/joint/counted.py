"""Confusion tables of many systems under joint resampling: exact draws, or the normal limit of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.analysis.joint.units import drawn_parts, grouped_parts, kinds_of
from gluebench.scoring.draws import Floats, Ints, blocks
from gluebench.scoring.joint import Codes

Formula = Callable[[Any], Any]
"""From tables (gold, predicted, systems, resamples) to values (systems, resamples)."""
_ROWS = 8192
"""Examples whose answers are compared at once."""


def counted_draws(
    formulas: Sequence[Formula],
    gold: Codes,
    answers: Codes,
    *,
    classes: int,
    groups: Ints | None,
    resamples: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """(systems, resamples) of each formula, for (systems, n) answers with codes below `classes`."""
    found = [
        [formula(tables) for formula in formulas]
        for tables in _drawn(gold, answers, classes=classes, groups=groups, resamples=resamples, rng=rng)
    ]
    return [np.concatenate(column, axis=1) for column in zip(*found, strict=True)]


def _drawn(
    gold: Codes,
    answers: Codes,
    *,
    classes: int,
    groups: Ints | None,
    resamples: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    kinds = kinds_of(np.vstack([gold, answers])) if groups is None else None
    for size in blocks(resamples, classes**2 * len(answers), least=64):
        tables = np.zeros((classes, classes, len(answers), size))
        if kinds is not None:
            parts = drawn_parts(kinds, gold, resamples=size, rng=rng)
        else:
            assert groups is not None
            parts = grouped_parts(groups, gold, resamples=size, rng=rng)
        for rows, weights in parts:
            table = tables[gold[rows[0]]]
            some = answers[:, rows]
            for code in range(1, classes):
                table[code] += (weights @ _answered(some, code)).T
            table[0] += weights.sum(axis=1, dtype=np.float64)
        tables[:, 0] -= tables[:, 1:].sum(axis=1)
        yield tables


def _answered(answers: Codes, code: int) -> NDArray[np.float32]:
    """(n, systems): 1 where that is the answer. Sums of them are exact in float32 up to 2**24."""
    found: NDArray[np.float32] = (answers == code).T.astype(np.float32)
    return found


def normal_draws(
    formulas: Sequence[Formula],
    gold: Codes,
    answers: Codes,
    *,
    classes: int,
    resamples: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """The same with the cells of all tables drawn from the normal distribution of their mean and covariance.

    Those are the multinomial's own; what is approximate is the shape alone.
    """
    counts, products = _moments(gold, answers, classes=classes)
    covariance = products - np.outer(counts, counts) / len(gold)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = counts[:, np.newaxis] + root @ rng.standard_normal((len(counts), resamples))
    cells = drawn.reshape(classes, -1, resamples)
    tables = np.empty((classes, classes, len(answers), resamples))
    tables[:, 1:] = cells[:, 1:].reshape(classes, classes - 1, len(answers), resamples)
    tables[:, 0] = cells[:, :1] - tables[:, 1:].sum(axis=1)
    return [formula(tables) for formula in formulas]


def _moments(gold: Codes, answers: Codes, *, classes: int) -> tuple[Floats, Floats]:
    """Sums and sums of products over the examples of their features.

    For each gold label these are: having it; having it and being answered 1, ..., by each system.
    """
    width = 1 + (classes - 1) * len(answers)
    counts, products = np.zeros(classes * width), np.zeros((classes * width, classes * width))
    for label in range(classes):
        at = slice(label * width, (label + 1) * width)
        of_label = np.flatnonzero(gold == label)
        for start in range(0, len(of_label), _ROWS):
            some = answers[:, of_label[start : start + _ROWS]]
            features = np.hstack([_answered(some, code) for code in range(1, classes)])
            features = np.hstack([np.ones((len(features), 1), np.float32), features])
            counts[at] += features.sum(axis=0, dtype=np.float64)
            products[at, at] += features.T @ features
    return counts, products
