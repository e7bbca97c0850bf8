"""Paired resampling from counts against the same thing done row by row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix  # noqa: TID251 the oracle

from gluebench.analysis import correlated, paired
from gluebench.scoring import draws, joint


@pytest.fixture
def world():
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 3, 300)
    a = np.where(rng.random(300) < 0.7, gold, rng.integers(0, 3, 300))
    b = np.where(rng.random(300) < 0.6, gold, rng.integers(0, 3, 300))
    groups = np.repeat(np.arange(150), 2)
    return gold, a, b, groups


@pytest.mark.parametrize("grouped", [False, True])
def test_units_hold_every_example(world, grouped):
    gold, a, b, groups = world
    units = joint.units(gold, a, b=b, classes=3, groups=groups if grouped else None)
    assert units.counts.sum() == (150 if grouped else 300)
    both = np.tensordot(units.counts, units.tables, axes=1)
    assert np.array_equal(both.sum(axis=2), confusion_matrix(gold, a))
    assert np.array_equal(both.sum(axis=1), confusion_matrix(gold, b))


def test_identical_groups_are_collapsed():
    gold = np.array([0, 1] * 40)
    units = joint.units(gold, gold, b=gold, classes=2, groups=np.repeat(np.arange(40), 2))
    assert units.counts.tolist() == [40]


def accuracy(tables):
    return np.trace(tables) / tables.sum(axis=(0, 1))


@pytest.mark.parametrize("grouped", [False, True])
def test_bootstrap_spreads_as_resampled_rows_do(world, grouped):
    gold, a, b, groups = world
    keys = groups if grouped else np.arange(300)
    difference = (a == gold).astype(float) - (b == gold)
    each = np.bincount(keys, weights=difference)
    rng = np.random.default_rng(1)
    by_row = each[rng.integers(0, len(each), (4000, len(each)))].sum(axis=1) / 300
    units = joint.units(gold, a, b=b, classes=3, groups=groups if grouped else None)
    drawn = joint.bootstrap(units, resamples=4000, rng=rng)
    by_count = accuracy(drawn.a) - accuracy(drawn.b)
    assert drawn.a.sum(axis=(0, 1)).tolist() == [300.0] * 4000
    assert stats.ks_2samp(by_row.round(9), by_count.round(9)).pvalue > 0.001


@pytest.mark.parametrize("grouped", [False, True])
def test_swap_spreads_as_swapped_rows_do(world, grouped):
    gold, a, b, groups = world
    keys = groups if grouped else np.arange(300)
    each = np.bincount(keys, weights=(a == gold).astype(float) - (b == gold))
    rng = np.random.default_rng(2)
    by_row = (rng.choice([-1, 1], (4000, len(each))) * each).sum(axis=1) / 300
    units = joint.units(gold, a, b=b, classes=3, groups=groups if grouped else None)
    drawn = paired.swap(units, resamples=4000, rng=rng)
    by_count = accuracy(drawn.a) - accuracy(drawn.b)
    assert stats.ks_2samp(by_row.round(9), by_count.round(9)).pvalue > 0.001


def test_swap_keeps_what_both_systems_said_together(world):
    gold, a, b, _ = world
    units = joint.units(gold, a, b=b, classes=3)
    drawn = paired.swap(units, resamples=50, rng=np.random.default_rng(0))
    together = confusion_matrix(gold, a) + confusion_matrix(gold, b)
    assert np.array_equal(drawn.a + drawn.b, np.repeat(together[:, :, None], 50, axis=2))
    assert (drawn.a >= 0).all()


def test_swapped_correlations_are_those_of_swapped_columns():
    """With the same coins, Pearson of the exchanged columns by scipy."""
    rng = np.random.default_rng(3)
    gold, a = rng.random(40) * 5, rng.random(40) * 5
    b = a + rng.random(40)
    a, b = correlated.standardised(a), correlated.standardised(b)
    drawn = correlated.swap(gold, a, b=b, resamples=25, rng=np.random.default_rng(7))
    coins = np.random.default_rng(7).integers(0, 2, size=(25, 40), dtype=np.int8).astype(bool)
    for coin, got_a, got_b in zip(coins, drawn.a, drawn.b, strict=True):
        assert got_a == pytest.approx(stats.pearsonr(gold, np.where(coin, b, a))[0], abs=1e-12)
        assert got_b == pytest.approx(stats.pearsonr(gold, np.where(coin, a, b))[0], abs=1e-12)


def test_swapped_correlations_exchange_whole_groups():
    gold = np.array([1.0, 2, 3, 5])
    a, b = np.array([1.0, 2, 3, 4]), np.array([4.0, 3, 1, 2])
    groups = np.array([0, 0, 1, 1])
    rng = np.random.default_rng(0)
    drawn = correlated.swap(gold, a, b=b, resamples=60, rng=rng, groups=groups)
    possible = {
        round(float(stats.pearsonr(gold, np.where(coin, b, a))[0]), 9)
        for coin in ([0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1])
    }
    assert {round(float(value), 9) for value in drawn.a} == possible


def test_a_column_that_does_not_vary_correlates_with_nothing():
    gold = np.arange(10.0)
    flat = correlated.standardised(np.full(10, 2.0))
    assert flat.tolist() == [0.0] * 10
    drawn = correlated.swap(gold, flat, b=flat, resamples=5, rng=np.random.default_rng(0))
    assert drawn.a.tolist() == drawn.b.tolist() == [0.0] * 5


def test_resamples_in_blocks_are_all_there(world, monkeypatch):
    gold, a, b, _ = world
    monkeypatch.setattr(draws, "AT_ONCE", 100)
    units = joint.units(gold, a, b=b, classes=3)
    assert joint.bootstrap(units, resamples=37, rng=np.random.default_rng(0)).a.shape == (3, 3, 37)
    assert paired.swap(units, resamples=37, rng=np.random.default_rng(0)).b.shape == (3, 3, 37)
