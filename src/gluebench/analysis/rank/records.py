"""What a ranking holds, as frozen records and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from gluebench.analysis.rank.profile import Missing
from gluebench.analysis.rank.rules import Rule, Survival
from gluebench.scoring.report import fields_of


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system on the board."""

    name: str
    rank: int | None
    """From 1, ties sharing the best of their ranks; None where the rule for missing scores gives none."""
    value: float | None
    """What it is ranked by: an average or median score (a fraction), a mean rank, or a Kemeny place."""
    scores: Mapping[str, float | None]
    """Task to score."""
    runs: int = 1
    """How many runs it is the mean of."""
    low: int | None = None
    high: int | None = None
    """The ranks between which it was in 95 % of the resamples."""
    first: float | None = None
    """The share of the resamples in which no system was above it."""
    group: tuple[int, int] | None = None
    """First and last place of the systems it is tied with; only for the macro-average."""
    told: tuple[int, int] | None = None
    """The ranks that the tests of all pairs leave it; these ranges hold for all systems together."""


class PairRecord(NamedTuple):
    """Two systems on the average."""

    a: str
    b: str
    difference: float
    """A minus B, a fraction."""
    p: float
    adjusted: float
    """After Holm's adjustment over all pairs."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What `rank` returns."""

    SCHEMA: ClassVar[str] = "gluebench.ranking/1"

    benchmark: str
    split: str
    by: Rule
    missing: Missing
    majority: tuple[str, ...]
    """Tasks on which every system is taken to answer the most frequent label."""
    tasks: tuple[str, ...]
    """Those that count."""
    weights: tuple[float, ...] | None
    systems: tuple[RankedSystem, ...]
    """From the top; those without a rank last."""
    pairs: tuple[PairRecord, ...]
    """All pairs of ranked systems; empty where they are not ranked by their average."""
    rules: Mapping[str, Mapping[str, int | None]]
    """Rule to system to rank: every rule there is, and the average without each task."""
    survival: Survival
    """Which order of two systems holds under all of them."""
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order; numbers are fractions."""
        values = {"schema": self.SCHEMA, **fields_of(self)}
        survival = values.pop("survival")
        return {**values, **survival}
