"""All boards of a benchmark: the average, tasks, metrics, diagnostic sets and phenomena, decided alike.

Where labels are hidden, decisions are made from what is shown: rounded scores, with an allowance for the
rounding, and standard errors rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import Decisions, Floats, PairVariances, decide
from gluebench.analysis.rank.influences import Part
from gluebench.analysis.rank.store import Measured, Store
from gluebench.analysis.rank.systems import ALONE, Plan, Term, measured, why_withheld, with_majority
from gluebench.benchmark import Task
from gluebench.scoring import Gold
from gluebench.scoring.feedback import P_LEVELS, bounds_of, rounded_value, rounding_width
from gluebench.scoring.grade import pairs_of, with_tag_counts
from gluebench.scoring.metrics import point, task_score
from gluebench.submission import Submission, check

TOO_LARGE_FACTOR = 2.0
"""Rounding errors count as so many times the variance of a uniform one: with few tasks they are no noise."""


def measure(path: str, digest: str, gold: Gold, plan: Plan) -> Measured:
    """Check and measure a submission; one that is not valid by the present checks has no more facts."""
    submission = with_tag_counts(check(path, gold.benchmark), gold)
    if submission.verdict == "invalid":
        return Measured(digest, {"valid": False}, dict)
    return measured(pairs_of(submission, gold), plan, digest)


class Board(NamedTuple):
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
        plan: Plan,
        systems: Mapping[str, Measured],
        shown: Mapping[str, Mapping[str, float]],
        store: Store,
    ) -> None:
        self.plan, self.systems, self.store = plan, list(systems.values()), store
        self._shown = [shown[name] for name in systems]

    def values(self, board: str) -> list[float | None]:
        """What a board shows of each system; None where it has no score there."""
        if any(task.name == board for task in self.plan.scored):
            return [scores.get(board) for scores in self._shown]
        (term,) = self.plan.boards[board]
        return [self._metric(system, term.source, term.metrics.index(1.0)) for system in self.systems]

    def exact(self, system: Measured, task: Task) -> float:
        """The score of a task that the system has, with all digits."""
        terms = self.plan.boards[task.name]
        return float(sum(np.dot(term.metrics, system.parts[term.source]["values"]) for term in terms))

    def _metric(self, system: Measured, name: str, at: int) -> float | None:
        """The value of a metric as shown."""
        if name not in system.parts:
            return None
        source, own = self.plan.sources[name], system.parts[name]
        value = float(own["values"][at])
        if source.task.labels_public:
            return value
        bounds = bounds_of(source.task, source.metrics[at].name)
        return rounded_value(value, own["size"], *bounds, widening=own["widenings"][at])

    def rounding(self, terms: Sequence[Term]) -> Floats:
        """Variances that allow for the rounding of each system's value, shape (systems,)."""
        widths: dict[str, Floats] = {}
        for term in terms:
            source = self.plan.sources[term.source]
            of_task = widths.setdefault(source.task.name, np.zeros(len(self.systems)))
            for at, share in enumerate(term.metrics):
                if not share or source.task.labels_public:
                    continue
                bounds = bounds_of(source.task, source.metrics[at].name)
                for row, system in enumerate(self.systems):
                    if own := system.parts.get(term.source):
                        value, widening = own["values"][at], own["widenings"][at]
                        width = rounding_width(value, own["size"], *bounds, widening=widening)
                        of_task[row] += term.weight * share * width
        allowed = np.zeros(len(self.systems))
        for of_task in widths.values():
            allowed += TOO_LARGE_FACTOR * of_task**2 / 12
        return allowed

    def decide(self, terms: Sequence[Term], values: Sequence[float | None]) -> Board:
        """Decide all pairs of systems with values, of which higher is better."""
        present = [at for at, value in enumerate(values) if value is not None]
        systems = [self.systems[at] for at in present]
        withheld = why_withheld(self.plan, terms, systems) if len(present) > 1 else ALONE
        hidden = not all(self.plan.sources[term.source].task.labels_public for term in terms)
        if withheld:
            return Board(None, present, withheld, hidden)
        variances = PairVariances(len(present))
        for term in terms:
            units = systems[0].parts[term.source]["units"]
            variances.add(self._covariance(term, systems), units, term.weight)
        averages = np.array([values[at] for at in present], np.float64)
        rounding = self.rounding(terms)[present] if hidden else None
        return Board(decide(variances.deviates(averages, rounding=rounding)), present, None, hidden)

    def _covariance(self, term: Term, systems: Sequence[Measured]) -> Floats:
        def part() -> Part:
            return Part([system.influences[term.source] for system in systems], term.metrics)

        if self.plan.sources[term.source].positions is None:
            return self.store.covariances(f"{term.source} {term.metrics}", systems, part)
        return part().covariances()  # a category: as quickly computed as read


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
