"""Macro-average, mean rank (Borda) and median of the tasks, and the order that each gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gluebench.analysis.rank.kemeny import kemeny_places
from gluebench.analysis.rank.order import competition_ranks
from gluebench.analysis.rank.profile import Profile

Rule = Literal["mean", "borda", "median", "kemeny"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What a rule makes of a profile."""

    rule: str
    values: tuple[float | None, ...]
    """One for each system: what it is ranked by; None where it has no rank."""
    ranks: tuple[int | None, ...]
    """From 1, ties sharing the best of their ranks."""
    lower_is_better: bool = False
    note: str = ""
    """A caveat: a Kemeny order that may not be the best one."""


def mean(profile: Profile) -> Standing:
    """The macro-average: the (weighted) mean of a system's task scores (section 3.4 of the paper)."""
    return _descending("mean", [_mean(row, profile.weight) for row in profile.scores])


def median(profile: Profile) -> Standing:
    """The (weighted) median of a system's task scores; of two in the middle, their mean."""
    return _descending("median", [_median(row, profile.weight) for row in profile.scores])


def mean_rank(profile: Profile) -> Standing:
    """The (weighted) mean over the tasks of a system's rank on each, ties sharing their mean rank.

    The order is Borda's: with n systems, n minus the rank are its points. Where only k of n systems
    have a task, their ranks 1 to k are spread over 1 to n (a single one stands in the middle), so that
    no system gains by a task with few entries.
    """
    columns = [_spread_ranks(profile.column(at)) for at in range(len(profile.tasks))]
    rows = list(zip(*columns, strict=True)) if columns else [()] * len(profile.systems)
    values = [_steady(_mean(row, profile.weight)) for row in rows]
    ranks = competition_ranks([None if value is None else -value for value in values])
    return Standing("borda", tuple(values), tuple(ranks), lower_is_better=True)


def kemeny(profile: Profile) -> Standing:
    """The order that disagrees least with the tasks' own orders, pair by pair (Kemeny 1959).

    The value is the best place that a system has in any best order; systems of one such place are tied.
    """
    places = kemeny_places(profile)
    values = tuple(None if place is None else float(place) for place in places.places)
    ranks = competition_ranks([None if value is None else -value for value in values])
    return Standing("kemeny", values, tuple(ranks), lower_is_better=True, note=places.note)


RULES: Mapping[Rule, Callable[[Profile], Standing]] = {
    "mean": mean,
    "borda": mean_rank,
    "median": median,
    "kemeny": kemeny,
}


def standing(profile: Profile, rule: Rule) -> Standing:
    """The standing under the rule of that name."""
    return RULES[rule](profile)


def _descending(rule: str, values: Sequence[float | None]) -> Standing:
    steady = [_steady(value) for value in values]
    return Standing(rule, tuple(steady), tuple(competition_ranks(steady)))


def _steady(value: float | None) -> float | None:
    """12 significant digits, so that the order of a sum cannot part two that are equal."""
    return None if value is None else float(f"{value:.12g}")


def _mean(row: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [(score, weight) for score, weight in zip(row, weights, strict=True) if score is not None]
    total = sum(weight for _, weight in known)
    return sum(score * weight for score, weight in known) / total if total > 0 else None


def _median(row: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = sorted(
        (score, weight)
        for score, weight in zip(row, weights, strict=True)
        if score is not None and weight > 0
    )
    half, so_far = sum(weight for _, weight in known) / 2, 0.0
    for at, (score, weight) in enumerate(known):
        so_far += weight
        if abs(so_far - half) <= 1e-12 * half:
            return (score + known[at + 1][0]) / 2
        if so_far > half:
            return score
    return None


def _spread_ranks(column: Sequence[float | None]) -> list[float | None]:
    """Mid-ranks from 1 for the highest, spread over the whole number of systems."""
    known = [score for score in column if score is not None]
    systems, having = len(column), len(known)
    if having == 1:
        return [None if score is None else (systems + 1) / 2 for score in column]
    stretch = (systems - 1) / (having - 1) if having else 0.0
    return [None if score is None else 1 + (_mid_rank(score, known) - 1) * stretch for score in column]


def _mid_rank(score: float, among: Sequence[float]) -> float:
    above, equal = sum(other > score for other in among), sum(other == score for other in among)
    return above + (equal + 1) / 2
