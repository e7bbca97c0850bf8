"""The health of a benchmark's test sets, from the answers of its leading systems."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np

from gluebench.analysis.compare.comparison import compare
from gluebench.analysis.compare.scores import Difference
from gluebench.analysis.errors.cases import GRADUAL, Answer, mark_answers
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
    answered = set(answers[0])
    with_gold = [task for task in gold.benchmark.scored if answered.issuperset(task.metrics_by_file())]
    tasks = {}
    for task in with_gold:
        tasks[task.name] = {**_items(task, answers, gold), "detectable": None, "loss": task.loss}
    detectable = None
    stability = None
    if len(systems) > 1:
        comparison = compare(systems[0], systems[1], gold, categories=False)
        detectable = _detectable(comparison.overall)
        for task in with_gold:
            tasks[task.name]["detectable"] = _detectable(comparison.tasks[task.name].score)
        stability = _stability(gold, with_gold, answers, splits=splits, seed=seed)
    return {
        "systems": len(systems),
        "good": min(len(systems), GOOD),
        "tasks": tasks,
        "detectable": detectable,
        "stability": stability,
    }


def _detectable(difference: Difference | None) -> float | None:
    """The smallest true difference that the test detects; None if it is not known."""
    if difference is None:
        return None
    return rounded(difference.detectable)


def _items(task: Task, answers: Answers, gold: Gold) -> dict[str, Any]:
    """The number of items, and of those that all, none, or the good ones alike, have right or wrong."""
    files = {}
    size = 0
    for file in task.metrics_by_file():
        files[file] = [of_system[file] for of_system in answers]
        size += len(answers[0][file])
    if task.form in GRADUAL or len(answers) < FEWEST:
        return {"n": size, "all": None, "none": None, "same": None, "rows": []}
    solved_by_all = 0
    solved_by_none = 0
    rows: list[tuple[str, int | str]] = []
    for file, pairs in files.items():
        labels = pairs[0].gold
        ids = gold.benchmark.file(file).splits[gold.role].ids
        outcomes = mark_answers(task, labels, [own.predicted for own in pairs])
        for index, outcome in zip(labels.row_indices, outcomes, strict=True):
            solved_by_all += not any(outcome.wrong)
            solved_by_none += all(outcome.wrong)
            if all(outcome.wrong[:GOOD]) and _are_alike(outcome.answers[:GOOD], outcome.gold):
                rows.append((file, ids[index] if ids else index))
    return {
        "n": size,
        "all": solved_by_all,
        "none": solved_by_none,
        "same": len(rows),
        "rows": rows[:MOST_ROWS],
    }


def _are_alike(answers: Sequence[Answer], gold: Answer) -> bool:
    """Whether wrong answers are the same label, or numbers on one side of the gold score."""
    kinds = set()
    for answer in answers:
        kinds.add(answer if isinstance(answer, str) else answer > gold)  # type: ignore[operator]
    return len(kinds) == 1


def _stability(gold: Gold, tasks: Sequence[Task], answers: Answers, *, splits: int, seed: int) -> float:
    """The share of the splits in which one system has the best average, alone or tied, on both halves."""
    total: Floats = np.zeros((2, len(answers), splits))
    for task in tasks:
        share = gold.benchmark.weights[task.name] / len(task.metrics)
        for file, metrics in task.metrics_by_file().items():
            units = units_of(metrics, [pairs[file] for pairs in answers])
            values = units.halves(splits, generator(seed, file))  # (halves, metrics, systems, splits)
            total += share * values.sum(axis=1)
    total = total.round(12)  # so that equal averages, summed in another order, are equal
    best = total.max(axis=1, keepdims=True)
    leads = total == best  # on each half, for each system in each split
    leads_both_halves = leads.all(axis=0)
    is_stable = leads_both_halves.any(axis=0)  # for each split
    return float(is_stable.mean())


def coarse_health(facts: Mapping[str, Any]) -> Facts:
    """What everybody may see of `health`: shares in steps of 10 rows or more, and no row.

    Of a task with fewer than 100 rows nothing is left. Shares are rounded to 5 %, below 400 rows to 10 %.
    """
    tasks = {name: _coarse(task) for name, task in facts["tasks"].items() if task["n"] >= 100}
    stability = facts["stability"]
    if stability is not None:
        stability = round(stability, 1)
    return {"systems": facts["systems"], "good": facts["good"], "tasks": tasks, "stability": stability}


def _coarse(task: Mapping[str, Any]) -> Facts:
    step = 0.1
    width = 0.05  # of the steps of a difference
    if task["n"] >= 400:
        step = 0.05
        width = 0.01
    shares: Facts = {"step": step}
    for name in ("all", "none", "same"):
        shares[name] = None
        if task[name] is not None:
            steps = round(task[name] / task["n"] / step)
            shares[name] = round(steps * step, 2)
    detectable = task["detectable"]
    if detectable:
        if task["loss"]:  # a loss has no scale of its own, so that the first digit is left
            width = 10.0 ** floor(log10(detectable))
        # Up, so that no difference is called detectable that is not; 6 digits, as products are not exact.
        rounded_up = ceil(detectable / width) * width
        detectable = float(f"{rounded_up:.6g}")
    return {**shares, "detectable": detectable, "loss": task["loss"]}
