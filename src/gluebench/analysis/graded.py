"""The systems that are compared or ranked: all runs of each, read, checked and graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.scoring.grade import Run, answers_of, graded, require_gradable, submissions_from
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column, Submission


class GradedSystem(NamedTuple):
    """The runs of one system."""

    runs: list[Submission]
    answers: list[dict[str, Pairs]]
    """Gold and predictions of each run, by test file."""
    warnings: list[str]
    """Warnings of `grade` about any of the runs, each once."""


def grade_systems(
    systems: Mapping[str, Run | Sequence[Run]], gold: Gold, *, majority: Sequence[Task] = ()
) -> dict[str, GradedSystem]:
    """Read and grade every run; on the tasks of `majority` the most frequent gold label is predicted.

    Raises ValueError for a system without runs, and the errors of `grade`.
    """
    graded_systems: dict[str, GradedSystem] = {}
    for name, submissions in systems.items():
        runs = [with_majority(run, majority, gold) for run in submissions_from(submissions, gold)]
        if not runs:
            raise ValueError(f"{name} has no runs; expected at least one submission")
        for run in runs:
            require_gradable(run, gold)
        graded_systems[name] = GradedSystem(runs, [], [])

    # All at once, so that the systems share what metrics compute of equal cells.
    every_run = []
    for system in graded_systems.values():
        every_run += system.runs
    answers_of_runs = iter(answers_of(every_run, gold))
    for system in graded_systems.values():
        for run in system.runs:
            answers = next(answers_of_runs)
            system.answers.append(answers)
            # The report is made for its errors and warnings; the scores come with their influences.
            for warning in graded(run, gold, answers, intervals=False).warnings:
                if warning not in system.warnings:
                    system.warnings.append(warning)
    return graded_systems


def with_majority(submission: Submission, tasks: Sequence[Task], gold: Gold) -> Submission:
    """Replace the predictions for these tasks by the most frequent gold label (section 6 of the paper).

    Missing files are added, since the convention needs no predictions.
    Raises DataError for a task of numbers or without gold labels.
    """
    predictions = dict(submission.predictions)
    for task in tasks:
        for file in task.files:
            if gold.role not in file.splits:
                continue
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
