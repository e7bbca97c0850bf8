"""No result depends on the order of rows, systems, metrics or labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scoring.every_metric import WORDS, answers_of, metric_of

from gluebench.analysis.compare.scores import ScoreTest, file_tests
from gluebench.benchmark import Metric
from gluebench.benchmark.metrics import BUILT_IN
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.intervals import OptionalInterval
from gluebench.scoring.metrics import METRICS, point
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column

ROWS = 210
"""Enough for correlations to be exchanged linearly; 90 rows are too few for it."""
GROUPS = np.random.default_rng(3).integers(0, 70, ROWS)
Results = tuple[Sequence[OptionalInterval], Sequence[ScoreTest]]


def results(metrics: Sequence[Metric], systems: Sequence[Pairs]) -> Results:
    bars = file_intervals(metrics, systems[0], [point(metric, systems[0]) for metric in metrics])
    a, b = systems[:2]
    return bars, file_tests(metrics, [[a], [b]], resamples=200, seed=0, name="F")


def numbers(found: Results, at: int) -> list[float | None]:
    """Everything that is printed of a metric."""
    bar, tested = found[0][at], found[1][at]
    difference = tested.difference(margin=0.02)
    return [bar.low, bar.high, difference.a, difference.b, difference.low, difference.high, difference.error,
            difference.p, difference.detectable, difference.equivalence_p]  # fmt: skip


def assert_same(first: Results, second: Results, *, at: int = 0, of_second: int = 0) -> None:
    for one, other in zip(numbers(first, at), numbers(second, of_second), strict=True):
        assert (one is None) is (other is None)
        assert one is None or other == pytest.approx(one, abs=1e-12, rel=1e-12)


def reordered(systems: Sequence[Pairs], rows: np.ndarray) -> list[Pairs]:
    """The same rows in another order."""
    return [pairs.subset(rows.tolist()) for pairs in systems]


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["alone", "groups"])
@pytest.mark.parametrize("name", METRICS)
def test_the_order_of_rows(name: str, groups) -> None:
    metric = metric_of(name)
    for rows in (ROWS, 90):
        systems = answers_of(
            BUILT_IN[name].form, rows, systems=2, groups=None if groups is None else groups[:rows]
        )
        expected = results([metric], systems)
        order = np.random.default_rng(0).permutation(rows)
        assert_same(expected, results([metric], reordered(systems, order)))


@pytest.mark.parametrize("name", METRICS)
def test_the_order_of_systems(name: str) -> None:
    metric = metric_of(name)
    a, b = answers_of(BUILT_IN[name].form, ROWS, systems=2)
    (forward,), (backward,) = (
        file_tests([metric], [[one], [other]], resamples=200, seed=0, name="F")
        for one, other in ((a, b), (b, a))
    )
    assert (forward.a, forward.b) == (backward.b, backward.a)
    one, other = forward.difference(), backward.difference()
    assert (one.p, one.error) == (other.p, other.error)
    if one.low is not None:
        assert (one.low, one.high) == (-other.high, -other.low)


@pytest.mark.parametrize(
    "names",
    [
        ["pearson", "kendall", "neg_rmse", "spearman"],
        ["probability_accuracy", "roc_auc", "macro_pr_auc", "neg_log_loss"],
        ["accuracy", "macro_f1", "icm", "group_exact_match"],
        ["accuracy", "r_k", "f1"],
        ["token_macro_f1", "entity_f1", "token_accuracy"],
    ],
)
@pytest.mark.parametrize("rows", [90, ROWS])
def test_the_other_metrics_of_a_file_and_their_order(names: list[str], rows: int) -> None:
    systems = answers_of(BUILT_IN[names[0]].form, rows, systems=2)
    metrics = [metric_of(name) for name in names]
    together, reverse = results(metrics, systems), results(metrics[::-1], systems)
    for at, metric in enumerate(metrics):
        alone = results([metric], systems)
        assert_same(alone, together, of_second=at)
        assert_same(alone, reverse, of_second=len(metrics) - 1 - at)
    assert_same(together, reverse, at=len(metrics), of_second=len(metrics))


ORDINAL = ("linear_kappa", "quadratic_kappa", "neg_wasserstein")
"""Metrics that compare labels by their order in the manifest."""
SYMMETRIC = [
    name
    for name in METRICS
    if BUILT_IN[name].form in ("labels", "probabilities", "distributions") and name not in ORDINAL
]


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_order_of_labels(name: str) -> None:
    """In a manifest; probabilities are in that order too."""
    metric = metric_of(name)
    systems = answers_of(BUILT_IN[name].form, ROWS, systems=2)
    order = [2, 0, 1]
    words = tuple(WORDS[at] for at in order)

    def relabeled(column: Column) -> Column:
        if column.labels:
            return Column(words, bytes(words.index(word) for word in column.words()))
        return Column((), tuple(tuple(cell[at] for at in order) for cell in column.cells))

    systems = [
        replace(each, gold=relabeled(each.gold), predicted=relabeled(each.predicted)) for each in systems
    ]
    moved = metric._replace(labels=words)
    assert_same(
        results([metric], answers_of(BUILT_IN[name].form, ROWS, systems=2)), results([moved], systems)
    )
