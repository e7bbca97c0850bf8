"""Resampling against its definition: rows drawn one by one, by index or by group, and scored afresh."""

from __future__ import annotations

from array import array
from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scoring.material import predicted_values
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric, UnknownNameError
from gluebench.scoring import grade, read_gold
from gluebench.scoring.bca import accelerations, bca_bar, percentiles, quantile
from gluebench.scoring.counts import COUNT_METRICS
from gluebench.scoring.draws import drawn_tables, generator, kinds, positions_of, row_weights, unit_weights
from gluebench.scoring.intervals import Group, grouped_wilson, student, wilson
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.resample import _left_out, _part, diagnostic_draws, too_few
from gluebench.scoring.weighted import WeightedPearson, WeightedSpearman
from gluebench.submission import Column

R_K = Metric("r_k", "r_k", "R3", "F")
F1 = Metric("f1", "f1", "F1", "F", "1")
RNG = np.random.default_rng


def labels(gold, predicted, groups=None, classes: int = 3) -> Pairs:
    words = tuple(map(str, range(classes)))
    columns = (Column(words, bytes(int(code) for code in codes)) for codes in (gold, predicted))
    return Pairs(*columns, None if groups is None else tuple(int(group) for group in groups))


def some(n: int = 90, *, classes: int = 3, groups=None, seed: int = 0) -> Pairs:
    rng = RNG(seed)
    gold = rng.integers(0, classes, n)
    predicted = np.where(rng.random(n) < 0.7, gold, rng.integers(0, classes, n))
    return labels(gold, predicted, groups, classes)


def scikit_learn(pairs: Pairs, at) -> float:
    gold, predicted = (np.frombuffer(column.codes, np.uint8)[at] for column in (pairs.gold, pairs.predicted))
    return sk.matthews_corrcoef(gold, predicted)


def by_index(pairs: Pairs, resamples: int) -> list[float]:
    """The metric in resamples drawn one example, or one group, after another."""
    rng = RNG(99)
    groups = np.arange(len(pairs)) if pairs.groups is None else np.asarray(pairs.groups)
    members = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    draws = rng.integers(0, len(members), size=(resamples, len(members)))
    return [scikit_learn(pairs, np.concatenate([members[unit] for unit in each])) for each in draws]


