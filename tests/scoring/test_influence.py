"""Influence values against the metrics themselves, called without each unit, and against DeLong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scoring.columns import labels, numbers
from scoring.every_metric import WORDS, answers_of, metric_of

from gluebench.benchmark import load_benchmark
from gluebench.benchmark.metrics import BUILT_IN
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.influence import influence_of
from gluebench.scoring.intervals import TOO_FEW
from gluebench.scoring.metrics import METRICS, point
from gluebench.scoring.metrics.plain import pairs_of

CLOSED = ("pearson", "spearman", "roc_auc")
"""Metrics whose influence has a closed form, the same to first order."""
OF_ALL_GOLD = ("icm_soft", "icm_soft_norm")
"""Metrics that weigh each example by the gold of all, which leaving out one does not change."""
GROUPS = np.random.default_rng(5).integers(0, 17, 40) * 3


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("name", METRICS)
def test_it_is_the_change_without_each_unit(name: str, groups) -> None:
    metric = metric_of(name)
    (pairs,) = answers_of(BUILT_IN[name].form, 40, groups=groups)
    influence = influence_of([metric], pairs)
    units = np.arange(40) if groups is None else np.unique(groups, return_inverse=True)[1]
    size = units.max() + 1
    whole = point(metric, pairs).value
    without = [
        point(metric, pairs.subset(np.flatnonzero(units != unit).tolist())).value for unit in range(size)
    ]
    expected = (size - 1) * (whole - np.array(without))
    assert influence.values.tolist() == [whole]
    assert influence.by_unit.shape == (1, size)
    assert influence.counts.sum() == size
    if name in CLOSED:
        assert influence.by_unit.mean() == pytest.approx(0, abs=1e-12)
        assert np.corrcoef(influence.by_unit[0], expected)[0, 1] > 0.99
    elif name in OF_ALL_GOLD:
        assert np.corrcoef(influence.by_unit[0], expected)[0, 1] > 0.8
    else:
        assert influence.by_unit[0] == pytest.approx(expected, abs=1e-11)
    assert np.isfinite(influence.by_kind).all()


def test_the_variance_of_an_area_is_delongs() -> None:
    """As in DeLong, DeLong and Clarke-Pearson (1988), from the ranks of scipy."""
    metric = metric_of("roc_auc")
    (pairs,) = answers_of("probabilities", 300)
    scores = np.array(pairs.predicted.cells)[:, 1]
    positive = np.frombuffer(pairs.gold.codes, np.uint8) == 1
    ours, others = scores[positive], scores[~positive]
    m, n = len(ours), len(others)
    ranks = stats.rankdata(np.append(ours, others))
    of_positives = (ranks[:m] - stats.rankdata(ours)) / n
    of_others = 1 - (ranks[m:] - stats.rankdata(others)) / m
    variance = of_positives.var(ddof=1) / m + of_others.var(ddof=1) / n
    influence = influence_of([metric], pairs).by_unit[0]
    assert (influence**2).sum() / (300 * 299) == pytest.approx(variance, rel=1e-12)


def test_metrics_of_several_kinds_have_the_values_that_they_have_alone() -> None:
    (pairs,) = answers_of("labels", 40, groups=GROUPS)
    metrics = [metric_of(name) for name in ("accuracy", "macro_f1", "icm", "group_exact_match")]
    together = influence_of(metrics, pairs)
    for at, metric in enumerate(metrics):
        alone = influence_of([metric], pairs)
        assert together.by_unit[at] == pytest.approx(alone.by_unit[0], abs=1e-15)


def test_labels_have_a_kind_for_each_cell_of_the_table() -> None:
    (pairs,) = answers_of("labels", 400)
    influence = influence_of([metric_of("accuracy")], pairs)
    assert influence.by_kind.shape == (1, 9)
    assert influence.kinds.dtype == np.uint8
    gold, predicted = (np.frombuffer(column.codes, np.uint8) for column in (pairs.gold, pairs.predicted))
    right = influence.by_unit[0][gold == predicted]
    assert right == pytest.approx(1 - influence.values[0])


def withheld(name: str, pairs) -> str | None:
    metric = metric_of(name)
    return file_intervals([metric], pairs, [point(metric, pairs)])[0].withheld


def test_ratings_that_hardly_ever_occur_have_no_weighted_error() -> None:
    """As in STS-B, whose intervals held the value in 79 to 85 % of the worlds."""
    rng = np.random.default_rng(0)
    many = np.round(rng.uniform(0, 5, 400), 1)
    five = rng.integers(1, 6, 400) * 1.0
    for gold, reason in ((many, TOO_FEW), (five, None)):
        (pairs,) = numbers(gold, gold + rng.normal(size=400))
        assert withheld("neg_wmae", pairs) == reason


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([1, 2, 3, 4, 5], None),
        ([2, 3, 4, 5], TOO_FEW),
        ([1, 2, 3, 4], TOO_FEW),
        ([1, 2, 4, 5], TOO_FEW),
        ([1, 3, 5], None),
        ([1, 2.33, 3.67, 5], None),
        ([3], TOO_FEW),
    ],
)
def test_a_rating_of_the_scale_that_never_occurs_withholds_the_weighted_error(ratings, reason) -> None:
    """Such intervals held the value in down to 44 % of the worlds."""
    rng = np.random.default_rng(0)
    gold = rng.choice(ratings, 400)
    (pairs,) = numbers(gold, gold + rng.normal(size=400))
    (task,) = [task for task in load_benchmark("klej").tasks if task.name == "AR"]
    (metric,) = task.metrics
    assert file_intervals([metric], pairs, [point(metric, pairs)])[0].withheld == reason


@pytest.mark.parametrize("name", ["roc_auc", "macro_pr_auc", "macro_average_precision"])
def test_an_area_needs_ten_examples_of_each_label(name: str) -> None:
    rng = np.random.default_rng(0)
    for positives, reason in ((9, TOO_FEW), (10, None)):
        gold = ["law"] * positives + ["art"] * 60 + ["war"] * 30
        given = rng.dirichlet([1, 1, 1], len(gold)).tolist()
        assert withheld(name, pairs_of("probabilities", gold, given, labels=WORDS)) == reason


@pytest.mark.parametrize("name", ["macro_recall", "balanced_accuracy", "macro_f1", "macro_f1_all"])
def test_a_rare_class_without_an_error_has_no_variance_to_see(name: str) -> None:
    """Twelve examples of it may well hide as much variance as 300 of the others show; 150 may not."""
    for rare, reason in ((12, TOO_FEW), (150, None)):
        gold = [0] * 200 + [1] * 200 + [2] * rare
        predicted = [0] * 190 + [1] * 10 + [1] * 190 + [0] * 10 + [2] * rare
        (pairs,) = labels(gold, predicted, classes=3)
        assert withheld(name, pairs) == reason


@pytest.mark.parametrize("name", ["entity_macro_f1", "token_macro_f1"])
def test_an_average_over_types_needs_each_type_of_the_task(name: str) -> None:
    """Without the rare one it is an average over other classes, and covered 19 % in a world of two types."""
    metric = metric_of(name)
    assert {"B-art", "B-law"} < {*metric.labels}
    for laws, reason in ((0, TOO_FEW), (2, TOO_FEW), (10, None)):
        gold = [["B-art"]] * 60 + [["B-law"]] * laws
        predicted = [["B-art"]] * 40 + [["O"]] * 20 + [["B-law"]] * (laws // 2) + [["O"]] * (laws - laws // 2)
        pairs = pairs_of("tokens", gold, predicted)
        assert withheld(name, pairs) == reason


@pytest.mark.parametrize("name", ["macro_f1", "macro_f1_gold", "balanced_accuracy"])
def test_an_average_over_labels_needs_two_examples_of_each(name: str) -> None:
    for rare, reason in ((0, TOO_FEW), (1, TOO_FEW), (8, None)):
        gold = [0] * 40 + [1] * 40 + [2] * rare
        predicted = [0] * 20 + [1] * 40 + [0] * 20 + [2] * (rare // 2) + [1] * (rare - rare // 2)
        (pairs,) = labels(gold, predicted, classes=3)
        assert withheld(name, pairs) == reason


@pytest.mark.parametrize("name", ["macro_pr_auc", "macro_average_precision"])
def test_an_area_needs_every_label_of_the_task(name: str) -> None:
    given = np.random.default_rng(0).dirichlet([1, 1, 1], 90).tolist()
    assert (
        withheld(name, pairs_of("probabilities", ["art"] * 60 + ["war"] * 30, given, labels=WORDS)) == TOO_FEW
    )


@pytest.mark.parametrize("names", [["accuracy", "r_k"], ["accuracy", "kappa"]])
def test_no_interval_has_width_0(names: list[str]) -> None:
    """Of answers that are all right, and all of one label, the mean of two metrics does not vary."""
    metrics = [metric_of(name) for name in names]
    (pairs,) = labels([0] * 100, [0] * 100, classes=3)
    bars = file_intervals(metrics, pairs, [point(metric, pairs) for metric in metrics])
    assert bars[0].low < bars[0].high == 1.0
    assert bars[2].low is None
    (pairs,) = numbers(np.arange(100), np.arange(100) + 4.3213)
    assert withheld("neg_rmse", pairs) == TOO_FEW, "all errors are equal"
