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

HIDDEN = "it would reveal labels"
"""Why there is no interval."""


def rounded_comparison(comparison: Comparison, benchmark: Benchmark, *, smallest: int) -> Comparison:
    """The comparison with scores rounded, differences of these, p-values rounded up, and the words to them.

    Of hidden labels no interval, error or number of examples is left, and no category with fewer examples
    than `smallest`. A task or diagnostic set whose labels are public stays as it is.
    """
    tasks = {name: _task(benchmark.task(name), part, smallest) for name, part in comparison.tasks.items()}
    sets = {
        name: _task(benchmark.task(name), part, smallest) for name, part in comparison.diagnostics.items()
    }
    scores = {name: score for name in comparison.over if (score := tasks[name].score) is not None}
    overall = comparison.overall
    if overall and not all(benchmark.task(name).labels_public for name in scores):
        overall = _mean(overall, scores)
    conclusion = words.conclusion(overall, scores, left_out=comparison.left_out)
    return replace(comparison, overall=overall, tasks=tasks, diagnostics=sets, conclusion=conclusion)


def _task(task: Task, comparison: TaskComparison, smallest: int) -> TaskComparison:
    if task.labels_public:
        return comparison
    metrics = {name: _rounded(metric, lowest_of(task, name)) for name, metric in comparison.metrics.items()}
    score = comparison.score and _mean(comparison.score, metrics)
    text = words.sentence(task, score) if score else words.no_score(task)
    whole = TaskComparison(score, metrics, text)
    parts = tuple(
        CategoryComparison(category.kind, category.name, _rounded(category.difference, lowest_of(task)))
        for category in comparison.categories
        if category.difference.n >= smallest
    )
    return divided(whole, parts) if parts else whole


def _rounded(exact: Difference, lowest: float) -> Difference:
    return _of(exact, *(rounded_value(value, exact.n, lowest) for value in (exact.a, exact.b)))


def _mean(difference: Difference, parts: Mapping[str, Difference]) -> Difference:
    return _of(difference, *(task_score([getattr(part, side) for part in parts.values()]) for side in "ab"))


def _of(exact: Difference, a: float, b: float) -> Difference:
    difference = a - b
    p, adjusted = (
        None if p_value is None else rounded_p(p_value, exact.difference, difference)
        for p_value in (exact.p, exact.adjusted)
    )
    hidden: dict[str, Any] = dict.fromkeys(("low", "high", "error", "alone", "detectable"))
    hidden |= {"withheld": HIDDEN, "p": 1.0 if p is None else p, "adjusted": adjusted}
    return replace(exact, a=a, b=b, difference=difference, **hidden)
