"""Intervals and tests against other people's formulas, and against each other."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from operator import eq
from typing import Any

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

from gluebench.benchmark import load_benchmark
from gluebench.scoring.inference import (
    NullDistribution,
    alone,
    file_intervals,
    jackknife_interval,
    jackknife_spread,
    mcnemar,
    mcnemar_holds,
    optional_mean_interval,
    task_intervals,
)
from gluebench.scoring.intervals import (
    DiscordantCounts,
    Group,
    Interval,
    OptionalInterval,
    Part,
    grouped_hits,
    grouped_wilson,
    mean_interval,
    proportion_interval,
    wilson,
    withheld_because,
)
from gluebench.scoring.metrics import point
from gluebench.scoring.paired import PairedTest, mean_test, paired_tests
from gluebench.scoring.units import Exchange, units_of

RNG = np.random.default_rng
counts = st.integers(min_value=0, max_value=3000)


def compared(metrics, systems, resamples: int = 500, seed: int = 0):
    return paired_tests(units_of(metrics, systems), resamples=resamples, rng=RNG(seed))


class TestMcNemar:
    """The mid-p of the exact test."""

    @given(counts, counts)
    @settings(deadline=None)
    def test_it_is_scipys_binomial(self, only_a: int, only_b: int) -> None:
        value = mcnemar(only_a, only_b)
        assert value == mcnemar(only_b, only_a)
        if only_a == only_b:
            assert value == 1.0
            return
        smaller, total = min(only_a, only_b), only_a + only_b
        expected = 2 * stats.binom.cdf(smaller - 1, total, 0.5) + stats.binom.pmf(smaller, total, 0.5)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-250)

    @pytest.mark.parametrize("total", [1, 2, 7, 16, 41, 300])
    def test_it_is_exact_in_fractions(self, total: int) -> None:
        for smaller in range(total // 2 + 1):
            below = Fraction(sum(math.comb(total, k) for k in range(smaller)), 2**total)
            expected = 2 * below + Fraction(math.comb(total, smaller), 2**total)
            assert mcnemar(smaller, total - smaller) == pytest.approx(float(expected), rel=1e-12)

    def test_the_published_example(self) -> None:
        """Fagerland, Lydersen & Laake 2013: airway hyper-responsiveness, 1 and 7 discordant pairs."""
        assert mcnemar(1, 7) == pytest.approx(10 / 256, rel=1e-14)

    @given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60))
    @settings(max_examples=80, deadline=None)
    def test_of_a_file_it_is_that_of_its_rows_and_its_interval_agrees(
        self, a: int, b: int, both: int
    ) -> None:
        n = a + b + both + 1
        ours = [0] * a + [1] * b + [0] * both + [1]
        theirs = [1] * a + [0] * b + [0] * both + [1]
        systems = labels([0] * n, ours, theirs)
        test = compared([ACCURACY], systems, resamples=50)[0]
        assert alone(*systems) == (a, b)
        assert test.p == pytest.approx(mcnemar(a, b), rel=1e-9)
        interval = test.interval()
        if interval is not None:
            assert (test.p <= 0.05) == (interval.low > 0 or interval.high < 0)

    def test_at_the_size_of_qqp(self) -> None:
        null = NullDistribution.of_coins(40_000, 390_965)
        assert null.critical() == pytest.approx(1.96, abs=0.01)
        assert null.tail[0] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("form", ["labels", "groups", "numbers"])
def test_p_and_interval_never_disagree(form: str) -> None:
    for n, seed in product((40, 300), range(6)):
        groups = np.arange(n) // 2 if form == "groups" else None
        if form == "numbers":
            tests = compared([PEARSON, SPEARMAN], some_numbers(n, 1.0, 1.0 + 0.1 * seed, seed=seed), 200)
        else:
            systems = some_labels(n, 0.7, 0.7 + 0.03 * seed, groups=groups, seed=seed)
            tests = compared([ACCURACY, F1, MCC], systems, 200)
        agree(tests)


def agree(tests: list[Any]) -> None:
    """A p-value is at most .05 just where the interval excludes 0."""
    for test in [*tests, mean_test(tests[:2], [1.0, 2.0])]:
        interval = test.interval()
        if interval is not None:
            assert (test.p <= 0.05) == (interval.low > 0 or interval.high < 0)
            assert interval.low < test.difference < interval.high
            if not (test.few or test.mcnemar):
                assert interval.low + interval.high == pytest.approx(2 * test.difference)


def test_the_p_value_counts_ties_half_and_the_observed_one() -> None:
    null = NullDistribution.of_draws(np.array([2.0, 1.0, -2.0, 3.0, 0.5]))  # the first is the observed one
    assert null.p(2.0) == pytest.approx((1 + 2 / 2) / 5)
    assert null.p(3.0) == pytest.approx(0.5 / 5)
    assert null.p(0.0) == 1.0
    assert 2.99 < null.critical(0.1) < 3.0, "below it, so that the interval excludes 0"
    assert null.critical(0.25) == pytest.approx(2.5), "half-way between .4 at 2 and .1 at 3"
    assert null.critical(0.05) == math.inf


def test_a_difference_that_no_answer_changes_has_no_interval() -> None:
    gold, always = [0, 1] * 20, [0] * 40
    same = compared([MCC], labels(gold, always, always))[0]
    assert (same.p, same.interval(), same.detectable()) == (1.0, None, None)
    assert same.equivalence_p(0.01) == 1.0


def test_a_mean_combines_differences_and_errors_of_its_parts() -> None:
    parts = [compared([MCC], some_labels(200, 0.7, 0.8, seed=seed), seed=seed)[0] for seed in (1, 2)]
    whole = mean_test(parts, [1.0, 3.0])
    assert whole.difference == pytest.approx(0.25 * parts[0].difference + 0.75 * parts[1].difference)
    assert whole.error == pytest.approx(math.hypot(0.25 * parts[0].error, 0.75 * parts[1].error))
    normal = 2 * stats.norm.sf(abs(whole.difference) / whole.error)
    assert whole.p == pytest.approx(normal, abs=0.03)


def test_large_samples_are_the_normal_test() -> None:
    """Size does not matter there: p, detectable difference and equivalence are the normal distribution's."""
    test = compared([MCC], some_labels(4000, 0.70, 0.72), 20_000)[0]
    z = test.difference / test.error
    assert test.p == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.01)
    margin = abs(test.difference) + 1.5 * test.error
    assert test.equivalence_p(margin) == pytest.approx(stats.norm.sf(1.5), abs=0.01)
    assert test.equivalence_p(abs(test.difference)) == 1.0
    assert test.detectable() == pytest.approx((1.96 + 0.8416) * test.error, rel=0.02)


