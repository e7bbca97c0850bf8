"""One difference between two systems, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gluebench.scoring.inference import ALPHA
from gluebench.scoring.intervals import Alone
from gluebench.scoring.report import fields_of

_OPTIONAL = ("adjusted", "withheld", "alone", "detectable", "margin", "equivalence_p", "seeds")


@dataclass(frozen=True, slots=True)
class Difference:
    """A's value, B's, and A minus B with its 95 % interval and p-value; fractions."""

    a: float
    b: float
    """Of several runs the mean."""
    difference: float
    low: float | None
    high: float | None
    """Ends of the interval; None where `withheld` says why."""
    error: float
    """Standard error of the difference."""
    p: float
    """Two-sided, not adjusted; at most .05 exactly where the interval excludes 0."""
    test: str
    """The test it is from: "mid-p McNemar", "paired exchange" or "t over runs"."""
    n: int
    """Examples it rests on; tasks, for the average over tasks."""
    same: bool
    """Whether the two systems give the same answer to every example."""
    adjusted: float | None = None
    """The p-value after Holm's adjustment, over the tasks or the categories of a kind; None without."""
    withheld: str | None = None
    """Why there is no interval: "too few to say", of a mean with the names of its parts."""
    alone: Alone | None = None
    """Examples that A alone has right, and B alone; None for numbers, runs and the average."""
    detectable: float | None = None
    """The smallest true difference that this test finds four times in five; None if not known."""
    margin: float | None = None
    """The largest difference that counts as equal; None where equivalence was not asked about."""
    equivalence_p: float | None = None
    """The p-value of two one-sided tests that the difference is beyond the margin; adjusted as `p` is."""
    seeds: float | None = None
    """Share of the variance that comes from the choice of runs; None for single runs."""

    @property
    def decisive(self) -> float:
        """The p-value to go by: the adjusted one where there is one."""
        return self.p if self.adjusted is None else self.adjusted

    @property
    def better(self) -> str | None:
        """ "A" or "B", whichever is significantly better; None if neither is."""
        if self.decisive > ALPHA or self.difference == 0:
            return None
        return "A" if self.difference > 0 else "B"

    @property
    def equivalent(self) -> bool:
        """Whether the difference is significantly smaller than the margin."""
        return self.equivalence_p is not None and self.equivalence_p <= ALPHA

    @property
    def verdict(self) -> str:
        """ "same" within the margin, else "A" or "B" if better, else "undecided"."""
        return "same" if self.equivalent else self.better or "undecided"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values: 12 significant digits; those after `same` only where they apply."""
        values = fields_of(self, optional=_OPTIONAL)
        if alone := values.pop("alone", None):
            values |= {"only_a": alone["a"], "only_b": alone["b"]}
        return values if self.margin is None else values | {"verdict": self.verdict}
