"""Results in a notebook and in pandas: figures as they are read, HTML tables, DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from gluebench.benchmark.figures import interval


def ends(low: float | None, high: float | None, withheld: str | None, *, loss: bool | None = False) -> str:
    """The interval in a cell of its own, or why there is none."""
    return interval(low, high, loss).strip() or (f"({withheld})" if withheld else "")


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
    rows = [[record.get(field) for field in fields] for record in records]
    columns = zip(fields, zip(*rows, strict=True), strict=True) if rows else ()
    whole = [field for field, values in columns if {type(value) for value in values} == {int, type(None)}]
    return pandas.DataFrame(rows, columns=list(fields)).astype(dict.fromkeys(whole, "Int64"))


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
    parts = [f'<table class="gluebench"><caption style="text-align:left">{escape(title)}</caption>']
    for kind, body in (("th", [columns]), ("td", rows)):
        parts += [_row(kind, cells, sides) for cells in body]
    parts += ["</table>", *(f"<p>{escape(note)}</p>" for note in notes)]
    return "\n".join(parts)


def _row(kind: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    inside = "".join(
        f'<{kind} style="text-align:{side}">{escape(cell)}</{kind}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{inside}</tr>"
