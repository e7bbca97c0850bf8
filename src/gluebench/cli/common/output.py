"""What a command answers, and its printing as a table, JSON, CSV, Markdown or LaTeX."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from gluebench.cli.common.options import Form
from gluebench.cli.common.tables import LONGEST_RULE, Paper, Section, Table, as_text, running_text

if TYPE_CHECKING:
    from gluebench.scoring.plots import Plotted


class Output(NamedTuple):
    """One answer in all its forms."""

    data: object
    """JSON-ready."""
    tables: tuple[Table, ...]
    records: Records
    """For CSV."""
    words: tuple[str, ...] = ()
    """Sentences that follow the tables."""


def emit(output: Output, form: Form) -> None:
    """Print it on standard output."""
    text = rendered(output, form, paper=terminal())
    click.echo(text, nl=False, color=True)  # it is coloured for terminals alone; what the data hold stays


def draw(result: Plotted, path: str | os.PathLike[str] | None) -> None:
    """Draw the result into a file, if one is named, and say so on standard error."""
    if path is not None:
        from gluebench.scoring.plots import save

        save(result, path)
        notices([f"drawn: {path}"])


def rendered(output: Output, form: Form, *, paper: Paper) -> str:
    """The answer as one text, ending in a newline."""
    if form == "json":
        return to_json(output.data)
    if form == "csv":
        return as_csv(output.records)
    if form == "markdown":
        parts = [*map(as_markdown, output.tables), *(f"{markdown_escape(line)}\n" for line in output.words)]
    elif form == "latex":
        tables = [as_latex(table) for table in output.tables]
        parts = ["% \\usepackage{booktabs}\n" + tables[0], *tables[1:]] if tables else []
        parts += [f"{latex_escape(line)}\n" for line in output.words]
    else:
        parts = [as_text(table, paper) for table in output.tables]
        parts += [running_text(output.words, paper)] if output.words else []
    return "\n".join(parts)


def to_json(data: object) -> str:
    """The data as one JSON document; the order of keys is kept."""
    import json

    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def terminal() -> Paper:
    """What standard output is: a terminal has a width and colours, a pipe or a file has neither."""
    if not sys.stdout.isatty():
        return Paper()
    import shutil

    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Paper(width=shutil.get_terminal_size((LONGEST_RULE, 24)).columns, colour=colour)


def notices(lines: Iterable[str]) -> None:
    """Say these on standard error, where they cannot spoil what is piped on."""
    for line in lines:
        click.echo(line, err=True)


def percent(value: float | None) -> str:
    """A fraction as it is read: times 100, one decimal, "-" for none."""
    return "-" if value is None else f"{round(100 * value, 1) + 0.0:.1f}"  # 0.0 for -0.0


def interval(low: float | None, high: float | None) -> str:
    """The interval as it stands behind its value, with a space before; empty without one."""
    return "" if low is None or high is None else f" [{percent(low)}, {percent(high)}]"


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

    @classmethod
    def of(cls, fields: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Records:
        """A row for each mapping; a field that it lacks is empty."""
        return cls(tuple(fields), tuple(tuple(row.get(field) for field in fields) for row in rows))


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
    """Whether it is text indented under a heading, not a number padded to its column."""
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


def plain(value: object) -> object:
    """The value with every record as a mapping of its fields, and every sequence as a list."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
