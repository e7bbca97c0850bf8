"""How small a difference of two systems a test set can show.

Two systems answer the same n examples; on a share d of them exactly one is right. The difference of their
accuracies can be tested by McNemar's test, and for a true difference of x the examples needed are

    n = ((a sqrt(d) + b sqrt(d - x^2)) / x)^2

with a and b the normal points of the significance level (two-sided) and of the power (Miettinen 1968; Connor
1987). Card et al. (2020) ask for such figures before a test set is published. d cannot be known before there
are systems: good ones that are alike disagree on few examples, weak ones on many.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from gluebench.analysis.lint.findings import Finding, LintSplit, counted
from gluebench.benchmark import Task
from gluebench.scoring.inference import ALPHA, POWER

DISAGREEMENTS = (0.05, 0.1, 0.2)
"""Shares of examples on which exactly one of two systems is right, for which figures are given."""
POINT = 0.01
COARSE = 0.05
"""A test set that cannot show a difference of five points gets a warning."""


def examples_needed(difference: float, disagreement: float, *, power: float = POWER) -> int:
    """Test examples that show a difference in accuracy with that power. All arguments are fractions.

    Raises ValueError unless 0 < difference <= disagreement <= 1: two systems cannot differ on more than they
    disagree.
    """
    if not 0 < difference <= disagreement <= 1:
        raise ValueError(f"expected 0 < difference <= disagreement <= 1, not {difference} and {disagreement}")
    level, enough = _points(power)
    spread = level * math.sqrt(disagreement) + enough * math.sqrt(disagreement - difference**2)
    return math.ceil((spread / difference) ** 2)


def smallest_difference(examples: int, disagreement: float, *, power: float = POWER) -> float | None:
    """The smallest difference in accuracy that so many examples show with that power, as a fraction.

    None where even systems of which one is right on all that they disagree on could not be told apart.
    """
    if disagreement == 0:
        return None
    level, enough = _points(power)
    a, b = level * math.sqrt(disagreement), enough * enough
    root = a * a * examples - (examples + b) * (a * a - b * disagreement)
    difference = (a * math.sqrt(examples) + math.sqrt(max(0.0, root))) / (examples + b)
    return difference if difference <= disagreement else None


def _points(power: float) -> tuple[float, float]:
    """The normal points of the significance level and of the power."""
    normal = NormalDist()
    return normal.inv_cdf(1 - ALPHA / 2), normal.inv_cdf(power)


def power_finding(task: Task, split: LintSplit) -> Finding:
    """What differences the test split can show."""
    count = len(split.examples)
    where, check = split.name, "test size"
    if not task.words:
        text = f"{counted(count, 'row')}; for scores no figure is given, since it depends on the correlations"
        return Finding("note", check, where, count, text)
    smallest = [smallest_difference(count, share) for share in DISAGREEMENTS]
    needed = [examples_needed(POINT, share) for share in DISAGREEMENTS]
    shares = " / ".join(f"{100 * share:g}" for share in DISAGREEMENTS)
    text = (
        f"{counted(count, 'row')} can show {' / '.join(map(_in_points, smallest))} points of accuracy "
        f"where two systems disagree on {shares} % of them; "
        f"one point needs {' / '.join(f'{size:,}' for size in needed)} rows (80 % power, 5 % level)"
    )
    middle = smallest[1]
    coarse = middle is None or middle > COARSE
    advice = "Add test rows, or publish no ranking finer than this." if coarse else ""
    return Finding("warning" if coarse else "note", check, where, count, text, advice)


def _in_points(difference: float | None) -> str:
    return "none" if difference is None else f"{100 * difference:.1f}"
