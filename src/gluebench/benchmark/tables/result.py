"""What results have in common: tables for people, records for programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from gluebench.benchmark.tables.markup import to_html, to_latex, to_markdown
from gluebench.benchmark.tables.table import Table
from gluebench.benchmark.tables.values import to_frame


class TabularResult(ABC):
    """A result that notebooks, papers and pandas can show."""

    __slots__ = ()

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """The tables that people read."""

    @abstractmethod
    def fields(self) -> Sequence[str]:
        """The columns of its data frame, and of its CSV."""

    @abstractmethod
    def records(self) -> Iterator[dict[str, object]]:
        """Yield a JSON-ready record of `fields` for each row of the data frame; numbers are fractions."""

    def to_markdown(self) -> str:
        """Its tables in Markdown."""
        return "\n".join(map(to_markdown, self.tables()))

    def to_latex(self) -> str:
        """Its tables in LaTeX, for a paper that uses the package booktabs."""
        return "\n".join(map(to_latex, self.tables()))

    def to_frame(self) -> Any:
        """A pandas DataFrame of its records, in full precision. Raises ImportError without pandas."""
        return to_frame(self.fields(), self.records())

    def to_pandas(self) -> Any:
        """The same as `to_frame`."""
        return self.to_frame()

    def _repr_html_(self) -> str:
        return "\n".join(map(to_html, self.tables()))
