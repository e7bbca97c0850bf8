"""What a comparison says, in plain words."""

from collections.abc import Collection, Mapping, Sequence

from gluebench.analysis.compare.scores import Difference
from gluebench.analysis.names import LETTERS, Names
from gluebench.benchmark import Task
from gluebench.benchmark.figures import list_words, p_text, points


def sentence(task: Task, difference: Difference | None, names: Names) -> str:
    """The task's comparison in one sentence; after Holm where the p-value was adjusted.

    It gives the effect as a number of rows too, where these favor the same system, and where nothing is
    significant, which difference would have been.
    """
    if difference is None:
        return f"On {task.name} the two have only a part in common, so there is no task score to compare."
    if difference.same:
        return f"On {task.name} {_same_answers(difference, 'two')}."
    after = "" if difference.adjusted is None else " after Holm"
    verdict = _verdict(difference, names, of=f" of {_measure(task)}", after=after)
    in_examples = _in_examples(difference, names)
    could_show = ""
    if difference.verdict == "undecided" and difference.detectable is not None:
        smallest = _amount(difference.detectable, difference)
        could_show = f" A true difference of {smallest} would be found four times in five."
    return f"On {task.name} {verdict}{in_examples}.{could_show}"


def _in_examples(difference: Difference, names: Names) -> str:
    """The difference as a number of rows; nothing where the rows favor the other system.

    A Matthews correlation or F1 may be better with fewer rows right; a reader would take the number for
    its reason.
    """
    if difference.alone is None:
        return ""
    net = difference.alone.net
    if net == difference.difference == 0:
        return f": as many of {difference.n:,} rows right"
    if net * difference.difference <= 0:
        return ""
    winner = names[0] if net > 0 else names[1]
    return f": {abs(net):,} more of {difference.n:,} rows right for {winner}"


def _same_answers(difference: Difference, what: str) -> str:
    """The clause on equal answers, with what they show of other examples."""
    clause = f"the {what} give the same answers"
    if difference.margin is None or difference.equivalence_p is None:
        return clause
    within = f"within {_amount(difference.margin, difference)}"
    p = p_words(difference.equivalence_p)
    if difference.equivalent:
        return f"{clause}, and are the same {within} ({p} for equivalence)"
    return f"{clause}, on too few examples to be the same {within} ({p} for equivalence)"


def of_kind(kind: str, parts: Mapping[str, Difference], names: Names) -> str:
    """A sentence for the categories of one kind of a diagnostic set."""
    if all(difference.p is None for difference in parts.values()):
        return f"Its {len(parts)} {kind} categories are not tested."
    tally = _tally(parts, names, undecided_names=False)
    return f"Of its {len(parts)} {kind} categories, after Holm, {tally}."


def _tally(parts: Mapping[str, Difference], names: Names, *, undecided_names: bool) -> str:
    """Who is better where, where the two are the same, and where neither is shown."""
    by_verdict: dict[str, list[str]] = {}
    for part, difference in parts.items():
        by_verdict.setdefault(difference.verdict, []).append(part)
    clauses = []
    for letter, name in zip(LETTERS, names, strict=True):
        if letter in by_verdict:
            clauses.append(f"{name} is better on {list_words(by_verdict[letter])}")
    if "same" in by_verdict:
        first = next(iter(parts.values()))
        margin = _amount(first.margin or 0.0, first)
        clauses.append(f"the two are the same within {margin} on {list_words(by_verdict['same'])}")
    if undecided := by_verdict.get("undecided"):
        where = str(len(undecided))
        if undecided_names:
            where = list_words(undecided)
        clauses.append(f"there is no significant difference on {where}")
    return "; ".join(clauses)


def _verdict(difference: Difference, names: Names, *, of: str, after: str) -> str:
    """Who is better by how much, with the interval turned so that it reads as the winner's lead."""
    winner = difference.better
    loss = difference.loss
    if difference.low is None or difference.high is None:
        interval = f"interval withheld, {difference.withheld}; "
    elif winner == "B":
        interval = f"95 % interval {points(-difference.high, loss)} to {points(-difference.low, loss)}, "
    else:
        interval = f"95 % interval {points(difference.low, loss)} to {points(difference.high, loss)}, "
    if difference.p is None:
        return (
            f"{_lead(difference, names)} ({interval}over examples alone; no test of one run against several)"
        )
    stated = f"{interval}{p_words(difference.decisive)}{after}"
    if difference.verdict == "same":
        margin = _amount(difference.margin or 0.0, difference)
        lead = _lead(difference, names)
        p = p_words(difference.equivalence_p or 0.0)
        return f"the two are the same within {margin}: {lead} ({stated}; {p} for equivalence)"
    if winner is None:
        return f"there is no significant difference: {_lead(difference, names)} ({stated})"
    better = names[LETTERS.index(winner)]
    return f"{better} is better by {_amount(abs(difference.difference), difference)}{of} ({stated})"


def _lead(difference: Difference, names: Names) -> str:
    a, b = names
    how = f"the loss of {a} is lower by" if difference.loss else f"{a} minus {b} is"
    return f"{how} {_amount(difference.difference, difference)}"


def _amount(value: float, difference: Difference) -> str:
    """A difference with its unit: "1.2 points"; a loss has none."""
    amount = points(value, difference.loss)
    return amount if difference.loss else f"{amount} points"


def conclusion(
    overall: Difference | None,
    scores: Mapping[str, Difference | None],
    names: Names,
    *,
    over: Collection[str],
    left_out: Sequence[str],
) -> str:
    """The conclusion of the whole comparison; `over` are the tasks of the average."""
    known = {name: score for name, score in scores.items() if score is not None}
    if overall is None and not known:
        return "There is no task that both systems have, so nothing can be compared."
    tally = _tally(known, names, undecided_names=True)
    by_task = f"Task by task, after Holm's adjustment for {len(known)}, {tally}."
    if all(score.p is None for score in known.values()):
        by_task = "No task is tested."
    if overall is None:
        return f"There is no average without {list_words(left_out)}. {by_task}"
    if overall.same:
        return f"{_same_answers(overall, 'two submissions').capitalize()}."
    total = len(over) + len(left_out)
    if total == len(scores) == 1:
        return f"In short, {_verdict(overall, names, of='', after='')}."
    tasks = f"all {total} tasks"
    if len(over) < len(scores):
        tasks = f"the tasks that count, {list_words(list(over))}"
    elif left_out:
        tasks = f"the {len(over)} of {total} tasks that can be compared"
    return f"On average over {tasks}, {_verdict(overall, names, of='', after='')}. {by_task}"


def title(where: str, a: str, b: str) -> str:
    """The title of a comparison; without names where systems given from Python have none."""
    return f"{where}." if (a, b) == ("A", "B") else f"{where}. A: {a}. B: {b}."


def p_words(p: float | None) -> str:
    """ "p < .001" or "p = .042"; "no p" without a test."""
    if p is None:
        return "no p"
    return f"p {p_text(p)}" if p < 0.001 else f"p = {p_text(p)}"


def _measure(task: Task) -> str:
    """The metrics' names as words."""
    names = [metric.words for metric in task.metrics]
    if len(names) == 1:
        return names[0]
    return f"its score, the mean of {list_words(names)}"
