"""The learning rate, divided by 5 at a check without improvement (section 5), and when a run ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from gluebench.systems.training.settings import Settings


@dataclass(slots=True)
class Plateau:
    """The learning rate as scores come in; a score that only equals the best is no improvement."""

    rate: float
    factor: float = 0.2
    patience: int = 0
    best: float = -math.inf
    waited: int = 0
    """Checks without improvement since the last improvement or decay."""

    def step(self, score: float) -> bool:
        """Take the score of a check; whether it is the best so far."""
        if score > self.best:
            self.best, self.waited = score, 0
            return True
        self.waited += 1
        if self.waited > self.patience:
            self.rate, self.waited = self.rate * self.factor, 0
        return False

    def state(self) -> dict[str, float]:
        """All there is, as keywords of the class."""
        return asdict(self)


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
