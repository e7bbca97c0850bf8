"""By simulation: how often tests of pairs err, and how often rank intervals hold the true rank."""

from __future__ import annotations

import numpy as np
import pytest

from gluebench.analysis.joint.counted import counted_draws
from gluebench.analysis.joint.pairwise import all_pairs, groups, told_ranks
from gluebench.analysis.joint.rules import ranks
from gluebench.scoring.counts import accuracy_of

SIZES = (150, 400, 900)


def world(rng, accuracies, resamples=400):
    """Three tasks whose hard examples are hard for all; the averages and their resamples."""
    averages, draws = np.zeros(len(accuracies)), np.zeros((len(accuracies), resamples))
    for n in SIZES:
        shared = rng.random(n)
        own = rng.random((len(accuracies), n))
        mixed = np.where(rng.random((len(accuracies), n)) < 0.5, shared, own)
        right = (mixed < np.array(accuracies)[:, np.newaxis]).astype(np.uint8)
        gold = np.ones(n, np.uint8)
        averages += right.mean(axis=1) / len(SIZES)
        (found,) = counted_draws(
            [lambda table: accuracy_of(table, 0)], gold, right, classes=2, groups=None,
            resamples=resamples, rng=rng,
        )  # fmt: skip
        draws += found / len(SIZES)
    return averages, draws


@pytest.mark.slow
def test_equal_systems_are_called_different_in_one_world_of_twenty_at_most():
    """One pair: its p is uniform; six systems, all equal: any of 15 pairs after Holm is an error."""
    rng = np.random.default_rng(0)
    single = family = 0
    worlds = 600
    for _ in range(worlds):
        averages, draws = world(rng, [0.8] * 6)
        pairs = all_pairs(averages.tolist(), draws)
        single += pairs[0].p < 0.05
        family += any(pair.winner is not None for pair in pairs)
    assert 0.03 <= single / worlds <= 0.075  # 0.05 and three standard errors
    assert family / worlds <= 0.075


@pytest.mark.slow
def test_rank_intervals_hold_the_true_rank():
    """Four levels, two of them shared: a tie's true rank is any of its places."""
    rng = np.random.default_rng(1)
    accuracies = [0.85, 0.82, 0.82, 0.8, 0.74, 0.74]
    true = [(1, 1), (2, 3), (2, 3), (4, 4), (5, 6), (5, 6)]
    held, told, worlds = np.zeros(6), 0, 300
    for _ in range(worlds):
        averages, draws = world(rng, accuracies)
        placed = ranks(draws)
        low = np.quantile(placed, 0.025, axis=1, method="lower")
        high = np.quantile(placed, 0.975, axis=1, method="higher")
        held += [low[at] <= true[at][1] and high[at] >= true[at][0] for at in range(6)]
        ranges = told_ranks(range(6), all_pairs(averages.tolist(), draws))
        told += all(ranges[at][0] <= true[at][1] and ranges[at][1] >= true[at][0] for at in range(6))
    assert held.min() / worlds >= 0.91  # 0.95 less three standard errors
    assert told / worlds >= 0.91


def test_a_board_is_cut_only_where_all_above_beat_all_below():
    """0 and 1 cannot be parted, nor 1 and 2, though 0 beats 2: one group of three; 3 is far below."""
    draws = np.random.default_rng(2).normal(0, 0.01, (4, 5000))
    averages = [0.86, 0.83, 0.80, 0.5]
    pairs = all_pairs(averages, draws)
    told = {frozenset((pair.a, pair.b)) for pair in pairs if pair.winner is not None}
    assert told == {frozenset(pair) for pair in [(0, 2), (0, 3), (1, 3), (2, 3)]}
    assert [(group.systems, group.first, group.last) for group in groups([0, 1, 2, 3], pairs)] == [
        ((0, 1, 2), 1, 3),
        ((3,), 4, 4),
    ]
    assert told_ranks(range(4), pairs) == {0: (1, 2), 1: (1, 3), 2: (2, 3), 3: (4, 4)}


def test_a_twin_is_not_told_apart():
    one = np.random.default_rng(3).normal(0.8, 0.01, 500)
    (pair,) = all_pairs([0.8, 0.8], np.array([one, one]))
    assert (pair.p, pair.winner) == (1.0, None)
