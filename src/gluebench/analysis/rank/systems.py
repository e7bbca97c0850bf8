"""Systems as boards need them: their scores, and the influence of each example on these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from gluebench.analysis.graded import grade_systems
from gluebench.analysis.rank.decisions import Floats
from gluebench.analysis.rank.influences import mean_influence, variance
from gluebench.analysis.rank.store import MeasuredSystem
from gluebench.benchmark import Metric, Task
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.scoring.grade import Run
from gluebench.scoring.inference import widening_of
from gluebench.scoring.influence import Influence, influence_of
from gluebench.scoring.metrics import task_score
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.pairs import Pairs, sort_key
from gluebench.scoring.runs import RunsTest, runs_tests
from gluebench.scoring.table import TableGold
from gluebench.scoring.tags import OVERALL
from gluebench.scoring.units import units_of
from gluebench.scoring.withholding import too_few_for_difference

ONLY_ONE_RANKED = "no other system has a rank"
"""Why a single ranked system has no rank set."""


class ScoredPart(NamedTuple):
    """A test file, or a category of it, with the metrics that are computed on it."""

    task: Task
    file: str
    metrics: Sequence[Metric]
    positions: Sequence[int] | None = None
    """Of the examples of a category; None for all."""


class WeightedPart(NamedTuple):
    """What a test part adds to the value of a board."""

    part: str
    """The name of the scored part."""
    metrics: tuple[float, ...]
    """Weights of the part's metrics."""
    weight: float = 1.0


@dataclass(frozen=True)
class BoardPlan:
    """The parts of the test data, and the boards made of them."""

    parts: dict[str, ScoredPart]
    boards: dict[str, list[WeightedPart]]
    """"" is the average; "RTE", "MRPC/F1", "AX" and "AX:coarse:Logic" name the others."""
    scored: Sequence[Task]
    """The scored tasks, with those of weight 0, which the average leaves out."""

    @classmethod
    def of_tasks(cls, tasks: Sequence[Task]) -> BoardPlan:
        """The plan for scored tasks and their metrics, without diagnostic sets."""
        plan = cls({}, {"": []}, tasks)
        total = sum(task.weight for task in tasks)
        for task in tasks:
            plan.boards[task.name] = []
            share = 1 / len(task.metrics)
            for file, metrics in task.metrics_by_file().items():
                plan.parts[file] = ScoredPart(task, file, metrics)
                weighted = WeightedPart(file, (share,) * len(metrics))
                plan.boards[task.name].append(weighted)
                if task.weight:
                    plan.boards[""].append(weighted._replace(weight=task.weight / total))
                if len(task.metrics) > 1:
                    for at, metric in enumerate(metrics):
                        only = [0.0] * len(metrics)
                        only[at] = 1.0
                        plan.boards[f"{task.name}/{metric.name}"] = [WeightedPart(file, tuple(only))]
        return plan

    @classmethod
    def of(cls, gold: Gold, smallest: int) -> BoardPlan:
        """The plan for labels; categories of fewer examples are left out, unless their labels are public."""
        files = set(gold.columns)
        with_gold = [task for task in gold.benchmark.scored if files.issuperset(task.metrics_by_file())]
        plan = cls.of_tasks(with_gold)
        for task in gold.benchmark.diagnostics:
            metric = task.metrics[0]
            for category in gold.categories.get(metric.file, ()):
                name = f"{task.name}:{category.kind}:{category.name}"
                positions: Sequence[int] | None = category.positions
                if category.kind == OVERALL:
                    name = task.name
                    positions = None
                elif len(category.positions) < smallest and not task.labels_public:
                    continue
                plan.parts[name] = ScoredPart(task, metric.file, [metric], positions)
                plan.boards[name] = [WeightedPart(name, (1.0,))]
        return plan

    def score(self, task: Task, system: MeasuredSystem) -> float | None:
        """The score of a task with all digits; None if the system lacks a part of it."""
        values: dict[str, float] = {}
        for weighted in self.boards[task.name]:
            if weighted.part not in system.parts:
                return None
            metrics = self.parts[weighted.part].metrics
            for metric, value in zip(metrics, system.parts[weighted.part]["values"], strict=True):
                values[metric.name] = value
        return task_score([values[metric.name] for metric in task.metrics])

    def variances(self, systems: Sequence[MeasuredSystem]) -> Floats:
        """Variances of the scores over the choice of examples, shape (systems, tasks); 0 if not known."""
        variances = np.zeros((len(systems), len(self.scored)))
        for at, system in enumerate(systems):
            for place, task in enumerate(self.scored):
                variances[at, place] = system.facts["variances"].get(task.name, 0.0)
        return variances


