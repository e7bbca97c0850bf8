"""Decisions on all pairs of a board against the definitions written out as loops, and against scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gluebench.analysis.rank import decisions
from gluebench.analysis.rank.decisions import (
    ALPHA,
    PairVariances,
    RunVariances,
    covariances,
    critical_values,
    decide,
    normal_deviates,
    p_values,
    rank_sets,
    sign_test_deviate,
)
from gluebench.analysis.rank.packed import (
    indistinguishable,
    pack_decisions,
    pack_p_values,
    restrict,
    unpack_decisions,
    unpack_p_values,
)


def plainly_tied(z):
    """The rounds of the definition, a system, a number and a pair at a time."""
    size = len(z)
    critical = [0.0, 0.0]
    for k in range(2, size + 1):
        share = 1 - (1 - ALPHA) ** (2 / (size * (k - 1)))
        critical.append(stats.norm.isf(share / 2))
    tied = [size] * size
    while True:
        now = []
        for i in range(size):
            near = [
                abs(z[i][j])
                for j in range(size)
                if j != i and (size == 1 or abs(z[i][j]) <= critical[max(min(tied[i], tied[j]), 2)])
            ]
            possible = [k for k in range(2, size + 1) if sum(each <= critical[k] for each in near) >= k - 1]
            now.append(max(possible, default=1))
        if now == tied:
            return tied, critical
        tied = now


def skew(rng, size, spread):
    z = np.triu(rng.normal(0, spread, (size, size)), 1)
    return z - z.T


@pytest.mark.parametrize("size", [2, 3, 5, 8, 13])
def test_decisions_are_those_of_the_definition(size):
    rng = np.random.default_rng(size)
    for spread in (0.5, 2.0, 4.0, 8.0):
        for _ in range(10):
            z = skew(rng, size, spread)
            tied, critical = plainly_tied(z)
            found = decide(z)
            assert found.tied.tolist() == tied
            for i, j in combinations(range(size), 2):
                bound = critical[max(min(tied[i], tied[j]), 2)]
                assert found.better[i, j] == (z[i, j] > bound)
                assert found.better[j, i] == (z[j, i] > bound)


def test_the_most_severe_critical_value_is_sidaks():
    for size in (2, 20, 300):
        pairs = size * (size - 1) / 2
        exact = stats.norm.isf((1 - (1 - ALPHA) ** (1 / pairs)) / 2)
        assert critical_values(size)[size] == pytest.approx(exact, abs=1e-9)
    assert (np.diff(critical_values(300)[2:]) > 0).all()


def test_two_systems_are_tested_at_the_nominal_level():
    for z, apart in ((1.9599, False), (1.9600, True)):
        assert decide(np.array([[0, z], [-z, 0]])).better.any() == apart


def test_equal_systems_within_the_bound_of_their_class_stay_undecided():
    """The event of the proof: two classes, each within its own c, whatever the pairs between them."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        sizes = rng.integers(1, 6, 3)
        of = np.repeat(np.arange(3), sizes)
        z = skew(rng, len(of), 9.0)
        critical = critical_values(len(of))
        same = of[:, np.newaxis] == of
        bound = critical[sizes[of]]
        z = np.where(same, np.clip(z, -bound[:, np.newaxis], bound[:, np.newaxis]), z)
        better = decide(z).better
        assert not (better & same).any()


def test_adjusted_p_values_are_at_most_alpha_exactly_where_decided():
    rng = np.random.default_rng(2)
    for _ in range(50):
        z = skew(rng, 12, 4.0)
        found = decide(z)
        adjusted = found.adjusted(p_values(z))
        np.fill_diagonal(adjusted, 1.0)
        assert ((adjusted <= ALPHA) == (found.better | found.better.T)).all()
        assert (adjusted >= np.minimum(p_values(z), ALPHA) - 1e-15).all()
    at_bound = critical_values(4)[4]
    z = np.full((4, 4), at_bound)
    z = np.triu(z, 1) - np.triu(z, 1).T
    assert not decide(z).better.any()
    assert (decide(z).adjusted(p_values(z)) > ALPHA).all()


def test_blocks_of_rows_change_nothing(monkeypatch):
    z = skew(np.random.default_rng(3), 40, 4.0)
    whole = decide(z)
    monkeypatch.setattr(decisions.row_blocks, "__defaults__", (7,))
    parts = decide(z)
    assert (parts.better == whole.better).all()
    assert (parts.tied == whole.tied).all()


def test_the_order_of_systems_changes_nothing():
    rng = np.random.default_rng(4)
    z = skew(rng, 25, 4.0)
    turn = rng.permutation(25)
    one, other = decide(z), decide(z[np.ix_(turn, turn)])
    assert (one.better[np.ix_(turn, turn)] == other.better).all()
    assert (one.tied[turn] == other.tied).all()


