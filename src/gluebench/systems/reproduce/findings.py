"""A claim of the paper, tested on any results in its tables' shape: the paper's own, or those of a rerun.

Only which number is above which is tested, with no regard to intervals: a claim that holds by a tenth of a
point holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from gluebench.data.errors import parsing
from gluebench.systems.reproduce.row import AVERAGE, TableName, rows

Verdict = Literal["holds", "does not hold", "cannot be told"]
Evidence = tuple[bool, str]
"""Whether a claim holds of some results, and the numbers that decide."""


class CannotTellError(Exception):
    """The results cannot decide a claim; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """One table of results; looking up what it does not have raises CannotTellError."""

    values: Mapping[str, Mapping[str, Sequence[float]]]
    """Row to column (a task or a phenomenon) to its numbers, times 100."""
    benchmark: str = "glue"
    table: TableName = "table4"

    def get(self, row: str, column: str = AVERAGE) -> float:
        """The number of a column, of two metrics their mean."""
        numbers = self.values.get(row, {}).get(column)
        if not numbers:
            raise CannotTellError(f"no {column} of {row}")
        return sum(numbers) / len(numbers)

    def gain(self, better: str, worse: str, column: str = AVERAGE) -> float:
        """By how much the first row is above the second; tenths as printed, without what halves leave."""
        return round(self.get(better, column) - self.get(worse, column), 6)


Test = Callable[[Numbers], Evidence]


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim."""

    name: str
    section: str
    claim: str
    """The claim in our words."""
    test: Test
    tables: tuple[TableName, ...]
    """The tables it can be tested on: test and dev scores, or the diagnostic set."""

    @property
    def reading(self) -> str:
        """The test of the claim in words."""
        return (self.test.__doc__ or "").strip()


class Outcome(NamedTuple):
    """The verdict of some results on a claim."""

    verdict: Verdict
    detail: str
    """The numbers that decide, or the reason why they are missing."""


def judged(finding: Finding, numbers: Numbers) -> Outcome:
    """Test a claim on a table of results."""
    try:
        holds, detail = finding.test(numbers)
    except CannotTellError as error:
        return Outcome("cannot be told", str(error))
    return Outcome("holds" if holds else "does not hold", detail)


def printed(table: TableName) -> Numbers:
    """The paper's own numbers."""
    tables = {row.name: row.printed[table] for row in rows()}
    averages = {name: {AVERAGE: (own.average,)} for name, own in tables.items() if own.average is not None}
    return Numbers(
        {name: {**averages.get(name, {}), **own.columns} for name, own in tables.items()}, table=table
    )


def read_results(path: Path) -> Mapping[TableName, Numbers]:
    """Results as `gluebench reproduce` writes them, by table. Raises DataError for another file."""
    expected = 'expected {"benchmark": …, "tables": {"table6": {"cbow": {"CoLA": [4.6], "Avg": [61.4]}}}}'
    results: dict[TableName, Numbers] = {}
    with parsing(path, "the results of rows", expected):
        values = json.loads(path.read_text(encoding="utf-8"))
        benchmark, tables = values["benchmark"], values["tables"]
        for table in get_args(TableName):
            if table in tables:
                numbers = {
                    row: {column: tuple(map(float, own)) for column, own in columns.items()}
                    for row, columns in tables[table].items()
                }
                results[table] = Numbers(numbers, benchmark, table)
    return results
