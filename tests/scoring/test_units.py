"""Units against their definition: rows left out or exchanged, and scored by scikit-learn or scipy."""

from __future__ import annotations

from collections import Counter
from importlib import metadata
from types import SimpleNamespace
from zlib import crc32

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
from gluebench.scoring.metrics import METRICS, point
from gluebench.scoring.metrics.counts import CountMetric
from gluebench.scoring.metrics.numbers import NumberMetric
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.units import LabelUnits, NumberUnits, RowUnits, base, units_of
from gluebench.scoring.units.base import flips, generator, group_numbers
from gluebench.scoring.units.labels import fair_binomials

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


@pytest.mark.parametrize("groups", [None, np.arange(30) // 2, np.arange(30) % 13 * 3])
@pytest.mark.parametrize("metric", [ACCURACY, F1, MCC, R_K])
def test_labels_left_out_are_scikit_learns(metric, groups) -> None:
    systems = some_labels(30, 0.7, 0.8, 0.75, classes=3 if metric is R_K else 2, groups=groups)
    for count in (1, 3):
        units = LabelUnits([metric], systems[:count])
        assert units.size == (30 if groups is None else len(set(groups)))
        for at, pairs in enumerate(systems[:count]):
            spread = np.repeat(units.left_out()[0, at], units.counts)
            assert sorted(spread) == pytest.approx(sorted(without_each(metric, pairs)), abs=1e-12)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(100), [5, 3] * 50)])
@pytest.mark.parametrize("metric", [PEARSON, SPEARMAN])
@pytest.mark.parametrize("decimals", [6, 0])
def test_numbers_left_out_are_nearly_scipys(metric, groups, decimals) -> None:
    systems = some_numbers(400, 1.0, 2.0, groups=groups, decimals=decimals)
    units = NumberUnits([metric], systems)
    for at, pairs in enumerate(systems):
        direct = without_each(metric, pairs)
        change = direct - ORACLES[metric.function](*codes(pairs))
        by_influence = units.left_out()[0, at] - ORACLES[metric.function](*codes(pairs))
        assert by_influence == pytest.approx(change, abs=0.08 * np.abs(change).max())
        assert np.corrcoef(by_influence, change)[0, 1] > 0.999


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(ORACLES)))
def test_influence_is_the_derivative(seed: int, name: str) -> None:
    rng = RNG(seed)
    if isinstance(METRICS[name], NumberMetric):
        gold, predicted = rng.integers(0, 9, 50) / 2.0, rng.integers(0, 9, 50) / 2.0
        metric = METRICS[name]
        prepared = metric.prepared([gold]), metric.prepared([predicted])
        influence = metric.evaluated(*prepared).influence[0]
        copies = 400  # one more example among so many
        changes = [
            (ORACLES[name](np.append(np.tile(gold, copies), gold[at]),
                           np.append(np.tile(predicted, copies), predicted[at]))
             - ORACLES[name](gold, predicted)) * 50 * copies
            for at in range(3)
        ]  # fmt: skip
        assert changes == pytest.approx(influence[:3], abs=0.02)
        assert influence.mean() == pytest.approx(0, abs=1e-9)
        return
    table = rng.integers(1, 30, (2, 2) if name != "r_k" else (3, 3)).astype(float)
    influence = METRICS[name].influence(table[:, :, None], 1)[:, :, 0]
    assert (influence * table).sum() == pytest.approx(0, abs=1e-9)
    for gold, predicted in ((0, 0), (0, 1), (1, 0)):
        more = table.copy()
        more[gold, predicted] += 1e-6 * table.sum()
        change = (METRICS[name].of(more, 1) - METRICS[name].of(table, 1)) / 1e-6
        assert change == pytest.approx(influence[gold, predicted], abs=1e-4)


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


def test_flips_are_close_to_exchanges() -> None:
    systems = some_numbers(900, 0.5, 0.9)
    units = NumberUnits([PEARSON, SPEARMAN], systems)
    exact, linear = units.exchange(1500, RNG(0)), units._flips(1500, RNG(0))
    assert exact.differences[:, 0] == pytest.approx(linear.differences[:, 0], abs=1e-12)
    for at in range(3):
        statistics = [each.differences[at, 1:] / each.errors[at, 1:] for each in (exact, linear)]
        assert stats.ks_2samp(*statistics).pvalue > 0.001


