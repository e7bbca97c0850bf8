"""Output of a command: tables, printed as text, JSON, CSV, Markdown or LaTeX."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

GAP = "  "
NARROWEST = 8
"""A column is never narrowed below this width."""
LONGEST_RULE = 100
"""Width of rules and running text if the output sets no width; running text is never wider."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HOLD = "\N{NO-BREAK SPACE}"
_BOLD = "\x1b[1m"
_DIM = "\x1b[2m"
_PLAIN = "\x1b[0m"


def escape_controls(text: str) -> str:
    """The text with control characters written out, so that a line stays one line."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class Section(NamedTuple):
    """A group of rows, after a rule and an optional heading."""

    rows: Sequence[Sequence[str]]
    title: str = ""


class Table(NamedTuple):
    """Cells as text, for any of the output forms."""

    columns: Sequence[str]
    sections: Sequence[Section]
    title: str = ""
    right: Collection[int] = ()
    """Positions of the right-aligned columns."""
    notes: Sequence[str] = ()
    """Sentences printed under the table."""

    def cells(self, position: int) -> list[str]:
        """The cells of one column, its heading first."""
        cells = [self.columns[position]]
        for section in self.sections:
            cells += [row[position] for row in section.rows]
        return cells

    def printable(self) -> Table:
        """The table with control characters escaped, as names of files may have them."""
        sections = []
        for section in self.sections:
            rows = []
            for row in section.rows:
                rows.append([escape_controls(cell) for cell in row])
            sections.append(Section(rows, escape_controls(section.title)))
        columns = [escape_controls(name) for name in self.columns]
        notes = [escape_controls(note) for note in self.notes]
        return Table(columns, sections, escape_controls(self.title), self.right, notes)


class Paper(NamedTuple):
    """The width and color that a text is laid out for."""

    width: int | None = None
    """Columns of the terminal; None for no limit."""
    color: bool = False


Form = Literal["json", "csv", "markdown", "latex"] | None
"""How to print; None is a table to read."""

if TYPE_CHECKING:
    from gluebench.scoring.plots import Plottable


class Output(NamedTuple):
    """The output of a command in all its forms."""

    data: object
    """JSON-ready."""
    tables: Sequence[Table]
    fields: Sequence[str]
    """The heading of the CSV table."""
    rows: Iterable[Sequence[object] | Mapping[str, object]]
    """The rows of the CSV table, with numbers unrounded and no cell that depends on another row."""
    words: Sequence[str] = ()
    """Sentences that follow the tables."""
    verdict: Sequence[str] = ()
    """Sentences before the tables: what a reader wants first."""


def emit(output: Output, form: Form) -> None:
    """Print the output in one form on standard output."""
    text = rendered(output, form, paper=terminal())
    click.echo(text, nl=False, color=True)  # only terminals get colors from rendered()


def draw(result: Plottable, path: str | os.PathLike[str] | None) -> None:
    """Draw the result into a file, if a path is given, and report that on standard error."""
    if path is not None:
        from gluebench.scoring.plots import save

        save(result, path)
        notices([f"drawn: {path}"])


def rendered(output: Output, form: Form, *, paper: Paper) -> str:
    """The output as one text, ending in a newline."""
    if form == "json":
        return to_json(output.data)
    if form == "csv":
        return as_csv(output.fields, output.rows)
    tables = [table.printable() for table in output.tables]
    verdict = [escape_controls(line) for line in output.verdict]
    words = [escape_controls(line) for line in output.words]
    parts: list[str] = []
    if form == "markdown":
        parts += [f"{markdown_escape(line)}\n" for line in verdict]
        parts += [as_markdown(table) for table in tables]
        parts += [f"{markdown_escape(line)}\n" for line in words]
    elif form == "latex":
        parts += [f"{latex_escape(line)}\n" for line in verdict]
        parts += map(as_latex, tables)
        parts += [f"{latex_escape(line)}\n" for line in words]
        if tables:
            parts[0] = "% \\usepackage{booktabs}\n" + parts[0]
    else:
        if verdict:
            parts.append(running_text(verdict, paper))
        parts += [as_text(table, paper) for table in tables]
        if words:
            parts.append(running_text(words, paper))
    return "\n".join(parts)


def to_json(data: object) -> str:
    """The data as one JSON document; the order of keys is kept."""
    import json

    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def terminal() -> Paper:
    """Width and color of standard output: a pipe or a file has neither."""
    if not sys.stdout.isatty():
        return Paper()
    import shutil

    color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Paper(width=shutil.get_terminal_size((LONGEST_RULE, 24)).columns, color=color)


def notice(line: str) -> None:
    """Print a line on standard error."""
    click.echo(line, err=True)


def notices(lines: Iterable[str]) -> None:
    """Print lines on standard error, so that piped output stays clean."""
    for line in lines:
        notice(line)


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


# ---------------------------------------------------------------- for a reader


def as_text(table: Table, paper: Paper) -> str:
    """The table with aligned columns and rules between sections; cells and notes are wrapped to the width."""
    widths = _column_widths(table, paper)
    total = sum(widths) + len(GAP) * (len(widths) - 1)
    rule = _in_style("-" * min(total, paper.width or LONGEST_RULE), paper, _DIM)
    headings = _wrap_text(table.title, paper) + _row_lines(table.columns, widths, right=table.right)
    lines = [_in_style(line, paper, _BOLD) for line in headings]
    for section in table.sections:
        lines.append(rule)
        if section.title:
            lines.append(_in_style(section.title, paper, _BOLD))
        for cells in section.rows:
            lines += _row_lines(cells, widths, right=table.right)
    lines.append(rule)
    for note in table.notes:
        lines += _wrap_text(note, paper)
    return "\n".join(lines) + "\n"


def _column_widths(table: Table, paper: Paper) -> list[int]:
    """Widths of columns: the widest text columns shrink until the table fits, number columns never."""
    widths = [max(map(text_width, table.cells(position))) for position in range(len(table.columns))]
    if paper.width is None:
        return widths
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - paper.width
    text_columns = [position for position in range(len(widths)) if position not in table.right]
    unbroken = {position: max(NARROWEST, _longest_word(table, position)) for position in text_columns}
    for narrowest in (unbroken, dict.fromkeys(text_columns, NARROWEST)):  # break words only as a last resort
        while excess > 0:
            wide = [position for position in text_columns if widths[position] > narrowest[position]]
            if not wide:
                break
            widest = max(wide, key=widths.__getitem__)
            widths[widest] -= 1
            excess -= 1
    return widths


def _longest_word(table: Table, position: int) -> int:
    """The width of a column in which no word needs to be broken."""
    longest = 0
    for cell in table.cells(position):
        text = cell.lstrip()
        indent = len(cell) - len(text)
        for word in _hold_intervals(text).split(" "):
            longest = max(longest, indent + text_width(word))
    return longest


def _hold_intervals(cell: str) -> str:
    """The cell with a no-break space inside each interval, so that "[83.0, 86.4]" stays on one line."""
    return re.sub(r"(\[-?[\d.]+,) (?=-?[\d.]+\])", r"\1" + _HOLD, cell)


def _row_lines(cells: Sequence[str], widths: Sequence[int], *, right: Collection[int]) -> list[str]:
    """The printed lines of one row, several if a cell is wrapped."""
    wrapped_cells = [_wrap_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for parts in itertools.zip_longest(*wrapped_cells, fillvalue=""):
        line = []
        for position, (part, width) in enumerate(zip(parts, widths, strict=True)):
            blanks = " " * (width - text_width(part))
            if position in right:
                line.append(blanks + part)
            else:
                line.append(part + blanks)
        lines.append(GAP.join(line).rstrip())
    return lines


def _wrap_cell(cell: str, width: int) -> list[str]:
    """The cell in lines of at most `width` columns, its indent kept."""
    if text_width(cell) <= width:
        return [cell]
    import textwrap

    indent = " " * min(len(cell) - len(cell.lstrip()), width // 2)
    letters = width
    if not cell.isascii():  # as many letters as have the width on average
        letters = max(len(indent) + 1, width * len(cell) // text_width(cell))
    text = _hold_intervals(cell.strip())
    if max(map(len, text.split(" "))) + len(indent) > letters:  # an interval is too long for a line
        text = cell.strip()
    lines = textwrap.wrap(
        text, letters, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return [line.replace(_HOLD, " ") for line in lines] or [""]


def text_width(text: str) -> int:
    """Columns of a text on a terminal: two for each wide East Asian character, none for a combining one."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) != 0 for letter in text)


