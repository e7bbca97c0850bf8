"""Printing what a command found, in the form that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import NamedTuple

import click

from gluebench.cli.formats import Records, as_csv, as_latex, as_markdown, latex_escape, markdown_escape
from gluebench.cli.options import Form
from gluebench.cli.tables import LONGEST_RULE, Paper, Table, as_text, running_text


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
    return "-" if value is None else f"{_no_negative_zero(round(100 * value, 1)):.1f}"


def _no_negative_zero(value: float) -> float:
    return value + 0.0


def interval(low: float | None, high: float | None) -> str:
    """The interval as it stands behind its value, with a space before; empty without one."""
    return "" if low is None or high is None else f" [{percent(low)}, {percent(high)}]"
