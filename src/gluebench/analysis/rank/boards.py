"""All boards of a benchmark: the average, tasks, metrics, diagnostic sets and phenomena, decided alike.

Where labels are hidden, decisions are made from what is shown: rounded scores, with an allowance for the
rounding, and standard errors rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import Decisions, Floats, PairVariances, decide
from gluebench.analysis.rank.influences import Part, variance
from gluebench.analysis.rank.store import Measured, Store
from gluebench.analysis.rank.systems import ALONE, reason_withheld, with_majority
from gluebench.benchmark import Metric, Task
from gluebench.scoring import Gold
from gluebench.scoring.feedback import P_LEVELS, bounds_of, rounded_value, rounding_width
from gluebench.scoring.grade import pairs_of, with_tag_counts
from gluebench.scoring.inference import widening_of
from gluebench.scoring.influence import Influence, influence_of
from gluebench.scoring.metrics import point, task_score
from gluebench.scoring.pairs import Pairs, sort_key
from gluebench.scoring.tags import OVERALL
from gluebench.scoring.units import units_of
from gluebench.submission import Submission, check

TOO_LARGE_FACTOR = 2.0
"""Rounding errors count as so many times the variance of a uniform one: with few tasks they are no noise."""


class Source(NamedTuple):
    """A part of the test data with the metrics that are computed on it."""

    task: Task
    file: str
    metrics: Sequence[Metric]
    positions: Sequence[int] | None = None
    """Of the examples of a category; None for all."""

    def pairs(self, pairs: Mapping[str, Pairs]) -> Pairs | None:
        """The examples with a system's answers; None if it lacks the file."""
        whole = pairs.get(self.file)
        return whole if whole is None or self.positions is None else whole.subset(self.positions)


class Term(NamedTuple):
    """What a source adds to the value of a board."""

    source: str
    metrics: tuple[float, ...]
    """Weights of the source's metrics."""
    weight: float = 1.0


@dataclass(frozen=True)
class Plan:
    """The parts of the test data, and the boards made of them."""

    sources: Mapping[str, Source]
    boards: Mapping[str, Sequence[Term]]
    """"" is the average; "RTE", "MRPC/F1", "AX" and "AX:coarse:Logic" name the others."""
    tasks: Sequence[Task]
    """The tasks of the average."""
    scored: Sequence[Task]
    """All scored tasks that have labels."""

    @classmethod
    def of(cls, gold: Gold, smallest: int) -> Plan:
        """The plan for labels; categories of fewer examples are left out, unless their labels are public."""
        sources: dict[str, Source] = {}
        boards: dict[str, list[Term]] = {"": []}
        scored = [
            task for task in gold.benchmark.scored if gold.columns.keys() >= task.metrics_by_file().keys()
        ]
        averaged = [task for task in scored if task.weight]
        total = sum(task.weight for task in averaged)
        for task in scored:
            boards[task.name] = []
            share = 1 / len(task.metrics)
            for file, metrics in task.metrics_by_file().items():
                sources[file] = Source(task, file, metrics)
                term = Term(file, (share,) * len(metrics))
                boards[task.name].append(term)
                if task.weight:
                    boards[""].append(term._replace(weight=task.weight / total))
                for at, metric in enumerate(metrics):
                    if len(task.metrics) > 1:
                        chosen = tuple(float(at == other) for other in range(len(metrics)))
                        boards[f"{task.name}/{metric.name}"] = [Term(file, chosen)]
        for task in gold.benchmark.diagnostics:
            metric = task.metrics[0]
            for category in gold.categories.get(metric.file, ()):
                name = f"{task.name}:{category.kind}:{category.name}"
                positions: Sequence[int] | None = category.positions
                if category.kind == OVERALL:
                    name, positions = task.name, None
                elif len(category.positions) < smallest and not task.labels_public:
                    continue
                sources[name] = Source(task, metric.file, [metric], positions)
                boards[name] = [Term(name, (1.0,))]
        return cls(sources, boards, averaged, scored)


def measure(path: str, digest: str, gold: Gold, plan: Plan) -> Measured:
    """Check and measure a submission; one that is not valid by the present checks has no more facts."""
    submission = with_tag_counts(check(path, gold.benchmark), gold)
    if submission.verdict == "invalid":
        return Measured(digest, {"valid": False}, dict)
    return measured(submission, digest, gold, plan)


