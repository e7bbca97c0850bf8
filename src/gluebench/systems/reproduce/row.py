"""A row of Table 4 as a record, read from its file; Tables 4, 5 and 6."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from gluebench.benchmark import UnknownNameError

TableName = Literal["table4", "table5", "table6"]
Training = Literal["single-task", "multi-task", "frozen"]
AVERAGE = "Avg"
"""Column of Tables 4 and 6 that averages the others."""
_PARTS: Mapping[TableName, str] = {"table4": "test", "table5": "diagnostic", "table6": "dev"}
"""Table to the part of a row's file that has its numbers."""


class Shares(NamedTuple):
    """Tasks whose runs are another row's."""

    row: str
    tasks: tuple[str, ...]


class Printed(NamedTuple):
    """What a table of the paper has in one row, times 100 as printed."""

    average: float | None
    """None in Table 5."""
    columns: Mapping[str, tuple[float, ...]]
    """Task to its numbers, one for each metric; in Table 5 phenomenon, or "All", to its one."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: how its systems are made and trained, and its numbers in the three tables."""

    name: str
    order: int
    title: str
    """As printed; two rows have each title that stands in the first two sections."""
    section: str
    """Heading of Table 4 that it stands under."""
    training: Training
    about: str
    """One sentence."""
    needs: tuple[str, ...]
    """Names of `files.toml`."""
    runs: Mapping[str, Any]
    printed: Mapping[TableName, Printed]
    majority: tuple[str, ...]
    """Tasks that Table 4, and it alone, answers by their majority class."""
    notes: tuple[str, ...] = ()
    shares: Shares | None = None
    model: Mapping[str, Any] | None = None
    """Of a BiLSTM."""
    settings: Mapping[str, Any] | None = None
    """Of its trainer."""
    auxiliary: tuple[str, ...] = ()
    """Data that multi-task training has beside the tasks."""
    encoder: Mapping[str, Any] | None = None
    """Of a frozen encoder."""
    probe: str | None = None
    """Preset of its classifiers."""

    @property
    def full_title(self) -> str:
        """The title with its section where that is needed: "single-task +ELMo"."""
        return self.title if self.training == "frozen" else f"{self.training} {self.title}"

    def owner(self, task: str) -> str:
        """The row whose runs this row's numbers for a task are."""
        return self.shares.row if self.shares and task in self.shares.tasks else self.name


@cache
def rows() -> tuple[Row, ...]:
    """All rows in the order of Table 4."""
    folder = resources.files("gluebench.systems.reproduce") / "recipes"
    parsed = [
        _row(tomllib.loads(file.read_text("utf-8")))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    ]
    return tuple(sorted(parsed, key=lambda row: row.order))


def row_called(name: str) -> Row:
    """The row of that name. Raises UnknownNameError."""
    for row in rows():
        if row.name == name:
            return row
    raise UnknownNameError(name, [row.name for row in rows()], what="row")


def _row(values: dict[str, Any]) -> Row:
    printed = {table: values.pop(part) for table, part in _PARTS.items()}
    majority = printed["table4"].pop("majority")
    shares = values.pop("shares", None)
    auxiliary = values.pop("auxiliary", {"tasks": ()})
    probe = values.pop("probe", {"preset": None})
    return Row(
        **values | {"needs": tuple(values["needs"]), "notes": tuple(values.get("notes", ()))},
        printed={table: _printed(numbers) for table, numbers in printed.items()},
        majority=tuple(majority),
        shares=Shares(shares["row"], tuple(shares["tasks"])) if shares else None,
        auxiliary=tuple(auxiliary["tasks"]),
        probe=probe["preset"],
    )


def _printed(numbers: dict[str, Any]) -> Printed:
    average = numbers.pop(AVERAGE, None)
    return Printed(average, {name: _numbers(value) for name, value in numbers.items()})


def _numbers(value: float | list[float]) -> tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, list) else (float(value),)


TABLES: Mapping[TableName, str] = {
    "table4": "Table 4: test",
    "table5": "Table 5: diagnostic set, R3",
    "table6": "Table 6: dev",
}
"""Each with its title."""


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