def test_exchanging_a_unit_that_agrees_changes_nothing() -> None:
    gold = [0, 1] * 20
    units = LabelUnits([ACCURACY], labels(gold, gold, gold))
    drawn = units.exchange(50, RNG(0))
    assert units.apart() == 0
    assert not drawn.differences.any()
    assert not drawn.errors.any()


def test_units_apart_are_groups_where_there_are_groups() -> None:
    a, b = [0, 1, 0, 1, 0, 1], [1, 0, 0, 1, 0, 0]
    assert LabelUnits([ACCURACY], labels([0] * 6, a, b)).apart() == 3
    assert LabelUnits([ACCURACY], labels([0] * 6, a, b, groups=[0, 0, 1, 1, 7, 7])).apart() == 2
    assert NumberUnits([PEARSON], numbers([0, 1, 2], [0, 1, 2], [0, 5, 2])).apart() == 1
    grouped = numbers([0, 1, 2, 3], [0, 1, 2, 9], [0, 5, 2, 3], groups=[4, 2, 4, 2])
    assert NumberUnits([PEARSON], [*grouped, grouped[0]]).apart() == 1, "of the first two systems"


@pytest.mark.parametrize("classes", [2, 40])
def test_many_systems_and_many_labels_are_counted_alike(classes: int) -> None:
    systems = some_labels(50, *[0.6] * 12, classes=classes)
    units = LabelUnits([ACCURACY, R_K], systems)
    for at, pairs in enumerate(systems):
        alone = LabelUnits([ACCURACY, R_K], [pairs])
        for metric in range(2):
            together, single = (
                sorted(np.repeat(each.left_out()[metric, place], each.counts))
                for each, place in ((units, at), (alone, 0))
            )
            assert together == pytest.approx(single, abs=1e-12)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_fair_binomials_are_binomial(counts) -> None:
    drawn = fair_binomials(np.array(counts), 4000, RNG(3))
    for count, row in zip(counts, drawn, strict=True):
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
    units = LabelUnits([R_K, ACCURACY], pairs)
    assert units.sparse(0, 0) is sparse
    assert not units.sparse(1, 0), "an accuracy has Wilson's interval at any size"


@pytest.mark.parametrize(("gold", "few"), [("00000001111", True), ("000000011111", False), ("0000111", True)])
def test_gold_alone_decides_whether_a_difference_has_an_interval(gold: str, *, few: bool) -> None:
    units = LabelUnits([MCC, ACCURACY], labels(map(int, gold), map(int, gold), [0] * len(gold)))
    assert (units.few(0), units.few(1)) == (few, len(gold) < 8)


