"""Rank a panel of systems from their task scores alone, with the uncertainty over the choice of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gluebench.analysis.rank.ranking import SHARES
from gluebench.scoring.report import fields_of
from gluebench.scoring.units.base import Floats, Ints

STEPS = 10**12
"""Means are compared in steps of about this part of the largest score, so that rounding breaks no ties."""


@dataclass(frozen=True, slots=True)
class PanelSystem:
    """One system of a panel; the intervals are over the choice of tasks."""

    name: str
    rank: int
    """From 1, the best; one more than the number of systems with a higher mean, so ties share a rank."""
    rank_lower: int
    rank_upper: int
    """The 95 % interval of the rank: the 2.5 % and 97.5 % quantiles of the resamples, rounded outwards."""
    first: float
    """The share of the resamples, from 0 to 1, in which no system had a higher mean."""
    mean: float
    """The (weighted) mean of the task scores, in their units."""
    mean_lower: float
    mean_upper: float
    """The 95 % percentile bootstrap interval of the mean, its ends rounded outwards to resampled means."""


@dataclass(frozen=True, slots=True)
class PanelRanking:
    """What `rank_scores` returns."""

    SCHEMA: ClassVar[str] = "gluebench.panel/1"

    tasks: tuple[str, ...]
    """The tasks that count, in the order given."""
    weights: tuple[float, ...] | None
    """The weight of each of `tasks`; None for the plain mean."""
    systems: tuple[PanelSystem, ...]
    """By rank; systems with the same rank in the order given."""
    resamples: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order."""
        return {"schema": self.SCHEMA, **fields_of(self)}


def rank_scores(
    scores: Mapping[str, Mapping[str, float]],
    *,
    resamples: int = 1000,
    seed: int = 0,
    weights: Mapping[str, float] | None = None,
) -> PanelRanking:
    """Rank two or more systems by their mean over tasks, from `scores[system][task]`.

    Scores are finite numbers in any units that are the same for all tasks; higher is better. Each resample
    draws as many tasks as there are, with replacement, the same tasks for all systems. The intervals
    therefore state the uncertainty over the choice of tasks: how the order could differ on other tasks of
    the same kind. They do not state the uncertainty over the examples of a test set, which needs the
    predictions (`gluebench.analysis.rank`). With few tasks they are too narrow: where scores are normal, the
    interval of a mean holds the true mean in 90 % of the cases with 9 tasks, in 94 % with 41.

    `weights` are of tasks, at least 0; a task that is not named has the weight 1, and a task of weight 0 is
    left out. A drawn task keeps its weight. Means are compared after rounding at 12 decimals of the largest
    score. The order of systems and tasks changes no number.

    Raises ValueError for a missing or non-finite score, naming its system and task, for fewer than two
    systems, no task, fewer than one resample, and for weights that are negative, infinite or of no task.
    """
    if len(scores) < 2:
        raise ValueError(f"found {len(scores)} system(s); expected at least two to rank")
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; expected at least 1")
    weight_of = _weight_of(chain.from_iterable(scores.values()), weights or {})
    by_name = sorted(weight_of)
    matrix = _matrix(scores, by_name)
    largest = float(np.abs(matrix).max()) or 1.0
    weight = np.array([weight_of[task] for task in by_name])
    count = len(by_name)
    times = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples)
    drawn = np.vstack([np.ones(count), times]) * (weight / weight.max())  # the first row is the point
    means = (matrix / largest) @ drawn.T / drawn.sum(axis=1)  # (systems, 1 + resamples)
    steps = np.rint(means.T * -STEPS)
    places = np.array([1 + np.searchsorted(np.sort(row), row) for row in steps]).T
    return PanelRanking(
        tasks=tuple(weight_of),
        weights=tuple(weight_of.values()) if weights else None,
        systems=_systems(tuple(scores), places, means * largest),
        resamples=resamples,
        seed=seed,
    )


def _weight_of(tasks: Iterable[str], weights: Mapping[str, float]) -> dict[str, float]:
    """The weight of each task that counts, in the order in which the tasks first occur."""
    known = dict.fromkeys(tasks, 1.0)
    for task, weight in weights.items():
        if task not in known:
            raise ValueError(f"weights name {task!r}; expected one of {', '.join(known)}")
        if not (isfinite(weight) and weight >= 0):
            raise ValueError(f"the weight of {task} is {weight}; expected a finite number, at least 0")
        known[task] = float(weight)
    counted = {task: weight for task, weight in known.items() if weight}
    if not counted:
        raise ValueError("found no task; expected a score on at least one task whose weight is not 0")
    return counted


def _matrix(scores: Mapping[str, Mapping[str, float]], tasks: list[str]) -> Floats:
    """(systems, tasks): the scores."""
    matrix = np.array([list(map(row.get, tasks)) for row in scores.values()], np.float64)  # None becomes NaN
    missing = np.argwhere(~np.isfinite(matrix))
    if len(missing):
        system, task = list(scores)[missing[0, 0]], tasks[missing[0, 1]]
        raise ValueError(
            f"the score of {system} on {task} is {scores[system].get(task, 'missing')}; expected a finite"
            " number for every system and task: add the score, or leave out the system or the task"
        )
    return matrix


def _systems(names: Sequence[str], places: Ints, means: Floats) -> tuple[PanelSystem, ...]:
    """The records by rank, from (systems, 1 + resamples) ranks and means, the point first."""
    resampled = places[:, 1:]
    columns = (
        places[:, 0],
        *_interval(resampled),
        (resampled == 1).mean(axis=1),
        means[:, 0],
        *_interval(means[:, 1:]),
    )
    records = [PanelSystem(*row) for row in zip(names, *(column.tolist() for column in columns), strict=True)]
    return tuple(sorted(records, key=lambda record: record.rank))


def _interval(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The two ends of the 95 % interval of each row, rounded outwards to values in it."""
    for share, method in zip(SHARES, ("lower", "higher"), strict=True):
        yield np.quantile(values, share, axis=1, method=method)  # type: ignore[call-overload]
