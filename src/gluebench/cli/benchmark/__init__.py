"""`gluebench benchmark`: what benchmarks there are, what one consists of, and how to make one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, installed, load_benchmark
from gluebench.benchmark.figures import counted
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.lazy import LazyGroup
from gluebench.cli.common.output import Form, Output, Section, Table, emit, notices, plain

if TYPE_CHECKING:
    from gluebench.analysis.lint import Finding, TaskLint


@click.group(cls=LazyGroup, commands_at={"new": "gluebench.cli.benchmark.new:new"})
def benchmark() -> None:
    """List and show benchmarks, make one from CSV files, look for its faults."""


@benchmark.command("list")
@option.output
def list_benchmarks(form: Form) -> None:
    """List the benchmarks that come with the package.

    \b
    Example:
      gluebench benchmark list
    """
    columns = ("name", "title", "tasks", "diagnostic")
    suites = [load_benchmark(name) for name in installed()]
    rows = [(suite.name, suite.title, len(suite.scored), len(suite.diagnostics)) for suite in suites]
    table = Table(columns, [Section([[*map(str, row)] for row in rows])], right={2, 3})
    data = [dict(zip(columns, row, strict=True)) for row in rows]
    emit(Output({"benchmarks": data}, [table], columns, rows), form)


@benchmark.command
@click.argument("suite", metavar="NAME|FILE|URL", type=option.LoadedBenchmark(), default="glue")
@click.option("--task", metavar="TASK", help="All that is known of one task, by its name or an alias.")
@option.output
def show(suite: Benchmark, task: str | None, form: Form) -> None:
    """Show a benchmark as Table 1 of the paper.

    \b
    Example:
      gluebench benchmark show glue --task sst2
    """
    emit(_task_output(suite, task) if task else _benchmark_output(suite), form)


def _benchmark_output(suite: Benchmark) -> Output:
    from gluebench.benchmark.table import HEADER, table_notes, table_one

    sections = table_one(suite)
    table = Table(
        HEADER,
        [Section(rows, heading) for heading, rows in sections.items()],
        title=". ".join(filter(None, (suite.title, suite.description))),
        right={1, 2},
        notes=[*table_notes(suite)],
    )
    return Output(plain(suite), [table], HEADER, [row for rows in sections.values() for row in rows])


def _task_output(suite: Benchmark, name: str) -> Output:
    from gluebench.benchmark.table import details

    task = suite.task(name)
    rows = list(details(suite, task))
    table = Table(("what", "value"), [Section(rows)], title=f"{task.name}: {task.title}")
    return Output(plain(task), [table], ("what", "value"), rows)


@benchmark.command
@click.argument("suite", metavar="NAME|FILE|URL", type=option.LoadedBenchmark())
@option.folder("--data", required=True, help="Folder of the examples: <Task>/train.tsv and so on.")
@option.folder("--gold", help="Gold folder of the test splits, whose labels are hidden otherwise.")
@option.output
def lint(suite: Benchmark, data: str, gold: str | None, form: Form) -> None:
    """Look for leaks, duplicates, shortcuts and tests that are too small.

    Exits with 1 where something is an error.

    \b
    Example:
      gluebench benchmark lint ./mine.toml --data data/ --gold gold/
    """
    from gluebench.analysis.lint import lint_task, read_splits

    lints = []
    for task, splits in read_splits(data, suite, gold).items():
        notices([f"looking at {task}"])
        lints.append(lint_task(suite.task(task), splits))
    emit(lint_output(suite.name, lints), form)
    if any(finding.severity == "error" for report in lints for finding in report.findings):
        raise click.exceptions.Exit(WRONG_FILE)


PRIVATE = "Keep this report as private as the gold labels: it tells of them."


def lint_output(name: str, lints: Sequence[TaskLint]) -> Output:
    """The findings task by task."""
    totals: Counter[str] = Counter(finding.severity for lint in lints for finding in lint.findings)
    table = Table(
        ("", "check", "where", "finding", "what to do"),
        [Section([*map(_cells, lint.findings)], lint.task) for lint in lints],
        title=f"Lint of {name}",
        notes=[PRIVATE] if any(lint.private for lint in lints) else [],
    )
    fields = ("task", "severity", "check", "where", "number", "text", "advice", "rows")
    records = [
        (lint.task, *finding[:-1], "; ".join(finding.rows)) for lint in lints for finding in lint.findings
    ]
    data = {
        "schema": "gluebench.lint/1",
        "benchmark": name,
        "errors": totals["error"],
        "warnings": totals["warning"],
        "tasks": {lint.task: plain(lint.findings) for lint in lints},
    }
    errors, warnings, others = (counted(totals[kind], kind) for kind in ("error", "warning", "note"))
    return Output(data, [table], fields, records, [f"{errors}, {warnings} and {others}."])


def _cells(finding: Finding) -> tuple[str, ...]:
    rows = f" Rows: {'; '.join(finding.rows)}." if finding.rows else ""
    text = f"{finding.text[:1].upper()}{finding.text[1:]}.{rows}"
    return finding.severity, finding.check, finding.where, text, finding.advice
