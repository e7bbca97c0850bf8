"""By simulation: how often tests of pairs err, and how often rank intervals hold the true rank."""

from __future__ import annotations

import numpy as np
import pytest
from scoring.columns import ACCURACY, labels

from gluebench.analysis.rank.ranking import ranks
from gluebench.analysis.rank.uncertainty import all_pairs, pair_errors, rank_ranges
from gluebench.scoring.units import units_of

SIZES = (150, 400, 900)


def world(rng, accuracies, resamples=400, sizes=SIZES):
    """Tasks whose hard examples are hard for all; the averages and the tasks' parts of them resampled."""
    averages, parts = np.zeros(len(accuracies)), []
    for n in sizes:
        shared = rng.random(n)
        own = rng.random((len(accuracies), n))
        mixed = np.where(rng.random((len(accuracies), n)) < 0.5, shared, own)
        right = (mixed < np.array(accuracies)[:, np.newaxis]).astype(np.uint8)
        averages += right.mean(axis=1) / len(sizes)
        (values,) = units_of([ACCURACY], labels(np.ones(n), *right)).bootstrap(resamples, rng)
        parts.append(values / len(sizes))
    return averages, np.array(parts).swapaxes(0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [SIZES, (20, 1000)])
def test_equal_systems_are_called_different_in_one_world_of_twenty_at_most(sizes):
    """One pair: its p is uniform; six systems, all equal: any of 15 pairs after Holm is an error."""
    rng = np.random.default_rng(0)
    single = family = 0
    worlds = 600
    for _ in range(worlds):
        averages, parts = world(rng, [0.8] * 6, sizes=sizes)
        pairs = all_pairs(averages.tolist(), pair_errors(parts, np.array(sizes)))
        single += pairs[0].p < 0.05
        family += any(pair.winner is not None for pair in pairs)
    assert 0.02 <= single / worlds <= 0.075  # 0.05 and three standard errors
    assert family / worlds <= 0.075


@pytest.mark.slow
def test_rank_intervals_hold_the_true_rank():
    """Four levels, two of them shared: a tie's true rank is any of its places."""
    rng = np.random.default_rng(1)
    accuracies = [0.85, 0.82, 0.82, 0.8, 0.74, 0.74]
    true = [(1, 1), (2, 3), (2, 3), (4, 4), (5, 6), (5, 6)]
    held, together, worlds = np.zeros(6), 0, 300
    for _ in range(worlds):
        averages, parts = world(rng, accuracies)
        placed = ranks(parts.sum(axis=1))
        low = np.quantile(placed, 0.025, axis=1, method="lower")
        high = np.quantile(placed, 0.975, axis=1, method="higher")
        held += [low[at] <= true[at][1] and high[at] >= true[at][0] for at in range(6)]
        ranges = rank_ranges(range(6), all_pairs(averages.tolist(), pair_errors(parts, np.array(SIZES))))
        together += all(ranges[at][0] <= true[at][1] and ranges[at][1] >= true[at][0] for at in range(6))
    assert held.min() / worlds >= 0.91  # 0.95 less three standard errors
    assert together / worlds >= 0.91