def test_equivalence_is_two_one_sided_tests() -> None:
    """At 5 % the 90 % interval within the margin (Schuirmann 1987), and the counts allow it too."""
    claims = 0
    for seed in range(8):
        test = compared([MCC], some_labels(300, 0.8, 0.8, seed=seed))[0]
        for margin in (0.02, 0.08, 0.12, 0.2):
            reach = stats.t.ppf(0.95, 299) * test.error
            inside = abs(test.difference) + reach < margin
            counted = max(test.changes.beyond_p(margin), test.changes.swapped().beyond_p(margin))
            assert (test.equivalence_p(margin) <= 0.05) == (inside and counted <= 0.05)
            claims += inside
    assert claims > 4


def test_one_sided_limits_are_where_the_one_sided_p_is_5_percent() -> None:
    for seed in range(4):
        tests = compared([ACCURACY, F1], some_labels(200, 0.8, 0.78, seed=seed))
        for test, side in product([*tests, mean_test(tests[:2], [1.0, 2.0])], (1, -1)):
            limit = side * test.difference + test.reach(side)
            assert test.beyond_p(limit, side) == pytest.approx(0.05, abs=1e-6)


def test_the_limits_of_a_mean_are_the_root_of_summed_squares() -> None:
    parts = [compared([F1], some_labels(200, 0.8, 0.78, seed=seed))[0] for seed in (1, 2)]
    mean = mean_test(parts, [1.0, 3.0])
    assert mean.reach(1) == pytest.approx(math.hypot(0.25 * parts[0].reach(1), 0.75 * parts[1].reach(1)))


