"""The systems that are ranked: their scores, and the influence of each example on these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import Floats
from gluebench.analysis.rank.influences import mean_influence, shared_variance, variance
from gluebench.benchmark import Task
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.scoring.grade import Run, answers_of, graded, require_gradable, submissions_from
from gluebench.scoring.influence import Influence, influence_of
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.pairs import Pairs, sort_key
from gluebench.scoring.table import TableGold
from gluebench.scoring.units import units_of
from gluebench.submission import Column, Submission

ALONE = "no other system has a rank"
"""Why a single ranked system has no rank set."""


class Systems(NamedTuple):
    """The submissions passed to `rank`, read and graded."""

    names: tuple[str, ...]
    scores: tuple[Floats, ...]
    """Scores of each system, shape (runs, tasks); NaN where a run lacks a task."""
    influences: tuple[Mapping[str, Influence], ...]
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
    tasks: Sequence[Task],
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
    answers = answers_of([run for of_system in runs for run in of_system], gold)
    remaining = iter(answers)
    scores, influences, warnings = [], [], []
    variances, shared = np.zeros((2, len(runs), len(tasks)))
    for at, (name, of_system) in enumerate(zip(submissions, runs, strict=True)):
        pairs_of_runs = [next(remaining) for _ in of_system]
        rows = []
        for run, pairs in zip(of_system, pairs_of_runs, strict=True):
            report = graded(run, gold, pairs, intervals=False)
            values = [report.tasks[task.name].score for task in tasks]
            rows.append([np.nan if score is None else score.value for score in values])
            warnings += [f"{name}: {text}" for text in report.warnings if text not in gold.warnings]
        scores.append(np.array(rows, np.float64).reshape(len(of_system), len(tasks)))
        own = {}
        for place, task in enumerate(tasks):
            share = 1 / len(task.metrics)
            for file, metrics in task.metrics_by_file().items():
                if all(file in pairs for pairs in pairs_of_runs):
                    of_runs = [influence_of(metrics, pairs[file]) for pairs in pairs_of_runs]
                    mix = [share] * len(metrics)
                    own[file] = mean_influence(of_runs)
                    variances[at, place] += variance(own[file], mix)
                    shared[at, place] += shared_variance(of_runs, mix)
        influences.append(own)
    return Systems(
        tuple(submissions),
        tuple(scores),
        tuple(influences),
        variances,
        shared,
        _withheld(tasks, answers, influences, gold),
        (*gold.warnings, *sorted(set(warnings))),
    )


def _withheld(
    tasks: Sequence[Task],
    answers: Sequence[Mapping[str, Pairs]],
    influences: Sequence[Mapping[str, Influence]],
    gold: Gold,
) -> str | None:
    """Why ranks have no sets: test files that are too small, or metrics without influence values."""
    few, unknown = [], []
    for task in tasks:
        for file, metrics in task.metrics_by_file().items():
            own = [pairs[file] for pairs in answers if file in pairs]
            if len({sort_key(pairs.predicted) for pairs in own}) < 2:
                continue  # as in `compare`, a file that all answer alike makes no difference
            units = units_of(metrics, own[:1])
            if any(units.few(at) for at in range(len(metrics))):
                few.append(task.name)
            if any(np.isnan(of[file].by_kind).any() for of in influences if file in of):
                unknown.append(task.name)
    if few and isinstance(gold, TableGold) and gold.unit == "tasks":
        rows = len(next(iter(gold.columns.values())))
        return f"{rows} tasks are too few, since they need {FEWEST_NUMBERS}"
    return reason_withheld(few, unknown)


def reason_withheld(few: Sequence[str], unknown: Sequence[str]) -> str | None:
    """Why ranks have no sets, from the tasks with too few units and those with unknown influence."""
    if few:
        return f"too few examples on {', '.join(dict.fromkeys(few))}"
    if unknown:
        return f"the metric of {', '.join(dict.fromkeys(unknown))} has too many kinds of examples to test"
    return None


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
