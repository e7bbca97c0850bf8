"""The paper's convention for a task that nobody beats: every system answers the most frequent label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gluebench.benchmark import Task
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.submission import Column, Submission


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