def measured(submission: Submission, digest: str, gold: Gold, plan: Plan) -> Measured:
    """Measure a valid submission."""
    pairs = pairs_of(submission, gold)
    influences: dict[str, Influence] = {}
    facts: dict[str, Any] = {"valid": True, "values": {}, "variances": {}, "sizes": {}, "units": {}}
    facts |= {"answers": {}, "few": [], "unknown": [], "widenings": {}}
    for name, source in plan.sources.items():
        own = source.pairs(pairs)
        if own is None:
            continue
        influence = influences[name] = influence_of(source.metrics, own)
        facts["values"][name] = influence.values.tolist()
        facts["sizes"][name], facts["units"][name] = len(own), influence.size
        changes = influence.by_kind / max(influence.size - 1, 1)
        facts["widenings"][name] = [
            widening_of(metric, own, value, change, influence.counts) or 1
            for metric, value, change in zip(source.metrics, influence.values, changes, strict=True)
        ]
        facts["answers"][name] = hash_of(own)
        units = units_of(source.metrics, [own])
        if any(units.few(at) for at in range(len(source.metrics))):
            facts["few"].append(name)
        if np.isnan(changes).any():
            facts["unknown"].append(name)
    for task in plan.scored:
        terms = plan.boards[task.name]
        if all(term.source in influences for term in terms):
            of_terms = [variance(influences[term.source], term.metrics) for term in terms]
            facts["variances"][task.name] = sum(of_terms)
    return Measured(digest, facts, lambda: influences)


def hash_of(pairs: Pairs) -> str:
    """A digest of the predictions."""
    from hashlib import sha256

    return sha256(sort_key(pairs.predicted)).hexdigest()[:16]


class Board(NamedTuple):
    """A board's decisions, for all systems in their order."""

    decisions: Decisions | None
    """None if no pair is tested."""
    z: Floats | None
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
        values = system.facts["values"]
        return float(sum(np.dot(term.metrics, values[term.source]) for term in terms))

    def _metric(self, system: Measured, source: str, at: int) -> float | None:
        """The value of a metric as shown."""
        values = system.facts["values"].get(source)
        if values is None:
            return None
        part = self.plan.sources[source]
        if part.task.labels_public:
            return float(values[at])
        bounds = bounds_of(part.task, part.metrics[at].name)
        size, widening = system.facts["sizes"][source], system.facts["widenings"][source][at]
        return rounded_value(values[at], size, *bounds, widening=widening)

    def rounding(self, terms: Sequence[Term]) -> Floats:
        """Variances that allow for the rounding of each system's value, shape (systems,)."""
        allowed = np.zeros(len(self.systems))
        widths: dict[str, Floats] = {}
        for term in terms:
            part = self.plan.sources[term.source]
            of_task = widths.setdefault(part.task.name, np.zeros(len(self.systems)))
            for at, share in enumerate(term.metrics):
                if not share or part.task.labels_public:
                    continue
                bounds = bounds_of(part.task, part.metrics[at].name)
                for row, system in enumerate(self.systems):
                    values = system.facts["values"].get(term.source)
                    if values is not None:
                        size = system.facts["sizes"][term.source]
                        widening = system.facts["widenings"][term.source][at]
                        width = rounding_width(values[at], size, *bounds, widening=widening)
                        of_task[row] += term.weight * share * width
        for of_task in widths.values():
            allowed += TOO_LARGE_FACTOR * of_task**2 / 12
        return allowed

    def decide(self, terms: Sequence[Term], values: Sequence[float | None]) -> Board:
        """Decide all pairs of systems with values, of which higher is better."""
        present = [at for at, value in enumerate(values) if value is not None]
        withheld = self._withheld(terms, present) if len(present) > 1 else ALONE
        hidden = not all(self.plan.sources[term.source].task.labels_public for term in terms)
        if withheld:
            return Board(None, None, present, withheld, hidden)
        variances = PairVariances(len(present))
        systems = [self.systems[at] for at in present]
        for term in terms:
            covariance, units = self._covariance(term, systems)
            variances.add(covariance, units, term.weight)
        averages = np.array([values[at] for at in present], np.float64)
        z = variances.deviates(averages, rounding=self.rounding(terms)[present] if hidden else None)
        return Board(decide(z), z, present, None, hidden)

    def _covariance(self, term: Term, systems: Sequence[Measured]) -> tuple[Floats, int]:
        def part() -> Part:
            influences = [system.influences[term.source] for system in systems]
            return Part(influences, term.metrics, [1.0] * len(systems))

        name = f"{term.source} {term.metrics}"
        if self.plan.sources[term.source].positions is None:
            covariance = self.store.covariances(name, systems, part)
        else:
            covariance = part().covariances()  # a category: as quickly computed as read
        return covariance, systems[0].facts["units"][term.source]

    def _withheld(self, terms: Sequence[Term], present: Sequence[int]) -> str | None:
        few, unknown = [], []
        for term in terms:
            facts = [self.systems[at].facts for at in present]
            if len({of_system["answers"][term.source] for of_system in facts}) < 2:
                continue  # a part that all answer alike makes no difference
            task = self.plan.sources[term.source].task.name
            if any(term.source in of_system["few"] for of_system in facts):
                few.append(task)
            if any(term.source in of_system["unknown"] for of_system in facts):
                unknown.append(task)
        return reason_withheld(few, unknown)


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
