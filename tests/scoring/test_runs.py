"""Several runs against the analysis of variance of runs crossed with examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scoring.columns import ACCURACY, F1, MCC, PEARSON, SPEARMAN, codes, labels, some_labels, some_numbers
from scoring.material import predicted_values

from gluebench.scoring import grade, grade_runs, read_gold
from gluebench.scoring.inference import jackknife_spread
from gluebench.scoring.runs import RunsTest, mean_runs, runs_tests
from gluebench.scoring.units import units_of
from gluebench.submission.values import submission_of


def crossed(right: np.ndarray) -> dict[str, float]:
    """Mean squares of a (runs, examples) table with one value a cell, and what follows from them."""
    runs, n = right.shape
    of_runs, of_rows, mean = right.mean(axis=1), right.mean(axis=0), right.mean()
    rest = right - of_runs[:, None] - of_rows + mean
    interaction = (rest**2).sum() / ((runs - 1) * (n - 1))
    return {
        "examples": of_rows.var(ddof=1) / n,
        "runs": of_runs.var(ddof=1) / runs,
        "both": interaction / (runs * n),
    }


def runs_of(number: int, n: int, spread: float, seed: int = 0) -> list:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, n)
    hard = rng.random(n)
    return labels(
        gold,
        *(np.where(rng.random(n) < 0.5 + 0.4 * hard + shift, gold, 1 - gold)
          for shift in rng.normal(0, spread, number)),
    )  # fmt: skip


@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_the_variance_of_an_accuracy_is_that_of_the_crossed_design(spread: float) -> None:
    systems = runs_of(5, 400, spread)
    right = np.array([codes(each)[0] == codes(each)[1] for each in systems], float)
    parts = crossed(right)
    test = runs_tests(units_of([ACCURACY], systems), [5])[0]
    assert test.difference == pytest.approx(right.mean())
    seeds = max(0.0, parts["runs"] - parts["both"])
    assert test.examples == pytest.approx(parts["examples"])
    assert test.seeds == pytest.approx(seeds)
    assert test.error**2 == pytest.approx(parts["examples"] + seeds)
    assert test.seeds_share == pytest.approx(seeds / (parts["examples"] + seeds))
    assert test.null.df == pytest.approx(
        test.error**2 / (parts["examples"] / test.examples_df + seeds / 4)
    ), "by their shares of the variance"
    margin = stats.t.ppf(0.975, test.null.df) * test.error
    assert test.interval() == pytest.approx((right.mean() - margin, right.mean() + margin))


def test_single_runs_are_the_paired_jackknife() -> None:
    for metrics, systems in (
        ([ACCURACY, F1], some_labels(300, 0.7, 0.75, groups=np.arange(300) // 2)),
        ([PEARSON, SPEARMAN], some_numbers(300, 1.0, 1.2)),
    ):
        units = units_of(metrics, systems)
        tests = runs_tests(units, [1, 1])
        lost = units.left_out()[:, 0] - units.left_out()[:, 1]
        for test, each in zip(tests, [*lost, lost.mean(axis=0)], strict=True):
            spread = jackknife_spread(each, units.counts)
            assert (test.error, test.null.df) == pytest.approx(spread)
            assert test.seeds == 0
            assert test.p == pytest.approx(2 * stats.t.sf(abs(test.difference) / test.error, test.null.df))


def test_a_difference_adds_the_runs_of_both_sides() -> None:
    ours, theirs = runs_of(4, 500, 0.05, seed=1), runs_of(3, 500, 0.02, seed=1)
    both = runs_tests(units_of([MCC], [*ours, *theirs]), [4, 3])[0]
    alone = [runs_tests(units_of([MCC], side), [len(side)])[0] for side in (ours, theirs)]
    assert both.difference == pytest.approx(alone[0].difference - alone[1].difference)
    assert both.seeds == pytest.approx(alone[0].seeds + alone[1].seeds)
    assert both.examples < alone[0].examples + alone[1].examples, "they answer the same examples"


def test_an_average_keeps_runs_together() -> None:
    """The runs' own averages count, so that a run that is good everywhere is seen as one run."""
    tests = [runs_tests(units_of([ACCURACY], runs_of(4, 300, 0.05, seed=seed)), [4])[0] for seed in (1, 2)]
    whole = mean_runs(tests, [1.0, 1.0])
    assert whole.runs[0] == pytest.approx((tests[0].runs[0] + tests[1].runs[0]) / 2)
    assert whole.examples == pytest.approx((tests[0].examples + tests[1].examples) / 4)
    assert whole.shared[0] == pytest.approx((tests[0].shared[0] + tests[1].shared[0]) / 4)


