"""Every scored task of a benchmark in each resample, for all systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gluebench.analysis.joint.draws import file_draws
from gluebench.benchmark import Task
from gluebench.scoring import Gold
from gluebench.scoring.draws import Floats
from gluebench.scoring.pairs import Pairs, matched
from gluebench.submission import Submission


def suite_draws(
    tasks: Sequence[Task],
    submissions: Sequence[Submission],
    gold: Gold,
    *,
    resamples: int,
    seed: int,
    approximate: bool = False,
) -> Floats:
    """(systems, tasks, resamples): each task score; NaN for a system that lacks one of its files.

    Every resample has the same examples for all systems; test files are drawn independently.
    """
    found = np.full((len(submissions), len(tasks), resamples), np.nan)
    for at, task in enumerate(tasks):
        found[:, at] = _task_draws(
            task, submissions, gold, resamples=resamples, seed=seed, approximate=approximate
        )
    return found


def _task_draws(
    task: Task,
    submissions: Sequence[Submission],
    gold: Gold,
    *,
    resamples: int,
    seed: int,
    approximate: bool,
) -> Floats:
    scores = np.zeros((len(submissions), resamples))
    for name in dict.fromkeys(metric.file for metric in task.metrics):
        metrics = [metric for metric in task.metrics if metric.file == name]
        pairs = file_pairs(name, submissions, gold)
        if pairs:
            drawn = file_draws(
                metrics, list(pairs.values()), resamples=resamples, seed=seed, approximate=approximate
            )
            scores[list(pairs)] += sum(drawn.metrics.values())
        lacking = [at for at in range(len(submissions)) if at not in pairs]
        scores[lacking] = np.nan
    return scores / len(task.metrics)


def file_pairs(name: str, submissions: Sequence[Submission], gold: Gold) -> Mapping[int, Pairs]:
    """Position of a system to its predictions beside gold, for those that have the file."""
    if name not in gold.columns:
        return {}
    labels, about = gold.columns[name], gold.metadata.get(name)
    size = gold.benchmark.file(name).size(gold.role)
    return {
        at: matched(labels, each.predictions[name], groups=about.groups if about else None, size=size)
        for at, each in enumerate(submissions)
        if name in each.predictions
    }