@pytest.mark.parametrize("groups", [None, np.arange(120) // 3])
def test_the_jackknife_is_the_textbooks(groups) -> None:
    pairs = some_labels(120, 0.75, groups=groups)[0]
    gold, predicted = codes(pairs)
    unit = np.arange(120) if groups is None else groups
    direct = np.array([
        stats.pearsonr(gold[unit != each], predicted[unit != each])[0] for each in np.unique(unit)
    ])  # fmt: skip
    g = len(direct)
    units = units_of([MCC], [pairs])
    spread = jackknife_spread(units.left_out()[0, 0], units.counts)
    assert spread.error == pytest.approx(((g - 1) / g * ((direct - direct.mean()) ** 2).sum()) ** 0.5)
    df = min(g - 1, 2 * g / (stats.kurtosis(direct, fisher=False) - 1))
    assert spread.df == pytest.approx(df)
    z = np.arctanh(direct)
    error = ((g - 1) / g * ((z - z.mean()) ** 2).sum()) ** 0.5
    df = min(g - 1, 2 * g / (stats.kurtosis(z, fisher=False) - 1))
    middle = np.arctanh(stats.pearsonr(gold, predicted)[0])
    expected = np.tanh([middle - stats.t.ppf(0.975, df) * error, middle + stats.t.ppf(0.975, df) * error])
    bar = file_intervals([MCC], pairs, [point(MCC, pairs)])[0]
    assert (bar.low, bar.high) == pytest.approx(tuple(expected), abs=1e-9)


def test_pearsons_interval_is_fishers_where_scores_are_normal() -> None:
    rng = RNG(4)
    gold = rng.normal(size=3000)
    pairs = numbers(gold, 0.8 * gold + 0.6 * rng.normal(size=3000))[0]
    expected = stats.pearsonr(*codes(pairs)).confidence_interval()
    bar = file_intervals([PEARSON], pairs, [point(PEARSON, pairs)])[0]
    assert (bar.low, bar.high) == pytest.approx((expected.low, expected.high), abs=0.002)


@pytest.mark.parametrize("metric", [F1, MCC, R_K, PEARSON, SPEARMAN])
@pytest.mark.parametrize("groups", [None, np.arange(500) // 2])
def test_intervals_are_close_to_the_bootstraps(metric, groups) -> None:
    if metric in (PEARSON, SPEARMAN):
        pairs = some_numbers(500, 1.2, groups=groups)[0]
    else:
        pairs = some_labels(500, 0.8, groups=groups)[0]
    unit = np.arange(500) if groups is None else groups
    members = [np.flatnonzero(unit == each) for each in np.unique(unit)]
    rng, drawn = RNG(0), []
    for _ in range(600):
        rows = np.concatenate([members[each] for each in rng.integers(0, len(members), len(members))])
        drawn.append(point(metric, pairs.subset(rows.tolist())).value)
    bar = file_intervals([metric], pairs, [point(metric, pairs)])[0]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (bar.low, bar.high) == pytest.approx((low, high), abs=0.12 * (high - low))


def test_a_perfect_score_has_no_interval_of_width_0() -> None:
    perfect = numbers(range(40), range(40))[0]
    for metrics in ([PEARSON], [PEARSON, SPEARMAN]):
        bars = file_intervals(metrics, perfect, [point(metric, perfect) for metric in metrics])
        assert {bar.withheld for bar in bars} == {"too few to say"}
    gold = [0, 1] * 20
    pairs = labels(gold, gold)[0]
    assert file_intervals([F1], pairs, [point(F1, pairs)])[0].withheld == "too few to say"
    accurate = file_intervals([ACCURACY], pairs, [point(ACCURACY, pairs)])[0]
    assert accurate == wilson(40, 40)
    assert accurate.low < accurate.high == 1.0


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e15])
def test_intervals_do_not_depend_on_offset_or_scale(scale: float, offset: float) -> None:
    if offset and scale != 1e300:
        pytest.skip("an offset swallows the small ones")
    rng = RNG(0)
    gold = rng.integers(0, 64, 100) / 4
    answers = gold + rng.integers(-8, 8, 100) / 4
    plain = numbers(gold, answers, answers[::-1])
    moved = numbers(
        (gold + offset), (answers + offset) if offset else answers * scale, answers[::-1] + offset
    )
    for metric in (PEARSON, SPEARMAN):
        bars = [file_intervals([metric], each[0], [point(metric, each[0])])[0] for each in (plain, moved)]
        assert bars[0].low < point(metric, moved[0]).value < bars[0].high
        assert bars[1] == pytest.approx(bars[0], abs=1e-9)
        tests = [compared([metric], each)[0] for each in (plain, moved)]
        assert tests[1].interval() == pytest.approx(tests[0].interval(), abs=1e-9)


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_interval_is_scipys(case) -> None:
    hits, n = case
    expected = stats.binomtest(hits, n).proportion_ci(method="wilson")
    bar = wilson(hits, n)
    assert (bar.low, bar.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0.0 <= bar.low <= hits / n <= bar.high <= 1.0
    assert proportion_interval(hits, n) == (bar if n >= 8 else OptionalInterval(None, None, "too few to say"))


def test_groups_of_one_are_nearly_no_groups_and_answers_that_go_together_count_once() -> None:
    single = grouped_wilson([Group(1, 1)] * 150 + [Group(0, 1)] * 50)
    plain = wilson(150, 200)
    assert (single.low, single.high) == pytest.approx((plain.low, plain.high), abs=0.005)
    together = grouped_wilson([Group(4, 4)] * 150 + [Group(0, 4)] * 50)
    assert (together.low, together.high) == pytest.approx((single.low, single.high), abs=1e-9)
    z = stats.t.ppf(0.975, 19)
    assert grouped_wilson([Group(3, 3)] * 20).low == pytest.approx(wilson(20, 20, z=z).low)
    assert grouped_wilson([Group(1, 2)] * 7).withheld == "too few to say"


class TestAverages:
    """Means of independent scores."""

    def test_the_ends_are_the_parts_own(self) -> None:
        """Zou and Donner 2008: each end by the root of the summed squares."""
        parts = [Part("a", 0.8, OptionalInterval(0.7, 0.85)), Part("b", 0.5, OptionalInterval(0.4, 0.7), 2.0)]
        interval = mean_interval(parts)
        assert interval.low == pytest.approx(0.6 - math.hypot(0.1, 2 * 0.1) / 3)
        assert interval.high == pytest.approx(0.6 + math.hypot(0.05, 2 * 0.2) / 3)

    def test_where_a_part_has_none_the_mean_has_none_and_says_why(self) -> None:
        parts = [
            Part("CoLA", 0.0, OptionalInterval(None, None, "not defined")),
            Part("RTE", 0.8, OptionalInterval(0.7, 0.85)),
            Part("WNLI", 1.0, OptionalInterval(None, None, "too few to say")),
            Part("AX", 1.0, OptionalInterval(None, None, "too few to say")),
        ]
        assert optional_mean_interval(parts) == OptionalInterval(
            None, None, "not defined on CoLA; too few to say on WNLI, AX"
        )
        assert optional_mean_interval(parts[1:2]) == parts[1].bar
        assert withheld_because({"RTE": None}) is None
        with pytest.raises(ValueError, match="CoLA has no interval"):
            mean_interval(parts)

    def test_constant_predictions_add_nothing_to_the_width_of_a_mean(self) -> None:
        """They score 0 on every sample, so half of the mean varies; 100,000 samples of 400 agree."""
        always = Part("CoLA", 0.0, OptionalInterval(None, None, "constant predictions"))
        rte = Part("RTE", 0.7, wilson(280, 400))
        bar = optional_mean_interval([always, rte])
        assert (bar.low, bar.high) == pytest.approx((rte.bar.low / 2, rte.bar.high / 2))
        means = RNG(0).binomial(400, 0.7, 100_000) / 800
        assert (bar.low, bar.high) == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=0.003)
        assert optional_mean_interval([always, always]) == OptionalInterval(
            None, None, "constant predictions"
        )


def test_with_no_lowest_value_the_interval_is_symmetric() -> None:
    lost = RNG(0).normal(5, 0.01, 100)
    bar = jackknife_interval(5.0, lost, np.ones(100, np.int64), -math.inf, math.inf)
    assert bar.low + bar.high == pytest.approx(10.0)
    assert jackknife_interval(5.0, lost * 0 + 5, np.ones(100, np.int64), -math.inf, math.inf).low is None


class TestWorkedByHand:
    """Null distributions and the numbers of a test, exactly."""

    def test_coins_of_an_odd_and_an_even_number(self) -> None:
        """Three coins: 1 of 3 ahead with 3/4, 3 of 3 with 1/4; two: none ahead with 1/2, both with 1/2."""
        null = NullDistribution.of_coins(3, 10)
        errors = np.sqrt([(0.3 - 0.01) / 9, (0.3 - 0.09) / 9])
        assert null.support == pytest.approx([0.1 / errors[0], 0.3 / errors[1]], abs=1e-9)
        assert null.tail == pytest.approx([0.25 + 0.75 / 2, 0.25 / 2], rel=1e-14)
        null = NullDistribution.of_coins(2, 4)
        assert null.support == pytest.approx([0.0, 0.5 / (0.25 / 3) ** 0.5], abs=1e-9)
        assert null.tail == pytest.approx([0.75, 0.25], rel=1e-14)
        single = NullDistribution.of_coins(1, 1)
        assert (*single.support, *single.tail) == (math.inf, 0.5)
        assert single.critical(0.6) == math.inf

    def test_a_test_of_a_known_null_distribution(self) -> None:
        null = NullDistribution(np.array([1.0, 2.0, 3.0, math.inf]), np.array([0.4, 0.1, 0.02, 0.001]))
        drawn = Exchange(np.array([0.3, 0.1]), np.array([0.1, 0.2]))
        test = PairedTest(0.3, 0.1, null, drawn)
        assert test.statistic == pytest.approx(3.0)
        assert test.p == 0.02
        assert (null.p(3.5), null.p(9e9), null.p(-0.0), null.p(1e-9)) == (0.001, 0.001, 1.0, 0.4)
        critical = 2 + (0.1 - 0.05) / 0.08
        assert null.critical() == pytest.approx(critical)
        assert null.critical(0.02) == pytest.approx(2.999)
        assert null.critical(0.0199) == math.inf
        assert test.interval() == pytest.approx((0.3 - 0.1 * critical, 0.3 + 0.1 * critical))
        assert test.equivalence_p(0.5) == 1.0, "nothing is known of the effect of one answer"
        assert test.detectable() == pytest.approx(0.1 * (critical + stats.norm.ppf(0.8)))
        assert test.detectable(0.95) == pytest.approx(0.1 * (critical + stats.norm.ppf(0.95)))
        assert mean_test([test], [3.0]) is test

    def test_the_smallest_errors(self) -> None:
        null = NullDistribution(np.array([1.0]), np.array([0.01]))
        drawn = Exchange(np.array([0.0]), np.array([0.0]))
        assert PairedTest(0.3, 0.0, null, drawn).statistic == math.inf
        assert PairedTest(0.3, 0.0, null, drawn).detectable() is None
        assert PairedTest(0.3, 0.0, null, drawn).equivalence_p(0.5) == 1.0
        assert PairedTest(0.3, 0.0, null, drawn).interval() is None
        assert PairedTest(1e-13, 1e-13, null, drawn).statistic == 0.0, "rounding, no difference"
        assert PairedTest(2e-12, 1e-12, null, drawn).statistic == pytest.approx(2.0)

    def test_a_jackknife(self) -> None:
        assert jackknife_spread(np.array([0.4]), np.array([1])) == (0.0, 1.0)
        assert jackknife_spread(np.array([0.5]), np.array([7])) == (0.0, 6)
        # five units of 1 and five of -1: the sum of squares is 10, the kurtosis 1
        assert jackknife_spread(np.array([1.0, -1.0]), np.array([5, 5])) == (pytest.approx(3.0), 9)
        assert jackknife_spread(np.array([1.0, 3.0]), np.array([1, 1])) == (pytest.approx(1.0), 1)
        # one unit of 3 and nine of -1/3: the kurtosis is (81 + 9/81) * 10 / 100
        outlier = jackknife_spread(np.array([3.0, -1 / 3]), np.array([1, 9]))
        assert outlier == pytest.approx((3.0, 20 / ((81 + 1 / 9) / 10 - 1)))

    @pytest.mark.parametrize("lowest", [0.0, -0.5, -1.0])
    def test_a_jackknifes_interval(self, lowest: float) -> None:
        lost, counts = np.array([0.5, 0.55, 0.7]), np.array([3, 4, 2])

        def z(value):
            return np.arctanh(2 * (value - lowest) / (1 - lowest) - 1)

        every = np.repeat(z(lost), counts)
        around = every - every.mean()
        error = ((around**2).sum() * 8 / 9) ** 0.5
        df = min(8, 18 / (9 * (around**4).sum() / (around**2).sum() ** 2 - 1))
        ends = z(0.6) + np.array([-1, 1]) * stats.t.ppf(0.975, df) * error
        expected = (np.tanh(ends) + 1) / 2 * (1 - lowest) + lowest
        bar = jackknife_interval(0.6, lost, counts, lowest=lowest)
        assert [bar.low, bar.high] == pytest.approx(list(expected))
        assert bar.withheld is None
        edges = (1.0, lost), (lowest, lost), (0.6, [0.5, 1.0, 0.7]), (0.6, [lowest, 0.5, 0.7])
        for value, left_out in edges:
            bar = jackknife_interval(value, np.array(left_out), counts, lowest=lowest)
            assert bar == OptionalInterval(None, None, "too few to say")


def test_the_intervals_of_a_task_are_those_of_its_files_and_of_their_mean() -> None:
    """One file has two metrics, and so twice the weight; a file without gold is left out."""
    files = zip([F1, MCC, ACCURACY, R_K], "aabc", strict=True)
    metrics = tuple(metric._replace(file=file) for metric, file in files)
    task = load_benchmark("glue").task("MRPC")._replace(metrics=metrics)
    pairs = {"b": some_labels(200, 0.7)[0], "a": some_labels(100, 0.8, seed=1)[0]}
    points = {metric.name: point(metric, pairs[metric.file]) for metric in task.metrics[:3]}
    of_metrics, of_task = task_intervals(task, pairs, points)
    assert list(of_metrics) == ["f1", "matthews_correlation", "accuracy"]
    of_a = file_intervals(task.metrics[:2], pairs["a"], [points["f1"], points["matthews_correlation"]])
    of_b = file_intervals(task.metrics[2:3], pairs["b"], [points["accuracy"]])
    assert [*of_metrics.values()] == [*of_a[:2], *of_b]
    mean = (points["f1"].value + points["matthews_correlation"].value) / 2
    units = units_of(task.metrics[:2], [pairs["a"]])
    assert of_a[2] == jackknife_interval(mean, units.left_out()[:, 0].mean(axis=0), units.counts, lowest=-0.5)
    parts = [Part("a", mean, of_a[2], 2.0), Part("b", points["accuracy"].value, of_b[0], 1.0)]
    assert of_task == OptionalInterval(*mean_interval(parts))
    constant = {"a": labels([0, 1] * 9, [1] * 18)[0], "b": pairs["b"]}
    points |= {metric.name: point(metric, constant["a"]) for metric in task.metrics[:2]}
    of_metrics, of_task = task_intervals(task, constant, points)
    assert of_metrics["f1"].low < points["f1"].value < of_metrics["f1"].high
    assert of_metrics["matthews_correlation"] == OptionalInterval(None, None, "constant predictions")
    assert of_task.low < of_task.high


@pytest.mark.parametrize(("n", "share"), [(30, 0.5), (60, 0.68), (100, 0.8), (600, 0.68)])
def test_the_f1_of_one_answer_throughout_is_covered(n: int, share: float) -> None:
    """Every number of positives by its probability: the interval holds the F1 of the true share."""
    covered = shown = 0.0
    for positives in range(5, n - 4):
        pairs = labels([1] * positives + [0] * (n - positives), [1] * n)[0]
        (bar,) = file_intervals([F1], pairs, [point(F1, pairs)])
        weight = stats.binom.pmf(positives, n, share)
        shown += weight
        covered += weight * (bar.low <= 2 * share / (1 + share) <= bar.high)
    assert 0.94 < covered / shown < 0.99


def test_mcnemars_test_is_that_of_single_examples() -> None:
    """By hand: 12 examples of which one system alone has 5 right, the other alone 1."""
    systems = labels([0] * 12, [0] * 9 + [1] * 3, [1] * 5 + [0] * 5 + [1] * 2)
    assert alone(*systems) == (5, 1)
    test = compared([ACCURACY], systems, 20)[0]
    assert test.difference == pytest.approx(4 / 12)
    assert test.error == pytest.approx(((6 / 12 - 16 / 144) / 11) ** 0.5)
    assert test.p == pytest.approx(2 * (1 + 6 / 2) / 64)
    grouped = labels([0] * 12, [0] * 9 + [1] * 3, [1] * 5 + [0] * 5 + [1] * 2, groups=range(12))
    assert not mcnemar_holds(ACCURACY, units_of([ACCURACY], grouped))
    assert not mcnemar_holds(MCC, units_of([MCC], systems))
    three = labels([0, 0, 0, 0], [0, 1, 2, 1], [0, 2, 1, 0], classes=3)
    assert alone(*three) == (0, 1), "two wrong answers that differ are nobody's gain"


@pytest.mark.parametrize("groups", [[0, 0, 1, 2, 3, 3, 4, 5, 6, 7], range(10)])
def test_groups_make_wilsons_interval_wider(groups) -> None:
    """Kish's design effect, with the jackknife's variance over groups."""
    gold, predicted = [0, 1] * 5, [0, 1, 1, 1, 0, 1, 1, 0, 0, 1]
    pairs = labels(gold, predicted, groups=groups)[0]
    right, group = np.array(gold) == np.array(predicted), np.array(groups)
    members = [np.flatnonzero(group == each) for each in np.unique(group)]
    assert grouped_hits(map(eq, pairs.gold.codes, pairs.predicted.codes), pairs.groups) == [
        (right[rows].sum(), len(rows)) for rows in members
    ]
    share, g = right.mean(), len(members)
    changes = np.array([np.delete(right, rows).mean() - share for rows in members])
    effect = max(1.0, (changes**2).sum() * (g - 1) / g / (share * (1 - share) / 10))
    z = stats.t.ppf(0.975, g - 1)
    n = 10 / effect
    middle = (share + z**2 / 2 / n) / (1 + z**2 / n)
    margin = z / (1 + z**2 / n) * (share * (1 - share) / n + z**2 / 4 / n**2) ** 0.5
    bar = file_intervals([ACCURACY], pairs, [point(ACCURACY, pairs)])[0]
    assert (bar.low, bar.high) == pytest.approx((middle - margin, middle + margin), rel=1e-8)


def test_records_of_intervals() -> None:
    assert OptionalInterval(0.1, 0.2).interval == Interval(0.1, 0.2)
    assert OptionalInterval(None, 0.2).interval is OptionalInterval(0.1, None).interval is None
    assert DiscordantCounts(5, 2).net == 3
    assert grouped_wilson([Group(0, 3)] * 8).low == 0.0
    assert grouped_wilson([Group(3, 3)] * 8).high == 1.0
    for n in range(1, 100):
        assert (wilson(0, n).low, wilson(n, n).high) == (0.0, 1.0), "no rounding at the ends"
    sizes = [Group(0, 1)] * 8 + [Group(0, 4)] * 2
    z = stats.t.ppf(0.975, 9)
    effective = 16 / ((8 + 32) / 16)
    assert grouped_wilson(sizes).high == pytest.approx(wilson(0, effective, z=z).high)
