"""When SentEval's classifier looks at the dev split, and when it has looked often enough."""

from __future__ import annotations

from math import inf, isnan


class Tenacity:
    """Counts the looks at the dev split that brought no improvement; an improvement takes none back."""

    def __init__(self, tenacity: int) -> None:
        self._tenacity = tenacity
        self._misses = 0
        self.best = -inf
        """The best score so far."""

    def improved(self, score: float) -> bool:
        """Whether a score is better than all before; NaN counts as 0."""
        score = 0.0 if isnan(score) else score
        if score > self.best:
            self.best = score
            return True
        self._misses += 1
        return False

    @property
    def over(self) -> bool:
        """Whether to stop: with the (tenacity + 1)-th look without an improvement, in a row or not."""
        return self._misses > self._tenacity


def rounds_through(max_epoch: int, epoch_size: int) -> int:
    """Rounds of a classifier: one more is begun as long as no more than max_epoch epochs are done."""
    return max_epoch // epoch_size + 1


def rounds_below(max_epoch: int, epoch_size: int) -> int:
    """Rounds of a regression: one more is begun as long as less than max_epoch epochs are done."""
    return -(-max_epoch // epoch_size)
