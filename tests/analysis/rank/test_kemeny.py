"""Kemeny's order against trying every order."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from gluebench.analysis.rank import arrays
from gluebench.analysis.rank.arrays import consensus
from gluebench.analysis.rank.rules import Profile, rank_by_rule


def brute_force(support):
    """The least cost, and the best place of each over all orders that have it."""
    costs = {}
    for order in permutations(range(len(support))):
        costs[order] = sum(support[j][i] for at, i in enumerate(order) for j in order[at + 1 :])
    least = min(costs.values())
    best = [order for order, cost in costs.items() if cost <= least + 1e-9]
    places = [[order.index(system) + 1 for order in best] for system in range(len(support))]
    return least, tuple(map(min, places))


def support_of(scores, weights):
    return [[float(weights[one > other].sum()) for other in scores] for one in scores]


def test_random_profiles_have_the_order_of_brute_force():
    """Up to seven systems, with ties and weights, so that cycles and several best orders are common."""
    wrong = []
    for seed in range(240):
        rng = np.random.default_rng(seed)
        systems, tasks = (7, 9) if seed % 80 == 0 else (int(rng.integers(1, 7)), int(rng.integers(1, 10)))
        scores = rng.integers(0, rng.choice([3, 10, 1000]), size=(systems, tasks))
        weights = rng.integers(0, 4, tasks) if seed % 3 else np.ones(tasks)
        support = support_of(scores, weights)
        order = consensus(support)
        if not order.exact or (order.cost, order.first) != brute_force(support):
            wrong.append(seed)
    assert wrong == []


def test_a_profile_goes_the_same_way():
    rng = np.random.default_rng(5)
    scores = rng.random((5, 4))
    rows = tuple(tuple(row) for row in scores)
    found = rank_by_rule(Profile(tuple("abcde"), tuple("wxyz"), rows), "kemeny")
    assert found.values == brute_force(support_of(scores, np.ones(4)))[1]


def test_a_cycle_is_a_tie():
    """Condorcet's three voters: each candidate beats the next two to one, so no place can be told."""
    cycle = Profile(tuple("abc"), tuple("xyz"), ((3.0, 1.0, 2.0), (2.0, 3.0, 1.0), (1.0, 2.0, 3.0)))
    assert rank_by_rule(cycle, "kemeny").ranks == (1, 1, 1)


def test_many_systems_without_a_cycle_are_exact():
    scores = np.array([(float(-at), float(-at), float(at)) for at in range(100)])
    found = consensus(support_of(scores, np.ones(3)))
    assert found.first == tuple(range(1, 101))
    assert found.exact
    assert found.cost == 100 * 99 / 2


def test_beyond_the_limit_it_is_bounded(monkeypatch):
    """The search is held to what the dynamic program finds where both can be had."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        support = support_of(rng.random((9, 9)), np.ones(9))
        exact = consensus(support)
        with monkeypatch.context() as patch:
            patch.setattr(arrays, "EXACT_UP_TO", 1)
            near = consensus(support)
        assert near.bound <= exact.cost <= near.cost <= 1.1 * exact.cost, seed
        assert sorted(near.first) == list(range(1, 10)) or near.exact, seed


def test_an_approximate_order_says_so():
    rng = np.random.default_rng(8)
    rows = tuple(tuple(row) for row in rng.random((30, 9)))
    found = rank_by_rule(Profile(tuple(map(str, range(30))), tuple("abcdefghi"), rows), "kemeny")
    assert "approximate" in found.note
    assert sorted(found.ranks) == list(range(1, 31))
