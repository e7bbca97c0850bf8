"""The difference of two scores from the units whose answers differ, valid for any number of them.

Two systems with few different answers leave an exchange test nothing to exchange. What is known is how many
units favor each system, and how much one unit can change the score at most. For the accuracy of independent
examples these are the discordant counts of McNemar's test.

Exact enumeration (tests/scoring/test_changes.py) over all true differences and up to 200 units: the interval
covers at least 93.9 %, and 94.5 from 100 units on; the two one-sided tests have a size of at most 5 % for
margins of up to 20 points. With the published constants these are 92.7, 93.5 and 7.4.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

from gluebench.scoring.intervals import Interval, Z

ADDED = 1.5
"""Added to the count of each system. Bonett and Price (2012) add 1, which covers 93.5 % at worst."""
CONTINUITY = 0.5
"""Taken off the distance from a margin, in units. Tango (1998) takes none off."""


class Changes(NamedTuple):
    """Units that favor A and units that favor B, counted in those of the largest effect."""

    for_a: float
    for_b: float
    units: int
    effect: float
    """The most that one changed unit changes the score: 1 / n for the accuracy of n examples."""

    @classmethod
    def of(cls, difference: float, error: float, *, units: int, effect: float) -> Changes:
        """The counts that have this difference and this standard error, where a unit may change less."""
        net = min(max(difference / effect, -units), units)
        both = min(max((error / effect) ** 2, abs(net)), units)
        return cls((both + net) / 2, (both - net) / 2, units, effect)

    def swapped(self) -> Changes:
        """The counts with the two systems swapped."""
        return self._replace(for_a=self.for_b, for_b=self.for_a)

    def interval(self) -> Interval:
        """The 95 % interval of the difference (Bonett and Price 2012)."""
        size = self.units + 2 * ADDED
        a = (self.for_a + ADDED) / size
        b = (self.for_b + ADDED) / size
        margin = Z * ((a + b - (a - b) ** 2) / size) ** 0.5
        scale = self.units * self.effect
        return Interval(scale * max(a - b - margin, -1.0), scale * min(a - b + margin, 1.0))

    def beyond_p(self, limit: float) -> float:
        """The one-sided p-value for a true difference of `limit` or more (Tango 1998)."""
        share = limit / (self.units * self.effect)
        if share >= 1:
            return 0.0
        distance = self.units * share - (self.for_a - self.for_b) - CONTINUITY
        if distance <= 0:
            return 1.0
        # The most likely share of units that favor B, where A's is larger by `share`.
        linear = (2 * self.units - self.for_a + self.for_b) * share - self.for_a - self.for_b
        root = (linear**2 + 8 * self.units * self.for_b * share * (1 - share)) ** 0.5
        favor_b = (root - linear) / (4 * self.units)
        variance = self.units * (2 * favor_b + share * (1 - share))
        return NormalDist().cdf(-distance / variance**0.5)
