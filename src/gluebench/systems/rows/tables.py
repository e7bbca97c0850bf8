"""Tables 4, 5 and 6 of the paper as records, and what must hold between their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gluebench.systems.rows.row import AVERAGE, Printed, Row, TableName, rows

TABLES: Mapping[TableName, str] = {
    "table4": "Table 4: test",
    "table5": "Table 5: diagnostic set, R3",
    "table6": "Table 6: dev",
}
"""Each with its title."""
ROUNDING = 0.05 + 1e-9
"""The largest difference between the mean of the printed scores and its rounding to a tenth."""
EXCEPTIONS: Mapping[tuple[TableName, str], float] = {
    ("table4", "single-bilstm"): 64.006,
    ("table4", "single-bilstm-attn-elmo"): 66.556,
    ("table4", "dissent"): 61.922,
    ("table6", "single-bilstm-cove"): 66.700,
}
"""The mean of the printed scores where it does not round to the printed average."""


class Record(NamedTuple):
    """One printed number."""

    table: TableName
    row: str
    column: str
    place: int
    """Which of the column's numbers: 0, or 1 for a task's second metric."""
    value: float


def records(table: TableName) -> Iterator[Record]:
    """Every number of a table, row by row, the average first."""
    for row in rows():
        printed = row.printed[table]
        if printed.average is not None:
            yield Record(table, row.name, AVERAGE, 0, printed.average)
        for column, numbers in printed.columns.items():
            for place, value in enumerate(numbers):
                yield Record(table, row.name, column, place, value)


def average(printed: Printed) -> float:
    """The mean of the task scores, each the mean of its numbers (MNLI's two sets are one task)."""
    scores = [sum(numbers) / len(numbers) for numbers in printed.columns.values()]
    return sum(scores) / len(scores)


def problems() -> list[str]:
    """What in the tables does not fit together, beside the exceptions that are known; nothing, one hopes."""
    return [line for row in rows() for line in (*_averages(row), *_shared(row), *_majorities(row))]


def _averages(row: Row) -> Iterator[str]:
    for table in ("table4", "table6"):
        printed = row.printed[table]
        expected = EXCEPTIONS.get((table, row.name), printed.average)
        if expected is None or abs(average(printed) - expected) > ROUNDING:
            found = f"{average(printed):.2f}"
            yield f"{table} {row.name}: the numbers average to {found}; expected {expected}"


def _shared(row: Row) -> Iterator[str]:
    """Numbers of the same runs are the same numbers."""
    other = next((each for each in rows() if row.shares and each.name == row.shares.row), None)
    if row.shares is None or other is None:
        return
    for table in ("table4", "table6"):
        for task in row.shares.tasks:
            own, theirs = (each.printed[table].columns[task] for each in (row, other))
            if own != theirs:
                yield f"{table} {row.name}: {task} is {own}; expected {theirs}, as in {other.name}"


def _majorities(row: Row) -> Iterator[str]:
    """A majority class scores the same in every row."""
    first = rows()[0].printed["table4"].columns
    for task in row.majority:
        if row.printed["table4"].columns[task] != first[task]:
            yield f"table4 {row.name}: {task} differs from the other rows' majority class"
