"""Every metric of a test file in each resample, for all systems that have the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gluebench.analysis.joint.correlations import JointPearson, JointSpearman
from gluebench.analysis.joint.counted import Formula, counted_draws, normal_draws
from gluebench.benchmark import Metric
from gluebench.scoring.correlation import NUMBER_METRICS
from gluebench.scoring.counts import COUNT_METRICS
from gluebench.scoring.draws import Floats, generator, row_weights
from gluebench.scoring.pairs import Pairs, positive_code
from gluebench.scoring.resample import measure

NORMAL_FROM = 5_000
"""Examples from which on the normal limit may stand for the draws themselves, where that is asked for."""
JOINT: Mapping[str, type[JointPearson] | type[JointSpearman]] = {
    "pearson": JointPearson,
    "spearman": JointSpearman,
}


class FileDraws(NamedTuple):
    """The metrics of one test file."""

    metrics: Mapping[str, Floats]
    """Metric name to (systems, resamples)."""


def file_draws(
    metrics: Sequence[Metric], pairs: Sequence[Pairs], *, resamples: int, seed: int, approximate: bool = False
) -> FileDraws:
    """All metrics of one test file, of all systems, from the same resamples.

    `pairs` are one for each system, of the same examples. With `approximate`, confusion tables of at least
    `NORMAL_FROM` independent examples are drawn from their normal limit. Neither the order of the
    systems nor one that is there twice changes the numbers.
    """
    columns = {bytes(each.predicted.values): each for each in pairs}
    order = sorted(columns)
    rng = generator(seed, metrics[0].file)
    distinct = [columns[key] for key in order]
    found = _draws(metrics, distinct, resamples=resamples, rng=rng, approximate=approximate)
    place = {key: at for at, key in enumerate(order)}
    back = [place[bytes(each.predicted.values)] for each in pairs]
    return FileDraws({metric.name: each[back] for metric, each in zip(metrics, found, strict=True)})


def _draws(
    metrics: Sequence[Metric],
    pairs: Sequence[Pairs],
    *,
    resamples: int,
    rng: np.random.Generator,
    approximate: bool,
) -> list[Floats]:
    known = COUNT_METRICS if pairs[0].gold.labels else NUMBER_METRICS
    if not all(metric.function in known for metric in metrics):
        return _by_rows(metrics, pairs, resamples=resamples, rng=rng)
    if not pairs[0].gold.labels:
        return _by_weights(metrics, pairs, resamples=resamples, rng=rng)
    return _by_counts(metrics, pairs, resamples=resamples, rng=rng, approximate=approximate)


def _by_counts(
    metrics: Sequence[Metric],
    pairs: Sequence[Pairs],
    *,
    resamples: int,
    rng: np.random.Generator,
    approximate: bool,
) -> list[Floats]:
    first = pairs[0]
    gold, classes = np.frombuffer(first.gold.codes, np.uint8), len(first.gold.labels)
    answers = np.array([np.frombuffer(each.predicted.codes, np.uint8) for each in pairs])
    if all(COUNT_METRICS[metric.function].proportion for metric in metrics):
        # A share of right answers is the accuracy of "right" against gold that says so throughout.
        gold, answers, classes = np.ones_like(gold), (answers == gold).astype(np.uint8), 2
    formulas: list[Formula] = [
        partial(_value, COUNT_METRICS[metric.function].of, positive_code(metric, first)) for metric in metrics
    ]
    if approximate and first.groups is None and len(gold) >= NORMAL_FROM:
        return normal_draws(formulas, gold, answers, classes=classes, resamples=resamples, rng=rng)
    groups = None if first.groups is None else np.array(first.groups)
    return counted_draws(
        formulas, gold, answers, classes=classes, groups=groups, resamples=resamples, rng=rng
    )


def _value(of: Callable[[Any, int], Any], positive: int, tables: Floats) -> Floats:
    values: Floats = of(tables, positive)
    return values


def _by_weights(
    metrics: Sequence[Metric], pairs: Sequence[Pairs], *, resamples: int, rng: np.random.Generator
) -> list[Floats]:
    gold = np.array(pairs[0].gold.numbers)
    answers = np.array([each.predicted.numbers for each in pairs])
    measures = [JOINT[metric.function](gold, answers) for metric in metrics]
    found = [
        [each(np.ascontiguousarray(weights.T, np.float64)) for each in measures]
        for weights in row_weights(pairs[0], resamples=resamples, rng=rng)
    ]
    return [np.concatenate(column, axis=1) for column in zip(*found, strict=True)]


def _by_rows(
    metrics: Sequence[Metric], pairs: Sequence[Pairs], *, resamples: int, rng: np.random.Generator
) -> list[Floats]:
    """Where a metric comes from an entry point: system by system, on the same weights."""
    measures = [[measure(metric, each) for each in pairs] for metric in metrics]
    found = [
        [np.array([each(weights) for each in of_systems]) for of_systems in measures]
        for weights in row_weights(pairs[0], resamples=resamples, rng=rng)
    ]
    return [np.concatenate(column, axis=1) for column in zip(*found, strict=True)]
