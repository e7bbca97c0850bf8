"""A table as Markdown, LaTeX and HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from gluebench.benchmark.tables.table import Best, Column, Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # By name, because BibTeX counts a brace after a backslash too.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",  # not every font has the straight quote
    "−": "$-$",
    "↓": r"$\downarrow$",
    "–": "--",
    "\n": " ",
}


def to_markdown(table: Table) -> str:
    """The table in GitHub's Markdown; a section's heading is a bold first cell."""
    table = table.for_people()
    lines = []
    if table.title:
        lines += [f"**{markdown_escape(table.title)}**", ""]
    lines.append(_markdown_row([markdown_escape(column.title) for column in table.columns]))
    lines.append(_markdown_row(["---:" if column.is_number else "---" for column in table.columns]))
    for section in table.sections:
        if section.title:
            heading = [""] * len(table.columns)
            heading[0] = f"**{markdown_escape(section.title)}**"
            lines.append(_markdown_row(heading))
        for row in section.rows:
            lines.append(_markdown_row([_markdown_cell(cell) for cell in row]))
    for note in table.notes:
        lines += ["", markdown_escape(note)]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: str) -> str:
    text = markdown_escape(cell)
    if isinstance(cell, Best):
        return f"**{text}**"
    if _is_indented(cell):
        return f"&nbsp;&nbsp;{text}"
    return text


def markdown_escape(text: str) -> str:
    """Escape a text for Markdown and join its lines: no markup, link, mention or formula is left of it."""
    line = " ".join(text.split())
    return re.sub(r"([\\`*_|<>~&$@]|(?<=\])[(\[]|:(?=//)|(?<=www)\.)", r"\\\1", line)


def _is_indented(cell: str) -> bool:
    """Whether a cell is text indented under a heading, not a number padded to its column."""
    return cell.startswith("  ") and cell.strip()[:1].isalpha()


def to_latex(table: Table) -> str:
    """The table as a booktabs `tabular`, its title and notes as text around it."""
    table = table.for_people()
    layout = "".join("r" if column.is_number else "l" for column in table.columns)
    lines = []
    if table.title:
        lines.append(rf"\textbf{{{latex_escape(table.title)}}}\par")
    titles = [column.title for column in table.columns]
    lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
    if any(column.group for column in table.columns):
        lines.append(_latex_groups(table.columns))
    lines.append(_latex_row(titles))
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            heading = rf"\textbf{{{latex_escape(section.title)}}}"
            lines.append(rf"\multicolumn{{{len(titles)}}}{{l}}{{{heading}}} \\")
        lines += map(_latex_row, section.rows)
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par {latex_escape(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _latex_groups(columns: Sequence[Column]) -> str:
    """The headings above those of the columns."""
    cells = []
    for group, grouped in groupby(columns, key=lambda column: column.group):
        span = len(list(grouped))
        if group:
            cells.append(rf"\multicolumn{{{span}}}{{c}}{{{latex_escape(group)}}}")
        else:
            cells += [""] * span
    return " & ".join(cells) + r" \\"


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(_latex_cell(cell) for cell in cells)
    if row.startswith(("[", "*")):  # after the \\ before, these would be its arguments
        row = rf"{{}}{row}"
    return rf"{row} \\"


def _latex_cell(cell: str) -> str:
    text = latex_escape(cell)
    if isinstance(cell, Best):
        return rf"\textbf{{{text}}}"
    if _is_indented(cell):
        return rf"\quad {text}"
    return text


def latex_escape(text: str) -> str:
    """Escape a text for LaTeX and BibTeX; a hyphen before a number becomes a minus sign."""
    escaped = "".join(_LATEX.get(letter, letter) for letter in text.strip())
    return re.sub(r"(?<![\w.-])-(?=\d)", "$-$", escaped)


def to_html(table: Table) -> str:
    """The table for a notebook, all text escaped: names of systems are whatever their authors wrote."""
    table = table.for_people()
    caption = f'<caption style="text-align:left">{_html_escape(table.title)}</caption>'
    lines = [f'<table class="gluebench">{caption}']
    lines.append(_html_row("th", table.columns, [column.title for column in table.columns]))
    for section in table.sections:
        if section.title:
            span = f'colspan="{len(table.columns)}" style="text-align:left"'
            lines.append(f"<tr><th {span}>{_html_escape(section.title)}</th></tr>")
        for cells in section.rows:
            lines.append(_html_row("td", table.columns, cells))
    lines.append("</table>")
    for note in table.notes:
        lines.append(f"<p>{_html_escape(note)}</p>")
    return "\n".join(lines)


def _html_escape(text: str) -> str:
    from html import escape  # a millisecond that only notebooks need

    return escape(text)


def _html_row(tag: str, columns: Sequence[Column], cells: Sequence[str]) -> str:
    html = ""
    for column, cell in zip(columns, cells, strict=True):
        side = "right" if column.is_number else "left"
        text = _html_escape(cell)
        if isinstance(cell, Best):
            text = f"<b>{text}</b>"
        html += f'<{tag} style="text-align:{side}">{text}</{tag}>'
    return f"<tr>{html}</tr>"
