"""Metrics of labels and groups against scikit-learn, and what inference makes of them."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from scoring.columns import RESAMPLES, labels, left_out, resampled, spread_error
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric
from gluebench.scoring import measure
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.intervals import TOO_FEW
from gluebench.scoring.metrics import point
from gluebench.scoring.metrics.labels import LABEL_METRICS
from gluebench.scoring.units import units_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
RNG = np.random.default_rng
CLASSES = 4
ALL = range(CLASSES)


def kappa(gold, predicted, weights=None):
    if len({*gold, *predicted}) < 2:
        return 0.0
    return sk.cohen_kappa_score(gold, predicted, weights=weights, labels=ALL)


def balanced_accuracy(gold, predicted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of predictions that gold lacks
        return sk.balanced_accuracy_score(gold, predicted)


def mean_f1(gold, predicted, **options):
    return sk.f1_score(gold, predicted, average="macro", **{"zero_division": 0} | options)


ORACLES = {
    "macro_f1": mean_f1,
    "macro_f1_gold": lambda gold, predicted: mean_f1(gold, predicted, labels=np.unique(gold)),
    "macro_f1_all": partial(mean_f1, labels=ALL),
    "macro_f1_all_one": partial(mean_f1, labels=ALL, zero_division=1),
    "weighted_f1": partial(sk.f1_score, average="weighted", zero_division=0),
    "micro_f1_without": partial(sk.f1_score, average="micro", labels=[0, 2, 3], zero_division=0),
    "precision": lambda *columns: sk.precision_score(*columns, labels=[1], average="macro", zero_division=0),
    "recall": lambda *columns: sk.recall_score(*columns, labels=[1], average="macro", zero_division=0),
    "macro_precision": partial(sk.precision_score, average="macro", zero_division=0),
    "macro_recall": partial(sk.recall_score, average="macro", zero_division=0),
    "balanced_accuracy": balanced_accuracy,
    "kappa": kappa,
    "linear_kappa": partial(kappa, weights="linear"),
    "quadratic_kappa": partial(kappa, weights="quadratic"),
}
OF_ONE = ("micro_f1_without", "precision", "recall")
METRIC = {name: Metric(name, name, name, "F", "1" if name in OF_ONE else None) for name in ORACLES}


def columns(seed: int):
    """Two columns that agree more or less; each may lack labels, or be constant."""
    rng = RNG(seed)
    size, known = int(rng.integers(1, 60)), rng.integers(0, CLASSES, int(rng.integers(1, CLASSES + 1)))
    gold = rng.choice(known, size)
    return gold, np.where(rng.random(size) < rng.random(), gold, rng.integers(0, CLASSES, size))


def test_every_metric_has_an_oracle() -> None:
    assert ORACLES.keys() == {metric.name for metric in LABEL_METRICS}


@pytest.mark.parametrize("name", ORACLES)
def test_values_are_scikit_learns(name: str) -> None:
    for seed in range(60):
        gold, predicted = columns(seed)
        (pairs,) = labels(gold, predicted, classes=CLASSES)
        assert point(METRIC[name], pairs).value == pytest.approx(ORACLES[name](gold, predicted), abs=1e-12)


@pytest.mark.parametrize("name", ORACLES)
def test_units_left_out_are_scikit_learns(name: str) -> None:
    gold, predicted = RNG(0).integers(0, CLASSES, (2, 40))
    for groups in (None, np.arange(40) // 3):
        systems = labels(gold, predicted, classes=CLASSES, groups=groups)
        of = np.arange(40) if groups is None else groups
        expected = [ORACLES[name](gold[of != each], predicted[of != each]) for each in np.unique(of)]
        assert left_out(METRIC[name], systems)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("resamples", RESAMPLES)
@pytest.mark.parametrize("name", ORACLES)
def test_intervals_tests_and_resamples_follow(name: str, resamples: int) -> None:
    """The influence, whose spread is the error of the test, against that of resamples."""
    rng = RNG(2)
    gold = rng.integers(0, CLASSES, 400)
    answers = [np.where(rng.random(400) < share, gold, rng.integers(0, CLASSES, 400)) for share in (0.7, 0.5)]
    systems = labels(gold, *answers, classes=CLASSES)
    units = units_of([METRIC[name]], systems)
    drawn = resampled(METRIC[name], systems, resamples)
    exchange = units.exchange(200, RNG(4))
    values = units.values()[0]
    assert exchange.differences[0, 0] == pytest.approx(values[0] - values[1])
    error = spread_error(resamples)
    assert exchange.errors[0, 0] == pytest.approx((drawn[0] - drawn[1]).std(), rel=error)
    (bar,) = file_intervals([METRIC[name]], systems[0], [point(METRIC[name], systems[0])])
    low, high = np.percentile(drawn[0], [2.5, 97.5])
    assert (bar.low, bar.high) == pytest.approx((low, high), abs=2.5 * spread_error(resamples) * (high - low))


@pytest.mark.parametrize(
    ("name", "gold", "predicted", "reason"),
    [
        ("precision", [1, 0], [0, 0], "the predictions have no example with the positive label"),
        ("recall", [0, 0], [1, 0], "gold has no example with the positive label"),
        ("kappa", [2, 2], [2, 2], "gold and predictions are all the same label"),
        ("micro_f1_without", [1, 1], [1, 1],
         "neither gold nor predictions have another label than the one left out"),
        ("kappa", [0, 1], [1, 1], None),
    ],
)  # fmt: skip
def test_a_value_of_zero_has_a_reason(name: str, gold, predicted, reason) -> None:
    (pairs,) = labels(gold, predicted, classes=CLASSES)
    assert point(METRIC[name], pairs) == (0.0, reason)


@pytest.mark.parametrize("name", ["macro_f1", "macro_f1_all", "macro_f1_all_one"])
def test_an_average_over_labels_has_no_interval_without_one_of_them(name: str) -> None:
    """Its score on the population, which has them all, is not known: on average it is biased."""
    rng = RNG(0)
    gold = rng.integers(0, 3, 200)
    (pairs,) = labels(gold, np.where(rng.random(200) < 0.8, gold, 0), classes=CLASSES)
    (bar,) = file_intervals([METRIC[name]], pairs, [point(METRIC[name], pairs)])
    assert bar.withheld == TOO_FEW


@pytest.mark.parametrize(("times", "withheld"), [(1, TOO_FEW), (8, TOO_FEW), (12, None)])
def test_a_label_that_is_always_wrong_needs_enough_examples(times: int, withheld: str | None) -> None:
    """Its answers show no variance, although a larger test set would have some that are right."""
    rng = RNG(0)
    gold, predicted = rng.integers(0, CLASSES - 1, 200), rng.integers(0, CLASSES - 1, 200)
    gold[:times] = CLASSES - 1
    (pairs,) = labels(gold, predicted, classes=CLASSES)
    (bar,) = file_intervals([METRIC["macro_f1_all"]], pairs, [point(METRIC["macro_f1_all"], pairs)])
    assert bar.withheld == withheld


def test_as_functions_the_labels_are_those_that_occur_in_sorted_order() -> None:
    gold, predicted = ["c", "a", "b", "b"], ["c", "b", "b", "c"]
    for weights, name in ((None, "kappa"), ("linear", "linear_kappa"), ("quadratic", "quadratic_kappa")):
        labels = ["a", "b", "c"] if weights else ()
        assert measure(name, gold, predicted, labels=labels) == pytest.approx(
            sk.cohen_kappa_score(gold, predicted, weights=weights)
        )
    assert measure("macro_f1_all", gold, predicted) == pytest.approx(mean_f1(gold, predicted))


def by_group(gold, predicted, groups):
    """The shares of groups that are all right, and that have one prediction."""
    numbers = sorted({*groups})
    right = [
        all(g == p for g, p, of in zip(gold, predicted, groups, strict=True) if of == each)
        for each in numbers
    ]
    alike = [len({p for p, of in zip(predicted, groups, strict=True) if of == each}) == 1 for each in numbers]
    return sum(right) / len(numbers), sum(alike) / len(numbers)


def test_groups_against_a_loop() -> None:
    for seed in range(40):
        gold, predicted = columns(seed)
        groups = RNG(seed).integers(0, 12, len(gold)) * 7
        for sort in (groups, np.sort(groups)):
            (pairs,) = labels(gold, predicted, classes=CLASSES, groups=sort)
            names = ("group_exact_match", "group_agreement")
            found = [point(Metric(name, name, "", "F"), pairs).value for name in names]
            assert found == pytest.approx(by_group(gold, predicted, sort.tolist()))
            assert found == [measure(name, gold, predicted, groups=sort) for name in names]
    for name in ("group_exact_match", "group_agreement"):
        with pytest.raises(ValueError, match="needs the group of each example; give them with groups="):
            measure(name, ["a", "b"], ["a", "a"])


def test_f1_and_exact_match_of_the_same_groups_have_intervals_and_a_test() -> None:
    """MultiRC: the mean of F1 over all answers and the share of questions that are all right."""
    rng = RNG(0)
    gold, groups = rng.integers(0, 2, 900), np.arange(900) // 3
    answers = [np.where(rng.random(900) < p, gold, 1 - gold) for p in (0.8, 0.9)]
    systems = labels(gold, *answers, groups=groups)
    metrics = [Metric("f1", "f1", "F1", "F", "1"), Metric("em", "group_exact_match", "EM", "F")]
    units = units_of(metrics, systems)
    assert units.size == 300
    points = [point(metric, systems[0]) for metric in metrics]
    drawn = np.empty((2, 2, 2000))
    for draw in range(2000):
        rows = (3 * rng.integers(0, 300, 300)[:, np.newaxis] + np.arange(3)).ravel()
        for system, given in enumerate(answers):
            right, said = gold[rows], given[rows]
            drawn[0, system, draw] = 2 * (right & said).sum() / (right.sum() + said.sum())
            drawn[1, system, draw] = (right == said).reshape(300, 3).all(axis=1).mean()
    for at, bar in enumerate(file_intervals(metrics, systems[0], points)):
        sample = drawn[:, 0].mean(axis=0) if at == 2 else drawn[at, 0]
        low, high = np.percentile(sample, [2.5, 97.5])
        assert (bar.low, bar.high) == pytest.approx((low, high), abs=0.15 * (high - low))
    exchange = units.exchange(100, RNG(2))
    difference = drawn.mean(axis=0)
    assert exchange.errors[2, 0] == pytest.approx((difference[0] - difference[1]).std(), rel=0.1)
