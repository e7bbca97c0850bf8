"""Tests of all pairs against Student's t and formulas written out, and the cut of a board."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gluebench.analysis.rank.uncertainty import Errors, all_pairs, groups, pair_errors, rank_ranges, with_runs

RNG = np.random.default_rng


def many_df(squares):
    """Errors with so many degrees of freedom that t is normal."""
    squares = np.asarray(squares, float)
    return Errors(squares, squares**2 / 1e9)


def test_one_task_is_the_paired_t_test():
    """Draws of means of examples have the variance of the mean, times (n - 1) / n: p is scipy's."""
    rng = RNG(0)
    a, b = rng.normal(0.8, 0.1, 30), rng.normal(0.75, 0.1, 30)
    weights = rng.multinomial(30, [1 / 30] * 30, size=200_000) / 30
    draws = (weights @ np.array([a, b]).T).T[:, np.newaxis]
    (pair,) = all_pairs([a.mean(), b.mean()], pair_errors(draws, np.array([30])))
    assert pair.p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=0.02)
    assert pair.adjusted == pair.p


def test_errors_are_sums_over_tasks():
    """Three systems, two tasks of 9 and 200 units, pair by pair in plain formulas."""
    rng = RNG(1)
    parts = rng.normal(0, [[[0.02], [0.01]]], (3, 2, 500))
    parts[1] += parts[0]
    values, units = [0.8, 0.75, 0.7], np.array([9, 200])
    for pair in all_pairs(values, pair_errors(parts, units)):
        squares = [
            np.var(parts[pair.a, task] - parts[pair.b, task], ddof=1) * n / (n - 1)
            for task, n in enumerate(units)
        ]
        df = sum(squares) ** 2 / sum(square**2 / (n - 1) for square, n in zip(squares, units, strict=True))
        statistic = (values[pair.a] - values[pair.b]) / np.sqrt(sum(squares))
        assert pair.p == pytest.approx(2 * stats.t.sf(abs(statistic), df), rel=1e-9)


def test_runs_add_their_variance_with_its_degrees_of_freedom():
    """Two systems of 4 and 3 runs without any spread over examples: Welch's t-test of their scores."""
    a, b = np.array([0.81, 0.83, 0.80, 0.84]), np.array([0.79, 0.80, 0.75])
    nothing = Errors(np.zeros((2, 2)), np.zeros((2, 2)))
    (pair,) = all_pairs([a.mean(), b.mean()], with_runs(nothing, [a, b], np.zeros(2)))
    assert pair.p == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue, rel=1e-9)
    own = with_runs(nothing, [a, b], np.array([1.0, 0.0])).squares  # all of A's spread is the examples'
    assert own[0, 1] == pytest.approx(b.var(ddof=1) / 3)
    alone = with_runs(nothing, [a[:1], b], np.zeros(2)).squares
    assert alone[0, 1] == pytest.approx(b.var(ddof=1) / 3)


def test_a_board_is_cut_only_where_all_above_beat_all_below():
    """0 and 1 tie, and 1 and 2, though 0 beats 2: one group of three; 3 is far below."""
    pairs = all_pairs([0.86, 0.83, 0.80, 0.5], many_df(np.full((4, 4), 2e-4)))
    significant = {frozenset((pair.a, pair.b)) for pair in pairs if pair.winner is not None}
    assert significant == {frozenset(pair) for pair in [(0, 2), (0, 3), (1, 3), (2, 3)]}
    assert groups([0, 1, 2, 3], pairs) == {0: (1, 3), 1: (1, 3), 2: (1, 3), 3: (4, 4)}
    assert rank_ranges(range(4), pairs) == {0: (1, 2), 1: (1, 3), 2: (2, 3), 3: (4, 4)}


def test_a_pair_that_never_differs_has_p_1():
    one = RNG(3).normal(0.8, 0.01, (1, 500))
    (pair,) = all_pairs([0.8, 0.8], pair_errors(np.array([one, one]), np.array([500])))
    assert (pair.p, pair.winner) == (1.0, None)
    (pair,) = all_pairs([0.8, 0.7], pair_errors(np.array([one, one - 0.1]), np.array([500])))
    assert pair.p == 0.0
