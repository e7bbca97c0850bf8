"""`gluebench benchmark`: what benchmarks there are, what one consists of, and how to make one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, installed, load_benchmark
from gluebench.benchmark.figures import counted, percent
from gluebench.benchmark.records import Metric, Reference, Split, Task, TestFile
from gluebench.benchmark.tables import Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.lazy import LazyGroup
from gluebench.cli.common.output import Form, Output, emit, notices, plain

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
    rows = []
    for suite in map(load_benchmark, installed()):
        rows.append((suite.name, suite.title, len(suite.scored), len(suite.diagnostics)))
    table = Table(("name", "title", numeric("tasks"), numeric("diagnostic")), rows)
    emit(Output({"benchmarks": table.records()}, [table]), form)


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
    title = suite.title
    if suite.description:
        title = f"{title}. {suite.description}"
    table = Table(
        HEADER,
        sections=[Section(rows, heading) for heading, rows in sections.items()],
        title=title,
        notes=table_notes(suite),
    )
    return Output(plain(suite), [table])


def _task_output(suite: Benchmark, name: str) -> Output:
    task = suite.task(name)
    table = Table(("what", "value"), details(suite, task), title=f"{task.name}: {task.title}")
    return Output(plain(task), [table])


HEADER = ("Corpus", numeric("Train"), numeric("Test"), "Task", "Metrics", "Domain")
STAR = "*"
"""Mark of a test set with private labels (bold type in the paper)."""
_PRIVACY = {True: "private", False: "public", None: ""}


def table_one(benchmark: Benchmark) -> dict[str, list[list[str]]]:
    """Table 1 of the paper, under HEADER: the rows of the tasks by section, "" for those without one."""
    sections: dict[str, list[list[str]]] = {}
    for task in benchmark.tasks:
        sections.setdefault(task.section, []).append(_task_row(task))
    return sections


def table_notes(benchmark: Benchmark) -> list[str]:
    """Notes for Table 1: its marks, the tasks that are not averaged, the benchmark's notes."""
    notes = []
    if any(task.private for task in benchmark.tasks):
        notes.append(f"{STAR} The test labels are private.")
    for task in benchmark.diagnostics:
        note = f"{task.name} is reported, not averaged"
        if task.predict_with:
            note += f", answered by the model for {task.predict_with}"
        notes.append(f"{note}.")
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
    ]
    rows += _label_rows(task)
    rows.append(["Metrics", "; ".join(_metric(metric, task) for metric in task.metrics)])
    rows.append(["Counts in the average", _counts(task)])
    if task.predict_with:
        rows.append(["Predicted with", f"the model for {task.predict_with}"])
    rows.append(["Test labels", _PRIVACY[task.private]])
    for name, split in task.splits.items():
        rows.append(["Split", f"{name}: {split.file}, {split.size:,} examples"])
    for file in task.files:
        rows += _file_rows(file)
    rows += _phenomenon_rows(task)
    rows.append(["Broken down by", ", ".join(task.metadata)])
    rows += [["Reference", _reference(reference, task)] for reference in task.references]
    rows += [
        ["Corpus", task.source.corpus],
        ["License", task.source.license],
        ["Citation", task.source.citation],
        ["Address", task.source.url],
    ]
    rows += [["Note", note] for note in task.notes]
    return [row for row in rows if row[1]]


def short_size(size: int) -> str:
    """A size as the paper prints it: exact below a thousand, 8.6k, 67k."""
    if size < 1000:
        return str(size)
    thousands = size / 1000
    if thousands >= 9.95:
        return f"{thousands:.0f}k"
    return f"{thousands:.1f}".removesuffix(".0") + "k"


def _task_row(task: Task) -> list[str]:
    train = _size(split for split in task.splits.values() if split.name == "train")
    test = _size(file.splits["test"] for file in task.files if "test" in file.splits)
    if test and task.private:
        test += STAR
    metrics = "/".join(metric.title for metric in task.metrics)
    return [task.name, train, test, task.summary, metrics, task.domain]


def _size(splits: Iterable[Split]) -> str:
    total = sum(split.size for split in splits)
    if not total:
        return ""
    return short_size(total)


