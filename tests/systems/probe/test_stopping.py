"""When the probe stops, worked by hand as the original counts."""

from __future__ import annotations

import math

import pytest

from gluebench.systems.probe.training import EarlyStopping, rounds_below, rounds_through


@pytest.mark.parametrize(
    ("max_epoch", "epoch_size", "epochs"),
    [(15, 1, 16), (200, 4, 204), (200, 2, 202), (3, 4, 4), (7, 4, 8), (8, 4, 12), (0, 1, 1)],
)
def test_a_round_is_begun_after_exactly_max_epoch_epochs(
    max_epoch: int, epoch_size: int, epochs: int
) -> None:
    done = 0
    while done <= max_epoch:  # the original's loop
        done += epoch_size
    assert rounds_through(max_epoch, epoch_size) * epoch_size == epochs == done


@pytest.mark.parametrize(("max_epoch", "epochs"), [(1000, 1000), (120, 150), (50, 50)])
def test_a_regression_ends_with_max_epoch_epochs(max_epoch: int, epochs: int) -> None:
    assert rounds_below(max_epoch, 50) * 50 == epochs


def looks(scores: list[float], tenacity: int) -> int:
    """How many scores are looked at until the end."""
    stop = EarlyStopping(tenacity)
    for number, score in enumerate(scores, 1):
        stop.improved(score)
        if stop.over:
            return number
    return len(scores)


def test_misses_count_in_all_and_not_in_a_row() -> None:
    #         best  miss  best  miss  miss  best  miss
    scores = [0.50, 0.40, 0.60, 0.60, 0.55, 0.70, 0.10, 0.80]
    assert looks(scores, 0) == 2
    assert looks(scores, 1) == 4, "an equal score is no improvement, an improvement takes no miss back"
    assert looks(scores, 2) == 5
    assert looks(scores, 3) == 7
    assert looks(scores, 4) == 8


def test_the_best_score_is_kept_and_nan_is_0() -> None:
    stop = EarlyStopping(5)
    assert [stop.improved(score) for score in (-0.5, math.nan, 0.0, 0.2, 0.1)] == [
        True,
        True,
        False,
        True,
        False,
    ]
    assert stop.best == 0.2
