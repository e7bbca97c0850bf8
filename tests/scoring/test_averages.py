"""The macro-average: what it carries besides its value."""

from __future__ import annotations

import pytest

from gluebench.scoring import Score
from gluebench.scoring.averages import Bar, macro_average


def task(value: float | None, covered: float | None = None) -> Score:
    return Score(value, None, None, 10, covered=covered)


def test_the_average_covers_the_mean_share_of_the_tasks() -> None:
    assert macro_average([task(0.5), task(1.0)]) == Score(0.75, None, None, 2)
    whole = macro_average([task(0.5), task(1.0, 0.8), task(0.0, 0.4), task(0.5)], Bar(0.4, 0.6, "withheld"))
    assert whole == Score(0.5, 0.4, 0.6, 4, "withheld", pytest.approx((1 + 0.8 + 0.4 + 1) / 4))


@pytest.mark.parametrize("scores", [[], [task(0.5), None], [None], [task(0.5), task(None)]])
def test_there_is_no_average_without_every_task(scores: list[Score | None]) -> None:
    assert macro_average(scores) is None
