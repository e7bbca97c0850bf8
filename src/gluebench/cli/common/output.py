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
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


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
        return [self.columns[position], *(row[position] for part in self.sections for row in part.rows)]

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
    from gluebench.scoring.plots import Plotted


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


def draw(result: Plotted, path: str | os.PathLike[str] | None) -> None:
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
        parts += map(as_markdown, tables)
        parts += [f"{markdown_escape(line)}\n" for line in words]
    elif form == "latex":
        parts += [f"{latex_escape(line)}\n" for line in verdict]
        parts += map(as_latex, tables)
        parts += [f"{latex_escape(line)}\n" for line in words]
        if tables:
            parts[0] = "% \\usepackage{booktabs}\n" + parts[0]
    else:
        parts += [running_text(verdict, paper)] if verdict else []
        parts += [as_text(table, paper) for table in tables]
        parts += [running_text(words, paper)] if words else []
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
    widths = _fitted(table, paper)
    total = sum(widths) + len(GAP) * (len(widths) - 1)
    rule = _styled("-" * min(total, paper.width or LONGEST_RULE), paper, _DIM)
    lines = [_styled(line, paper, _BOLD) for line in _folded(table.title, paper)]
    lines += [_styled(line, paper, _BOLD) for line in _lines(table.columns, widths, right=table.right)]
    for section in table.sections:
        lines.append(rule)
        if section.title:
            lines.append(_styled(section.title, paper, _BOLD))
        for cells in section.rows:
            lines += _lines(cells, widths, right=table.right)
    lines.append(rule)
    for note in table.notes:
        lines += _folded(note, paper)
    return "\n".join(lines) + "\n"


def _fitted(table: Table, paper: Paper) -> list[int]:
    """Widths of columns: the widest text columns shrink until the table fits, number columns never."""
    widths = [max(map(text_width, table.cells(position))) for position in range(len(table.columns))]
    if paper.width is None:
        return widths
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - paper.width
    text = [position for position in range(len(widths)) if position not in table.right]
    unbroken = {position: max(NARROWEST, _longest_word(table, position)) for position in text}
    for narrowest in (unbroken, dict.fromkeys(text, NARROWEST)):  # break words only as a last resort
        while excess > 0:
            wide = [position for position in text if widths[position] > narrowest[position]]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
            excess -= 1
    return widths


def _longest_word(table: Table, position: int) -> int:
    return max(
        len(cell) - len(cell.lstrip()) + text_width(word)
        for cell in table.cells(position)
        for word in _bound(cell.lstrip()).split(" ")
    )


def _bound(cell: str) -> str:
    """The cell with a no-break space inside each interval, so that "[83.0, 86.4]" stays on one line."""
    return re.sub(r"(\[-?[\d.]+,) (?=-?[\d.]+\])", r"\1" + _HOLD, cell)


def _lines(cells: Sequence[str], widths: Sequence[int], *, right: Collection[int]) -> list[str]:
    """The printed lines of one row, several if a cell is wrapped."""
    folded = [_wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    rows = []
    for parts in itertools.zip_longest(*folded, fillvalue=""):
        blanks = [" " * (width - text_width(part)) for part, width in zip(parts, widths, strict=True)]
        row = [
            blank + part if position in right else part + blank
            for position, (part, blank) in enumerate(zip(parts, blanks, strict=True))
        ]
        rows.append(GAP.join(row).rstrip())
    return rows


def _wrapped(cell: str, width: int) -> list[str]:
    """The cell in lines of at most `width` columns, its indent kept."""
    if text_width(cell) <= width:
        return [cell]
    import textwrap

    indent = " " * min(len(cell) - len(cell.lstrip()), width // 2)
    letters = width if cell.isascii() else max(len(indent) + 1, width * len(cell) // text_width(cell))
    bound = _bound(cell.strip())
    held = bound if max(map(len, bound.split(" "))) + len(indent) <= letters else cell.strip()
    lines = textwrap.wrap(
        held, letters, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
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
    return "".join(f"{folded}\n" for line in lines for folded in _folded(line, paper))


def _folded(text: str, paper: Paper) -> list[str]:
    return _wrapped(text, max(20, min(paper.width or LONGEST_RULE, LONGEST_RULE))) if text else []


def _styled(text: str, paper: Paper, style: str) -> str:
    return f"{style}{text}{_PLAIN}" if paper.color else text


# ---------------------------------------------------------------- for programs and papers


def as_csv(fields: Sequence[str], rows: Iterable[Sequence[object] | Mapping[str, object]]) -> str:
    """The rows as CSV with a header; None, or a field that a row lacks, is an empty cell."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([row.get(field) for field in fields] if isinstance(row, Mapping) else row)
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """The table in GitHub's Markdown; a section's heading is a bold first cell."""
    lines = [f"**{markdown_escape(table.title)}**", ""] if table.title else []
    rows = [[markdown_escape(name) for name in table.columns]]
    rows += [["---:" if position in table.right else "---" for position in range(len(table.columns))]]
    for section in table.sections:
        if section.title:
            rows.append([f"**{markdown_escape(section.title)}**", *[""] * (len(table.columns) - 1)])
        rows += [
            ["&nbsp;&nbsp;" * _is_indented(cell) + markdown_escape(cell) for cell in row]
            for row in section.rows
        ]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    for note in table.notes:
        lines += ["", markdown_escape(note)]
    return "\n".join(lines) + "\n"


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
    lines = [rf"\textbf{{{latex_escape(table.title)}}}\par"] if table.title else []
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
    row = " & ".join(r"\quad " * _is_indented(cell) + latex_escape(cell) for cell in cells)
    return rf"{{}}{row} \\" if row.startswith(("[", "*")) else rf"{row} \\"  # \\[ takes a length


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
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
