"""Units against their definition: rows left out or exchanged, and scored by scikit-learn or scipy."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scoring.columns import (
    ACCURACY,
    F1,
    MCC,
    PEARSON,
    R_K,
    SPEARMAN,
    codes,
    labels,
    numbers,
    some_labels,
    some_numbers,
)
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.intervals import TOO_MANY
from gluebench.scoring.metrics import METRICS, MOST_KINDS, point
from gluebench.scoring.metrics.counts import CountMetric
from gluebench.scoring.paired import paired_tests
from gluebench.scoring.units import exchange, units_of
from gluebench.scoring.units.base import generator
from gluebench.scoring.units.exchange import fair_binomials, flips
from gluebench.scoring.withholding import too_few

ORACLES = {
    "accuracy": sk.accuracy_score,
    "f1": lambda gold, predicted: sk.f1_score(gold, predicted, pos_label=1),
    "matthews_correlation": sk.matthews_corrcoef,
    "r_k": sk.matthews_corrcoef,
    "pearson": lambda gold, predicted: stats.pearsonr(gold, predicted)[0],
    "spearman": lambda gold, predicted: stats.spearmanr(gold, predicted)[0],
}
RNG = np.random.default_rng


def without_each(metric: Metric, pairs) -> np.ndarray:
    """The metric without each unit in turn."""
    gold, predicted = codes(pairs)
    unit = np.arange(len(gold)) if pairs.groups is None else np.asarray(pairs.groups)
    oracle = ORACLES[metric.function]
    return np.array([oracle(gold[unit != each], predicted[unit != each]) for each in np.unique(unit)])


LABELS = [name for name in ORACLES if isinstance(METRICS[name], CountMetric)]


@pytest.mark.parametrize("name", LABELS)
def test_left_out_are_the_oracles(name: str) -> None:
    """Of two systems together, and with a kind for each combination of their answers."""
    metric = Metric(name, name, name, "F", "1")
    for groups in (None, np.arange(40) // 2, np.arange(40) % 13 * 3):
        systems = some_labels(40, 0.7, 0.8, classes=3 if name == "r_k" else 2, groups=groups)
        units = units_of([metric], systems)
        left_out = units.left_out()[0][:, units.kinds.of_units]
        assert units.size == (40 if groups is None else len(set(groups)))
        for at, pairs in enumerate(systems):
            assert left_out[at] == pytest.approx(without_each(metric, pairs), abs=1e-12)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(100), [5, 3] * 50)])
@pytest.mark.parametrize("metric", [PEARSON, SPEARMAN])
@pytest.mark.parametrize("decimals", [6, 0])
def test_numbers_left_out_are_nearly_scipys(metric, groups, decimals) -> None:
    systems = some_numbers(400, 1.0, 2.0, groups=groups, decimals=decimals)
    units = units_of([metric], systems)
    left_out = units.left_out()[0][:, units.kinds.of_units]
    for at, pairs in enumerate(systems):
        direct = without_each(metric, pairs)
        change = direct - ORACLES[metric.function](*codes(pairs))
        by_influence = left_out[at] - ORACLES[metric.function](*codes(pairs))
        assert by_influence == pytest.approx(change, abs=0.08 * np.abs(change).max())
        assert np.corrcoef(by_influence, change)[0, 1] > 0.999


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["pearson", "spearman"]))
def test_the_influence_of_a_correlation_is_its_derivative(seed: int, name: str) -> None:
    rng = RNG(seed)
    gold, predicted = rng.integers(0, 9, 50) / 2.0, rng.integers(0, 9, 50) / 2.0
    metric = METRICS[name]
    prepared = metric.prepared([gold]), metric.prepared([predicted])
    influence = metric.evaluated(*prepared).influence[0]
    copies = 400  # one more example among so many
    whole = ORACLES[name](gold, predicted)
    for at in range(3):
        more = (np.append(np.tile(column, copies), column[at]) for column in (gold, predicted))
        change = (ORACLES[name](*more) - whole) * 50 * copies
        assert change == pytest.approx(influence[at], abs=0.02)
    assert influence.mean() == pytest.approx(0, abs=1e-9)


def exchanged_by_hand(metrics, systems, resamples: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Differences of the mean of the metrics and their jackknife errors, unit by unit exchanged."""
    gold, ours = codes(systems[0])
    theirs = codes(systems[1])[1]
    unit = np.arange(len(gold)) if systems[0].groups is None else np.asarray(systems[0].groups)
    make = labels if systems[0].gold.labels else numbers
    found = []
    for _ in range(resamples):
        coins = rng.integers(0, 2, unit.max() + 1).astype(bool)[unit]
        a, b = np.where(coins, theirs, ours), np.where(coins, ours, theirs)
        extra = {"classes": len(systems[0].gold.labels)} if make is labels else {}
        units = units_of(metrics, make(gold, a, b, groups=systems[0].groups, **extra))
        values, lost = units.values().mean(axis=0), units.left_out().mean(axis=0)
        lost = lost[0] - lost[1]
        around = units.counts @ (lost - units.counts @ lost / units.size) ** 2
        found.append((values[0] - values[1], (around * (units.size - 1) / units.size) ** 0.5))
    return tuple(np.array(found).T)


