"""A comparison as one table: a row per metric with both values, the difference and its test."""

from __future__ import annotations

from collections.abc import Iterator

from gluebench.analysis import Comparison
from gluebench.analysis.comparison import TaskComparison
from gluebench.analysis.differences import Difference
from gluebench.benchmark import Benchmark, Task
from gluebench.cli.formats import Records
from gluebench.cli.output import Output, interval, percent
from gluebench.cli.report_view import titles
from gluebench.cli.tables import Section, Table

FIELDS = ("task", "metric", "a", "b", "difference", "low", "high", "p", "adjusted", "test", "n", "same")
COLUMNS = ("task", "metric", "A", "B", "A - B [95 % interval]", "p", "p (Holm)", "test")
_BLANK = ("", "", "-", "-", "-", "", "", "")


def comparison_output(comparison: Comparison, benchmark: Benchmark) -> Output:
    """The comparison in every form."""
    tasks, apart = comparison.tasks, comparison.diagnostics
    sections = [
        Section(tuple(row for task in benchmark.scored for row in _rows(tasks.get(task.name), task))),
        Section((_average_row(comparison),)),
        Section(tuple(row for task in benchmark.diagnostics for row in _rows(apart.get(task.name), task))),
    ]
    table = Table(
        columns=COLUMNS,
        sections=tuple(section for section in sections if section.rows),
        title=f"{benchmark.title}, {comparison.split} split. A: {comparison.a}. B: {comparison.b}.",
        right=frozenset({2, 3, 5, 6}),
        notes=tuple(_notes(comparison)),
    )
    records = Records(FIELDS, tuple(_records(comparison)))
    return Output(comparison.as_dict(), (table,), records, words=("", *comparison.words))


def _notes(comparison: Comparison) -> Iterator[str]:
    if comparison.left_out:
        yield f"Left out: {', '.join(comparison.left_out)}. The average is not the benchmark's macro-average."


def _rows(part: TaskComparison | None, task: Task) -> Iterator[tuple[str, ...]]:
    if part is None:
        return
    name = task.name
    single = len(task.metrics) == 1
    for metric, difference in part.metrics.items():
        shown = part.score if single and part.score else difference
        yield (name, titles(task).get(metric, metric), *_cells(shown))
        name = ""
    if not single:
        yield ("", "task score", *_cells(part.score))


def _average_row(comparison: Comparison) -> tuple[str, ...]:
    count = len(comparison.over)
    return ("average", f"of {count} task{'s' * (count != 1)}", *_cells(comparison.overall))


def _cells(difference: Difference | None) -> tuple[str, ...]:
    if difference is None:
        return _BLANK[2:]
    return (
        percent(difference.a),
        percent(difference.b),
        f"{percent(difference.difference):>5}{interval(difference.low, difference.high)}",
        p_cell(difference.p),
        "" if difference.adjusted is None else p_cell(difference.adjusted),
        difference.test,
    )


def p_cell(p: float) -> str:
    """A p-value with three decimals, never shown as zero."""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _records(comparison: Comparison) -> Iterator[tuple[object, ...]]:
    for name, part in (*comparison.tasks.items(), *comparison.diagnostics.items()):
        for metric, difference in part.metrics.items():
            yield _record(difference, task=name, metric=metric)
        if part.score is not None:
            yield _record(part.score, task=name, metric="score")
    if comparison.overall is not None:
        yield _record(comparison.overall, task="", metric="average")


def _record(difference: Difference, *, task: str, metric: str) -> tuple[object, ...]:
    values = difference.as_dict()
    return (task, metric, *(values.get(field) for field in FIELDS[2:]))
