"""The learning rate: divided by 5 at a check without improvement (section 5)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass


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
