"""One score of two systems with what became of it under resampling."""

from __future__ import annotations

from collections.abc import Collection
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from gluebench.analysis.differences import Alone, Difference
from gluebench.analysis.power import smallest_difference, smallest_shift
from gluebench.analysis.significance import randomisation_p
from gluebench.scoring.averages import Part, mean_interval
from gluebench.scoring.bars import Interval
from gluebench.scoring.bca import quantile
from gluebench.scoring.draws import Floats
from gluebench.scoring.intervals import student

EXCHANGE = "paired exchange"
MCNEMAR = "exact McNemar"
WILLIAMS = "Williams"
_ROUNDING = 1e-12
"""Two differences closer than this are the same number computed two ways."""


FEWEST_APART = 5
"""Units that the two systems answer differently, below which no interval of labels is given."""


def expanded_percentiles(draws: Floats, units: int) -> Interval:
    """The percentile interval, moved outwards as Student's t is from the normal (Hesterberg 2015).

    Percentiles take the spread of the resamples for the truth, which falls short where it is estimated from
    few units.
    """
    units = max(units, FEWEST_APART)
    share = NormalDist().cdf(-student(units - 1) * (units / (units - 1)) ** 0.5)
    ordered = np.sort(draws)
    return Interval(quantile(ordered, share), quantile(ordered, 1 - share))


class Exact(NamedTuple):
    """The outcome of a test that needs no resampling."""

    p: float
    test: str


class Trial(NamedTuple):
    """One score of both systems, with its difference under each kind of resampling."""

    a: float
    b: float
    n: int
    same: bool
    bootstrap: Floats
    """(resamples,): A minus B on examples drawn with replacement."""
    exchanged: Floats
    """(resamples,): A minus B after the two exchanged answers by a fair coin."""
    exact: Exact | None = None
    alone: Alone | None = None
    withheld: str | None = None
    """Why no interval is given."""
    apart: int = 0
    """Units that the two answer differently: what the width of the interval is known from."""
    weight: float = 1.0
    """As a part of a mean."""
    parts: tuple[Trial, ...] = ()
    """The independent trials that it is the mean of, if it is."""

    @property
    def p(self) -> float:
        """The p-value: the exact test's where there is one."""
        return self.exact.p if self.exact else self._exchange_p()

    def difference(self) -> Difference:
        """The trial summed up."""
        ends = (None, None) if self.withheld else self.interval()
        return Difference(
            a=self.a,
            b=self.b,
            difference=self.a - self.b,
            low=ends[0],
            high=ends[1],
            p=self.p,
            test=self.exact.test if self.exact else EXCHANGE,
            n=self.n,
            same=self.same,
            withheld=self.withheld,
            alone=self.alone,
            detectable=self._detectable(),
        )

    def interval(self) -> Interval:
        """The ends, even where they are not to be shown; a mean's are joined from those of its parts."""
        if self.parts:
            return mean_interval([Part(each.a - each.b, each.interval(), each.weight) for each in self.parts])
        return expanded_percentiles(self.bootstrap, self.apart)

    def _detectable(self) -> float | None:
        if self.withheld:
            return None
        if self.alone and self.exact and self.exact.test == MCNEMAR:
            return smallest_difference(self.n, sum(self.alone) / self.n)
        return smallest_shift(float(np.std(self.bootstrap)))

    def turned(self) -> Trial:
        """The same as B minus A."""
        alone = Alone(self.alone.b, self.alone.a) if self.alone else None
        return self._replace(
            a=self.b, b=self.a, bootstrap=-self.bootstrap, exchanged=-self.exchanged, alone=alone
        )

    def _exchange_p(self) -> float:
        extreme = np.abs(self.exchanged) >= abs(self.a - self.b) - _ROUNDING
        return randomisation_p(int(np.count_nonzero(extreme)), len(self.exchanged))


def mean_of(
    trials: Collection[Trial], *, n: int, alone: Alone | None = None, withheld: str | None = None
) -> Trial:
    """The mean of several scores by their weights; its interval takes them to be independent."""
    parts = tuple(trials)
    if len(parts) == 1:
        return parts[0]._replace(n=n, alone=alone, withheld=withheld)
    shares = np.array([each.weight for each in parts]) / sum(each.weight for each in parts)
    return Trial(
        a=float(shares @ [each.a for each in parts]),
        b=float(shares @ [each.b for each in parts]),
        n=n,
        same=all(each.same for each in parts),
        bootstrap=np.average([each.bootstrap for each in parts], axis=0, weights=shares),
        exchanged=np.average([each.exchanged for each in parts], axis=0, weights=shares),
        alone=alone,
        withheld=withheld,
        parts=parts,
    )