@pytest.mark.parametrize("groups", [None, np.arange(90) // 3, np.arange(90) % 7])
def test_multinomial_draws_are_the_bootstrap_in_distribution(groups) -> None:
    pairs = some(groups=groups)
    drawn = np.concatenate(
        [
            COUNT_METRICS["r_k"].of(block, 0)
            for block in drawn_tables(kinds(pairs), resamples=2000, rng=RNG(1))
        ]
    )
    assert stats.ks_2samp(drawn, by_index(pairs, 600)).pvalue > 0.001
    blocks = list(drawn_tables(kinds(pairs), resamples=50, rng=RNG(1)))
    sizes = np.concatenate([block.sum(axis=(0, 1)) for block in blocks])
    assert (sizes == 90).all() or len(set(np.bincount(groups))) > 1, "each resample is as large as the set"


@pytest.mark.parametrize("groups", [None, np.arange(90) // 2])
def test_a_diagnostic_sets_parts_are_drawn_together_and_exactly(groups) -> None:
    pairs = some(groups=groups)
    positions = [tuple(range(90)), tuple(range(0, 90, 3)), tuple(range(40, 55))]
    parts = [_part(pairs, each) for each in positions]
    found = diagnostic_draws(R_K, pairs, parts, resamples=20, rng=RNG(5))
    units = 90 if groups is None else 45
    weights = unit_weights(units, resamples=20, rng=RNG(5))
    unit = np.arange(90) if groups is None else np.asarray(groups)
    for at, each in enumerate(positions):
        for resample in range(20):
            rows = np.repeat(np.array(each), weights[resample][unit[list(each)]])
            assert found[at, resample] == pytest.approx(scikit_learn(pairs, rows), abs=1e-12)


def test_every_row_of_a_group_comes_up_as_often() -> None:
    pairs = some(groups=np.arange(90) // 3)
    weights = np.concatenate(list(row_weights(pairs, resamples=30, rng=RNG(0))))
    assert (weights[:, 0::3] == weights[:, 1::3]).all()
    assert (weights.sum(axis=1) == 90).all()


numbers = st.one_of(st.sampled_from([0.0, 1.0, 2.5]), st.floats(-5, 5).map(lambda value: round(value, 2)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=30), st.integers(0, 1000))
def test_weighted_correlations_are_scipys_on_the_resample_itself(rows, seed: int) -> None:
    gold, predicted = (np.array(column) for column in zip(*rows, strict=True))
    weights = unit_weights(len(gold), resamples=4, rng=RNG(seed))
    found = WeightedPearson(gold, predicted)(weights), WeightedSpearman(gold, predicted)(weights)
    for resample in range(4):
        at = positions_of(weights[resample])
        x, y = gold[at], predicted[at]
        if len(set(x)) == 1 or len(set(y)) == 1:
            assert found[0][resample] == found[1][resample] == 0.0
        else:
            assert found[0][resample] == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
            assert found[1][resample] == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-12)


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_interval_is_scipys(case) -> None:
    hits, n = case
    expected = stats.binomtest(hits, n).proportion_ci(method="wilson")
    bar = wilson(hits, n)
    assert (bar.low, bar.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0.0 <= bar.low <= hits / n <= bar.high <= 1.0


@pytest.mark.parametrize("freedom", [5, 7, 10, 44, 551, 10_000])
def test_students_quantile_is_scipys(freedom: int) -> None:
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=5e-4)


def test_groups_of_one_are_nearly_no_groups_and_answers_that_go_together_count_once() -> None:
    alone = grouped_wilson([Group(1, 1)] * 150 + [Group(0, 1)] * 50)
    plain = wilson(150, 200)
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=0.005)
    together = grouped_wilson([Group(4, 4)] * 150 + [Group(0, 4)] * 50)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert grouped_wilson([Group(3, 3)] * 20).low == pytest.approx(wilson(20, 20, z=student(19)).low)
    assert grouped_wilson([Group(1, 2)] * 7).withheld == "too few to say"


def test_quantiles_are_numpys_by_the_same_definition() -> None:
    ordered = np.sort(RNG(0).normal(size=999))
    for share in (0.0001, 0.025, 0.5, 0.975, 0.9999):
        assert quantile(ordered, share) == pytest.approx(np.quantile(ordered, share, method="weibull"))
    bar = percentiles(RNG(0).permutation(ordered))
    assert (bar.low, bar.high) == (quantile(ordered, 0.025), quantile(ordered, 0.975))


def test_the_corrected_interval_is_scipys() -> None:
    pairs = some(150, classes=2, seed=3)
    gold, predicted = (np.frombuffer(column.codes, np.uint8) for column in (pairs.gold, pairs.predicted))

    def f1(x, y, axis=-1):
        both, either = (x * y).sum(axis), (x.astype(int) + y).sum(axis)
        return 2 * both / either

    expected = stats.bootstrap(
        (gold, predicted), f1, paired=True, vectorized=True, n_resamples=40_000, rng=RNG(0), batch=1000
    ).confidence_interval
    these = kinds(pairs)
    drawn = np.concatenate(
        [COUNT_METRICS["f1"].of(block, 1) for block in drawn_tables(these, resamples=40_000, rng=RNG(1))]
    )
    left_out = _left_out(F1, pairs, these)
    acceleration = accelerations(left_out, counts=these.counts, starts=np.zeros(1, np.int64))[0]
    bar = bca_bar(float(f1(gold, predicted)), np.sort(drawn), acceleration)
    assert (bar.low, bar.high) == pytest.approx((expected.low, expected.high), abs=0.003)


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
def test_the_jackknife_by_kinds_is_the_jackknife(groups) -> None:
    pairs = some(60, groups=groups)
    unit = np.arange(60) if groups is None else np.asarray(groups)
    direct = np.array([scikit_learn(pairs, unit != number) for number in range(unit.max() + 1)])
    influence = direct.mean() - direct
    expected = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    these = kinds(pairs)
    found = accelerations(_left_out(R_K, pairs, these), counts=these.counts, starts=np.zeros(1, np.int64))
    assert found[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("gold", "predicted", "withheld"),
    [
        ("0101010101", "1101010101", False),
        ("0112233", "1112233", True),  # seven
        ("01122331", "11122331", False),
        ("0101010101", "0101010101", True),  # all right
        ("0101010101", "1010101010", True),  # all wrong
        ("00000001111", "10000001111", True),  # four of another label
        ("00000001111", "00000001110", True),
        ("000000011111", "100000011111", False),
    ],
)
def test_what_is_too_few_to_say(gold: str, predicted: str, *, withheld: bool) -> None:
    assert too_few(kinds(labels(map(int, gold), map(int, predicted), classes=4))) is withheld


def test_groups_are_what_is_counted() -> None:
    pairs = labels([0, 1] * 8, [1, 0] + [0, 1] * 7, groups=[at // 4 for at in range(16)], classes=2)
    assert too_few(kinds(pairs)), "four groups, though sixteen examples"


def test_a_files_random_numbers_are_its_own() -> None:
    assert generator(0, "A").random() == generator(0, "A").random()
    assert len({generator(seed, name).random() for seed in (0, 1) for name in ("A", "B")}) == 4


def test_small_or_perfect_categories_say_so_and_keep_their_value(folder, small) -> None:
    values = predicted_values()
    values["Probe"] = [
        "entailment" if index % 20 == 2 else label for index, label in enumerate(values["Probe"])
    ]
    report = grade(values, read_gold(folder, small), resamples=300)
    probe = report.diagnostics["Probe"]
    for score in [probe.overall, *probe.coarse.values(), *probe.fine.values()]:
        given = score.withheld is None
        assert given == (score.low is not None) == (score.high is not None)
        assert score.value is not None
        assert not given or score.low <= score.value <= score.high


class TestMetricFromElsewhere:
    """A metric that a package offers under the entry-point group."""

    @pytest.fixture
    def offered(self, monkeypatch):
        def share_of_half(gold, predicted) -> float:
            return float(np.mean(np.abs(np.asarray(gold, float) - np.asarray(predicted, float)) <= 0.5))

        def broken(_gold, _predicted) -> float:
            return float("nan")

        class Offered(dict):
            names = property(lambda self: set(self))

        points = Offered(
            within_half=SimpleNamespace(load=lambda: share_of_half),
            broken=SimpleNamespace(load=lambda: broken),
        )
        monkeypatch.setattr(
            metadata, "entry_points", lambda group: points if group == "gluebench.metrics" else {}
        )

    def graded(self, small, folder, function: str, resamples: int = 200):
        like = small.task("Like")._replace(
            metrics=(*small.task("Like").metrics, Metric(function, function, "w", "Like"))
        )
        benchmark = small._replace(tasks=(like,))
        return grade({"Like": predicted_values()["Like"]}, read_gold(folder, benchmark), resamples=resamples)

    def test_it_is_scored_and_resampled_with_the_others(self, small, folder, offered) -> None:
        report = self.graded(small, folder, "within_half")
        score = report.tasks["Like"].metrics["within_half"]
        assert score.value == pytest.approx(13 / 40)
        assert score.low < score.value < score.high
        assert (score.low, score.high) == pytest.approx((0.19, 0.48), abs=0.05)
        assert report.tasks["Like"].score.low < report.tasks["Like"].score.value

    def test_what_is_no_number_is_refused(self, small, folder, offered) -> None:
        with pytest.raises(ValueError, match="the metric broken gave nan on Like"):
            self.graded(small, folder, "broken")

    def test_an_unknown_one_is_named_with_the_nearest(self, small, folder, offered) -> None:
        with pytest.raises(UnknownNameError, match="Did you mean within_half"):
            self.graded(small, folder, "within_hal")


def test_memory_does_not_grow_with_the_number_of_resamples() -> None:
    rng = RNG(0)
    pairs = Pairs(Column((), array("d", rng.normal(size=500))), Column((), array("d", rng.normal(size=500))))
    sizes = {block.size for block in row_weights(pairs, resamples=5000, rng=rng)}
    assert max(sizes) <= 1 << 18
