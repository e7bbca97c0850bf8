"""What is averaged: metrics to a task score, task scores to the macro-average (section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gluebench.scoring.bars import NO_BAR, Bar, Interval
from gluebench.scoring.report import Score


def task_score(metrics: Sequence[float]) -> float:
    """The unweighted mean of a task's metrics, of one test file or of several: halves are not pooled."""
    return sum(metrics) / len(metrics)


def macro_average(scores: Sequence[Score | None], bar: Bar = NO_BAR) -> Score | None:
    """The unweighted mean of the task scores; None while one is missing."""
    known = [score for score in scores if score is not None]
    values = [score.value for score in known if score.value is not None]
    if not scores or len(values) < len(scores):
        return None
    covered = None
    if any(score.covered is not None for score in known):
        covered = sum(1.0 if score.covered is None else score.covered for score in known) / len(known)
    return Score(sum(values) / len(values), bar.low, bar.high, len(values), bar.withheld, covered)


class Part(NamedTuple):
    """One of several independent scores that are averaged."""

    value: float
    interval: Interval
    weight: float = 1.0


def mean_interval(parts: Sequence[Part]) -> Interval:
    """The interval of a weighted mean of independent scores, from the interval of each.

    Each end is as far from the mean as the root of the summed squares of the parts' own distances
    (Zou and Donner 2008).
    """
    whole = sum(part.weight for part in parts)
    value = sum(part.weight * part.value for part in parts) / whole
    below = sum((part.weight * max(0.0, part.value - part.interval.low)) ** 2 for part in parts) ** 0.5
    above = sum((part.weight * max(0.0, part.interval.high - part.value)) ** 2 for part in parts) ** 0.5
    return Interval(value - below / whole, value + above / whole)
