"""Tables in Markdown, LaTeX and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gluebench.cli.tables import Section, Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\n": " ",
}


class Records(NamedTuple):
    """One flat table for programs: every row stands by itself and numbers are whole."""

    fields: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def as_csv(records: Records) -> str:
    """The records as CSV with a header; nothing is an empty cell."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(records.fields)
    writer.writerows(records.rows)
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """The table as GitHub's Markdown has it; the heading of a section is a bold first cell."""
    lines = [f"**{markdown_escape(table.title)}**", ""] if table.title else []
    lines.append(_markdown_row(table.columns))
    lines.append(
        _piped("---:" if position in table.right else "---" for position in range(len(table.columns)))
    )
    for section in table.sections:
        if section.title:
            blank = [""] * (len(table.columns) - 1)
            lines.append(_piped([f"**{markdown_escape(section.title)}**", *blank]))
        lines += [_markdown_row(row) for row in section.rows]
    for note in table.notes:
        lines += ["", markdown_escape(note)]
    return "\n".join(lines) + "\n"


def markdown_escape(text: str) -> str:
    """The text such that Markdown shows it as it is."""
    escaped = re.sub(r"([\\`*_|<>~&])", r"\\\1", " ".join(text.split()))
    return escaped.replace("](", r"]\(")


def _is_indented(cell: str) -> bool:
    """Whether it is text that stands under another; a number only fills its column."""
    return cell.startswith("  ") and cell.strip()[:1].isalpha()


def _markdown_row(cells: Iterable[str]) -> str:
    return _piped("&nbsp;&nbsp;" * _is_indented(cell) + markdown_escape(cell) for cell in cells)


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def as_latex(table: Table) -> str:
    """The table as a booktabs `tabular`, its title and notes as text around it."""
    width = len(table.columns)
    layout = "".join("r" if position in table.right else "l" for position in range(width))
    lines = [rf"\textbf{{{latex_escape(table.title)}}}\par"] if table.title else []
    lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", _latex_row(table.columns)]
    for section in table.sections:
        lines += [r"\midrule", *_latex_section(section, width)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par {latex_escape(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _latex_section(section: Section, width: int) -> list[str]:
    heading = rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{latex_escape(section.title)}}}}} \\"
    return [heading] * bool(section.title) + [_latex_row(row) for row in section.rows]


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(r"\quad " * _is_indented(cell) + latex_escape(cell) for cell in cells)
    return rf"{{}}{row} \\" if row.startswith(("[", "*")) else rf"{row} \\"  # \\[ would be a length


def latex_escape(text: str) -> str:
    """The text such that LaTeX prints it as it is; a minus before a digit becomes one."""
    escaped = "".join(_LATEX.get(letter, letter) for letter in text.strip())
    return re.sub(r"(?<![\w.-])-(?=\d)", "$-$", escaped)
