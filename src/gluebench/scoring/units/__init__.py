"""Systems' answers to one test file as independent units: one class for each form of column."""

from __future__ import annotations

from collections.abc import Sequence

from gluebench.benchmark import Metric
from gluebench.scoring.metrics import CountMetric, NumberMetric, function_of, summed
from gluebench.scoring.metrics.curves import CurveMetric
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units.base import Exchange, Units
from gluebench.scoring.units.curves import AucUnits, CurveUnits
from gluebench.scoring.units.labels import LabelUnits
from gluebench.scoring.units.numbers import KendallUnits, MixedUnits, NumberUnits, RowUnits, SumUnits

__all__ = ["Exchange", "LabelUnits", "NumberUnits", "RowUnits", "SumUnits", "Units", "units_of"]


def units_of(metrics: Sequence[Metric], systems: Sequence[Pairs]) -> Units:
    """The units of a test file, for these metrics of it; `systems` are of the same examples."""
    functions = [function_of(metric) for metric in metrics]
    if all(isinstance(function, CountMetric) for function in functions):
        return LabelUnits(metrics, systems)
    if all(isinstance(function, NumberMetric) for function in functions):
        return NumberUnits(metrics, systems)
    names = {metric.function for metric in metrics}
    if names == {"kendall"}:
        return KendallUnits(metrics, systems)
    if names == {"roc_auc"}:
        return AucUnits(metrics, systems)
    if all(isinstance(function, CurveMetric) for function in functions):
        return CurveUnits(metrics, systems)
    sums = [summed(function, metric, systems[0]) for function, metric in zip(functions, metrics, strict=True)]
    if all(sums):
        return SumUnits(metrics, systems, [function for function in sums if function])
    return MixedUnits(metrics, systems, units_of) if len(metrics) > 1 else RowUnits(metrics, systems)
