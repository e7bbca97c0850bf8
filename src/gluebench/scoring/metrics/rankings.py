"""Metrics of rankings, as sums over the examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log2
from operator import truediv

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import Cells, mean_metric, once
from gluebench.scoring.metrics.sums import SumMetric, mean_of, means
from gluebench.scoring.numeric import Floats

REMEMBERED = 1 << 14
"""Examples whose highest possible gain is remembered."""
Gains = Sequence[tuple[str, float]]
"""Id and gain of the items; those with a gain above 0 are relevant."""


def _gains(gold: Gains, predicted: Sequence[str]) -> list[float]:
    """The gain of each predicted item, best first; a repeated one counts once."""
    gain_of = dict(gold)
    return [gain_of.get(item, 0.0) for item in dict.fromkeys(predicted)]


def _relevant_places(gold: Gains, predicted: Sequence[str]) -> list[int]:
    """The places of the relevant items, from 1."""
    return [place for place, gain in enumerate(_gains(gold, predicted), 1) if gain > 0]


def _relevant_items(gold: Gains) -> int:
    return sum(gain > 0 for _, gain in gold)


def average_precision(gold: Gains, predicted: Sequence[str]) -> float:
    """Mean over the relevant items of the precision down to each; 0.0 without any."""
    relevant = _relevant_items(gold)
    if not relevant:
        return 0.0
    places = _relevant_places(gold, predicted)
    return sum(number / place for number, place in enumerate(places, 1)) / relevant


def reciprocal_rank(gold: Gains, predicted: Sequence[str]) -> float:
    """1 over the place of the first relevant item; 0.0 without any."""
    places = _relevant_places(gold, predicted)
    if not places:
        return 0.0
    return 1 / places[0]


def discounted_gain(gold: Gains, predicted: Sequence[str], places: int | None = None) -> float:
    """Sum of the gains over log2(place + 1), divided by the highest possible; 0.0 without any gain.

    Both sums are over the first `places`, if given.
    """
    ideal = _highest_gain(gold, places)
    if ideal <= 0:
        return 0.0
    return _discount_and_sum(_gains(gold, predicted)[:places]) / ideal


@lru_cache(maxsize=REMEMBERED)
def _highest_gain(gold: Gains, places: int | None) -> float:
    return _discount_and_sum(sorted((gain for _, gain in gold), reverse=True)[:places])


def _discount_and_sum(gains: Sequence[float]) -> float:
    return float(sum(map(truediv, gains, _discounts(len(gains)))))


@lru_cache
def _discounts(places: int) -> list[float]:
    return [log2(place + 1) for place in range(1, places + 1)]


def precision_at(gold: Gains, predicted: Sequence[str], places: int) -> float:
    """Share of relevant items among the first places, of which some may be empty."""
    return len(_relevant_places(gold, predicted[:places])) / places


def recall_at(gold: Gains, predicted: Sequence[str], places: int) -> float:
    """Share of the relevant items that are among the first places; 0.0 without any."""
    relevant = _relevant_items(gold)
    if not relevant:
        return 0.0
    return len(_relevant_places(gold, predicted[:places])) / relevant


def _at_places(name: str, score: Callable[[Gains, Sequence[str], int], float]) -> SumMetric:
    """The mean of a score of the first items, as many as the manifest names under `positive`."""

    def rows(cells: Cells, metric: Metric) -> Floats:
        places = max(int(float(metric.positive or 1)), 1)
        return means([score(gold, predicted, places) for gold, predicted in cells])

    return SumMetric(name, once(rows), mean_of)


RANKING_METRICS = (
    mean_metric("map", average_precision),
    mean_metric("mrr", reciprocal_rank),
    mean_metric("ndcg", discounted_gain),
    _at_places("precision_at", precision_at),
    _at_places("recall_at", recall_at),
    _at_places("ndcg_at", discounted_gain),
    _at_places("mrr_at", lambda gold, predicted, places: reciprocal_rank(gold, predicted[:places])),
    _at_places("map_at", lambda gold, predicted, places: average_precision(gold, predicted[:places])),
)
"""Metrics of rankings."""
