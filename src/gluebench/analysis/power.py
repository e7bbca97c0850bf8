"""How small a difference of two systems a test set can show.

Two systems answer the same n examples; on a share d of them exactly one is right. The difference of their
accuracies can be told by McNemar's test, and for a true difference of x the examples needed are

    n = ((a sqrt(d) + b sqrt(d - x^2)) / x)^2

with a and b the normal points of the significance level (two-sided) and of the power (Miettinen 1968; Connor
1987). Card et al. (2020) ask for such figures before a test set is published. d cannot be known before there
are systems: good ones that are alike disagree on few examples, weak ones on many.
"""

from __future__ import annotations

import math
from statistics import NormalDist

ALPHA = 0.05
POWER = 0.8
DISAGREEMENTS = (0.05, 0.1, 0.2)
"""Shares of examples on which exactly one of two systems is right, for which figures are given."""


def examples_needed(difference: float, disagreement: float, *, power: float = POWER) -> int:
    """Test examples that show a difference in accuracy with that power. All arguments are fractions.

    Raises ValueError unless 0 < difference <= disagreement <= 1: two systems cannot differ on more than they
    disagree.
    """
    if not 0 < difference <= disagreement <= 1:
        raise ValueError(f"expected 0 < difference <= disagreement <= 1, not {difference} and {disagreement}")
    level, wanted = _points(power)
    spread = level * math.sqrt(disagreement) + wanted * math.sqrt(disagreement - difference**2)
    return math.ceil((spread / difference) ** 2)


def smallest_difference(examples: int, disagreement: float, *, power: float = POWER) -> float | None:
    """The smallest difference in accuracy that so many examples show with that power, as a fraction.

    None where even systems of which one is right on all that they disagree on could not be told apart.
    """
    if disagreement == 0:
        return None
    level, wanted = _points(power)
    a, b = level * math.sqrt(disagreement), wanted * wanted
    root = a * a * examples - (examples + b) * (a * a - b * disagreement)
    difference = (a * math.sqrt(examples) + math.sqrt(max(0.0, root))) / (examples + b)
    return difference if difference <= disagreement else None


def _points(power: float) -> tuple[float, float]:
    normal = NormalDist()
    return normal.inv_cdf(1 - ALPHA / 2), normal.inv_cdf(power)
