"""The systems that are ranked: their scores, and the influence of each example on these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import Floats
from gluebench.analysis.rank.influences import mean_influence, shared_variance, variance
from gluebench.analysis.rank.store import Measured
from gluebench.benchmark import Metric, Task
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.scoring.grade import Run, answers_of, graded, require_gradable, submissions_from
from gluebench.scoring.inference import widening_of
from gluebench.scoring.influence import Influence, influence_of
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.pairs import Pairs, sort_key
from gluebench.scoring.table import TableGold
from gluebench.scoring.tags import OVERALL
from gluebench.scoring.withholding import too_few_for_difference
from gluebench.submission import Column, Submission

ALONE = "no other system has a rank"
"""Why a single ranked system has no rank set."""


class Source(NamedTuple):
    """A part of the test data with the metrics that are computed on it."""

    task: Task
    file: str
    metrics: Sequence[Metric]
    positions: Sequence[int] | None = None
    """Of the examples of a category; None for all."""


class Term(NamedTuple):
    """What a source adds to the value of a board."""

    source: str
    metrics: tuple[float, ...]
    """Weights of the source's metrics."""
    weight: float = 1.0


@dataclass(frozen=True)
class Plan:
    """The parts of the test data, and the boards made of them."""

    sources: dict[str, Source]
    boards: dict[str, list[Term]]
    """"" is the average; "RTE", "MRPC/F1", "AX" and "AX:coarse:Logic" name the others."""
    scored: Sequence[Task]
    """The scored tasks, with those of weight 0, which the average leaves out."""

    @classmethod
    def of_tasks(cls, tasks: Sequence[Task]) -> Plan:
        """The plan for scored tasks and their metrics, without diagnostic sets."""
        plan = cls({}, {"": []}, tasks)
        total = sum(task.weight for task in tasks)
        for task in tasks:
            plan.boards[task.name] = []
            share = 1 / len(task.metrics)
            for file, metrics in task.metrics_by_file().items():
                plan.sources[file] = Source(task, file, metrics)
                term = Term(file, (share,) * len(metrics))
                plan.boards[task.name].append(term)
                if task.weight:
                    plan.boards[""].append(term._replace(weight=task.weight / total))
                for at, metric in enumerate(metrics):
                    if len(task.metrics) > 1:
                        chosen = tuple(float(at == other) for other in range(len(metrics)))
                        plan.boards[f"{task.name}/{metric.name}"] = [Term(file, chosen)]
        return plan

    @classmethod
    def of(cls, gold: Gold, smallest: int) -> Plan:
        """The plan for labels; categories of fewer examples are left out, unless their labels are public."""
        files = gold.columns.keys()
        plan = cls.of_tasks([task for task in gold.benchmark.scored if files >= {*task.metrics_by_file()}])
        for task in gold.benchmark.diagnostics:
            metric = task.metrics[0]
            for category in gold.categories.get(metric.file, ()):
                name = f"{task.name}:{category.kind}:{category.name}"
                positions: Sequence[int] | None = category.positions
                if category.kind == OVERALL:
                    name, positions = task.name, None
                elif len(category.positions) < smallest and not task.labels_public:
                    continue
                plan.sources[name] = Source(task, metric.file, [metric], positions)
                plan.boards[name] = [Term(name, (1.0,))]
        return plan


def measured(pairs: Mapping[str, Pairs], plan: Plan, digest: str = "") -> Measured:
    """Measure a valid submission by its answers, by test file."""
    influences: dict[str, Influence] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, source in plan.sources.items():
        if source.file not in pairs:
            continue
        own = pairs[source.file]
        if source.positions is not None:
            own = own.subset(source.positions)
        influence = influence_of(source.metrics, own)
        influences[name] = influence
        changes = influence.by_kind / max(influence.size - 1, 1)
        parts[name] = {
            "values": influence.values.tolist(),
            "widenings": [
                widening_of(metric, own, value, change, influence.counts) or 1
                for metric, value, change in zip(source.metrics, influence.values, changes, strict=True)
            ],
            "size": len(own),
            "units": influence.size,
            "answers": sha256(sort_key(own.predicted)).hexdigest()[:16],
            "few": any(too_few_for_difference(metric, own) for metric in source.metrics),
            "unknown": bool(np.isnan(influence.by_kind).any()),
        }
    variances = {}
    for task in plan.scored:
        terms = plan.boards[task.name]
        if all(term.source in parts for term in terms):
            variances[task.name] = sum(variance(influences[term.source], term.metrics) for term in terms)
    return Measured(digest, {"valid": True, "parts": parts, "variances": variances}, lambda: influences)


