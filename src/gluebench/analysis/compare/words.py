"""What a comparison says, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gluebench.analysis.compare.scores import Difference
from gluebench.benchmark import Metric, Task


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
    """Where nothing is significant: which difference would have been."""
    if difference.verdict != "undecided" or difference.detectable is None:
        return ""
    return f" A true difference of {points(difference.detectable)} points would be found four times in five."


def of_kind(kind: str, parts: Mapping[str, Difference]) -> str:
    """A sentence for the categories of one kind of a diagnostic set."""
    return f"Of its {len(parts)} {kind} categories, after Holm, {_tallied(parts, undecided_names=False)}."


def _tallied(parts: Mapping[str, Difference], *, undecided_names: bool) -> str:
    """Who is better where, where the two are the same, and where neither is shown."""
    by_verdict: dict[str, list[str]] = {}
    for name, difference in parts.items():
        by_verdict.setdefault(difference.verdict, []).append(name)
    clauses = [
        f"{winner} is better on {_listed(by_verdict[winner])}"
        for winner in ("A", "B")
        if winner in by_verdict
    ]
    if "same" in by_verdict:
        margin = next(iter(parts.values())).margin or 0.0
        clauses.append(
            f"the two are the same within {points(margin)} points on {_listed(by_verdict['same'])}"
        )
    if undecided := by_verdict.get("undecided"):
        where = _listed(undecided) if undecided_names else str(len(undecided))
        clauses.append(f"there is no significant difference on {where}")
    return "; ".join(clauses)


def _verdict(difference: Difference, *, of: str, after: str) -> str:
    """Who is better by how much, with the interval turned so that it reads as the winner's lead."""
    winner = difference.better
    stated = f"{_interval(difference, turned=winner == 'B')}{p_words(difference.decisive)}{after}"
    if difference.verdict == "same":
        margin, p = points(difference.margin or 0.0), p_words(difference.equivalence_p or 0.0)
        lead = f"A minus B is {points(difference.difference)} points"
        return f"the two are the same within {margin} points: {lead} ({stated}; {p} for equivalence)"
    if winner is None:
        lead = points(difference.difference)
        return f"there is no significant difference: A minus B is {lead} points ({stated})"
    return f"{winner} is better by {points(abs(difference.difference))} points{of} ({stated})"


def _interval(difference: Difference, *, turned: bool) -> str:
    low, high = difference.low, difference.high
    if low is None or high is None:
        return f"interval withheld, {difference.withheld}; "
    if turned:
        low, high = -high, -low
    return f"95 % interval {points(low)} to {points(high)}, "


def no_score(task: Task) -> str:
    """The sentence on a task whose test files the two do not all share."""
    return f"On {task.name} the two have only a part in common, so there is no task score to compare."


def conclusion(
    overall: Difference | None, scores: Mapping[str, Difference | None], *, left_out: Sequence[str]
) -> str:
    """The conclusion of the whole comparison."""
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
    known = {name: score for name, score in scores.items() if score is not None}
    return f"Task by task, after Holm's adjustment for {len(known)}, {_tallied(known, undecided_names=True)}."


def p_words(p: float) -> str:
    """ "p < .001" or "p = .042"."""
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("0.", ".") if p < 0.9995 else "p = 1"


def points(fraction: float) -> str:
    """A fraction as points: times 100, one decimal, no negative zero."""
    return f"{round(100 * fraction, 1) + 0.0:.1f}"


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
