"""One score of two systems with what became of it under resampling."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from gluebench.analysis.differences import Difference
from gluebench.analysis.significance import randomisation_p
from gluebench.scoring.bca import percentiles
from gluebench.scoring.draws import Floats

EXCHANGE = "paired exchange"
_ROUNDING = 1e-12
"""Two differences closer than this are the same number computed two ways."""


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

    @property
    def p(self) -> float:
        """The p-value: the exact test's where there is one."""
        return self.exact.p if self.exact else self._exchange_p()

    def difference(self) -> Difference:
        """The trial summed up."""
        ends = percentiles(self.bootstrap)
        return Difference(
            a=self.a,
            b=self.b,
            difference=self.a - self.b,
            low=ends.low,
            high=ends.high,
            p=self.p,
            test=self.exact.test if self.exact else EXCHANGE,
            n=self.n,
            same=self.same,
        )

    def turned(self) -> Trial:
        """The same as B minus A."""
        return self._replace(a=self.b, b=self.a, bootstrap=-self.bootstrap, exchanged=-self.exchanged)

    def _exchange_p(self) -> float:
        extreme = np.abs(self.exchanged) >= abs(self.a - self.b) - _ROUNDING
        return randomisation_p(int(np.count_nonzero(extreme)), len(self.exchanged))


def mean_of(trials: Collection[Trial], *, n: int) -> Trial:
    """The unweighted mean of several scores: a task's of its metrics, the average of its tasks."""
    if len(trials) == 1:
        return next(iter(trials))._replace(n=n)
    return Trial(
        a=float(np.mean([trial.a for trial in trials])),
        b=float(np.mean([trial.b for trial in trials])),
        n=n,
        same=all(trial.same for trial in trials),
        bootstrap=np.mean([trial.bootstrap for trial in trials], axis=0),
        exchanged=np.mean([trial.exchanged for trial in trials], axis=0),
    )
