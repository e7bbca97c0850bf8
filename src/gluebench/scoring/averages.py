"""What is averaged: metrics to a task score, task scores to the macro-average (section 3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluebench.scoring.intervals import NO_BAR, Bar, Interval
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

    name: str
    value: float
    bar: Bar
    weight: float = 1.0


def mean_interval(parts: Sequence[Part]) -> Interval:
    """The interval of a weighted mean of independent scores, from the interval of each.

    Each end is as far from the mean as the root of the summed squares of the parts' own distances
    (Zou and Donner 2008). Raises ValueError if a part has no interval.
    """
    whole = sum(part.weight for part in parts)
    value = sum(part.weight * part.value for part in parts) / whole
    below = above = 0.0
    for part in parts:
        interval = part.bar.interval
        if interval is None:
            raise ValueError(f"{part.name} has no interval; expected one for every part of a mean")
        below += (part.weight * max(0.0, part.value - interval.low)) ** 2
        above += (part.weight * max(0.0, interval.high - part.value)) ** 2
    return Interval(value - below**0.5 / whole, value + above**0.5 / whole)


def withheld_because(parts: Mapping[str, str | None]) -> str | None:
    """Why a mean has no interval, as "not defined on CoLA; too few to say on WNLI"; None where it has one.

    `parts` is name to why the part has none.
    """
    reasons: dict[str, list[str]] = {}
    for name, why in parts.items():
        if why is not None:
            reasons.setdefault(why, []).append(name)
    return "; ".join(f"{why} on {', '.join(names)}" for why, names in reasons.items()) or None
