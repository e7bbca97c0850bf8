"""What a comparison says, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gluebench.analysis.differences import Difference
from gluebench.benchmark import Metric, Task

ALPHA = 0.05
"""A p-value below this is called a difference."""


def sentence(task: Task, difference: Difference) -> str:
    """The task's comparison in one sentence; after Holm where the p-value was adjusted."""
    if difference.same:
        return f"On {task.name} the two give the same answers."
    winner = better(difference)
    after = " after Holm" if difference.adjusted is not None else ""
    stated = f"{_interval(difference)}, {p_words(_decisive(difference))}{after}"
    if winner is None:
        return f"On {task.name} no difference can be told: A minus B is {points(difference.difference)} points ({stated})."
    by = points(abs(difference.difference))
    shown = difference if winner == "A" else _turned(difference)
    stated = f"{_interval(shown)}, {p_words(_decisive(difference))}{after}"
    return f"On {task.name} {winner} is better by {by} points of {_measure(task)} ({stated})."


def no_score(task: Task) -> str:
    """What to say of a task of which a file is missing."""
    return f"On {task.name} the two have only a part in common, so there is no task score to compare."


def better(difference: Difference) -> str | None:
    """ "A" or "B", whichever is better; None while the p-value leaves it to chance."""
    if _decisive(difference) >= ALPHA or difference.difference == 0:
        return None
    return "A" if difference.difference > 0 else "B"


def conclusion(
    overall: Difference | None, scores: Mapping[str, Difference | None], *, left_out: Sequence[str]
) -> str:
    """What the whole comparison comes to."""
    if overall is None:
        return "There is no task that both systems have, so nothing can be compared."
    if overall.same:
        return "The two submissions give the same answers."
    return f"{_overall_words(overall, list(scores), left_out=left_out)} {_tally(scores)}"


def _overall_words(overall: Difference, over: Sequence[str], *, left_out: Sequence[str]) -> str:
    total = len(over) + len(left_out)
    tasks = f"the {total} tasks" if not left_out else f"the {len(over)} of {total} tasks that both have"
    winner = better(overall)
    shown = _turned(overall) if winner == "B" else overall
    stated = f"{_interval(shown)}, {p_words(overall.p)}"
    if winner is None:
        return f"On average over {tasks} no difference can be told: A minus B is {points(overall.difference)} points ({stated})."
    return f"On average over {tasks} {winner} is better by {points(shown.difference)} points ({stated})."


def _tally(scores: Mapping[str, Difference | None]) -> str:
    """Task by task: who is better where."""
    winners = {name: better(score) for name, score in scores.items() if score is not None}
    parts = [
        f"{winner} is better on {_listed([name for name, won in winners.items() if won == winner])}"
        for winner in ("A", "B")
        if winner in winners.values()
    ]
    undecided = [name for name, won in winners.items() if won is None]
    if undecided:
        parts.append(f"no difference can be told on {_listed(undecided)}")
    return f"Task by task, after Holm's adjustment for {len(winners)}, {'; '.join(parts)}."


def p_words(p: float) -> str:
    """ "p < .001" or "p = .042"."""
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("0.", ".") if p < 0.9995 else "p = 1"


def points(fraction: float) -> str:
    """A fraction as points: times 100, one decimal, no negative zero."""
    return f"{round(100 * fraction, 1) + 0.0:.1f}"


def _decisive(difference: Difference) -> float:
    return difference.p if difference.adjusted is None else difference.adjusted


def _interval(difference: Difference) -> str:
    return f"95 % interval {points(difference.low)} to {points(difference.high)}"


def _turned(difference: Difference) -> Difference:
    """The same, as B minus A."""
    from dataclasses import replace

    turned = replace(difference, a=difference.b, b=difference.a, difference=-difference.difference)
    return replace(turned, low=-difference.high, high=-difference.low)


def _measure(task: Task) -> str:
    names = [_metric_words(metric) for metric in task.metrics]
    return names[0] if len(names) == 1 else f"its score, the mean of {_listed(names)}"


def _metric_words(metric: Metric) -> str:
    """The metric's name as words; its title where that is the name with its capitals, as F1."""
    return metric.title if metric.title.casefold() == metric.name else metric.name.replace("_", " ")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
