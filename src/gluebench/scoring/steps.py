"""The scale of rounded scores: steps of two standard errors of an accuracy on as many examples."""

from __future__ import annotations

from math import asin, exp, isfinite, log, pi, sin, sqrt

DECIMALS = 4
"""Decimals of a rounded fraction, a hundredth of a point; digits of a loss."""
_SMALLEST = 1e-300
"""A loss that a logarithm is taken of."""


def nearest_step(value: float, n: int, lowest: float, highest: float, widening: int) -> int:
    """The nearest whole number of steps that is a multiple of `widening` away from the middle."""
    middle = step_count(n) // 2 if isfinite(lowest) else 0
    return round((steps_to(value, n, lowest, highest) - middle) / widening) * widening + middle


def steps_to(value: float, n: int, lowest: float, highest: float) -> float:
    """Number of steps from the lowest value (if that is not known, from a loss of 1 or from 0) to a value.

    Steps are equal on the arcsine-square-root scale, where the error of a proportion is constant, or on the
    logarithmic scale, where that of a loss is about constant.
    """
    if not isfinite(lowest):
        scaled = value
        if isfinite(highest):
            scaled = -log(max(highest - value, _SMALLEST))
        return scaled * sqrt(n) / 2
    share = min(max((value - lowest) / (highest - lowest), 0.0), 1.0)
    return asin(sqrt(share)) / (pi / 2) * step_count(n)


def value_at(steps: float, n: int, lowest: float, highest: float) -> float:
    """The value at a number of steps."""
    if not isfinite(lowest):
        scaled = 2 * steps / sqrt(n)
        if isfinite(highest):
            return highest - float(f"{exp(-scaled):.{DECIMALS}g}")
        return round(scaled, DECIMALS)
    arc = min(max(steps / step_count(n), 0.0), 1.0) * pi / 2
    return round(lowest + (highest - lowest) * sin(arc) ** 2, DECIMALS) + 0.0  # no negative zero


def step_count(n: int) -> int:
    """Number of steps in all, even so that the middle (chance level) is a step."""
    return 2 * max(round(pi / 4 * sqrt(n)), 1)


def steps_of_error(value: float, error: float, n: int, lowest: float, highest: float) -> float:
    """The number of steps from a value less its error to the value plus its error; 1 for an accuracy."""
    if value == highest:
        return 0.0
    below = steps_to(value - error, n, lowest, highest)
    if not isfinite(lowest):  # a loss may be smaller than its error
        return 2 * (steps_to(value, n, lowest, highest) - below)
    return steps_to(value + error, n, lowest, highest) - below