def board(rng, shift, sizes=(80, 50), groups=0.6):
    """Averages and variances of systems on two files, and each file's values, shape (systems, units)."""
    variances, values = PairVariances(len(shift)), []
    for n in sizes:
        common = rng.normal(size=n)
        own = rng.normal(size=(len(shift), n))
        values.append(groups * common + own + np.asarray(shift)[:, np.newaxis])
        influence = values[-1] - values[-1].mean(axis=1, keepdims=True)
        variances.add(covariances(lambda part, of=influence: of[:, part], len(shift), n), n, 0.5)
    averages = sum(file.mean(axis=1) for file in values) / 2
    return averages, variances, values


def test_z_is_welchs_t_of_every_pair():
    averages, variances, values = board(np.random.default_rng(5), [0, 0.2, 0.4, 0.1, 0.9])
    z = variances.deviates(averages)
    assert (z == -z.T).all()
    for i, j in combinations(range(5), 2):
        squares = [np.var(file[i] - file[j], ddof=1) / file.shape[1] / 4 for file in values]
        terms = [square**2 / (file.shape[1] - 1) for square, file in zip(squares, values, strict=True)]
        t = (averages[i] - averages[j]) / np.sqrt(sum(squares))
        p = 2 * stats.t.sf(abs(t), sum(squares) ** 2 / sum(terms))
        assert p_values(z)[i, j] == pytest.approx(p, rel=0.02, abs=1e-12)


def test_z_in_blocks_is_z(monkeypatch):
    averages, variances, _ = board(np.random.default_rng(6), np.linspace(0, 1, 13))
    whole = variances.deviates(averages)
    monkeypatch.setattr(decisions.row_blocks, "__defaults__", (5,))
    averages, variances, _ = board(np.random.default_rng(6), np.linspace(0, 1, 13))
    assert variances.deviates(averages) == pytest.approx(whole, rel=1e-10, abs=1e-12)


def test_single_precision_serves_for_large_boards(monkeypatch):
    averages, variances, _ = board(np.random.default_rng(7), np.linspace(0, 1, 30))
    exact = variances.deviates(averages)
    monkeypatch.setattr(decisions, "PRECISE_UP_TO", 3)
    averages, variances, _ = board(np.random.default_rng(7), np.linspace(0, 1, 30))
    rough = variances.deviates(averages)
    assert rough.dtype == np.float32
    assert rough == pytest.approx(exact, rel=1e-3, abs=1e-4)


def test_the_order_of_units_changes_rounding_only():
    rng = np.random.default_rng(8)
    values = rng.normal(size=(6, 3000))
    values -= values.mean(axis=1, keepdims=True)
    found = []
    for order in (np.arange(3000), rng.permutation(3000)):
        variances = PairVariances(6)
        variances.add(covariances(lambda part, of=order: values[:, of[part]], 6, 3000), 3000)
        found.append(variances.deviates(np.linspace(0, 0.1, 6)))
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_identical_answers_are_never_told_apart():
    rng = np.random.default_rng(9)
    right = (rng.random((4, 300)) < [[0.5], [0.7], [0.7], [0.9]]).astype(float)
    right[2] = right[1]
    variances = PairVariances(4)
    influence = right - right.mean(axis=1, keepdims=True)
    variances.add(covariances(lambda part: influence[:, part], 4, 300), 300)
    z = variances.deviates(right.mean(axis=1))
    assert z[1, 2] == z[2, 1] == 0
    better = decide(z).better
    assert not better[1, 2] | better[2, 1]
    assert better[3, 0]


@pytest.mark.parametrize(("units", "apart"), [(4, False), (6, True), (300, True)])
def test_a_constant_difference_is_tested_by_its_sign(units, apart):
    """All right against all wrong: n of n units speak for one, p = 2 ** (1 - n)."""
    variances = PairVariances(2)
    variances.add(covariances(lambda part: np.zeros((2, part.stop - part.start)), 2, units), units)
    z = variances.deviates(np.array([1.0, 0.0]))
    exact = stats.binomtest(units, units).pvalue
    assert p_values(z)[0, 1] == pytest.approx(exact, rel=1e-6)
    assert decide(z).better[0, 1] == apart
    assert sign_test_deviate(1) == 0


def test_few_answers_do_not_decide_by_t_alone():
    """19 of 20 differing answers for one: no 20 answers can say more than the sign test does."""
    right = np.array([[1.0] * 19 + [0.0], [0.0] * 19 + [1.0]])
    influence = right - right.mean(axis=1, keepdims=True)
    for normal in (False, True):
        variances = PairVariances(2)
        variances.add(covariances(lambda part: influence[:, part], 2, 20), 20)
        z = variances.deviates(right.mean(axis=1), normal=normal)[0, 1]
        assert (z <= sign_test_deviate(20)) != normal


