"""Losses and agreement of numbers against scikit-learn, scipy and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scoring.columns import RESAMPLES, left_out, numbers, resampled, spread_error
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric, load_benchmark
from gluebench.scoring import mean_absolute_error, measure, root_mean_squared_error
from gluebench.scoring.feedback import rounded_score, rounded_value, step
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.metrics import METRICS, point
from gluebench.scoring.paired import paired_tests
from gluebench.scoring.report import Score
from gluebench.scoring.units import units_of

RNG = np.random.default_rng


def concordance(gold, predicted):
    """Lin's coefficient, by its definition."""
    gold, predicted = np.array(gold, float), np.array(predicted, float)
    if np.ptp(gold) == 0 or np.ptp(predicted) == 0:
        return 0.0
    covariance = ((gold - gold.mean()) * (predicted - predicted.mean())).mean()
    return 2 * covariance / (gold.var() + predicted.var() + (gold.mean() - predicted.mean()) ** 2)


def wmae(gold, predicted):
    """The mean over the gold ratings of the mean absolute error of each."""
    errors: dict[float, list[float]] = {}
    for rating, answer in zip(gold, predicted, strict=True):
        errors.setdefault(rating, []).append(abs(rating - answer))
    return sum(sum(each) / len(each) for each in errors.values()) / len(errors)


def kendall(gold, predicted):
    tau = stats.kendalltau(gold, predicted)[0]
    return 0.0 if np.isnan(tau) else tau


ORACLES = {
    "neg_mae": lambda *columns: -sk.mean_absolute_error(*columns),
    "neg_mse": lambda *columns: -sk.mean_squared_error(*columns),
    "neg_rmse": lambda *columns: -sk.root_mean_squared_error(*columns),
    "r2": lambda gold, predicted: sk.r2_score(gold, predicted) if np.ptp(gold) else 0.0,
    "concordance": concordance,
    "kendall": kendall,
    "neg_wmae": lambda *columns: -wmae(*columns),
    "f1_from": lambda gold, predicted: sk.f1_score(
        np.array(gold) >= 3.0, np.array(predicted) >= 3.0, zero_division=0
    ),
}
METRIC = {name: Metric(name, name, name, "F", "3.0" if name == "f1_from" else None) for name in ORACLES}


def columns(seed: int):
    """Few different numbers or many, near each other or far, some constant."""
    rng = RNG(seed)
    size = int(rng.integers(2, 80))
    gold = rng.integers(0, int(rng.integers(1, 7)), size) + 0.0
    predicted = gold + rng.normal(0, rng.choice([0.3, 3]), size) * (seed % 5 > 0)
    return gold + rng.choice([0, 100]) * (seed % 3 == 0), predicted.round(int(rng.integers(0, 8)))


@pytest.mark.parametrize("name", ORACLES)
def test_values_are_those_of_the_oracles(name: str) -> None:
    for seed in range(60):
        gold, predicted = columns(seed)
        positive = 3.0 if name == "f1_from" else None
        expected = ORACLES[name](gold, predicted)
        assert measure(name, gold, predicted, positive=positive) == pytest.approx(
            expected, abs=1e-12, rel=1e-12
        )
        constant = np.full(len(gold), 3.5)
        for pair in ((gold, constant), (constant, predicted), (constant, constant)):
            expected = pytest.approx(ORACLES[name](*pair), abs=1e-12, rel=1e-12)
            assert measure(name, *pair, positive=positive) == expected


def test_taus_of_many_ties_and_of_none_are_scipys() -> None:
    for seed, values in enumerate((2, 3, 17, 10**6)):
        gold, predicted = RNG(seed).integers(0, values, (2, 5000))
        assert measure("kendall", gold, predicted) == pytest.approx(kendall(gold, predicted), abs=1e-12)
        assert measure("kendall", gold, -gold) == pytest.approx(-1)