def measure_answers(pairs: Mapping[str, Pairs], plan: BoardPlan, digest: str = "") -> MeasuredSystem:
    """Measure a valid submission by its answers, by test file."""
    influences: dict[str, Influence] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, part in plan.parts.items():
        if part.file not in pairs:
            continue
        answers = pairs[part.file]
        if part.positions is not None:
            answers = answers.subset(part.positions)
        influence = influence_of(part.metrics, answers)
        influences[name] = influence
        # An influence is units - 1 times the change of the value that leaving out the unit makes.
        changes = influence.by_kind / max(influence.size - 1, 1)
        widenings = []
        for metric, value, change in zip(part.metrics, influence.values, changes, strict=True):
            widening = widening_of(metric, answers, value, change, influence.counts)
            widenings.append(1 if widening is None else widening)
        parts[name] = {
            "values": influence.values.tolist(),
            "widenings": widenings,
            "size": len(answers),
            "units": influence.size,
            "answers": sha256(sort_key(answers.predicted)).hexdigest()[:16],
            "few": any(too_few_for_difference(metric, answers) for metric in part.metrics),
            "unknown": bool(np.isnan(influence.by_kind).any()),
        }
    variances = {}
    for task in plan.scored:
        board = plan.boards[task.name]
        if all(weighted.part in parts for weighted in board):
            of_parts = [variance(influences[weighted.part], weighted.metrics) for weighted in board]
            variances[task.name] = sum(of_parts)
    facts = {"valid": True, "parts": parts, "variances": variances}
    # Influences may also lie in a file that is read when they are used; these are here already.
    return MeasuredSystem(digest, facts, read=lambda: influences)


def why_withheld(
    plan: BoardPlan, board: Sequence[WeightedPart], systems: Sequence[MeasuredSystem]
) -> str | None:
    """Why ranks have no sets: test data that are too few, or metrics without influence values."""
    few = []
    unknown = []
    for weighted in board:
        own = [system.parts[weighted.part] for system in systems if weighted.part in system.parts]
        if len({part["answers"] for part in own}) < 2:
            continue  # as in `compare`, a part that all answer alike makes no difference
        task = plan.parts[weighted.part].task.name
        if own[0]["few"]:
            few.append(task)
        if any(part["unknown"] for part in own):
            unknown.append(task)
    if few:
        return f"too few examples on {', '.join(dict.fromkeys(few))}"
    if unknown:
        return f"the metric of {', '.join(dict.fromkeys(unknown))} has too many kinds of examples to test"
    return None


class MeasuredSystems(NamedTuple):
    """The systems passed to `rank`, graded and measured."""

    scores: list[Floats]
    """Scores of each system, shape (runs, tasks); NaN where a run lacks a task."""
    means: list[MeasuredSystem]
    """Each system as the mean over its runs, of the parts that all runs have."""
    tests: list[dict[str, RunsTest]]
    """Of each system with several runs, how the mean of a part's metrics varies over runs, by part."""
    withheld: str | None
    """Why no rank has a set whatever the rule; None if they may have."""
    warnings: tuple[str, ...]

    @property
    def runs(self) -> list[int]:
        """The number of runs of each system."""
        return [len(of_runs) for of_runs in self.scores]


def read_systems(
    submissions: Mapping[str, Run | Sequence[Run]],
    gold: Gold,
    plan: BoardPlan,
    *,
    majority: Sequence[Task],
) -> MeasuredSystems:
    """Measure every run, with the most frequent label as its predictions on the tasks of `majority`."""
    scores = []
    means = []
    tests = []
    warnings = set()
    every_run: list[MeasuredSystem] = []
    for name, system in grade_systems(submissions, gold, majority=majority).items():
        runs = [measure_answers(answers, plan) for answers in system.answers]
        every_run += runs
        of_runs = []
        for run in runs:
            of_runs.append([plan.score(task, run) for task in plan.scored])
        scores.append(np.array(of_runs, np.float64).reshape(len(runs), len(plan.scored)))
        mean = runs[0]
        tests_of_parts: dict[str, RunsTest] = {}
        if len(runs) > 1:
            mean, tests_of_parts = _over_runs(runs, system.answers, plan)
        means.append(mean)
        tests.append(tests_of_parts)
        warnings |= {f"{name}: {text}" for text in system.warnings if text not in gold.warnings}

    every_part: list[WeightedPart] = []
    for task in plan.scored:
        every_part += plan.boards[task.name]
    withheld = why_withheld(plan, every_part, every_run)
    if withheld and isinstance(gold, TableGold) and gold.unit == "tasks":
        rows_of_table = len(next(iter(gold.columns.values())))
        withheld = f"{rows_of_table} tasks are too few, since they need {FEWEST_NUMBERS}"
    return MeasuredSystems(scores, means, tests, withheld, (*gold.warnings, *sorted(warnings)))


def _over_runs(
    runs: Sequence[MeasuredSystem], answers: Sequence[Mapping[str, Pairs]], plan: BoardPlan
) -> tuple[MeasuredSystem, dict[str, RunsTest]]:
    """The mean over runs, and by part how the mean of its metrics varies over them."""
    parts = {}
    influences = {}
    tests = {}
    for name, part in plan.parts.items():
        if all(name in run.parts for run in runs):
            units = units_of(part.metrics, [pairs[part.file] for pairs in answers])
            parts[name] = runs[0].parts[name]
            influences[name] = mean_influence(units)
            tests[name] = runs_tests(units, [len(runs)])[-1]
    # Of several runs, the variance between them counts, not that over the choice of examples.
    return MeasuredSystem("", {"parts": parts, "variances": {}}, lambda: influences), tests


def require_possible(
    gold: TableGold, by: str, *, weights: Mapping[str, float] | None, majority: Sequence[str]
) -> None:
    """Raise DataError for options that a table of scores does not have."""
    if majority:
        raise DataError(f"{gold.folder}: a table has scores, not labels, so that no label is most frequent")
    if gold.unit == "tasks" and (weights or by != "mean"):
        raise DataError(
            f"{gold.folder}: a table over tasks, whose rows are the tasks, each counted once. It is ranked "
            "by the mean alone: weights and other rules need a table over items, with a column task"
        )
