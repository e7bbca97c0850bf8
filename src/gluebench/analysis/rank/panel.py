"""Rank a panel of systems from their task scores alone, with the uncertainty over the choice of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from gluebench.analysis.rank.decisions import (
    Floats,
    PairVariances,
    covariances,
    decide,
    rank_sets,
)
from gluebench.scoring.intervals import student_quantile
from gluebench.scoring.report import fields_of


@dataclass(frozen=True, slots=True)
class PanelSystem:
    """One system of a panel; the rank set and the interval are over the choice of tasks."""

    name: str
    rank: int
    """From 1, the best; one more than the number of systems with a higher mean: equal ones share it."""
    rank_low: int
    rank_high: int
    """The best and the worst rank that it may truly have; 95 % for all systems of the panel together."""
    mean: float
    """The (weighted) mean of the task scores, in their units."""
    mean_low: float | None
    mean_high: float | None
    """The ends of the 95 % interval of the mean; None for a single task."""


@dataclass(frozen=True, slots=True)
class PanelRanking:
    """What `rank_scores` returns."""

    SCHEMA: ClassVar[str] = "gluebench.panel/2"

    tasks: tuple[str, ...]
    """The tasks that count, in the order given."""
    weights: tuple[float, ...] | None
    """The weight of each of `tasks`; None for the plain mean."""
    systems: tuple[PanelSystem, ...]
    """By rank; systems with the same rank in the order given."""
    may_be_best: tuple[str, ...]
    """The systems that no other is significantly better than."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order."""
        return {"schema": self.SCHEMA, **fields_of(self)}


def rank_scores(
    scores: Mapping[str, Mapping[str, float]], *, weights: Mapping[str, float] | None = None
) -> PanelRanking:
    """Rank two or more systems by their mean over tasks, from `scores[system][task]`.

    Scores are finite numbers in any units that are the same for all tasks; higher is better. The tasks are
    taken for a sample: rank sets and intervals state how the order and the means could differ on other tasks
    of the same kind, by Student's t with one degree of freedom fewer than tasks. They do not state the
    uncertainty over the examples of a test set, which needs the predictions (`gluebench.analysis.rank`).

    `weights` are of tasks, at least 0; a task that is not named has the weight 1, and a task of weight 0 is
    left out. Means are compared after rounding at 12 decimals of the largest score. The order of systems and
    tasks changes no number.

    Raises ValueError for a missing or non-finite score, naming its system and task, for fewer than two
    systems, no task, and for weights that are negative, infinite or of no task.
    """
    if len(scores) < 2:
        raise ValueError(f"found {len(scores)} system(s); expected at least two to rank")
    weight_of = _weight_of(chain.from_iterable(scores.values()), weights or {})
    by_name = sorted(weight_of)
    matrix = _matrix(scores, by_name)
    largest = float(np.abs(matrix).max()) or 1.0
    scaled = matrix / largest
    weight = np.array([weight_of[task] for task in by_name])
    shares = weight / weight.sum()
    means = np.round(scaled @ shares, 12)
    count = len(by_name)
    influence = count * shares * (scaled - means[:, np.newaxis])
    influence -= influence.mean(axis=1, keepdims=True)
    variances = PairVariances(len(scores))
    variances.add(covariances(lambda block: influence[:, block], len(scores), count), count)
    decisions = decide(variances.deviates(means, normal=True))
    rank_low, rank_high = rank_sets(decisions.better)
    errors = np.sqrt((influence**2).sum(axis=1) / max(count * (count - 1), 1))
    systems = []
    for at, name in enumerate(scores):
        mean = float(means[at] * largest)
        mean_low = None
        mean_high = None
        if count > 1:
            reach = student_quantile(0.975, count - 1) * float(errors[at] * largest)
            mean_low = mean - reach
            mean_high = mean + reach
        rank = 1 + int((means > means[at]).sum())
        ends = (int(rank_low[at]), int(rank_high[at]))
        systems.append(PanelSystem(name, rank, *ends, mean, mean_low, mean_high))
    by_rank = sorted(systems, key=lambda system: system.rank)
    return PanelRanking(
        tasks=tuple(weight_of),
        weights=tuple(weight_of.values()) if weights else None,
        systems=tuple(by_rank),
        may_be_best=tuple(system.name for system in by_rank if system.rank_low == 1),
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
    rows = []
    for system, row in scores.items():
        for task in tasks:
            score = row.get(task)
            if score is None or not isfinite(score):
                raise ValueError(
                    f"the score of {system} on {task} is {row.get(task, 'missing')}; expected a finite"
                    " number for every system and task: add the score, or leave out the system or the task"
                )
        rows.append([row[task] for task in tasks])
    return np.array(rows, np.float64)