def test_losses_have_positive_twins() -> None:
    assert mean_absolute_error([1, 2], [1, 4]) == 1.0
    assert root_mean_squared_error([1, 2], [1, 4]) == pytest.approx(2**0.5)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("groups", [None, np.arange(150) // 3])
def test_units_left_out_are_those_of_the_oracles(name: str, groups) -> None:
    rng = RNG(0)
    gold = rng.integers(1, 6, 150) + 0.0
    predicted = gold + rng.normal(0, 1, 150)
    systems = numbers(gold, predicted, groups=groups)
    of = np.arange(150) if groups is None else groups
    expected = [ORACLES[name](gold[of != each], predicted[of != each]) for each in np.unique(of)]
    assert left_out(METRIC[name], systems)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("resamples", RESAMPLES)
@pytest.mark.parametrize("name", ORACLES)
def test_intervals_tests_and_steps_follow(name: str, resamples: int) -> None:
    rng = RNG(1)
    gold = rng.integers(1, 6, 300) + 0.0
    systems = numbers(gold, *(gold + rng.normal(0, noise, 300) for noise in (0.8, 1.2)))
    metric = METRIC[name]
    units = units_of([metric], systems)
    drawn = resampled(metric, systems, resamples)
    (bar,) = file_intervals([metric], systems[0], [point(metric, systems[0])])
    low, high = np.percentile(drawn[0], [2.5, 97.5])
    assert (bar.low, bar.high) == pytest.approx((low, high), abs=1.5 * spread_error(resamples) * (high - low))
    lowest, highest = METRICS[name].bounds
    assert lowest <= bar.low < bar.high <= highest
    (test,) = paired_tests(units, resamples=999, rng=RNG(3))
    assert test.error == pytest.approx((drawn[0] - drawn[1]).std(), rel=1.2 * spread_error(resamples))
    assert test.p < 0.05
    shown = rounded_score(Score(point(metric, systems[0]).value, bar.low, bar.high, 300), lowest, highest)
    assert lowest <= shown.low <= bar.low < bar.high <= shown.high <= highest


def test_a_loss_is_shown_in_steps_of_a_share_of_itself() -> None:
    """Of 2 / sqrt(n), with four digits, so that neither far answers nor small errors reveal more."""
    bounds = float("-inf"), 0.0
    for size in (1e-4, 0.01, 1.0, 1e6):
        losses = -size * np.linspace(1, 2, 1001)
        shown = np.array([rounded_value(loss, 400, *bounds) for loss in losses])
        assert np.all(np.diff(shown) <= 0), "no order is turned"
        assert np.abs(np.log(shown / losses)).max() <= 1 / 400**0.5 + 1e-3
        assert len({*shown}) == pytest.approx(np.log(2) * 400**0.5 / 2, abs=1.5)
    assert rounded_value(0.0, 400, *bounds) == 0.0
    assert rounded_value(1.0, 400, float("-inf")) == 1.0


def test_a_step_of_the_ladder_takes_a_loss() -> None:
    rng = RNG(1)
    gold = rng.integers(1, 6, 300) + 0.0
    good, bad = numbers(gold, *(gold + rng.normal(0, noise, 300) for noise in (0.8, 1.2)))
    task = load_benchmark("glue").task("STS-B")._replace(metrics=(METRIC["neg_rmse"],))
    assert step(task, {"F": good}, {"F": bad}).better
    assert not step(task, {"F": bad}, {"F": good}).better


@pytest.mark.parametrize(
    ("name", "gold", "predicted", "value", "reason"),
    [
        ("r2", [0.1] * 7, [0.2] * 7, 0.0, "the gold scores are all the same"),
        ("kendall", [1, 2], [3, 3], 0.0, "the predictions are all the same"),
        ("f1_from", [1, 2], [2, 1], 0.0, "neither gold nor predictions reach the number"),
        ("neg_mae", [1, 2], [1, 2], 0.0, None),
    ],
)
def test_a_value_of_zero_has_a_reason(name: str, gold, predicted, value, reason) -> None:
    (pairs,) = numbers(gold, predicted)
    assert point(METRIC[name], pairs) == (value, reason)


def test_what_cannot_be_compared_is_explained() -> None:
    with pytest.raises(
        ValueError, match="has 101 different ratings; neg_wmae expects at most 100: use neg_mae"
    ):
        measure("neg_wmae", range(101), range(101))
    with pytest.raises(ValueError, match=r"positive=None is not a finite number"):
        measure("f1_from", [1.0], [1.0])
    with pytest.raises(ValueError, match="neg_mae is not of one label"):
        measure("neg_mae", [1.0], [1.0], positive=3)
