"""When a run ends: by its learning rate, by its scores, or at the most checks it may have."""

from __future__ import annotations

from collections.abc import Sequence

from gluebench.systems.training.settings import Settings


def no_improvement(scores: Sequence[float], after: int = 5) -> bool:
    """The textbook rule: the best score is followed by `after` checks, none of them better."""
    best = max(range(len(scores)), key=lambda check: scores[check], default=0)
    return len(scores) - 1 - best >= after


def single_dip(scores: Sequence[float], after: int = 5) -> bool:
    """The released code's rule: the last score is at most each of the `after` before it.

    It holds from check `after` + 2 on. One deep dip ends a run that was still improving, and a slow
    decline from a plateau that stays above older scores does not.
    """
    return len(scores) >= after + 2 and scores[-1] <= min(scores[-1 - after : -1])


def reason_to_stop(scores: Sequence[float], learning_rate: float, settings: Settings) -> str | None:
    """Why a run ends after these checks, in words; None while it goes on.

    `learning_rate` is the one after the last check.
    """
    if learning_rate < settings.minimum_learning_rate:
        return f"learning rate below {settings.minimum_learning_rate:g}"
    if settings.stop_rule == "textbook" and no_improvement(scores, settings.stop_after):
        return f"{settings.stop_after} checks without improvement"
    if settings.stop_rule == "original" and single_dip(scores, settings.stop_after):
        return f"a check no better than any of the {settings.stop_after} before it"
    if len(scores) >= settings.max_checks:
        return f"{settings.max_checks} checks"
    return None
