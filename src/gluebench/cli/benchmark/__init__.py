"""`gluebench benchmark`: what benchmarks there are, what one consists of, and how to make one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, installed, load_benchmark
from gluebench.benchmark.figures import counted, percent
from gluebench.benchmark.records import Metric, Reference, Split, Task, TestFile
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
@option.text("--task TASK", help="All that is known of one task, by its name or an alias.")
@option.output
def show(suite: Benchmark, task: str | None, form: Form) -> None:
    """Show a benchmark as Table 1 of the paper.

    \b
    Example:
      gluebench benchmark show glue --task sst2
    """
    emit(_task_output(suite, task) if task else _benchmark_output(suite), form)


def _benchmark_output(suite: Benchmark) -> Output:
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
    task = suite.task(name)
    rows = list(details(suite, task))
    table = Table(("what", "value"), [Section(rows)], title=f"{task.name}: {task.title}")
    return Output(plain(task), [table], ("what", "value"), rows)


HEADER = ("Corpus", "Train", "Test", "Task", "Metrics", "Domain")
STAR = "*"
"""Mark of a test set with private labels (bold type in the paper)."""
_PRIVACY = {True: "private", False: "public", None: ""}


def table_one(benchmark: Benchmark) -> dict[str, list[list[str]]]:
    """Table 1 of the paper, under HEADER: the rows of the tasks by section, "" for those without one."""
    sections: dict[str, list[list[str]]] = {}
    for task in benchmark.tasks:
        sections.setdefault(task.section, []).append(_row(task))
    return sections


def table_notes(benchmark: Benchmark) -> list[str]:
    """Notes for Table 1: its marks, the tasks that are not averaged, the benchmark's notes."""
    notes = []
    if any(task.private for task in benchmark.tasks):
        notes.append(f"{STAR} The test labels are private.")
    for task in benchmark.diagnostics:
        model = f", answered by the model for {task.predict_with}" if task.predict_with else ""
        notes.append(f"{task.name} is reported, not averaged{model}.")
    for task in benchmark.tasks:
        schemes = {metric.scheme for metric in task.metrics if metric.scheme}
        notes += [f"{task.name}: entities are read from tags in the scheme {scheme}." for scheme in schemes]
    if benchmark.rank_by != "mean":
        notes.append(f"Systems are ranked by {benchmark.rank_by}, not by the macro-average.")
    return notes + list(benchmark.notes)


def details(benchmark: Benchmark, task: Task) -> list[list[str]]:
    """The manifest's entries on a task, as rows of name and value; empty values have no row."""
    rows = [
        ["Task", f"{task.name}: {task.title}"],
        ["Benchmark", benchmark.title],
        ["Asks for", task.summary],
        ["Also called", ", ".join(task.aliases)],
        ["Domain", task.domain],
        ["Input", ", ".join(task.columns)],
        *_label_rows(task),
        ["Metrics", "; ".join(_metric(metric, task) for metric in task.metrics)],
        ["Counts in the average", _counts(task)],
        ["Predicted with", f"the model for {task.predict_with}" if task.predict_with else ""],
        ["Test labels", _PRIVACY[task.private]],
        *(["Split", f"{name}: {split.file}, {split.size:,} examples"] for name, split in task.splits.items()),
        *(row for file in task.files for row in _file_rows(file)),
        *_phenomenon_rows(task),
        ["Broken down by", ", ".join(task.metadata)],
        *(["Reference", _reference(reference, task)] for reference in task.references),
        ["Corpus", task.source.corpus],
        ["License", task.source.license],
        ["Citation", task.source.citation],
        ["Address", task.source.url],
        *(["Note", note] for note in task.notes),
    ]
    return [row for row in rows if row[1]]


def short_size(size: int) -> str:
    """A size as the paper prints it: exact below a thousand, 8.6k, 67k."""
    if size < 1000:
        return str(size)
    thousands = size / 1000
    return f"{thousands:.0f}k" if thousands >= 9.95 else f"{thousands:.1f}".removesuffix(".0") + "k"


def _row(task: Task) -> list[str]:
    test = _size(file.splits["test"] for file in task.files if "test" in file.splits)
    return [
        task.name,
        _size(split for split in task.splits.values() if split.name == "train"),
        test + STAR if task.private and test else test,
        task.summary,
        "/".join(metric.title for metric in task.metrics),
        task.domain,
    ]


def _size(splits: Iterable[Split]) -> str:
    total = sum(split.size for split in splits)
    return short_size(total) if total else ""


def _label_rows(task: Task) -> Iterator[list[str]]:
    if task.form not in ("labels", "numbers"):
        yield ["Answers", task.form]
    for label in task.labels:
        also = f" (also read: {', '.join(label.synonyms)})" if label.synonyms else ""
        meaning = f" = {label.gloss}" if label.gloss != label.word else ""
        yield ["Label", f"{label.word}{meaning}{also}"]
    yield ["Labels", ", ".join(task.vocabulary)]
    if task.score_range:
        yield ["Scores", "a number from {:g} to {:g}".format(*task.score_range)]


def _counts(task: Task) -> str:
    if not task.scored:
        return "no: reported beside it"
    if not task.weight:
        return "no"
    return "yes" if task.weight == 1 else f"yes, with the weight {task.weight:g}"


def _metric(metric: Metric, task: Task) -> str:
    of = f" of {metric.positive}" if metric.positive is not None else ""
    on = f" on {metric.file}" if len(task.files) > 1 else ""
    return f"{metric.name} ({metric.title}){of}{on}"


def _file_rows(file: TestFile) -> Iterator[list[str]]:
    predicted = " or ".join(dict.fromkeys(split.name for split in file.splits.values()))
    also = f"; also read: {', '.join(f'{name}.tsv' for name in file.synonyms)}" if file.synonyms else ""
    column = f", column {file.column}" if file.column else ""
    column = f", columns {', '.join(file.columns)}" if file.columns else column
    yield ["Submission file", f"{file.path}{column}, predictions for {predicted}{also}"]
    for version in file.other_versions:
        sizes = ", ".join(f"{role} {size:,}" for role, size in version.sizes.items())
        yield ["Other version", f"{version.name} ({sizes}): {version.note}"]


def _phenomenon_rows(task: Task) -> Iterator[list[str]]:
    for coarse in task.coarse():
        fine = ", ".join(phenomenon.name for phenomenon in task.phenomena if phenomenon.coarse == coarse)
        yield ["Phenomena", f"{coarse}: {fine}"]


def _reference(reference: Reference, task: Task) -> str:
    titles = {metric.name: metric.title for metric in task.metrics}
    losses = {metric.name for metric in task.metrics if metric.loss}
    scores = ", ".join(
        f"{titles[name]} {percent(score, name in losses)}" for name, score in reference.scores.items()
    )
    return f"{reference.name}: {scores} ({reference.source})"


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