def test_a_normal_deviate_has_the_p_value_of_students_t():
    t = np.array([0.5, 2.0, 4.0, 6.0])
    for df in (24, 60, 1000):
        exact = stats.norm.isf(stats.t.sf(t, df))
        assert normal_deviates(t**2, np.full(4, float(df))) == pytest.approx(exact, abs=0.005)
    for df in (1, 2, 4, 8):
        t = stats.t.isf(np.array([0.01, 1e-3, 1e-6]), df)
        assert (normal_deviates(t**2, np.full(3, float(df))) <= stats.norm.isf([0.01, 1e-3, 1e-6])).all()
    assert normal_deviates(np.array([9.0, np.inf]), np.array([np.inf, 3.0])).tolist() == [3.0, np.inf]


def test_runs_add_their_variance_with_its_degrees_of_freedom():
    """Two systems of 4 and 3 runs without any spread over examples: Welch's t-test of their scores."""
    a, b = np.array([0.81, 0.83, 0.80, 0.84]), np.array([0.79, 0.80, 0.75])
    between = np.array([a.var(ddof=1) / 4, b.var(ddof=1) / 3])
    variances = PairVariances(2)
    variances.add(covariances(lambda part: np.zeros((2, part.stop - part.start)), 2, 100), 100)
    runs = RunVariances(between, between, between**2 / [3, 2])
    z = variances.deviates(np.array([a.mean(), b.mean()]), runs)
    welch = stats.ttest_ind(a, b, equal_var=False)
    expected = normal_deviates(np.array([welch.statistic**2]), np.array([welch.df]))
    assert z[0, 1] == pytest.approx(expected[0], rel=1e-9)


def test_rounding_widens_and_hides():
    """Standard errors of hidden labels are rounded up to few values, so that z says little about them."""
    averages, variances, _ = board(np.random.default_rng(11), np.linspace(0, 0.1, 8), (9000, 7000))
    exact = variances.deviates(averages)
    averages, variances, _ = board(np.random.default_rng(11), np.linspace(0, 0.1, 8), (9000, 7000))
    shown = variances.deviates(averages, rounding=np.full(8, 1e-5))
    off = ~np.eye(8, dtype=bool)
    assert (np.abs(shown) < np.abs(exact))[off].all()
    errors = np.abs(np.subtract.outer(averages, averages)[off] / shown[off])
    assert errors.min() > np.sqrt(2e-5)
    steps = np.log(errors) / np.log(decisions.STEP)
    assert steps == pytest.approx(steps.round(), abs=0.05)


def test_statements_follow_from_the_decisions():
    better = np.zeros((4, 4), bool)
    better[0, 2] = better[0, 3] = better[1, 3] = better[2, 3] = True
    low, high = rank_sets(better)
    assert low.tolist() == [1, 1, 2, 4]
    assert high.tolist() == [2, 3, 3, 4]


def test_packed_decisions_and_p_values():
    rng = np.random.default_rng(12)
    z = skew(rng, 11, 4.0)
    found = decide(z)
    text = pack_decisions(found.better)
    assert (unpack_decisions(text, 11) == found.better).all()
    for at in range(11):
        others = [j for j in range(11) if j != at and not found.better[at, j] | found.better[j, at]]
        assert indistinguishable(text, 11, at) == others
    part = restrict(found.better, [7, 3, 5])
    low, high = rank_sets(found.better[np.ix_([7, 3, 5], [7, 3, 5])])
    assert (part[0].tolist(), part[1].tolist()) == (low.tolist(), high.tolist())
    adjusted = found.adjusted(p_values(z))
    back = unpack_p_values(pack_p_values(adjusted, p_values(z)), 11)
    off = ~np.eye(11, dtype=bool)
    assert back.adjusted[off] == pytest.approx(adjusted[off], rel=1e-6)
    assert back.raw[off] == pytest.approx(p_values(z)[off], rel=1e-6)
    assert ((back.adjusted.astype(float) <= ALPHA) == (adjusted <= ALPHA))[off].all()
    close = np.full((3, 3), np.nextafter(ALPHA, 1))
    assert (unpack_p_values(pack_p_values(close, close), 3).adjusted.astype(float) > ALPHA)[0, 1]
    level = np.full((3, 3), ALPHA)
    assert (unpack_p_values(pack_p_values(level, level), 3).adjusted.astype(float) <= ALPHA)[0, 1]
