"""Output of a command: tables, printed as text, JSON, CSV, Markdown or LaTeX."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from gluebench.benchmark.tables import (
    Paper,
    Table,
    escape_controls,
    latex_escape,
    markdown_escape,
    running_text,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
    to_text,
)
from gluebench.benchmark.tables.text import LONGEST_RULE

Form = Literal["json", "csv", "markdown", "latex"] | None
"""How to print; None is a table to read."""

if TYPE_CHECKING:
    from gluebench.scoring.plots import Plottable


class Output(NamedTuple):
    """The output of a command in all its forms."""

    data: object
    """JSON-ready."""
    tables: Sequence[Table]
    fields: Sequence[str] = ()
    """The heading of the CSV table; without, it is the first table."""
    rows: Iterable[Sequence[object] | Mapping[str, object]] = ()
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
        if output.fields:
            return to_csv(output.fields, output.rows)
        return to_csv(output.tables[0].names, output.tables[0].rows)
    verdict = [escape_controls(line) for line in output.verdict]
    words = [escape_controls(line) for line in output.words]
    parts: list[str] = []
    if form == "markdown":
        parts += [f"{markdown_escape(line)}\n" for line in verdict]
        parts += [to_markdown(table) for table in output.tables]
        parts += [f"{markdown_escape(line)}\n" for line in words]
    elif form == "latex":
        parts += [f"{latex_escape(line)}\n" for line in verdict]
        parts += map(to_latex, output.tables)
        parts += [f"{latex_escape(line)}\n" for line in words]
        if output.tables:
            parts[0] = "% \\usepackage{booktabs}\n" + parts[0]
    else:
        if verdict:
            parts.append(running_text(verdict, paper))
        parts += [to_text(table, paper) for table in output.tables]
        if words:
            parts.append(running_text(words, paper))
    return "\n".join(parts)


def terminal() -> Paper:
    """Width and color of standard output: a pipe or a file has neither."""
    if not sys.stdout.isatty():
        return Paper()
    import shutil

    color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Paper(width=shutil.get_terminal_size((LONGEST_RULE, 24)).columns, color=color)


def command_line() -> str:
    """The command of this process, to be typed again."""
    return shlex.join(["gluebench", *sys.argv[1:]])


def notice(line: str) -> None:
    """Print a line on standard error."""
    click.echo(line, err=True)


def notices(lines: Iterable[str]) -> None:
    """Print lines on standard error, so that piped output stays clean."""
    for line in lines:
        notice(line)


def plain(value: object) -> object:
    """Convert named tuples to dicts of their fields, and sequences to lists, at every depth."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    return value
