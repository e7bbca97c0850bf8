"""The spread of the difference of two systems on one test file, by resampling both together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gluebench.benchmark import Metric
from gluebench.scoring.counts import COUNT_METRICS, SIXTEEN
from gluebench.scoring.draws import Floats, generator, row_weights
from gluebench.scoring.joint import bootstrap, units
from gluebench.scoring.pairs import Pairs, positive_code
from gluebench.scoring.resample import measure


class Spread(NamedTuple):
    """How much a difference varies."""

    variance: float
    luck: float
    """Standard error of its root, as a share of it, since the resamples are so many and no more."""


def differences(
    name: str, metrics: Sequence[Metric], new: Pairs, *, best: Pairs, resamples: int, seed: int
) -> Spread:
    """The spread of the difference in the mean of a file's metrics, from joint resamples of its units."""
    rng = generator(seed, name)
    if all(metric.function in COUNT_METRICS for metric in metrics) and len(new.gold.labels) <= SIXTEEN:
        return _spread(_counted(metrics, new, best, resamples=resamples, rng=rng))
    measures = [(measure(metric, new), measure(metric, best)) for metric in metrics]
    drawn = [
        np.mean([ours(weights) - theirs(weights) for ours, theirs in measures], axis=0)
        for weights in row_weights(new, resamples=resamples, rng=rng)
    ]
    return _spread(np.concatenate(drawn))


def _counted(
    metrics: Sequence[Metric], new: Pairs, best: Pairs, *, resamples: int, rng: np.random.Generator
) -> Floats:
    gold, ours, theirs = (
        np.frombuffer(column.codes, np.uint8) for column in (new.gold, new.predicted, best.predicted)
    )
    groups = None if new.groups is None else np.asarray(new.groups)
    these = units(gold, ours, b=theirs, classes=len(new.gold.labels), groups=groups)
    tables = bootstrap(these, resamples=resamples, rng=rng)
    each = []
    for metric in metrics:
        of, positive = COUNT_METRICS[metric.function].of, positive_code(metric, new)
        each.append(of(list(tables.a), positive) - of(list(tables.b), positive))
    found: Floats = np.mean(each, axis=0)
    return found


def _spread(draws: Floats) -> Spread:
    """From the draws' variance and kurtosis; no luck in draws that do not vary."""
    variance = float(draws.var(ddof=1))
    if variance <= 0:
        return Spread(0.0, 0.0)
    kurtosis = float(np.mean((draws - draws.mean()) ** 4)) / variance**2
    return Spread(variance, (max(kurtosis - 1, 0.0) / (4 * len(draws))) ** 0.5)
