"""The systems of a ranking: each with one run or several, and the scores of every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Task
from gluebench.data import DataError
from gluebench.scoring import Gold, Report, grade
from gluebench.submission import Column, Submission
from gluebench.submission.values import submission_of

Floats = NDArray[np.float64]
Run = Submission | Mapping[str, object]
"""A submission, or task or test-file name to predictions."""


class Systems(NamedTuple):
    """What `rank` is given, read and graded."""

    names: tuple[str, ...]
    runs: tuple[tuple[Submission, ...], ...]
    """For each system its runs."""
    scores: tuple[Floats, ...]
    """For each system (runs, tasks); NaN where a run lacks a task."""
    warnings: tuple[str, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of runs of each system."""
        return tuple(map(len, self.runs))


def read_systems(
    submissions: Mapping[str, Run | Sequence[Run]],
    gold: Gold,
    tasks: Sequence[Task],
    *,
    majority: Sequence[Task],
) -> Systems:
    """Grade every run; on the tasks of `majority` it is taken to answer the most frequent label."""
    runs, scores, warnings = [], [], []
    for name, given in submissions.items():
        of_system = tuple(_submission(run, gold, majority) for run in _runs(given))
        if not of_system:
            raise ValueError(f"{name} has no runs; expected at least one submission")
        reports = [grade(run, gold, intervals=False) for run in of_system]
        runs.append(of_system)
        scores.append(np.array([[_value(report, task) for task in tasks] for report in reports]))
        warnings += [f"{name}: {warning}" for report in reports for warning in report.warnings]
    alone = [name for name, of_system in zip(submissions, runs, strict=True) if len(of_system) == 1]
    if 0 < len(alone) < len(runs):
        warnings.append(
            f"{', '.join(alone)}: one run only, so that intervals and tests leave out how much it depends on "
            "the run"
        )
    return Systems(tuple(submissions), tuple(runs), tuple(scores), tuple(sorted(set(warnings))))


def _runs(given: Run | Sequence[Run]) -> Sequence[Run]:
    return [given] if isinstance(given, Submission | Mapping) else given


def _submission(run: Run, gold: Gold, majority: Sequence[Task]) -> Submission:
    read = run if isinstance(run, Submission) else submission_of(run, gold.benchmark, role=gold.role)
    return with_majority(read, majority, gold) if majority else read


def _value(report: Report, task: Task) -> float:
    score = report.tasks[task.name].score
    return np.nan if score is None or score.value is None else score.value


def with_majority(submission: Submission, tasks: Sequence[Task], gold: Gold) -> Submission:
    """The submission with the most frequent gold label throughout, on the files of these tasks (section 6).

    A file that was missing is there afterwards: the convention asks for no predictions.
    Raises DataError for a task of numbers or of which there is no gold.
    """
    predictions = dict(submission.predictions)
    for task in tasks:
        for file in (each for each in task.files if gold.role in each.splits):
            predictions[file.name] = _majority(task, file.name, gold, size=file.size(gold.role))
    return replace(submission, predictions=predictions)


def _majority(task: Task, file: str, gold: Gold, *, size: int) -> Column:
    if not task.words:
        raise DataError([f"{task.name} has numbers, not labels; it has no most frequent one"])
    if file not in gold.columns:
        raise DataError([f"there are no gold labels for {file}; its most frequent one is not known"])
    counts = gold.columns[file].counts()
    return Column(gold.columns[file].labels, bytes([counts.index(max(counts))]) * size)
