"""One difference between two systems, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A's value, B's, and A minus B with its 95 % interval and p-value; fractions."""

    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float
    """Two-sided, not adjusted."""
    test: str
    """The test it is from: "exact McNemar", "Williams" or "paired exchange"."""
    n: int
    """Examples it rests on; tasks, for the average over tasks."""
    same: bool
    """Whether the two systems give the same answer to every example."""
    adjusted: float | None = None
    """The p-value after Holm's adjustment over the tasks; None where there is no adjustment."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values: 12 significant digits; `adjusted` only where it applies."""
        fields: dict[str, Any] = {
            name: float(f"{value:.12g}")
            for name, value in (
                ("a", self.a),
                ("b", self.b),
                ("difference", self.difference),
                ("low", self.low),
                ("high", self.high),
                ("p", self.p),
            )
        }
        if self.adjusted is not None:
            fields["adjusted"] = float(f"{self.adjusted:.12g}")
        return fields | {"test": self.test, "n": self.n, "same": self.same}
