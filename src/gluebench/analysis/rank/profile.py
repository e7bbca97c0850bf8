"""The scores of several systems on several tasks, and what becomes of scores that are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from gluebench.scoring.units.base import Floats

Missing = Literal["unranked", "shared", "own", "lowest"]
"""What a missing score means; the names of `MISSING`."""
MISSING: Mapping[Missing, str] = {
    "unranked": "a system that lacks a score has no rank, as the paper's board has it",
    "shared": "only the tasks that every system has are counted",
    "own": "each system is judged on the tasks it has",
    "lowest": "a missing score counts as the lowest that any system has on the task",
}


@dataclass(frozen=True, slots=True)
class Profile:
    """Scores by system and task, higher being better.

    Raises ValueError for scores of another shape, a number that is not finite, and weights that are
    negative or all zero.
    """

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: tuple[tuple[float | None, ...], ...]
    """A row for each system with a value for each task; None where there is none."""
    weights: tuple[float, ...] | None = None
    """Of the tasks; None weighs all alike."""

    def __post_init__(self) -> None:
        shape = {len(row) for row in self.scores} | {len(self.tasks)}
        if len(self.scores) != len(self.systems) or len(shape) != 1:
            raise ValueError(
                f"expected scores for {len(self.systems)} systems on {len(self.tasks)} tasks each, found "
                f"{len(self.scores)} rows of {sorted({len(row) for row in self.scores})}"
            )
        for system, row in zip(self.systems, self.scores, strict=True):
            for task, score in zip(self.tasks, row, strict=True):
                if score is not None and not isfinite(score):
                    raise ValueError(f"the score of {system} on {task} is {score}; expected a finite number")
        self._check_weights()

    def _check_weights(self) -> None:
        if self.weights is None:
            return
        wrong = len(self.weights) != len(self.tasks) or any(
            not isfinite(each) or each < 0 for each in self.weights
        )
        if wrong or (self.tasks and not any(self.weights)):
            raise ValueError(
                f"the weights are {self.weights}; expected one for each of {len(self.tasks)} tasks, none "
                "negative and not all of them 0"
            )

    @property
    def weight(self) -> tuple[float, ...]:
        """The weight of each task, 1 where none were given."""
        return (1.0,) * len(self.tasks) if self.weights is None else self.weights

    @property
    def draws(self) -> Floats:
        """(systems, tasks, 1): the scores as a single draw, NaN where there is none."""
        import numpy as np

        return np.array(self.scores, np.float64).reshape(len(self.systems), len(self.tasks), 1)

    def column(self, at: int) -> list[float | None]:
        """Every system's score on the task at that position."""
        return [row[at] for row in self.scores]


def filled(profile: Profile, missing: Missing) -> Profile:
    """The profile after a rule for missing scores; a system that is not to be ranked keeps none at all."""
    from gluebench.analysis.rank.arrays import filled_draws  # imports numpy

    if missing == "shared":
        return _only(profile, [at for at in range(len(profile.tasks)) if None not in profile.column(at)])
    rows = filled_draws(profile.draws, missing)[:, :, 0].tolist()
    return replace(profile, scores=tuple(tuple(map(known, row)) for row in rows))


def known(score: float) -> float | None:
    """The score; None for NaN."""
    return None if isnan(score) else score


def without(profile: Profile, task: str) -> Profile:
    """The profile with one task left out. Raises ValueError if it is not there."""
    return _only(profile, [at for at in range(len(profile.tasks)) if at != profile.tasks.index(task)])


def _only(profile: Profile, kept: list[int]) -> Profile:
    weights = profile.weights and tuple(profile.weights[at] for at in kept)
    if weights is not None and not any(weights):
        kept, weights = [], ()
    return Profile(
        profile.systems,
        tuple(profile.tasks[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in profile.scores),
        weights,
    )
