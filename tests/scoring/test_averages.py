"""The macro-average: what it carries besides its value."""

from __future__ import annotations

import pytest

from gluebench.scoring import Score
from gluebench.scoring.grade import macro_average


def task(value: float | None, covered: float | None = None) -> Score:
    return Score(value, None, None, 10, covered=covered)


def test_the_average_covers_the_mean_share_of_the_tasks() -> None:
    assert macro_average({"a": task(0.5), "b": task(1.0)}, intervals=False) == Score(0.75, None, None, 2)
    scores = [task(0.5), task(1.0, 0.8), task(0.0, 0.4), task(0.5)]
    whole = macro_average(dict(enumerate(scores)), intervals=False)
    assert whole == Score(0.5, None, None, 4, None, pytest.approx((1 + 0.8 + 0.4 + 1) / 4))


def test_the_average_has_the_interval_of_a_mean_or_the_parts_reasons() -> None:
    """Each end by Zou and Donner: half of the root of .3**2 + .4**2, and of .1**2 + .0**2."""
    parts = {"a": Score(0.5, 0.2, 0.6, 10), "b": Score(1.0, 0.6, 1.0, 10)}
    assert macro_average(parts, intervals=True)[:3] == pytest.approx((0.75, 0.5, 0.8))
    withheld = {**parts, "c": Score(0.9, None, None, 10, "too few to say")}
    assert macro_average(withheld, intervals=True) == Score(
        pytest.approx(0.8), None, None, 3, "too few to say on c"
    )


@pytest.mark.parametrize("scores", [[], [task(0.5), None], [None], [task(0.5), task(None)]])
def test_there_is_no_average_without_every_task(scores: list[Score | None]) -> None:
    assert macro_average(dict(enumerate(scores)), intervals=True) is None