def why_withheld(plan: Plan, terms: Sequence[Term], systems: Sequence[Measured]) -> str | None:
    """Why ranks have no sets: test data that are too few, or metrics without influence values."""
    few, unknown = [], []
    for term in terms:
        own = [system.parts[term.source] for system in systems if term.source in system.parts]
        if len({part["answers"] for part in own}) < 2:
            continue  # as in `compare`, a part that all answer alike makes no difference
        task = plan.sources[term.source].task.name
        if own[0]["few"]:
            few.append(task)
        if any(part["unknown"] for part in own):
            unknown.append(task)
    if few:
        return f"too few examples on {', '.join(dict.fromkeys(few))}"
    if unknown:
        return f"the metric of {', '.join(dict.fromkeys(unknown))} has too many kinds of examples to test"
    return None


class Systems(NamedTuple):
    """The submissions passed to `rank`, read and graded."""

    scores: list[Floats]
    """Scores of each system, shape (runs, tasks); NaN where a run lacks a task."""
    influences: list[dict[str, Influence]]
    """Test-file name to the influence on the mean over a system's runs, of files that all runs have."""
    variances: Floats
    """Variance of each task's score over the choice of examples, shape (systems, tasks)."""
    shared: Floats
    """The part of the runs' variance that is due to the examples, shape (systems, tasks); scoring/runs.py."""
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
    plan: Plan,
    *,
    majority: Sequence[Task],
) -> Systems:
    """Grade every run, with the most frequent label as its predictions on the tasks of `majority`."""
    runs = []
    for name, system in submissions.items():
        runs_read = [with_majority(run, majority, gold) for run in submissions_from(system, gold)]
        if not runs_read:
            raise ValueError(f"{name} has no runs; expected at least one submission")
        for run in runs_read:
            require_gradable(run, gold)
        runs.append(runs_read)
    remaining = iter(answers_of([run for of_system in runs for run in of_system], gold))
    scores, influences, warnings = [], [], []
    every_run: list[Measured] = []
    variances, shared = np.zeros((2, len(runs), len(plan.scored)))
    for at, (name, of_system) in enumerate(zip(submissions, runs, strict=True)):
        rows, own_runs = [], []
        for run in of_system:
            pairs = next(remaining)
            own_runs.append(measured(pairs, plan))
            report = graded(run, gold, pairs, intervals=False)
            values = [report.tasks[task.name].score for task in plan.scored]
            rows.append([np.nan if score is None else score.value for score in values])
            warnings += [f"{name}: {text}" for text in report.warnings if text not in gold.warnings]
        scores.append(np.array(rows, np.float64).reshape(len(of_system), len(plan.scored)))
        own = {}
        for place, task in enumerate(plan.scored):
            for term in plan.boards[task.name]:
                if all(term.source in run.parts for run in own_runs):
                    of_runs = [run.influences[term.source] for run in own_runs]
                    own[term.source] = mean_influence(of_runs)
                    variances[at, place] += variance(own[term.source], term.metrics)
                    shared[at, place] += shared_variance(of_runs, term.metrics)
        influences.append(own)
        every_run += own_runs
    withheld = why_withheld(
        plan, [term for task in plan.scored for term in plan.boards[task.name]], every_run
    )
    if withheld and isinstance(gold, TableGold) and gold.unit == "tasks":
        rows_of_table = len(next(iter(gold.columns.values())))
        withheld = f"{rows_of_table} tasks are too few, since they need {FEWEST_NUMBERS}"
    all_warnings = (*gold.warnings, *sorted(set(warnings)))
    return Systems(scores, influences, variances, shared, withheld, all_warnings)


def with_majority(submission: Submission, tasks: Sequence[Task], gold: Gold) -> Submission:
    """Replace the predictions for these tasks by the most frequent gold label (section 6 of the paper).

    Missing files are added, since the convention needs no predictions.
    Raises DataError for a task of numbers or without gold labels.
    """
    predictions = dict(submission.predictions)
    for task in tasks:
        for file in (entry for entry in task.files if gold.role in entry.splits):
            if not task.words:
                raise DataError(f"{task.name} has numbers, not labels; it has no most frequent one")
            if file.name not in gold.columns:
                problem = f"there are no gold labels for {file.name}; its most frequent one is not known"
                raise DataError(problem)
            labels = gold.columns[file.name]
            counts = labels.counts()
            most_frequent = bytes([counts.index(max(counts))])
            predictions[file.name] = Column(labels.labels, most_frequent * file.size(gold.role))
    return replace(submission, predictions=predictions)


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
