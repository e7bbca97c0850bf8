"""`gluebench benchmark`: what benchmarks there are, what one consists of, and how to make one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gluebench.cli.lazy import LazyGroup
from gluebench.cli.options import Form, output_options

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark
    from gluebench.cli.output import Output
    from gluebench.cli.tables import Section


COMMANDS = {
    "lint": "gluebench.cli.benchmark_lint:lint",
    "new": "gluebench.cli.benchmark_new:new",
}
"""Commands in files of their own, imported when they are asked for."""


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def benchmark() -> None:
    """List and show benchmarks, make one from CSV files, look for its faults."""


@benchmark.command("list")
@output_options
def list_benchmarks(form: Form) -> None:
    """List the benchmarks that come with the package.

    \b
    Example:
      gluebench benchmark list
    """
    from gluebench.benchmark import installed, load_benchmark
    from gluebench.cli.output import emit

    emit(_list_output([load_benchmark(name) for name in installed()]), form)


@benchmark.command
@click.argument("name", metavar="NAME|FILE", default="glue")
@click.option("--task", metavar="TASK", help="All that is known of one task, by its name or an alias.")
@output_options
def show(name: str, task: str | None, form: Form) -> None:
    """Show a benchmark as Table 1 of the paper.

    \b
    Example:
      gluebench benchmark show glue --task sst2
    """
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.output import emit

    manifest = load_benchmark(name)
    emit(_task_output(manifest, task) if task else _benchmark_output(manifest), form)


def _list_output(benchmarks: list[Benchmark]) -> Output:
    from gluebench.cli.formats import Records
    from gluebench.cli.output import Output
    from gluebench.cli.tables import Section, Table

    columns = ("name", "title", "tasks", "diagnostic")
    rows = tuple((each.name, each.title, len(each.scored), len(each.diagnostics)) for each in benchmarks)
    cells = tuple(tuple(map(str, row)) for row in rows)
    table = Table(columns, (Section(cells),), right=frozenset({2, 3}))
    data = [dict(zip(columns, row, strict=True)) for row in rows]
    return Output({"benchmarks": data}, (table,), Records(columns, rows))


def _benchmark_output(manifest: Benchmark) -> Output:
    from gluebench.benchmark.table import table_notes, table_one
    from gluebench.cli.formats import Records
    from gluebench.cli.output import Output
    from gluebench.cli.plain import plain
    from gluebench.cli.tables import Table

    header, *rows = table_one(manifest)
    table = Table(
        columns=tuple(header),
        sections=_sections(rows),
        title=". ".join(filter(None, (manifest.title, manifest.description))),
        right=frozenset({1, 2}),
        notes=tuple(table_notes(manifest)),
    )
    records = tuple(tuple(row) for row in rows if any(row[1:]))
    return Output(plain(manifest), (table,), Records(tuple(header), records))


def _sections(rows: Sequence[Sequence[str]]) -> tuple[Section, ...]:
    """The rows between two that have a first cell only, which is the heading of what follows."""
    from gluebench.cli.tables import Section

    parts: list[tuple[str, list[tuple[str, ...]]]] = []
    for row in rows:
        if not any(row[1:]):
            parts.append((row[0], []))
        else:
            parts = parts or [("", [])]
            parts[-1][1].append(tuple(row))
    return tuple(Section(tuple(lines), title) for title, lines in parts)


def _task_output(manifest: Benchmark, name: str) -> Output:
    from gluebench.benchmark.table import details
    from gluebench.cli.formats import Records
    from gluebench.cli.output import Output
    from gluebench.cli.plain import plain
    from gluebench.cli.tables import Section, Table

    task = manifest.task(name)
    rows = tuple((label, value) for label, value in details(manifest, task))
    table = Table(("what", "value"), (Section(rows),), title=f"{task.name}: {task.title}")
    return Output(plain(task), (table,), Records(("what", "value"), rows))
