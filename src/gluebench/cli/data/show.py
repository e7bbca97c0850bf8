"""`gluebench data show`: examples, to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark
from gluebench.cli.common import option
from gluebench.cli.common.output import Form, emit, notices, terminal

if TYPE_CHECKING:
    from gluebench.cli.data.show_view import DisplayedExamples
    from gluebench.data import Table
    from gluebench.data.show import Entry, Query


@click.command
@click.argument("task", metavar="TASK")
@option.text("--split SPLIT", help="The split to read [dev, or the only one].")
@option.regex("--grep", help="Only examples with this in a text; (?i) in front ignores letter case.")
@option.text("--label WORD", help="Only examples with this label.")
@option.text("--phenomenon NAME", help="Only examples with this tag, or of this category.")
@option.repeated("--index N", "indices", type=int, help="This example only; may be repeated.")
@option.number("--limit", least=1, help="No more than this many.")
@option.flag("--all-columns", help="What else the files say of an example, too.")
@click.option("--pager/--no-pager", default=None, help="Page through them [on a terminal].")
@option.data()
@option.benchmark
@option.output
def show(
    task: str,
    split: str | None,
    grep: re.Pattern[str] | None,
    label: str | None,
    phenomenon: str | None,
    indices: tuple[int, ...],
    limit: int | None,
    all_columns: bool,
    pager: bool | None,
    data: Path,
    suite: Benchmark,
    form: Form,
) -> None:
    """Read the examples of a task.

    A diagnostic set is shown as in Table 3 of the paper: the tags of a pair of sentences, and its label in
    both directions.

    \b
    Example:
      gluebench data show MRPC --split dev --grep 'per ?cent'
      gluebench data show AX --phenomenon "Double Negation" --limit 5
    """
    from gluebench.cli.data.show_view import DisplayedExamples
    from gluebench.data.dataset import TAGS
    from gluebench.data.show import Query, entries, pick, rows
    from gluebench.data.table import load

    record = suite.dataset(task)
    table = load(record.name, option.split_to_read(record, split), data, benchmark=suite)
    query = Query(
        grep,
        None if label is None else _label(table, label),
        frozenset() if phenomenon is None else _tags(table, phenomenon),
        frozenset(indices),
        limit,
    )
    usual = {"index", "label", *record.columns}
    extras = [name for name in table.columns if name not in usual and (all_columns or name == TAGS)]
    shown = DisplayedExamples(table, tuple(extras), grep)
    picked = pick(entries(rows(table, shown.extras), paired=shown.paired), query)
    _print(shown, query, picked, form=form, pager=pager)


def _label(table: Table, name: str) -> str:
    """The label word of that name. Raises UnknownNameError, UsageError where examples have none."""
    from gluebench.data.show import label_word

    if not table.task.labels:
        raise click.UsageError(f"{table.task.name} has scores, not labels; --label cannot choose by them.")
    word = label_word(table.task, name)
    if not table.labeled:
        raise click.UsageError(f"the labels of {_where(table)} are hidden; --label cannot choose by them.")
    return word


def _tags(table: Table, name: str) -> frozenset[str]:
    """The phenomena of that name or category. Raises UnknownNameError, UsageError where there are none."""
    from gluebench.data.dataset import TAGS
    from gluebench.data.show import phenomena_called

    if not table.task.phenomena:
        raise click.UsageError(f"{table.task.name} has no phenomena; --phenomenon is for diagnostic sets.")
    tags = phenomena_called(table.task, name)
    if TAGS not in table.columns:
        where = _where(table)
        raise click.UsageError(f"the files of {where} have no tags; --phenomenon cannot choose by them.")
    return tags


def _where(table: Table) -> str:
    return f"{table.task.name} {table.split}"


def _print(
    shown: DisplayedExamples, query: Query, picked: Iterator[Entry], *, form: Form, pager: bool | None
) -> None:
    from gluebench.cli.data.show_view import examples_output, text_of

    seen: set[int] = set()

    def note_seen() -> Iterator[Entry]:
        for entry in picked:
            seen.update(row.index for row in entry)
            yield entry

    entries = note_seen()
    paper = terminal()
    if form is not None:
        emit(examples_output(shown, list(entries)), form)
    elif (first := next(entries, None)) is not None:
        text = text_of(shown, chain([first], entries), paper)
        if pager or (pager is None and paper.width is not None):
            click.echo_via_pager(text)
        else:
            for part in text:
                click.echo(part, nl=False)
    if not seen:
        notices([f"No example of {_where(shown.table)} matches ({len(shown.table):,} are there)."])
    elif query.limit is None:
        absent = sorted(query.indices - seen)
        notices(f"No example of {_where(shown.table)} with the index {index} matches." for index in absent)