def running_text(lines: Iterable[str], paper: Paper) -> str:
    """Sentences, each wrapped to the width."""
    text = ""
    for line in lines:
        for wrapped in _wrap_text(line, paper):
            text += f"{wrapped}\n"
    return text


def _wrap_text(text: str, paper: Paper) -> list[str]:
    """A sentence in lines; none for an empty one."""
    if not text:
        return []
    width = min(paper.width or LONGEST_RULE, LONGEST_RULE)
    return _wrap_cell(text, max(20, width))


def _in_style(text: str, paper: Paper, style: str) -> str:
    if not paper.color:
        return text
    return f"{style}{text}{_PLAIN}"


# ---------------------------------------------------------------- for programs and papers


def as_csv(fields: Sequence[str], rows: Iterable[Sequence[object] | Mapping[str, object]]) -> str:
    """The rows as CSV with a header; None, or a field that a row lacks, is an empty cell."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        if isinstance(row, Mapping):
            writer.writerow([row.get(field) for field in fields])
        else:
            writer.writerow(row)
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """The table in GitHub's Markdown; a section's heading is a bold first cell."""
    lines = []
    if table.title:
        lines += [f"**{markdown_escape(table.title)}**", ""]
    columns = range(len(table.columns))
    lines.append(_markdown_row([markdown_escape(name) for name in table.columns]))
    lines.append(_markdown_row(["---:" if position in table.right else "---" for position in columns]))
    for section in table.sections:
        if section.title:
            heading = [""] * len(columns)
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
    if _is_indented(cell):
        return f"&nbsp;&nbsp;{text}"
    return text


def markdown_escape(text: str) -> str:
    """Escape a text for Markdown and join its lines."""
    escaped = re.sub(r"([\\`*_|<>~&])", r"\\\1", " ".join(text.split()))
    return escaped.replace("](", r"]\(")


def _is_indented(cell: str) -> bool:
    """Whether a cell is text indented under a heading, not a number padded to its column."""
    return cell.startswith("  ") and cell.strip()[:1].isalpha()


def as_latex(table: Table) -> str:
    """The table as a booktabs `tabular`, its title and notes as text around it."""
    width = len(table.columns)
    layout = "".join("r" if position in table.right else "l" for position in range(width))
    lines = []
    if table.title:
        lines.append(rf"\textbf{{{latex_escape(table.title)}}}\par")
    lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", _latex_row(table.columns)]
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{latex_escape(section.title)}}}}} \\")
        lines += map(_latex_row, section.rows)
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par {latex_escape(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(_latex_cell(cell) for cell in cells)
    if row.startswith(("[", "*")):  # after the \\ before, these would be its arguments
        row = rf"{{}}{row}"
    return rf"{row} \\"


def _latex_cell(cell: str) -> str:
    text = latex_escape(cell)
    if _is_indented(cell):
        return rf"\quad {text}"
    return text


def latex_escape(text: str) -> str:
    """Escape a text for LaTeX; a hyphen before a number becomes a minus sign."""
    escaped = "".join(_LATEX.get(letter, letter) for letter in text.strip())
    return re.sub(r"(?<![\w.-])-(?=\d)", "$-$", escaped)


def plain(value: object) -> object:
    """Convert named tuples to dicts of their fields, and sequences to lists, at every depth."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    return value
