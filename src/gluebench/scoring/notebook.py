"""Results in a notebook and in pandas: figures as they are read, HTML tables, DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from gluebench.benchmark.figures import interval


def ends(low: float | None, high: float | None, withheld: str | None, *, loss: bool | None = False) -> str:
    """The interval in a cell of its own, or why there is none."""
    limits = interval(low, high, loss).strip()
    if limits or not withheld:
        return limits
    return f"({withheld})"


def optional(module: str, what: str, install: str) -> Any:
    """A module that only `what` needs. Raises ImportError, saying what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        message = (
            f"{what} needs {name}, which cannot be imported ({error}); install it: pip install {install}"
        )
        raise type(error)(message, name=name) from None


def to_frame(fields: Sequence[str], records: Iterable[Mapping[str, object]]) -> Any:
    """A pandas DataFrame with these columns, a row for each record; what a record lacks is missing."""
    pandas = optional("pandas", "A DataFrame", "pandas")
    rows = []
    for record in records:
        rows.append([record.get(field) for field in fields])
    types = {}
    for position, field in enumerate(fields):
        # Without a type of its own, a column of ints with gaps would become one of floats.
        if {type(row[position]) for row in rows} == {int, type(None)}:
            types[field] = "Int64"
    return pandas.DataFrame(rows, columns=list(fields)).astype(types)


def html_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: int = 1,
    notes: Sequence[str] = (),
) -> str:
    """A table for a notebook; the first `words` columns hold words, the others figures.

    All text is escaped: names of systems are whatever their authors wrote.
    """
    sides = ["left"] * words + ["right"] * (len(columns) - words)
    lines = [f'<table class="gluebench"><caption style="text-align:left">{escape(title)}</caption>']
    lines.append(_html_row("th", columns, sides))
    for cells in rows:
        lines.append(_html_row("td", cells, sides))
    lines.append("</table>")
    for note in notes:
        lines.append(f"<p>{escape(note)}</p>")
    return "\n".join(lines)


def _html_row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    html = ""
    for cell, side in zip(cells, sides, strict=True):
        html += f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
    return f"<tr>{html}</tr>"