@pytest.mark.parametrize("groups", [None, np.arange(160) // 4])
@pytest.mark.parametrize("metrics", [[ACCURACY, F1], [MCC], [PEARSON, SPEARMAN], [SPEARMAN]])
def test_exchanges_are_those_of_the_rows(metrics, groups) -> None:
    if isinstance(METRICS[metrics[0].function], CountMetric):
        systems = some_labels(160, 0.7, 0.8, groups=groups)
    else:
        systems = numbers(*np.array([codes(each)[1] for each in some_numbers(160, 0.5, 1.0, 1.5)]).round(1),
                          groups=groups)  # fmt: skip
    drawn = units_of(metrics, systems).exchange(3000, RNG(1))
    assert drawn.differences.shape == (len(metrics) + (len(metrics) > 1), 3001)
    differences, errors = exchanged_by_hand(metrics, systems, 400, RNG(2))
    assert stats.ks_2samp(drawn.differences[-1, 1:], differences).pvalue > 0.001
    assert np.median(drawn.errors[-1, 1:]) == pytest.approx(np.median(errors), rel=0.06)
    statistics = np.abs(drawn.differences[-1, 1:] / drawn.errors[-1, 1:])
    assert stats.ks_2samp(statistics, np.abs(differences / errors)).pvalue > 0.001


@pytest.mark.parametrize("groups", [None, np.arange(1200) // 2 * 2])
def test_what_was_observed_comes_first(groups) -> None:
    for metrics, systems in (
        ([ACCURACY, F1], some_labels(1200, 0.7, 0.8, groups=groups)),
        ([PEARSON, SPEARMAN], some_numbers(1200, 1.0, 2.0, groups=groups)),
        ([PEARSON, SPEARMAN], some_numbers(120, 1.0, 2.0, groups=None if groups is None else groups[:120])),
    ):
        units = units_of(metrics, systems)
        drawn, values, lost = units.exchange(20, RNG(0)), units.values(), units.left_out()
        expected = values[:, 0] - values[:, 1]
        assert drawn.differences[:, 0] == pytest.approx([*expected, expected.mean()], abs=1e-12)
        lost = lost[:, 0] - lost[:, 1]
        for at, each in enumerate([*lost, lost.mean(axis=0)]):
            around = units.counts @ (each - units.counts @ each / units.size) ** 2
            assert drawn.errors[at, 0] == pytest.approx((around * (1 - 1 / units.size)) ** 0.5, rel=0.02)


def test_exchanging_a_unit_that_agrees_changes_nothing() -> None:
    gold = [0, 1] * 20
    units = units_of([ACCURACY], labels(gold, gold, gold))
    drawn = units.exchange(50, RNG(0))
    assert units.apart() == 0
    assert not drawn.differences.any()
    assert not drawn.errors.any()


def test_units_apart_are_groups_where_there_are_groups() -> None:
    a, b = [0, 1, 0, 1, 0, 1], [1, 0, 0, 1, 0, 0]
    assert units_of([ACCURACY], labels([0] * 6, a, b)).apart() == 3
    assert units_of([ACCURACY], labels([0] * 6, a, b, groups=[0, 0, 1, 1, 7, 7])).apart() == 2
    assert units_of([PEARSON], numbers([0, 1, 2], [0, 1, 2], [0, 5, 2])).apart() == 1
    grouped = numbers([0, 1, 2, 3], [0, 1, 2, 9], [0, 5, 2, 3], groups=[4, 2, 4, 2])
    assert units_of([PEARSON], [*grouped, grouped[0]]).apart() == 1, "of the first two systems"


@given(st.lists(st.integers(0, 300), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_fair_binomials_are_binomial(counts) -> None:
    drawn = fair_binomials(np.array(counts), 4000, RNG(3)).astype(float)
    for count, row in zip(counts, drawn.T, strict=True):
        assert ((row >= 0) & (row <= count)).all()
        assert row.mean() == pytest.approx(count / 2, abs=0.05 + 5 * (count / 4 / 4000) ** 0.5)
        assert row.var() == pytest.approx(count / 4, rel=0.15, abs=0.01)


@pytest.mark.parametrize(
    ("gold", "predicted", "sparse"),
    [
        ("0101010101", "1101010101", True),  # four answers of another label
        ("010101010101", "110101010101", False),
        ("0112233", "1112233", True),  # seven
        ("0101010101", "0101010101", True),  # all right
        ("0101010101", "1010101010", True),  # all wrong
        ("00000001111", "10000001111", True),  # four of another gold label
        ("000000011111", "000000001111", True),  # four of another predicted label
        ("000000011111", "100000011111", False),
    ],
)
def test_what_is_too_few_to_say(gold: str, predicted: str, *, sparse: bool) -> None:
    pairs = labels(map(int, gold), map(int, predicted), classes=4)
    assert too_few(R_K, pairs[0]) is sparse
    assert not too_few(ACCURACY, pairs[0]), "an accuracy has Wilson's interval at any size"


@pytest.mark.parametrize(("gold", "few"), [("00000001111", True), ("000000011111", False), ("0000111", True)])
def test_gold_alone_decides_whether_a_difference_has_an_interval(gold: str, *, few: bool) -> None:
    units = units_of([MCC, ACCURACY], labels(map(int, gold), map(int, gold), [0] * len(gold)))
    assert (units.few(0), units.few(1)) == (few, len(gold) < 8)


def test_groups_are_what_is_counted() -> None:
    pairs = labels([0, 1] * 8, [1, 0] + [0, 1] * 7, groups=[at // 4 for at in range(16)])
    assert too_few(MCC, pairs[0]), "four groups, though sixteen examples"
    assert units_of([MCC], pairs).few(0)


def test_a_files_random_numbers_are_its_own() -> None:
    assert generator(0, "A").random() == generator(0, "A").random()
    assert len({generator(seed, name).random() for seed in (0, 1) for name in ("A", "B")}) == 4


class TestMetricFromElsewhere:
    """A metric that a package offers under the entry-point group."""

    @pytest.fixture
    def offered(self, monkeypatch):
        class Offered(dict):
            names = property(lambda self: set(self))

        points = Offered(
            share_right=SimpleNamespace(load=lambda: lambda gold, predicted: np.mean(gold == predicted))
        )
        monkeypatch.setattr(
            metadata, "entry_points", lambda group: {"gluebench.metrics": points}.get(group, ())
        )
        return Metric("right", "share_right", "right", "F")

    def test_it_is_the_built_in_one(self, offered) -> None:
        """Its function is called once for each kind of examples, of which labels have few."""
        systems = some_labels(1000, 0.7, 0.8)
        rows, counted = (units_of([metric], systems) for metric in (offered, ACCURACY))
        assert rows.left_out() == pytest.approx(counted.left_out(), abs=1e-12)
        drawn = [units.exchange(500, RNG(0)) for units in (rows, counted)]
        assert drawn[0].differences == pytest.approx(drawn[1].differences, abs=1e-12)
        assert drawn[0].errors == pytest.approx(drawn[1].errors, abs=1e-9)

    def test_of_very_many_different_rows_it_has_no_interval(self, offered) -> None:
        for n, withheld in ((MOST_KINDS, None), (MOST_KINDS + 1, TOO_MANY)):
            systems = numbers(range(n), np.arange(n) % 7, np.arange(n) % 5)
            (bar,) = file_intervals([offered], systems[0], [point(offered, systems[0])])
            assert bar.withheld == withheld
            (test,) = paired_tests(units_of([offered], systems), resamples=9, rng=RNG(0))
            assert (test.p == 1.0) is (withheld is not None) is units_of([offered], systems).few(0)

    def test_beside_a_built_in_one_both_are_called(self, offered) -> None:
        systems = some_labels(80, 0.7, 0.8, groups=np.arange(80) // 2)
        units = units_of([ACCURACY, offered], systems)
        assert units.size == 40
        lost = units.left_out()[:, :, units.kinds.of_units]
        assert lost[0] == pytest.approx(lost[1], abs=1e-12)
        assert lost[0, 0] == pytest.approx(without_each(ACCURACY, systems[0]), abs=1e-12)


def error_of_an_accuracy(a, b, unit) -> float:
    """The standard error of a difference in accuracy: of the sums over units of centered differences."""
    changes = a - b - (a - b).mean()
    sums = np.array([changes[unit == each].sum() for each in np.unique(unit)])
    return ((sums**2).sum() * len(sums) / (len(sums) - 1)) ** 0.5 / len(a)


@pytest.mark.parametrize("groups", [None, np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3])])
def test_every_exchange_of_an_accuracy_is_one_of_rows(groups) -> None:
    """Each of the exchanges has the values of its own rows, and all of them come up."""
    gold = np.array([0, 0, 0, 1, 1, 0, 1, 1, 1, 1])
    ours, theirs = gold.copy(), gold.copy()
    ours[[0, 9]] = 1 - ours[[0, 9]]
    theirs[[3, 8]] = 1 - theirs[[3, 8]]
    unit = np.arange(10) if groups is None else groups
    differing = np.unique(unit[ours != theirs])
    expected = set()
    for mask in range(1 << len(differing)):
        swapped = np.isin(unit, differing[[bool(mask >> bit & 1) for bit in range(len(differing))]])
        a, b = np.where(swapped, theirs, ours), np.where(swapped, ours, theirs)
        difference = sk.accuracy_score(gold, a) - sk.accuracy_score(gold, b)
        error = error_of_an_accuracy((a == gold) * 1.0, (b == gold) * 1.0, unit)
        expected.add((*np.round([difference, error], 9) + 0.0,))
    units = units_of([ACCURACY], labels(gold, ours, theirs, groups=groups))
    assert units.apart() == len(differing)
    found = np.vstack([*units.exchange(2000, RNG(0))]).T.round(9) + 0.0
    assert {(*row,) for row in found.tolist()} == expected


@pytest.mark.parametrize("metric", [PEARSON, SPEARMAN])
@pytest.mark.parametrize("groups", [None, np.repeat(range(4), [1, 2, 1, 3])])
def test_every_exchange_of_numbers_is_one_of_rows(metric, groups) -> None:
    """On z-scores or ranks, which are what the two systems exchange."""
    gold, ours, theirs = (RNG(seed).permutation(7) for seed in (1, 2, 3))
    unit = np.arange(7) if groups is None else groups
    number = len(np.unique(unit))
    drawn = units_of([metric], numbers(gold, ours, theirs, groups=groups)).exchange(300, RNG(0))
    every = []
    for mask in range(1 << number):
        swapped = np.array([bool(mask >> each & 1) for each in unit])
        a, b = np.where(swapped, theirs, ours), np.where(swapped, ours, theirs)
        rank = (lambda column: column) if metric is PEARSON else stats.rankdata
        every.append(stats.pearsonr(gold, rank(a))[0] - stats.pearsonr(gold, rank(b))[0])
    assert drawn.differences[0, 0] == pytest.approx(every[0])
    distance = np.abs(drawn.differences[0][:, None] - np.array(every)).min(axis=1)
    assert distance.max() < 1e-9
    assert len(np.unique(drawn.differences[0].round(9))) > 1


@pytest.mark.parametrize("sizes", [np.ones(3) / 3, np.array([0.5, 0.3, 0.2])])
def test_every_flip_is_a_sign_for_each_unit(sizes) -> None:
    units = np.array([[0.1, 0.02, -0.05], [0.3, 0.01, 0.2]])
    expected = set()
    for signs in np.array(np.meshgrid(*[[1, -1]] * 3)).reshape(3, -1).T:
        total = (units * signs).sum(axis=1)
        around = units * signs - total[:, None] * sizes
        errors = np.sqrt((around**2).sum(axis=1) * 3 / 2)
        expected.add((*total.round(9), *errors.round(9)))
    drawn = flips(units, sizes, np.ones(3, int), resamples=300, rng=RNG(0))
    assert drawn.differences.shape == drawn.errors.shape == (2, 301)
    assert drawn.differences[:, 0] == pytest.approx(units.sum(axis=1))
    assert {(*row,) for row in np.vstack([*drawn]).T.round(9).tolist()} == expected
    single = flips(np.array([[0.5]]), np.ones(1), np.ones(1, int), resamples=4, rng=RNG(0))
    assert not single.errors.any()


def test_draws_come_in_blocks_of_a_bounded_size(monkeypatch) -> None:
    monkeypatch.setattr(exchange, "AT_ONCE", 40)
    assert [*exchange.blocks(10, 10)] == [4, 4, 2]
    assert [*exchange.blocks(8, 10)] == [4, 4]
    assert [*exchange.blocks(3, 1000)] == [1, 1, 1]
    assert [*exchange.blocks(50, 0)] == [40, 10]
    assert [*exchange.blocks(0, 1)] == []
    for metrics, systems in (
        ([ACCURACY, F1], some_labels(12, 0.5, 0.5)),
        ([ACCURACY, F1], some_labels(12, 0.5, 0.5, groups=np.arange(12) // 2)),
        ([PEARSON, SPEARMAN], some_numbers(12, 1.0, 2.0)),
        ([PEARSON], some_numbers(1000, 1.0, 2.0)),
    ):
        drawn = units_of(metrics, systems).exchange(11, RNG(0))
        assert {array.shape for array in drawn} == {(len(metrics) + (len(metrics) > 1), 12)}
        assert len(np.unique(drawn.errors[0])) > 3, "each block has its own draws"


def test_several_scores_have_their_mean_last() -> None:
    one, two = np.array([1.0, 2.0]), np.array([3.0, 6.0])
    assert exchange.with_mean(np.array([one, two])).tolist() == [[1.0, 2.0], [3.0, 6.0], [2.0, 4.0]]
    assert exchange.with_mean(np.array([one])).tolist() == [[1.0, 2.0]]
    assert labels([0, 1, 0], [0, 1, 1], groups=[9, 2, 9])[0].units.tolist() == [1, 0, 1]
    assert labels([0], [0])[0].units is None


@pytest.mark.parametrize("classes", [2, 17, 120])
def test_combinations_are_counted_alike_however_many_there_can_be(classes: int) -> None:
    """Every way to count combinations gives the numbers of the rows, in the order of their words."""
    systems = some_labels(60, *[0.6] * (9 if classes > 2 else 3), classes=classes)
    units = units_of([ACCURACY], systems)
    columns = [systems[0].gold.words(), *(each.predicted.words() for each in systems)]
    rows = list(zip(*columns, strict=True))
    different = sorted(set(rows))
    assert units.counts.tolist() == [rows.count(row) for row in different]
    assert [different[kind] for kind in units.kinds.of_units] == rows


def test_single_coins_and_very_many() -> None:
    drawn = fair_binomials(np.array([1, 64, 65, 3]), 4000, RNG(0)).T
    assert set(drawn[0]) == {0.0, 1.0}
    assert set(drawn[3]) == {0.0, 1.0, 2.0, 3.0}
    assert drawn.mean(axis=1) == pytest.approx([0.5, 32, 32.5, 1.5], rel=0.05)
    assert drawn.var(axis=1) == pytest.approx([0.25, 16, 16.25, 0.75], rel=0.1)
    assert abs(np.corrcoef(drawn) - np.eye(4)).max() < 0.08


def test_fewer_numbers_than_25_have_no_interval() -> None:
    for n, few in ((24, True), (25, False)):
        pairs = some_numbers(n, 1.0)
        assert (units_of([PEARSON], pairs).few(0), too_few(PEARSON, pairs[0])) == (few, few)


@pytest.mark.parametrize("n", [8, 1000])
@pytest.mark.parametrize("metric", [ACCURACY, PEARSON])
def test_a_unit_is_exchanged_as_often_as_not(metric, n: int) -> None:
    """An exchange and that of all other units are mirror images, so that the mean difference is 0."""
    if metric is PEARSON:
        gold = np.arange(n)
        systems = numbers(gold, gold + 0.1, gold + RNG(0).permutation(n))
    else:
        systems = labels([1] * n, [1] * n, [0, 1] * (n // 2))
    drawn = units_of([metric], systems).exchange(2000, RNG(0)).differences[0]
    spread = drawn[1:].std() / 2000**0.5
    assert abs(drawn[1:].mean()) < 4 * spread < abs(drawn[0]) / 10


def test_what_was_observed_comes_first_of_groups_too() -> None:
    """Contributions are centered for each metric and system, so that they add up to its value."""
    systems = some_labels(40, 0.6, 0.9, groups=np.arange(40) // 2)
    units = units_of([MCC, ACCURACY], systems)
    values, drawn = units.values(), units.exchange(20, RNG(0))
    expected = values[:, 0] - values[:, 1]
    assert drawn.differences[:, 0] == pytest.approx([*expected, expected.mean()], abs=1e-12)
    lost = (units.left_out()[:, 0] - units.left_out()[:, 1])[:, units.kinds.of_units]
    around = ((lost - lost.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    assert drawn.errors[:2, 0] == pytest.approx((around * 19 / 20) ** 0.5)


@pytest.mark.parametrize(("metric", "seed"), [(F1, 0), (MCC, 1)])
def test_few_units_are_exchanged_as_every_exchange_says(metric: Metric, seed: int) -> None:
    """p of seven examples against all 128 exchanges, each scored again by scikit-learn with its jackknife."""
    rng = np.random.default_rng(seed)
    gold = np.append(rng.integers(0, 2, 4), [0, 1, 1])
    a, b = (np.where(rng.random(7) < 0.6, gold, 1 - gold) for _ in range(2))
    systems = labels(gold, a, b)

    @cache
    def score_of(right: bytes, answers: bytes) -> float:
        return ORACLES[metric.function](np.frombuffer(right, gold.dtype), np.frombuffer(answers, gold.dtype))

    def score(right: np.ndarray, answers: np.ndarray) -> float:
        return score_of(right.tobytes(), answers.tobytes())  # few are different

    def statistic(coins: int) -> float:
        flags = np.array([coins >> at & 1 for at in range(7)], np.bool_)
        one, other = np.where(flags, b, a), np.where(flags, a, b)
        difference = score(gold, one) - score(gold, other)
        without = [
            score(np.delete(gold, at), np.delete(one, at)) - score(np.delete(gold, at), np.delete(other, at))
            for at in range(7)
        ]
        changes = difference - np.array(without)
        error = float(np.sqrt(((changes - changes.mean()) ** 2).sum() * 6 / 7))
        if abs(difference) < 1e-12:
            return 0.0
        return round(abs(difference) / error, 9) if error > 1e-12 else np.inf

    every = np.array([statistic(coins) for coins in range(128)])
    observed = every[0]
    expected = np.mean(every > observed) + np.mean(every == observed) / 2 if observed else 1.0
    test = paired_tests(units_of([metric], systems), resamples=20_000, rng=rng)[0]
    assert test.p == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize("groups", [None, np.arange(40) // 2])
def test_each_different_exchange_is_counted_once(groups, monkeypatch) -> None:
    """Six examples differ, of three kinds: 1,000 draws repeat 4 x 3 x 2 exchanges."""
    gold = np.repeat([0, 1, 2], [14, 14, 12])
    a, b = gold.copy(), gold.copy()
    a[[0, 2, 4]], b[[15, 17]], b[30] = 1, 2, 0
    (first, second) = labels(gold, a, b, groups=groups, classes=3)
    counted = []
    exchanged = exchange.CountTables.count_again

    def count(tables, heads):
        counted.extend(map(tuple, heads))
        return exchanged(tables, heads)

    monkeypatch.setattr(exchange.CountTables, "count_again", count)
    drawn = units_of([R_K], [first, second]).exchange(1000, RNG(0))
    assert drawn.differences.shape == (1, 1001)
    assert len(counted) <= 4 * 3 * 2 // 2 + 1, "an exchange and its opposite once"

    def count_all(_, heads):
        every = np.arange(len(heads))
        return every, every, np.ones(len(heads))

    monkeypatch.setattr(exchange.CountTables, "different_exchanges", count_all)
    again = units_of([R_K], [first, second]).exchange(1000, RNG(0))
    assert drawn.differences == pytest.approx(again.differences, abs=1e-15)
    assert drawn.errors == pytest.approx(again.errors, abs=1e-15)
