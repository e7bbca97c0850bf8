"""Text that people sent, made harmless for each format it is exported to."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # By name, because BibTeX counts a brace after a backslash too.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    **{sign: "\\" + sign for sign in "$&#_%"},
    "−": "$-$",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': "''",  # the straight one is not in every font
    "|": r"\textbar{}",
}
_MARKDOWN = r"\`*_{}[]()<>#+-.!|~$&@:"
_FORMULA = "=+-@\t\r\n|%＝＋－＠"
"""What a spreadsheet may take for the start of a formula, in full width too."""


def latex(text: str) -> str:
    """The text as LaTeX prints it."""
    return "".join(_LATEX.get(sign, sign) for sign in text)


def markdown_cell(text: str) -> str:
    """The text in a cell of a Markdown table, without any meaning as markup."""
    return "".join("\\" + sign if sign in _MARKDOWN else sign for sign in text)


def csv_cell(text: str) -> str:
    """The text for a spreadsheet: what looks like a formula gets an apostrophe, which shows it as text."""
    starts = {text[:1], text.lstrip()[:1]} - {""}
    return f"'{text}" if any(sign in _FORMULA for sign in starts) else text


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows for a spreadsheet, whatever their text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([csv_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()
