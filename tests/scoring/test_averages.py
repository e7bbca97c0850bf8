"""The macro-average: what it carries besides its value."""

from __future__ import annotations

import pytest

from gluebench.scoring import Score
from gluebench.scoring.averages import Part, macro_average, mean_interval
from gluebench.scoring.bars import NO_BAR, Bar, Interval


def task(value: float | None, covered: float | None = None) -> Score:
    return Score(value, None, None, 10, covered=covered)


def test_the_average_covers_the_mean_share_of_the_tasks() -> None:
    assert macro_average([task(0.5), task(1.0)]) == Score(0.75, None, None, 2)
    whole = macro_average([task(0.5), task(1.0, 0.8), task(0.0, 0.4), task(0.5)], Bar(0.4, 0.6, "withheld"))
    assert whole == Score(0.5, 0.4, 0.6, 4, "withheld", pytest.approx((1 + 0.8 + 0.4 + 1) / 4))


@pytest.mark.parametrize("scores", [[], [task(0.5), None], [None], [task(0.5), task(None)]])
def test_there_is_no_average_without_every_task(scores: list[Score | None]) -> None:
    assert macro_average(scores, NO_BAR) is None


def test_the_interval_of_a_mean_by_hand() -> None:
    """Distances of 0.3 and 0.4 below, 0.6 and 0.8 above: roots of 0.25 and 1, halved by the mean of two."""
    parts = [Part(0.5, Interval(0.2, 1.1)), Part(0.7, Interval(0.3, 1.5))]
    assert mean_interval(parts) == pytest.approx((0.6 - 0.25, 0.6 + 0.5))
    heavy = [Part(0.5, Interval(0.2, 1.1), 3.0), Part(0.9, Interval(0.9, 0.9), 1.0)]
    assert mean_interval(heavy) == pytest.approx((0.6 - 0.3 * 3 / 4, 0.6 + 0.6 * 3 / 4))
