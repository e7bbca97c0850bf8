"""Rules of aggregation against published elections, hand-worked boards and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gluebench.analysis.rank.rules import (
    Profile,
    fill_missing,
    pareto_front,
    rank_by_every_rule,
    rank_by_rule,
    survives,
    without_task,
)


def ballots(order_of_voters):
    """Voters as tasks: the candidate named first scores highest."""
    names = sorted(next(iter(order_of_voters)))
    rows = tuple(tuple(float(-order.index(name)) for order in order_of_voters) for name in names)
    voters = tuple(f"voters {at}" for at in range(len(order_of_voters)))
    return Profile(tuple(names), voters, rows, tuple(map(float, order_of_voters.values())))


TENNESSEE = ballots({"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17})
"""The capital of Tennessee, the textbook example of voting: Memphis, Nashville, Chattanooga, Knoxville."""


def board(*rows, tasks="abcdefg", weights=None):
    names = tuple(f"s{at}" for at in range(len(rows)))
    return Profile(names, tuple(tasks[: len(rows[0])]), rows, weights)


def test_borda_of_the_capital_of_tennessee():
    """126, 194, 173 and 107 points from 100 voters, so that Nashville leads Chattanooga and Memphis."""
    found = dict(zip(TENNESSEE.systems, rank_by_rule(TENNESSEE, "borda").values, strict=True))
    assert found == pytest.approx({"M": 4 - 1.26, "N": 4 - 1.94, "C": 4 - 1.73, "K": 4 - 1.07})


def test_kemeny_of_the_capital_of_tennessee():
    assert dict(zip(TENNESSEE.systems, rank_by_rule(TENNESSEE, "kemeny").ranks, strict=True)) == {
        "N": 1,
        "C": 2,
        "K": 3,
        "M": 4,
    }


def test_the_mean_rank_is_that_of_scipys_ranks():
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.integers(0, 6, size=(rng.integers(1, 8), rng.integers(1, 6)))  # with many ties
        expected = stats.rankdata(-scores, axis=0).mean(axis=1)
        profile = board(*(tuple(map(float, row)) for row in scores))
        assert rank_by_rule(profile, "borda").values == pytest.approx(tuple(expected))


def test_median_and_mean_by_weights_are_those_of_repeated_tasks():
    rng = np.random.default_rng(1)
    for _ in range(50):
        row, times = rng.random(5), rng.integers(0, 4, 5) + np.array([1, 0, 0, 0, 0])
        profile = board(tuple(row), weights=tuple(map(float, times)))
        assert rank_by_rule(profile, "median").values[0] == pytest.approx(np.median(np.repeat(row, times)))
        assert rank_by_rule(profile, "mean").values[0] == pytest.approx(np.mean(np.repeat(row, times)))


def test_sums_in_another_order_do_not_part_equal_systems():
    assert rank_by_rule(board((0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.3, 0.1, 0.2)), "mean").ranks == (1, 1, 1)


GAPS = board((0.9, 0.1), (0.5, None), (0.2, 0.8))


@pytest.mark.parametrize(
    ("rule", "values", "ranks"),
    [
        ("unranked", (0.5, None, 0.5), (1, None, 1)),
        ("shared", (0.9, 0.5, 0.2), (1, 2, 3)),
        ("own", (0.5, 0.5, 0.5), (1, 1, 1)),
        ("lowest", (0.5, 0.3, 0.5), (1, 3, 1)),
    ],
)
def test_rules_for_missing_scores(rule, values, ranks):
    found = rank_by_rule(fill_missing(GAPS, rule), "mean")
    assert found.values == pytest.approx(values)
    assert found.ranks == ranks


def test_ranks_among_few_are_spread_over_all():
    """On the second task two of three have a score: ranks 1 and 2 become 1 and 3."""
    assert rank_by_rule(GAPS, "borda").values == (2.0, 2.0, 2.0)
    alone = board((0.9, 0.1), (0.5, None), (0.2, None))
    assert rank_by_rule(alone, "borda").values == (1.5, 2.0, 3.0)


def test_a_column_nobody_has_and_a_system_that_has_nothing():
    empty = board((0.4, None), (None, None))
    assert fill_missing(empty, "lowest").scores == ((0.4, None), (None, None))
    assert all(
        rank_by_rule(fill_missing(empty, rule), "mean").ranks[1] is None
        for rule in ("unranked", "own", "lowest")
    )
    assert rank_by_rule(fill_missing(empty, "shared"), "mean").ranks == (None, None)
    assert rank_by_rule(empty, "kemeny").ranks == (1, None)


def test_a_task_left_out_takes_its_weight_with_it():
    profile = board((1.0, 0.0, 0.4), (0.0, 1.0, 0.5), weights=(3.0, 1.0, 2.0))
    assert rank_by_rule(without_task(profile, "a"), "mean").values == pytest.approx((0.8 / 3, 2.0 / 3))
    assert rank_by_rule(without_task(board((1.0, 0.5), weights=(0.0, 2.0)), "b"), "mean").ranks == (None,)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((("a",), ("t",), ((1.0, 2.0),)), "1 systems on 1 tasks"),
        ((("a",), ("t",), ((float("nan"),),)), "score of a on t is nan"),
        ((("a",), ("t",), ((1.0,),), (-1.0,)), "none negative"),
        ((("a",), ("t",), ((1.0,),), (0.0,)), "not all of them 0"),
    ],
)
def test_what_is_no_profile_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        Profile(*arguments)


def test_orders_that_hold_under_every_rule_are_counted():
    """s0 is better than s2 everywhere; s0 and s1 change places with the rule."""
    profile = board((0.9, 0.6, 0.6), (0.5, 0.7, 0.7), (0.4, 0.3, 0.2))
    standings = rank_by_every_rule(profile)
    assert list(standings) == [
        "mean",
        "borda",
        "median",
        "kemeny",
        "rank-score",
        *(f"mean without {task}" for task in "abc"),
    ]
    found = survives(profile, standings)
    assert [(verdict.ahead, verdict.behind, verdict.everywhere) for verdict in found.holds] == [
        ("s0", "s2", True),
        ("s1", "s2", True),
    ]
    (verdict,) = found.contested
    assert (verdict.ahead, verdict.behind) == ("s0", "s1")
    assert set(verdict.unless) == {"borda", "median", "kemeny", "mean without a"}


def test_rank_scores_are_distances_to_the_best_in_standard_deviations():
    """EuroEval's formula; the systems' own scores give the deviation, and a constant task none."""
    profile = board((0.9, 0.6, 0.5), (0.5, 0.7, 0.5), (0.4, 0.2, 0.5))
    scores = np.array(profile.scores)
    deviations = np.append(scores[:, :2].std(axis=0), 1.0)
    expected = (1 + (scores.max(axis=0) - scores) / deviations).mean(axis=1)
    assert rank_by_rule(profile, "rank-score").values == pytest.approx(tuple(expected), rel=1e-11)
    assert rank_by_rule(profile, "rank-score").ranks == (1, 2, 3)


def test_a_pair_better_everywhere_is_ahead_under_every_rule():
    rng = np.random.default_rng(4)
    for _ in range(100):
        profile = board(*(tuple(row) for row in rng.random((6, 5)).round(1)))
        found = survives(profile, rank_by_every_rule(profile))
        for verdict in found.contested:  # on one task or in the median they may be tied, never turned round
            if verdict.everywhere:
                assert verdict.unless
                for name in verdict.unless:
                    ranks = dict(zip(profile.systems, rank_by_every_rule(profile)[name].ranks, strict=True))
                    assert ranks[verdict.ahead] == ranks[verdict.behind]


def test_the_front_of_score_and_cost():
    """The third costs more than the second for less; the last has no cost; equals do not beat each other."""
    scores = (0.9, 0.8, 0.7, 0.6, 0.6, None, 0.95)
    costs = ((300.0, 9.0), (100.0, 5.0), (110.0, 5.0), (10.0, 6.0), (10.0, 6.0), (1.0, 1.0), (None, 1.0))
    assert pareto_front(scores, costs) == [True, True, False, True, True, None, None]
