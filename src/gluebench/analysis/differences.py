"""One difference between two systems, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.scoring.report import rounded


class Alone(NamedTuple):
    """Examples that one of two systems has right and the other wrong."""

    a: int
    b: int

    def __add__(self, other: object) -> Alone:
        if not isinstance(other, Alone):
            return NotImplemented
        return Alone(self.a + other.a, self.b + other.b)

    @property
    def net(self) -> int:
        """How many more A has right than B."""
        return self.a - self.b


@dataclass(frozen=True, slots=True)
class Difference:
    """A's value, B's, and A minus B with its 95 % interval and p-value; fractions."""

    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    """Ends of the interval; None where `withheld` says why."""
    p: float
    """Two-sided, not adjusted."""
    test: str
    """The test it is from: "exact McNemar", "Williams" or "paired exchange"."""
    n: int
    """Examples it rests on; tasks, for the average over tasks."""
    same: bool
    """Whether the two systems give the same answer to every example."""
    adjusted: float | None = None
    """The p-value after Holm's adjustment, over the tasks or the categories of a kind; None without."""
    withheld: str | None = None
    """Why there is no interval: "too few to say"."""
    alone: Alone | None = None
    """The effect in examples; None for numbers, and for the average."""
    detectable: float | None = None
    """The smallest true difference that these examples show four times in five; None if not known."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values: 12 significant digits; the last five only where they apply."""
        fields: dict[str, Any] = {
            "a": rounded(self.a),
            "b": rounded(self.b),
            "difference": rounded(self.difference),
            "low": rounded(self.low),
            "high": rounded(self.high),
            "p": rounded(self.p),
            "test": self.test,
            "n": self.n,
            "same": self.same,
        }
        optional = {
            "adjusted": rounded(self.adjusted),
            "withheld": self.withheld,
            "only_a": self.alone.a if self.alone else None,
            "only_b": self.alone.b if self.alone else None,
            "detectable": rounded(self.detectable),
        }
        return fields | {name: value for name, value in optional.items() if value is not None}
