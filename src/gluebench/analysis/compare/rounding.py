"""A comparison as a site may show it: rounded, as scores are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gluebench.analysis.compare import words
from gluebench.analysis.compare.comparison import CategoryComparison, Comparison, TaskComparison, divided
from gluebench.analysis.compare.scores import Difference
from gluebench.benchmark import Benchmark, Task
from gluebench.scoring.metrics import task_score
from gluebench.scoring.rounding import lowest_of, rounded_p, rounded_value

HIDDEN = "it would tell labels"
"""Why there is no interval."""


def rounded_comparison(found: Comparison, benchmark: Benchmark, *, smallest: int) -> Comparison:
    """The comparison with scores rounded, differences of these, p-values rounded up, and the words to them.

    Of hidden labels no interval, error or number of examples is left, and no category with fewer examples
    than `smallest`. A diagnostic set whose labels are public stays as it is.
    """
    tasks = {name: _task(benchmark.task(name), each, smallest) for name, each in found.tasks.items()}
    sets = {name: _set(benchmark.task(name), each, smallest) for name, each in found.diagnostics.items()}
    scores = {name: score for name in found.over if (score := tasks[name].score) is not None}
    overall = found.overall and _mean(found.overall, scores)
    conclusion = words.conclusion(overall, scores, left_out=found.left_out)
    return replace(found, overall=overall, tasks=tasks, diagnostics=sets, conclusion=conclusion)


def _set(task: Task, found: TaskComparison, smallest: int) -> TaskComparison:
    return found if task.labels_public else _task(task, found, smallest)


def _task(task: Task, found: TaskComparison, smallest: int) -> TaskComparison:
    metrics = {name: _rounded(each, lowest_of(task, name)) for name, each in found.metrics.items()}
    score = found.score and _mean(found.score, metrics)
    text = words.sentence(task, score) if score else words.no_score(task)
    whole = TaskComparison(score, metrics, text)
    parts = tuple(
        CategoryComparison(each.kind, each.name, _rounded(each.difference, lowest_of(task)))
        for each in found.categories
        if each.difference.n >= smallest
    )
    return divided(whole, parts) if parts else whole


def _rounded(found: Difference, lowest: float) -> Difference:
    return _of(found, *(rounded_value(value, found.n, lowest) for value in (found.a, found.b)))


def _mean(found: Difference, parts: Mapping[str, Difference]) -> Difference:
    return _of(found, *(task_score([getattr(each, side) for each in parts.values()]) for side in "ab"))


def _of(found: Difference, a: float, b: float) -> Difference:
    difference = a - b
    p, adjusted = (
        None if each is None else rounded_p(each, found.difference, difference)
        for each in (found.p, found.adjusted)
    )
    hidden: dict[str, Any] = dict.fromkeys(("low", "high", "error", "alone", "detectable"))
    hidden |= {"withheld": HIDDEN, "p": 1.0 if p is None else p, "adjusted": adjusted}
    return replace(found, a=a, b=b, difference=difference, **hidden)
