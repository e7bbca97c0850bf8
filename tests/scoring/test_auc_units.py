"""Areas under curves from sums over units have the values of the metrics called on the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gluebench.benchmark import Metric
from gluebench.scoring.inference import file_bars
from gluebench.scoring.intervals import CONSTANT, Bar
from gluebench.scoring.metrics import point
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units import RowUnits, units_of
from gluebench.scoring.units.base import generator
from gluebench.scoring.units.curves import AucUnits, CurveUnits
from gluebench.scoring.units.numbers import MixedUnits

LABELS = ("a", "b", "c")


def some_systems(size: int, *, grouped: bool) -> list[Pairs]:
    """Two systems, of which one has many equal probabilities."""
    rng = np.random.default_rng(size)
    gold = [LABELS[code] for code in rng.choice(3, size, p=[0.15, 0.5, 0.35])]
    groups = tuple((np.arange(size) // 3).tolist()) if grouped else None
    return [
        replace(pairs_of("probabilities", gold, rows.tolist(), labels=LABELS), groups=groups)
        for rows in (rng.dirichlet([1, 1, 1], size).round(digits) for digits in (1, 6))
    ]


@pytest.mark.parametrize("size", [12, 150, 450])
@pytest.mark.parametrize("grouped", [False, True])
def test_values_are_those_of_rows_to_the_last_bit(size: int, grouped: bool) -> None:
    """Also with ties, more units than are kept apart, and draws without one of the two kinds of rows."""
    systems = some_systems(size, grouped=grouped)
    metrics = [Metric(label, "roc_auc", label, "F", label, LABELS) for label in "ab"]
    by_pairs, by_rows = units_of(metrics, systems), RowUnits(metrics, systems)
    assert isinstance(by_pairs, AucUnits)
    assert np.array_equal(by_pairs.left_out(), by_rows.left_out())
    drawn = [units.bootstrap(40, generator(0, "F")) for units in (by_pairs, by_rows)]
    assert np.array_equal(*drawn)
    assert size > 12 or (drawn[0] == 0.0).any()


@pytest.mark.parametrize("size", [12, 150, 450])
@pytest.mark.parametrize("grouped", [False, True])
def test_curves_and_metrics_of_several_kinds_have_the_values_of_rows(size: int, grouped: bool) -> None:
    systems = some_systems(size, grouped=grouped)
    curves = [Metric(name, name, name, "F") for name in ("macro_pr_auc", "macro_average_precision")]
    others = [
        Metric("f1", "probability_micro_f1_without", "F1", "F", "c", LABELS),
        Metric("auc", "roc_auc", "AUC", "F", "a", LABELS),
        Metric("loss", "neg_log_loss", "loss", "F"),
    ]
    for metrics, kind in ((curves, CurveUnits), ([*curves, *others], MixedUnits)):
        units, by_rows = units_of(metrics, systems), RowUnits(metrics, systems)
        assert isinstance(units, kind)
        assert units.size == by_rows.size
        assert units.values() == pytest.approx(by_rows.values(), abs=1e-12)
        assert units.left_out() == pytest.approx(by_rows.left_out(), abs=1e-12)
        drawn = [each.bootstrap(300 if size == 12 else 20, generator(0, "F")) for each in (units, by_rows)]
        assert drawn[0] == pytest.approx(drawn[1], abs=1e-12)
        exchanged = [each.exchange(50, generator(1, "F")) for each in (units, by_rows)]
        assert exchanged[0].differences == pytest.approx(exchanged[1].differences, abs=1e-12)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.31, 0.69)])
@pytest.mark.parametrize(
    ("name", "value"), [("roc_auc", 1 / 2), ("macro_average_precision", 1 / 2), ("macro_pr_auc", 3 / 4)]
)
def test_constant_probabilities_have_no_interval(
    name: str, value: float, shares: tuple[float, float]
) -> None:
    """Their areas are the same on every sample, up to rounding errors, which gave an interval of width 0."""
    pairs = pairs_of("probabilities", ["a"] * 23 + ["b"] * 37, [shares] * 60, labels=("a", "b"))
    metric = Metric(name, name, name, "F", "a", ("a", "b"))
    area = point(metric, pairs)
    assert area.value == pytest.approx(value, abs=1e-12)
    assert file_bars([metric], pairs, [area]) == [Bar(None, None, CONSTANT)]