def test_a_report_of_runs_has_their_means_and_intervals(folder, small) -> None:
    gold = read_gold(folder, small)
    runs = []
    for shift in range(3):
        values = predicted_values()
        values["Accept"] = [1 - value if index % 13 == shift else value
                            for index, value in enumerate(values["Accept"])]  # fmt: skip
        runs.append(submission_of(values, small))
    reports, summary = grade_runs(runs, gold)
    assert reports == [grade(run, gold) for run in runs]
    spread = summary.tasks["Accept"]["score"]
    assert spread.mean == pytest.approx(np.mean([each.tasks["Accept"].score.value for each in reports]))
    assert spread.low < spread.mean < spread.high
    like = summary.tasks["Like"]["pearson"]
    assert like.seeds == 0, "the same answers in all runs"
    single = reports[0].tasks["Like"].metrics["pearson"]
    assert (like.low, like.high) == pytest.approx((single.low, single.high), abs=0.03)
    assert summary.score.low < summary.score.mean < summary.score.high
    assert summary.tasks["Halves"]["score"].low is not None
    assert summary.as_dict()["score"]["seeds"] == pytest.approx(summary.score.seeds)


class TestWorkedByHand:
    """Two runs of A against two equal ones of B, with variances in round numbers."""

    TEST = RunsTest((np.array([0.8, 0.9]), np.array([0.7, 0.7])), 0.0016, 20.0, (0.0005, 0.0))
    DF = 0.0036 / (0.0016 / 20 + 0.002 / 1)

    def test_variances_and_degrees_of_freedom(self) -> None:
        """The runs of A have the variance .005, half of it for their mean; .0005 of that is the examples'."""
        test = self.TEST
        assert test.difference == pytest.approx(0.15)
        assert test.seeds == pytest.approx(0.002)
        assert test.error == pytest.approx(0.06)
        assert test.seeds_share == pytest.approx(5 / 9)
        assert test.null.df == pytest.approx(self.DF)
        three = RunsTest((np.array([0.7, 0.8, 0.9]),), 0.0, 7.0, (0.0,))
        assert (three.seeds, three.null.df) == (pytest.approx(0.01 / 3), pytest.approx(2.0))
        covered = RunsTest((np.array([0.8, 0.9]),), 0.0016, 20.0, (0.0025,))
        assert covered.seeds == pytest.approx(0.0, abs=1e-12)
        assert covered.null.df == pytest.approx(20.0)

    def test_what_follows_is_students(self) -> None:
        test, t = self.TEST, stats.t(self.DF)
        assert test.p == pytest.approx(2 * t.sf(2.5))
        assert test.interval() == pytest.approx((0.15 + 0.06 * t.ppf(0.025), 0.15 + 0.06 * t.ppf(0.975)))
        assert test.equivalence_p(0.3) == pytest.approx(t.sf(2.5))
        assert test.equivalence_p(0.149) == test.equivalence_p(test.difference) == 1.0
        negative = RunsTest(test.runs[::-1], test.examples, 20.0, (0.0, 0.0005))
        assert negative.difference == pytest.approx(-0.15)
        assert negative.equivalence_p(0.3) == pytest.approx(t.sf(2.5))
        assert test.detectable() == pytest.approx(0.06 * (t.ppf(0.975) + t.ppf(0.8)))
        assert test.detectable(0.9) == pytest.approx(0.06 * (t.ppf(0.975) + t.ppf(0.9)))

    def test_where_nothing_varies(self) -> None:
        same = RunsTest((np.array([0.8]), np.array([0.8])), 0.0, 9.0, (0.0, 0.0))
        assert (same.p, same.null.df, same.seeds_share, same.error) == (1.0, 1.0, 0.0, 0.0)
        assert same.interval() is same.detectable() is None
        assert same.equivalence_p(0.1) == 1.0
        better = RunsTest((np.array([0.9]), np.array([0.8])), 0.0, 9.0, (0.0, 0.0))
        assert better.p == 0.0

    def test_a_weighted_mean(self) -> None:
        other = RunsTest((np.array([0.5, 0.3]), np.array([0.6])), 0.0036, 10.0, (0.0001, 0.0002))
        whole = mean_runs([self.TEST, other], [1.0, 3.0])
        assert [[*side] for side in whole.runs] == [
            pytest.approx([0.575, 0.45]),
            pytest.approx([0.625, 0.625]),
        ]
        parts = 0.0016 / 16, 0.0036 * 9 / 16
        assert whole.examples == pytest.approx(sum(parts))
        assert whole.examples_df == pytest.approx(sum(parts) ** 2 / (parts[0] ** 2 / 20 + parts[1] ** 2 / 10))
        assert whole.shared == pytest.approx((0.0014 / 16, 0.0018 / 16))
        same = RunsTest((np.array([0.8]),), 0.0, 9.0, (0.0,))
        assert mean_runs([same, same], [1.0, 1.0]).examples_df == 1.0


def test_a_run_shares_with_the_examples_what_its_answers_differ_by() -> None:
    """Of an accuracy: the interaction of runs and examples, from the table of right answers."""
    right = np.array([[1, 1, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1, 1, 1], [0, 1, 1, 1, 0, 1, 1, 1]])
    systems = labels([1] * 8, *right, groups=None)
    test = runs_tests(units_of([ACCURACY], systems), [2, 1])[0]
    ours = right[:2].mean(axis=0) - right[2]
    assert test.difference == pytest.approx(ours.mean())
    assert test.examples == pytest.approx(ours.var(ddof=1) / 8)
    assert test.shared == pytest.approx((crossed(right[:2])["both"], 0.0))
    both = runs_tests(units_of([ACCURACY, ACCURACY], systems), [3])
    assert [each.shared for each in both] == [pytest.approx((crossed(right)["both"],))] * 3
