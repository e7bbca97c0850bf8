"""All boards of a benchmark: the average, tasks, metrics, diagnostic sets and phenomena, decided alike.

Where labels are hidden, decisions are made from what is shown: rounded scores, with an allowance for the
rounding, and standard errors rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gluebench.analysis.graded import with_majority
from gluebench.analysis.rank.decisions import Decisions, Floats, PairVariances, decide
from gluebench.analysis.rank.influences import PartInfluences
from gluebench.analysis.rank.store import MeasuredSystem, MeasurementCache
from gluebench.analysis.rank.systems import (
    ONLY_ONE_RANKED,
    BoardPlan,
    WeightedPart,
    measure_answers,
    why_withheld,
)
from gluebench.benchmark import Task
from gluebench.scoring import Gold
from gluebench.scoring.feedback import P_LEVELS, bounds_of, rounded_value, rounding_width
from gluebench.scoring.grade import pairs_of, with_tag_counts
from gluebench.scoring.metrics import point, task_score
from gluebench.submission import Submission, check

TOO_LARGE_FACTOR = 2.0
"""Rounding errors count as so many times the variance of a uniform one: with few tasks they are no noise."""


def measure_file(path: str, digest: str, gold: Gold, plan: BoardPlan) -> MeasuredSystem:
    """Check and measure a submission; one that is not valid by the present checks has no more facts."""
    submission = with_tag_counts(check(path, gold.benchmark), gold)
    if submission.verdict == "invalid":
        return MeasuredSystem(digest, {"valid": False}, dict)
    return measure_answers(pairs_of(submission, gold), plan, digest)


class BoardDecisions(NamedTuple):
    """A board's decisions, for all systems in their order."""

    decisions: Decisions | None
    """None if no pair is tested."""
    present: list[int]
    """Positions of the systems that have a score there."""
    withheld: str | None
    """Why no system has a rank set."""
    hidden: bool
    """Whether decisions are made from rounded scores."""


class Boards:
    """The boards of a benchmark's systems; `shown` maps a system to its scores by task, as shown."""

    def __init__(
        self,
        plan: BoardPlan,
        systems: Mapping[str, MeasuredSystem],
        shown: Mapping[str, Mapping[str, float]],
        store: MeasurementCache,
    ) -> None:
        self.plan = plan
        self.systems = list(systems.values())
        self.store = store
        self._shown = [shown[name] for name in systems]

    def values(self, board: str) -> list[float | None]:
        """What a board shows of each system; None where it has no score there."""
        if any(task.name == board for task in self.plan.scored):
            return [scores.get(board) for scores in self._shown]
        (weighted,) = self.plan.boards[board]
        return [self._metric(system, weighted.part, weighted.metrics.index(1.0)) for system in self.systems]

    def _metric(self, system: MeasuredSystem, name: str, at: int) -> float | None:
        """The value of a metric as shown."""
        if name not in system.parts:
            return None
        part = self.plan.parts[name]
        own = system.parts[name]
        value = float(own["values"][at])
        if part.task.labels_public:
            return value
        bounds = bounds_of(part.task, part.metrics[at].name)
        return rounded_value(value, own["size"], *bounds, widening=own["widenings"][at])

    def rounding(self, board: Sequence[WeightedPart]) -> Floats:
        """Variances that allow for the rounding of each system's value, shape (systems,)."""
        widths: dict[str, Floats] = {}
        for weighted in board:
            part = self.plan.parts[weighted.part]
            of_task = widths.setdefault(part.task.name, np.zeros(len(self.systems)))
            for at, share in enumerate(weighted.metrics):
                if not share or part.task.labels_public:
                    continue
                bounds = bounds_of(part.task, part.metrics[at].name)
                for row, system in enumerate(self.systems):
                    if own := system.parts.get(weighted.part):
                        width = rounding_width(
                            own["values"][at], own["size"], *bounds, widening=own["widenings"][at]
                        )
                        of_task[row] += weighted.weight * share * width
        allowed = np.zeros(len(self.systems))
        for of_task in widths.values():
            allowed += TOO_LARGE_FACTOR * of_task**2 / 12
        return allowed

    def decide(self, board: Sequence[WeightedPart], values: Sequence[float | None]) -> BoardDecisions:
        """Decide all pairs of systems with values, of which higher is better."""
        present = [at for at, value in enumerate(values) if value is not None]
        systems = [self.systems[at] for at in present]
        hidden = not all(self.plan.parts[weighted.part].task.labels_public for weighted in board)
        withheld: str | None = ONLY_ONE_RANKED
        if len(present) > 1:
            withheld = why_withheld(self.plan, board, systems)
        if withheld:
            return BoardDecisions(None, present, withheld, hidden)
        variances = PairVariances(len(present))
        for weighted in board:
            units = systems[0].parts[weighted.part]["units"]
            variances.add(self._covariances(weighted, systems), units, weighted.weight)
        averages = np.array([values[at] for at in present], np.float64)
        rounding = None
        if hidden:
            rounding = self.rounding(board)[present]
        decisions = decide(variances.deviates(averages, rounding=rounding))
        return BoardDecisions(decisions, present, None, hidden)

    def _covariances(self, weighted: WeightedPart, systems: Sequence[MeasuredSystem]) -> Floats:
        def influences() -> PartInfluences:
            own = [system.influences[weighted.part] for system in systems]
            return PartInfluences(own, weighted.metrics)

        if self.plan.parts[weighted.part].positions is not None:
            return influences().covariances()  # a category: as quickly computed as read
        return self.store.covariances(f"{weighted.part} {weighted.metrics}", systems, influences)


def majority_scores(tasks: Sequence[Task], gold: Gold) -> dict[str, float]:
    """The score of each of these tasks if its most frequent label is answered."""
    nothing = Submission(gold.benchmark, gold.role, "", "valid", (), {})
    pairs = pairs_of(with_majority(nothing, tasks, gold), gold)
    scores = {}
    for task in tasks:
        values = [point(metric, pairs[metric.file]).value for metric in task.metrics]
        scores[task.name] = task_score(values)
    return scores


def rounded_p_values(values: Floats) -> Floats:
    """p-values rounded up to few levels, which keeps them valid."""
    levels = np.array(P_LEVELS)
    rounded: Floats = levels[np.searchsorted(levels, np.minimum(values, levels[-1]))]
    return rounded