def _label_rows(task: Task) -> Iterator[list[str]]:
    if task.form not in ("labels", "numbers"):
        yield ["Answers", task.form]
    for label in task.labels:
        text = label.word
        if label.gloss != label.word:
            text += f" = {label.gloss}"
        if label.synonyms:
            text += f" (also read: {', '.join(label.synonyms)})"
        yield ["Label", text]
    yield ["Labels", ", ".join(task.vocabulary)]
    if task.score_range:
        yield ["Scores", "a number from {:g} to {:g}".format(*task.score_range)]


def _counts(task: Task) -> str:
    if not task.scored:
        return "no: reported beside it"
    if not task.weight:
        return "no"
    if task.weight == 1:
        return "yes"
    return f"yes, with the weight {task.weight:g}"


def _metric(metric: Metric, task: Task) -> str:
    text = f"{metric.name} ({metric.title})"
    if metric.positive is not None:
        text += f" of {metric.positive}"
    if len(task.files) > 1:
        text += f" on {metric.file}"
    return text


def _file_rows(file: TestFile) -> Iterator[list[str]]:
    text = file.path
    if file.columns:
        text += f", columns {', '.join(file.columns)}"
    elif file.column:
        text += f", column {file.column}"
    predicted = " or ".join(dict.fromkeys(split.name for split in file.splits.values()))
    text += f", predictions for {predicted}"
    if file.synonyms:
        text += f"; also read: {', '.join(f'{name}.tsv' for name in file.synonyms)}"
    yield ["Submission file", text]
    for version in file.other_versions:
        sizes = ", ".join(f"{role} {size:,}" for role, size in version.sizes.items())
        yield ["Other version", f"{version.name} ({sizes}): {version.note}"]


def _phenomenon_rows(task: Task) -> Iterator[list[str]]:
    for coarse in task.coarse():
        fine = ", ".join(phenomenon.name for phenomenon in task.phenomena if phenomenon.coarse == coarse)
        yield ["Phenomena", f"{coarse}: {fine}"]


def _reference(reference: Reference, task: Task) -> str:
    metrics = {metric.name: metric for metric in task.metrics}
    scores = []
    for name, score in reference.scores.items():
        scores.append(f"{metrics[name].title} {percent(score, metrics[name].loss)}")
    return f"{reference.name}: {', '.join(scores)} ({reference.source})"


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
    for report in lints:
        if any(finding.severity == "error" for finding in report.findings):
            raise click.exceptions.Exit(WRONG_FILE)


PRIVATE = "Keep this report as private as the gold labels: it tells of them."


def lint_output(name: str, lints: Sequence[TaskLint]) -> Output:
    """The findings task by task."""
    totals: Counter[str] = Counter()
    sections = []
    records = []
    for lint in lints:
        cells = []
        for finding in lint.findings:
            totals[finding.severity] += 1
            cells.append(_finding_row(finding))
            record = {"task": lint.task, **finding._asdict()}
            record["rows"] = "; ".join(finding.rows)
            records.append(record)
        sections.append(Section(cells, lint.task))
    table = Table(
        ("", "check", "where", "finding", "what to do"),
        sections=sections,
        title=f"Lint of {name}",
        notes=[PRIVATE] if any(lint.private for lint in lints) else [],
    )
    fields = ("task", "severity", "check", "where", "number", "text", "advice", "rows")
    data = {
        "schema": "gluebench.lint/1",
        "benchmark": name,
        "errors": totals["error"],
        "warnings": totals["warning"],
        "tasks": {lint.task: plain(lint.findings) for lint in lints},
    }
    errors = counted(totals["error"], "error")
    warnings = counted(totals["warning"], "warning")
    others = counted(totals["note"], "note")
    return Output(data, [table], fields, records, [f"{errors}, {warnings} and {others}."])


def _finding_row(finding: Finding) -> tuple[str, ...]:
    text = f"{finding.text[:1].upper()}{finding.text[1:]}."
    if finding.rows:
        text += f" Rows: {'; '.join(finding.rows)}."
    return finding.severity, finding.check, finding.where, text, finding.advice
