"""The health of a benchmark's test sets, from the answers of its leading systems."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np

from gluebench.analysis.compare.comparison import compare
from gluebench.analysis.errors.cases import GRADUAL, marked
from gluebench.benchmark import Task
from gluebench.scoring import Gold
from gluebench.scoring.grade import answers_of
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import rounded
from gluebench.scoring.units import units_of
from gluebench.scoring.units.base import Floats, generator
from gluebench.submission import Submission

MOST = 10
"""Leading systems that are looked at, the best one of each team."""
GOOD = 5
"""The first of them, whose agreement against a label counts."""
FEWEST = 3
"""Systems below which nothing is said of items."""
SPLITS = 100
"""Random divisions of the test sets into halves."""
MOST_ROWS = 200
"""Rows that are listed for a task; their number is complete."""

Answers = Sequence[Mapping[str, Pairs]]
Facts = dict[str, Any]


def health(systems: Sequence[Submission], gold: Gold, *, splits: int = SPLITS, seed: int = 0) -> Facts:
    """The facts for each scored task and for the average, JSON-ready; `systems` are complete, best first.

    Of a task: `n` examples; how many of them all or none of the systems solve, and the good ones contradict
    alike (None if answers are neither right nor wrong); the `rows` of these last, as test file and index or
    id; `detectable`, the smallest true difference that the test of the first two detects with power 0.8. A
    number solves an item as in `gluebench errors`. `stability` is the share of `splits` random halvings in
    which one system leads both halves; None for fewer than two systems.
    """
    systems = systems[:MOST]
    answers = answers_of(systems, gold)
    of_gold = [task for task in gold.benchmark.scored if {*task.metrics_by_file()} <= {*answers[0]}]
    compared = compare(systems[0], systems[1], gold) if len(systems) > 1 else None
    tasks = {}
    for task in of_gold:
        score = compared.tasks[task.name].score if compared else None
        least = rounded(score.detectable) if score else None
        tasks[task.name] = {**_items(task, answers, gold), "detectable": least, "loss": task.loss}
    average = compared.overall if compared else None
    return {
        "systems": len(systems),
        "good": min(len(systems), GOOD),
        "tasks": tasks,
        "detectable": rounded(average.detectable) if average else None,
        "stability": _stability(gold, of_gold, answers, splits=splits, seed=seed) if compared else None,
    }


def _items(task: Task, answers: Answers, gold: Gold) -> dict[str, Any]:
    """The number of items, and of those that all, none, or the good ones alike, have right or wrong."""
    files = {file: [of_system[file] for of_system in answers] for file in task.metrics_by_file()}
    size = sum(len(pairs[0]) for pairs in files.values())
    if task.form in GRADUAL or len(answers) < FEWEST:
        return {"n": size, "all": None, "none": None, "same": None, "rows": []}
    every = nobody = 0
    rows: list[tuple[str, int | str]] = []
    for file, pairs in files.items():
        labels, ids = pairs[0].gold, gold.benchmark.file(file).splits[gold.role].ids
        outcomes = marked(task, labels, [own.predicted for own in pairs])
        for index, (right, given, wrong) in zip(labels.row_indices, outcomes, strict=True):
            every += not any(wrong)
            nobody += all(wrong)
            # Wrong numbers are alike on one side of the gold score.
            sides = {own if isinstance(own, str) else own > right for own in given[:GOOD]}  # type: ignore[operator]
            if all(wrong[:GOOD]) and len(sides) == 1:
                rows.append((file, ids[index] if ids else index))
    return {"n": size, "all": every, "none": nobody, "same": len(rows), "rows": rows[:MOST_ROWS]}


def _stability(gold: Gold, tasks: Sequence[Task], answers: Answers, *, splits: int, seed: int) -> float:
    """The share of the splits in which one system has the best average, alone or tied, on both halves."""
    total: Floats = np.zeros((2, len(answers), splits))
    for task in tasks:
        share = gold.benchmark.weights[task.name] / len(task.metrics)
        for file, metrics in task.metrics_by_file().items():
            units = units_of(metrics, [pairs[file] for pairs in answers])
            total += share * units.halves(splits, generator(seed, file)).sum(axis=1)
    total = total.round(12)
    leads = total == total.max(axis=1, keepdims=True)
    return float(leads.all(axis=0).any(axis=0).mean())


def coarse_health(facts: Mapping[str, Any]) -> Facts:
    """What everybody may see of `health`: shares in steps of 10 rows or more, and no row.

    Of a task with fewer than 100 rows nothing is left. Shares are rounded to 5 %, below 400 rows to 10 %.
    """
    tasks = {name: _coarse(task) for name, task in facts["tasks"].items() if task["n"] >= 100}
    stability = None if facts["stability"] is None else round(facts["stability"], 1)
    return {"systems": facts["systems"], "good": facts["good"], "tasks": tasks, "stability": stability}


def _coarse(task: Mapping[str, Any]) -> Facts:
    step, width = (0.05, 0.01) if task["n"] >= 400 else (0.1, 0.05)
    shares: Facts = {"step": step}
    for name in ("all", "none", "same"):
        steps = None if task[name] is None else round(task[name] / task["n"] / step)
        shares[name] = None if steps is None else round(steps * step, 2)
    if least := task["detectable"]:
        width = 10.0 ** floor(log10(least)) if task["loss"] else width
        least = float(f"{ceil(least / width) * width:.6g}")
    return {**shares, "detectable": least, "loss": task["loss"]}
