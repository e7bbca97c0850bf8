"""What a comparison says, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gluebench.analysis.categories import CategoryComparison
from gluebench.analysis.differences import Difference
from gluebench.benchmark import Metric, Task

ALPHA = 0.05
"""A p-value below this is called a difference."""


def sentence(task: Task, difference: Difference) -> str:
    """The task's comparison in one sentence; after Holm where the p-value was adjusted."""
    if difference.same:
        return f"On {task.name} the two give the same answers."
    after = "" if difference.adjusted is None else " after Holm"
    verdict = _verdict(difference, of=f" of {_measure(task)}", after=after)
    return f"On {task.name} {verdict}{_in_examples(difference)}.{_could_show(difference)}"


def _in_examples(difference: Difference) -> str:
    """The effect as a number of examples."""
    if difference.alone is None:
        return ""
    net, n = difference.alone.net, f"{difference.n:,} rows"
    if net == 0:
        return f": as many of {n} right"
    return f": {abs(net):,} more of {n} right for {'A' if net > 0 else 'B'}"


def _could_show(difference: Difference) -> str:
    """Where nothing can be told: what could have been."""
    if better(difference) is not None or difference.detectable is None:
        return ""
    return f" A true difference of {points(difference.detectable)} points would be found four times in five."


def by_kind(task: Task, parts: Sequence[CategoryComparison]) -> Iterator[str]:
    """A sentence for the coarse phenomena of a diagnostic set, and one for the fine ones."""
    for kind in ("coarse", "fine"):
        those = [part for part in parts if part.kind == kind]
        if not those:
            continue
        won = [
            f"{winner} is better on {_listed(names)}"
            for winner in ("A", "B")
            if (names := [part.name for part in those if better(part.difference) == winner])
        ]
        told = sum(better(part.difference) is not None for part in those)
        rest = f"no difference can be told on {len(those) - told}" if told < len(those) else ""
        said = "; ".join(filter(None, [*won, rest]))
        yield f"Of its {len(those)} {kind} categories, after Holm, {said}."


def _verdict(difference: Difference, *, of: str, after: str) -> str:
    """Who is better by how much, with the interval turned so that it reads as the winner's lead."""
    winner = better(difference)
    stated = f"{_interval(difference, turned=winner == 'B')}{p_words(_decisive(difference))}{after}"
    if winner is None:
        return f"no difference can be told: A minus B is {points(difference.difference)} points ({stated})"
    return f"{winner} is better by {points(abs(difference.difference))} points{of} ({stated})"


def _interval(difference: Difference, *, turned: bool) -> str:
    low, high = difference.low, difference.high
    if low is None or high is None:
        return f"interval withheld, {difference.withheld}; "
    if turned:
        low, high = -high, -low
    return f"95 % interval {points(low)} to {points(high)}, "


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
    tasks = f"the {len(over)} of {total} tasks that can be compared" if left_out else f"all {total} tasks"
    return f"On average over {tasks}, {_verdict(overall, of='', after='')}."


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


def _measure(task: Task) -> str:
    names = [_metric_words(metric) for metric in task.metrics]
    return names[0] if len(names) == 1 else f"its score, the mean of {_listed(names)}"


def _metric_words(metric: Metric) -> str:
    """The metric's name as words, with the capitals of its title; the title where the name is a symbol."""
    capitals = {word.casefold(): word for word in metric.title.split()}
    words = [capitals.get(word, word) for word in metric.name.split("_")]
    return " ".join(words) if max(map(len, words)) > 2 else metric.title


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
