"""Scores of a run on the dev split, as soon as it is done."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence

from gluebench.benchmark import Task
from gluebench.data.gold import gold_from_data
from gluebench.scoring import Report, grade
from gluebench.submission import Column
from gluebench.systems.adapters.session import Session


def dev_report(session: Session) -> Report | None:
    """Every dev score with its interval; None where no task has a dev split.

    An answer that was not understood counts as wrong: as a label that is not the right one, or as the end
    of the range that is farther from the right score. Raises DataError where no labels are to be had.
    """
    plan = session.plan
    columns = session.columns("dev")
    if not columns:
        return None
    gold = gold_from_data(plan.data, plan.benchmark, role="dev", partial=True)
    for name, positions in session.unanswered("dev").items():
        task = plan.benchmark.task(plan.benchmark.file(name).task)
        if name in gold.columns:
            columns[name] = with_wrong(task, columns[name], positions, gold.columns[name])
    return grade({name: column for name, column in columns.items() if name in gold.columns}, gold)


def with_wrong(task: Task, column: Column, positions: Sequence[int], gold: Column) -> Column:
    """The column with a wrong value at these positions, where the right one is known."""
    right = dict(_by_index(gold))
    values = [value for _, value in _by_index(column)]
    indices = [index for index, _ in _by_index(column)]
    for position in positions:
        if indices[position] in right:
            values[position] = _wrong(task, right[indices[position]])
    if column.labels:
        codes = {word: code for code, word in enumerate(column.labels)}
        return Column(column.labels, bytes(codes[str(value)] for value in values), column.indices)
    return Column((), array("d", (float(value) for value in values)), column.indices)


def _wrong(task: Task, right: str | float) -> str | float:
    if isinstance(right, str):
        return next(word for word in task.words if word != right)
    low, high = task.score_range or (right, right)
    return low if right - low > high - right else high


def _by_index(column: Column) -> Iterator[tuple[int, str | float]]:
    values: Sequence[str | float] = column.words() if column.labels else column.numbers
    indices = column.row_indices
    return zip(indices, values, strict=True)


def not_understood(session: Session) -> Mapping[str, int]:
    """Task to the number of its answers that could not be understood, dev and test together."""
    counts = {
        name: sum(len(answered.unanswered) for answered in result.answers.values())
        for name, result in session.results().items()
    }
    return {name: count for name, count in counts.items() if count}