def test_groups_are_what_is_counted() -> None:
    pairs = labels([0, 1] * 8, [1, 0] + [0, 1] * 7, groups=[at // 4 for at in range(16)])
    assert LabelUnits([MCC], pairs).sparse(0, 0), "four groups, though sixteen examples"
    assert LabelUnits([MCC], pairs).few(0)


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

    def test_it_is_the_built_in_one_within_the_jackknifes_blocks(self, offered) -> None:
        systems = some_labels(1000, 0.7, 0.8)
        rows, counted = (units_of([metric], systems) for metric in (offered, ACCURACY))
        assert isinstance(rows, RowUnits)
        assert rows.size == 200, "five examples are left out at a time"
        errors = [units.exchange(2000, RNG(0)).errors[0, 0] for units in (rows, counted)]
        assert errors[0] == pytest.approx(errors[1], rel=0.15)
        statistics = []
        for units in (rows, counted):
            drawn = units.exchange(2000, RNG(1))
            statistics.append(np.abs(drawn.differences[0] / drawn.errors[0]))
        assert np.quantile(statistics[0], 0.95) == pytest.approx(np.quantile(statistics[1], 0.95), rel=0.08)

    def test_beside_a_built_in_one_both_are_called(self, offered) -> None:
        systems = some_labels(80, 0.7, 0.8, groups=np.arange(80) // 2)
        units = units_of([ACCURACY, offered], systems)
        assert units.size == 40
        lost = units.left_out()
        assert lost[0] == pytest.approx(lost[1], abs=1e-12)
        assert lost[0, 0] == pytest.approx(without_each(ACCURACY, systems[0]), abs=1e-12)


def error_of_an_accuracy(a, b, unit) -> float:
    """The standard error of a difference in accuracy: of the sums over units of centered differences."""
    changes = a - b - (a - b).mean()
    sums = np.array([changes[unit == each].sum() for each in np.unique(unit)])
    return ((sums**2).sum() * len(sums) / (len(sums) - 1)) ** 0.5 / len(a)


@pytest.mark.parametrize("groups", [None, np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3])])
def test_every_exchange_of_labels_is_one_of_rows(groups) -> None:
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
        values = [oracle(gold, a) - oracle(gold, b) for oracle in (sk.accuracy_score, sk.matthews_corrcoef)]
        error = error_of_an_accuracy((a == gold) * 1.0, (b == gold) * 1.0, unit)
        expected.add((*np.round([*values, np.mean(values), error], 9) + 0.0,))
    units = LabelUnits([ACCURACY, MCC], labels(gold, ours, theirs, groups=groups))
    assert units.apart() == len(differing)
    drawn = units.exchange(2000, RNG(0))
    found = np.vstack([drawn.differences, drawn.errors[:1]]).T.round(9) + 0.0
    assert {(*row,) for row in found.tolist()} == expected
    # the error of every metric in an exchange is the one observed on exchanged rows
    first = units_of([ACCURACY, MCC], labels(gold, theirs, ours, groups=groups)).exchange(1, RNG(0))
    at = np.argmin(np.abs(drawn.differences[1] - first.differences[1, 0]))
    assert drawn.errors[:, at] == pytest.approx(first.errors[:, 0])


@pytest.mark.parametrize("metric", [PEARSON, SPEARMAN])
@pytest.mark.parametrize("groups", [None, np.repeat(range(4), [1, 2, 1, 3])])
def test_every_exchange_of_numbers_is_one_of_rows(metric, groups) -> None:
    """On z-scores or ranks, which are what the two systems exchange."""
    gold, ours, theirs = (RNG(seed).permutation(7) for seed in (1, 2, 3))
    unit = np.arange(7) if groups is None else groups
    number = len(np.unique(unit))
    drawn = NumberUnits([metric], numbers(gold, ours, theirs, groups=groups)).exchange(300, RNG(0))
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
    drawn = flips(units, sizes, resamples=300, rng=RNG(0))
    assert drawn.differences.shape == drawn.errors.shape == (2, 301)
    assert drawn.differences[:, 0] == pytest.approx(units.sum(axis=1))
    assert {(*row,) for row in np.vstack([*drawn]).T.round(9).tolist()} == expected
    single = flips(np.array([[0.5]]), np.ones(1), resamples=4, rng=RNG(0))
    assert not single.errors.any()


def test_draws_come_in_blocks_of_a_bounded_size(monkeypatch) -> None:
    monkeypatch.setattr(base, "AT_ONCE", 40)
    assert [*base.blocks(10, 10)] == [4, 4, 2]
    assert [*base.blocks(8, 10)] == [4, 4]
    assert [*base.blocks(3, 1000)] == [1, 1, 1]
    assert [*base.blocks(6, 1000, least=5)] == [5, 1]
    assert [*base.blocks(50, 0)] == [40, 10]
    assert [*base.blocks(0, 1)] == []
    for metrics, systems in (
        ([ACCURACY, F1], some_labels(12, 0.5, 0.5)),
        ([ACCURACY, F1], some_labels(12, 0.5, 0.5, groups=np.arange(12) // 2)),
        ([PEARSON, SPEARMAN], some_numbers(12, 1.0, 2.0)),
        ([PEARSON], some_numbers(1000, 1.0, 2.0)),
    ):
        drawn = units_of(metrics, systems).exchange(11, RNG(0))
        assert {array.shape for array in drawn} == {(len(metrics) + (len(metrics) > 1), 12)}
        assert len(np.unique(drawn.errors[0])) > 3, "each block has its own draws"


def test_units_are_drawn_one_by_one() -> None:
    weights = base.unit_weights(4, resamples=3000, rng=RNG(0))
    assert weights.shape == (3000, 4)
    assert (weights.sum(axis=1) == 4).all()
    assert weights.mean(axis=0) == pytest.approx([1.0] * 4, abs=0.06)
    assert weights.var(axis=0) == pytest.approx([4 * 1 / 4 * 3 / 4] * 4, abs=0.08)
    seeded = np.random.default_rng(np.random.SeedSequence([7, crc32(b"CoLA")]))
    assert generator(7, "CoLA").random() == seeded.random()


def test_several_scores_have_their_mean_last() -> None:
    one, two = np.array([1.0, 2.0]), np.array([3.0, 6.0])
    assert [[*each] for each in base.with_mean([one, two])] == [[1.0, 2.0], [3.0, 6.0], [2.0, 4.0]]
    assert [[*each] for each in base.with_mean([one])] == [[1.0, 2.0]]
    assert group_numbers(labels([0, 1, 0], [0, 1, 1], groups=[9, 2, 9])[0]).tolist() == [1, 0, 1]
    assert group_numbers(labels([0], [0])[0]) is None


@pytest.mark.parametrize("classes", [2, 17, 120])
def test_combinations_are_counted_alike_however_many_there_can_be(classes: int) -> None:
    """Every way to count combinations gives the cells and counts of the rows."""
    systems = some_labels(60, *[0.6] * (9 if classes > 2 else 3), classes=classes)
    units = LabelUnits([ACCURACY], systems)
    rows = list(zip(systems[0].gold.codes, *(each.predicted.codes for each in systems), strict=True))
    cells = units._kinds.cells.tolist()
    found = {(*cell,): count for cell, count in zip(cells, units.counts, strict=True)}
    assert found == Counter(rows)


def test_single_coins_and_very_many() -> None:
    drawn = fair_binomials(np.array([1, 64, 65, 3]), 4000, RNG(0))
    assert set(drawn[0]) == {0.0, 1.0}
    assert set(drawn[3]) == {0.0, 1.0, 2.0, 3.0}
    assert drawn.mean(axis=1) == pytest.approx([0.5, 32, 32.5, 1.5], rel=0.05)
    assert drawn.var(axis=1) == pytest.approx([0.25, 16, 16.25, 0.75], rel=0.1)
    assert abs(np.corrcoef(drawn) - np.eye(4)).max() < 0.08


@pytest.mark.parametrize("units_type", ["labels", "grouped", "numbers", "grouped numbers", "rows"])
def test_a_bootstrap_draws_whole_units_for_all_systems_alike(units_type: str) -> None:
    """Two systems with the same answers have the same draws; of groups of all examples nothing varies."""
    groups = [0, 1, 0, 1, 0, 1] if "grouped" in units_type else None
    if "numbers" in units_type:
        systems = numbers([0, 0, 1, 1, 2, 3], [0, 1, 1, 0, 4, 4], [0, 1, 1, 0, 4, 4], groups=groups)
        units = NumberUnits([PEARSON, SPEARMAN], systems)
    else:
        systems = labels([0, 0, 1, 1, 0, 1], [0, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0], groups=groups)
        units = (RowUnits if units_type == "rows" else LabelUnits)([ACCURACY, MCC], systems)
    drawn = units.bootstrap(60, RNG(0))
    assert drawn.shape == (2, 2, 60)
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert len(np.unique(drawn[0, 0].round(9))) > 1
    if groups:
        rows = [[0, 2, 4] * 2, [1, 3, 5] * 2, range(6)]
        expected = [point(metric, systems[0].subset(each)).value for metric in units.metrics[:1]
                    for each in rows]  # fmt: skip
        assert set(drawn[0, 0].round(9)) == set(np.round(expected, 9))


@pytest.mark.parametrize("groups", [None, np.arange(12) // 2])
def test_of_an_accuracy_rows_exchange_what_each_unit_adds(groups) -> None:
    """A unit's pseudo-value is its gain in right answers: every exchange gives each of them a sign."""
    gold = [1] * 12
    ours, theirs = [1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1], [1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1]
    systems = labels(gold, ours, theirs, groups=groups)
    units = RowUnits([ACCURACY], systems)
    unit = np.arange(12) if groups is None else groups
    gain = np.bincount(unit, np.subtract(ours, theirs) / 12)
    drawn = units.exchange(200, RNG(0))
    assert drawn.differences[0, 0] == pytest.approx(2 / 12)
    a, b = np.array(ours) * 1.0, np.array(theirs) * 1.0
    assert drawn.errors[0, 0] == pytest.approx(error_of_an_accuracy(a, b, unit))
    signs = np.array(np.meshgrid(*[[1, -1]] * len(gain))).reshape(len(gain), -1)
    assert set(drawn.differences[0].round(9) + 0.0) == set((gain @ signs).round(9) + 0.0)
    assert units.apart() == np.count_nonzero(np.bincount(unit, np.not_equal(ours, theirs)))
    assert units.left_out()[0, 0] == pytest.approx(without_each(ACCURACY, systems[0]))
    drawn = units.bootstrap(300, RNG(0))
    assert drawn.shape == (1, 2, 300)
    assert set((drawn * 12).round(9).ravel()) <= set(range(13))
    assert drawn.mean(axis=2)[0] == pytest.approx([10 / 12, 8 / 12], abs=0.03)
    few, enough = (RowUnits([PEARSON], some_numbers(n, 1.0)) for n in (24, 25))
    assert few.few(0) is few.sparse(0, 0) is True
    assert enough.few(0) is enough.sparse(0, 0) is False
    three = numbers([1, 2, 3], [1, 2, 3], [1, 5, 3], [3, 2, 1])
    assert RowUnits([PEARSON], three).apart() == 1, "of the first two systems"


def test_two_hundred_rows_stand_alone_and_more_are_dealt_at_random() -> None:
    alone, dealt = (RowUnits([ACCURACY], some_labels(n, 0.5)) for n in (200, 201))
    assert alone.units.tolist() == list(range(200))
    assert sorted(np.bincount(dealt.units).tolist()) == [1] * 199 + [2]
    assert (np.diff(dealt.units) == 1).sum() < 10, "neighbors are not neighbors"


def test_fewer_numbers_than_25_have_no_interval() -> None:
    for n, few in ((24, True), (25, False)):
        units = NumberUnits([PEARSON], some_numbers(n, 1.0))
        assert (units.few(0), units.sparse(0, 0)) == (few, few)


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


def test_what_was_observed_comes_first_of_rows_too() -> None:
    """Pseudo-values are centered for each metric and system, so that they add up to its value."""
    systems = some_labels(40, 0.6, 0.9, groups=np.arange(40) // 2)
    units = RowUnits([MCC, ACCURACY], systems)
    values, drawn = units.values(), units.exchange(20, RNG(0))
    expected = values[:, 0] - values[:, 1]
    assert drawn.differences[:, 0] == pytest.approx([*expected, expected.mean()], abs=1e-12)
    lost = units.left_out()[:, 0] - units.left_out()[:, 1]
    around = ((lost - lost.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    assert drawn.errors[:2, 0] == pytest.approx((around * 19 / 20) ** 0.5)


@pytest.mark.parametrize("name", ["sets_macro_f1_gold", "sets_jaccard"])
def test_sums_of_whole_numbers_are_exact_in_single_precision(name: str) -> None:
    """Drawn rows have the metric that the same rows have when they are written out, whole sums or not."""
    rng, words = RNG(3), ("a", "b", "c", "d")
    gold, *answers = ([[word for word in words if rng.random() < 0.4] for _ in range(40)] for _ in range(4))
    systems = [pairs_of("sets", gold, each, labels=words) for each in answers]
    metric = Metric(name, name, name, "F", labels=words)
    drawn = units_of([metric], systems).bootstrap(20, generator(0, "T"))
    rows = base.unit_weights(40, resamples=20, rng=generator(0, "T"))
    for at, weights in enumerate(rows):
        written = np.repeat(np.arange(40), weights).tolist()
        expected = [point(metric, pairs.subset(written)).value for pairs in systems]
        assert drawn[0, :, at] == pytest.approx(expected, abs=1e-12)
