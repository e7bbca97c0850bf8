"""The health of a benchmark's test sets, from the answers of its leading systems.

What says whether a benchmark still measures: items that all systems or none solve, labels that all good
systems contradict alike, the smallest difference that the first two could show, and whether the same system
leads on both halves of the test sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
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


def health(
    systems: Sequence[Submission], gold: Gold, *, splits: int = SPLITS, seed: int = 0
) -> dict[str, Any]:
    """The facts for each scored task and for the average, JSON-ready; `systems` are complete, best first.

    Of a task: `n` examples; how many of them all or none of the systems solve, and the good ones contradict
    alike (None if answers are neither right nor wrong); the `rows` of these last, as test file and index or
    id; `detectable`, the smallest true difference that the test of the first two detects with power 0.8. A
    number solves an item as in `gluebench errors`. `stability` is the share of `splits` random halvings in
    which one system leads both halves; None for fewer than two systems.
    """
    systems = systems[:MOST]
    answers = answers_of(systems, gold)
    tasks = [
        task
        for task in gold.benchmark.scored
        if all(metric.file in pairs for metric in task.metrics for pairs in answers)
    ]
    compared = compare(systems[0], systems[1], gold) if len(systems) > 1 else None
    facts = {}
    for task in tasks:
        difference = compared.tasks[task.name].score if compared else None
        facts[task.name] = {
            **_items(task, answers, gold),
            "detectable": difference and rounded(difference.detectable),
            "loss": task.loss,
        }
    average = compared.overall if compared else None
    return {
        "systems": len(systems),
        "good": min(len(systems), GOOD),
        "tasks": facts,
        "detectable": average and rounded(average.detectable),
        "stability": _stability(gold, tasks, answers, splits=splits, seed=seed) if compared else None,
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
            if all(wrong[:GOOD]) and len({_side(right, answer) for answer in given[:GOOD]}) == 1:
                rows.append((file, ids[index] if ids else index))
    return {"n": size, "all": every, "none": nobody, "same": len(rows), "rows": rows[:MOST_ROWS]}


def _side(right: str | float, answer: str | float) -> str | bool:
    """What makes wrong answers alike: the answer or, of numbers, the side of the gold score."""
    return str(answer) if isinstance(answer, str) or isinstance(right, str) else answer > right


def _stability(gold: Gold, tasks: Sequence[Task], answers: Answers, *, splits: int, seed: int) -> float:
    """The share of the splits in which one system has the best average, alone or tied, on both halves."""
    total: Floats = np.zeros((2, len(answers), splits))
    for task in tasks:
        weight = gold.benchmark.weights.get(task.name, 1.0)
        for file, metrics in task.metrics_by_file().items():
            units = units_of(metrics, [pairs[file] for pairs in answers])
            values = units.halves(splits, generator(seed, file))
            total += weight * values.sum(axis=1) / len(task.metrics)
    total = total.round(12)
    leads = total == total.max(axis=1, keepdims=True)
    return float(leads.all(axis=0).any(axis=0).mean())


def coarse_health(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What everybody may see of `health`: shares in steps of 10 rows or more, and no row.

    Of a task with fewer than 100 rows nothing is left. Shares are rounded to 5 %, below 400 rows to 10 %.
    """
    tasks = {name: _coarse(task) for name, task in facts["tasks"].items() if task["n"] >= 100}
    stability = facts["stability"]
    known = {**facts, "tasks": tasks, "stability": None if stability is None else round(stability, 1)}
    del known["detectable"]
    return known


def _coarse(task: Mapping[str, Any]) -> dict[str, Any]:
    step = 0.05 if task["n"] >= 400 else 0.1
    shares = {
        name: None if task[name] is None else round(round(task[name] / task["n"] / step) * step, 2)
        for name in ("all", "none", "same")
    }
    least = task["detectable"]
    if least is not None:
        width = 10.0 ** floor(log10(least)) if task["loss"] else (step / 5 if step < 0.1 else step / 2)
        least = float(f"{-(-least // width) * width:.6g}")
    return {"n": task["n"], "step": step, **shares, "detectable": least, "loss": task["loss"]}
