"""Results as a claim looks at them: scores by row and task, the diagnostic set by row and phenomenon."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gluebench.systems.reproduce.row import AVERAGE, Printed, TableName, rows

Results = Mapping[str, Mapping[str, Sequence[float]]]
"""Row to column to its numbers, times 100."""


class CannotTellError(Exception):
    """The results do not say; the message is why."""


class Evidence(NamedTuple):
    """Whether a claim holds of some results, and the numbers that decide."""

    holds: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """One table of results; looking up what it does not have raises CannotTellError."""

    values: Results
    benchmark: str = "glue"
    table: TableName = "table4"

    def get(self, row: str, column: str) -> float:
        """The number of a column, of two metrics their mean."""
        numbers = self.values.get(row, {}).get(column)
        if not numbers:
            raise CannotTellError(f"no {column} of {row}")
        return sum(numbers) / len(numbers)

    def average(self, row: str) -> float:
        """The macro-average."""
        return self.get(row, AVERAGE)

    def gain(self, better: str, worse: str, column: str = AVERAGE) -> float:
        """By how much the first row is above the second; tenths as printed, without what halves leave."""
        return round(self.get(better, column) - self.get(worse, column), 6)


def printed(table: TableName) -> Numbers:
    """The paper's own numbers."""
    return Numbers({row.name: _columns(row.printed[table]) for row in rows()}, table=table)


def _columns(numbers: Printed) -> dict[str, Sequence[float]]:
    average = {} if numbers.average is None else {AVERAGE: (numbers.average,)}
    return {**average, **numbers.columns}


def mean(values: Iterable[float]) -> float:
    """Of at least one."""
    numbers = list(values)
    return sum(numbers) / len(numbers)


def differences(values: Mapping[str, float]) -> str:
    """Each with its sign: "+ELMo +1.3, +Attn -0.1"."""
    return ", ".join(f"{name} {value:+.1f}" for name, value in values.items())


def listed(values: Mapping[str, float]) -> str:
    """Each with its number."""
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items())


# The rows by what they have in common.
VARIANTS = ("", "-elmo", "-cove", "-attn", "-attn-elmo", "-attn-cove")
SINGLE = tuple(f"single-bilstm{variant}" for variant in VARIANTS)
MULTI = tuple(f"multi-bilstm{variant}" for variant in VARIANTS)
TRAINED = (*SINGLE, *MULTI)
ENCODERS = ("cbow", "skip-thought", "infersent", "dissent", "gensen")
BASES = ("single-bilstm", "single-bilstm-attn", "multi-bilstm", "multi-bilstm-attn")
"""Rows over GloVe alone, each with a twin over ELMo and one with CoVe."""
WORDS = ("", "-elmo", "-cove")


def with_attention(base: str, words: str) -> tuple[str, str]:
    """The row with attention and its twin without."""
    return f"{base}-attn{words}", f"{base}{words}"
