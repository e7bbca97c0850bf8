"""Several runs of one system as a table: each run's score, their mean, standard deviation and best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gluebench.benchmark import Benchmark, Task
from gluebench.cli.formats import Records
from gluebench.cli.output import Output, interval, percent
from gluebench.cli.report_view import titles
from gluebench.cli.tables import Section, Table
from gluebench.scoring import Report, Score, Spread, Summary

SCHEMA = "gluebench.runs/1"
COLUMNS = ("task", "metric", "runs", "mean [95 % interval]", "seeds", "sd", "best", "best run")


def runs_output(
    reports: Sequence[Report], summary: Summary, benchmark: Benchmark, *, sources: Sequence[str]
) -> Output:
    """The reports of several runs and their summary in every form."""
    data = {
        "schema": SCHEMA,
        "summary": summary.as_dict(),
        "runs": [
            {"source": source, "report": report.as_dict()}
            for source, report in zip(sources, reports, strict=True)
        ],
    }
    return Output(
        data, (_table(summary, benchmark, sources),), Records(_FIELDS, tuple(_records(reports, sources)))
    )


def _table(summary: Summary, benchmark: Benchmark, sources: Sequence[str]) -> Table:
    tasks = [row for task in benchmark.scored for row in _task_rows(summary, task, sources)]
    average = _row("macro-average", "", summary.score, sources)
    diagnostics = [
        _row(task.name, task.metrics[0].title, summary.diagnostics[task.name], sources)
        for task in benchmark.diagnostics
        if task.name in summary.diagnostics
    ]
    sections = [Section(tuple(tasks)), Section((average,)), Section(tuple(diagnostics))]
    return Table(
        columns=COLUMNS,
        sections=tuple(section for section in sections if section.rows),
        title=f"{benchmark.title}, {summary.split} split: {summary.runs} runs",
        right=frozenset({2, 4, 5, 6}),
        notes=tuple(_notes(summary)),
    )


def _task_rows(summary: Summary, task: Task, sources: Sequence[str]) -> Iterator[tuple[str, ...]]:
    spreads = summary.tasks.get(task.name, {})
    name = task.name
    for metric in task.metrics:
        if metric.name in spreads:
            yield _row(name, titles(task)[metric.name], spreads[metric.name], sources)
            name = ""
    if len(task.metrics) > 1 or not spreads:
        yield _row(name, "task score", spreads.get("score"), sources)


def _row(name: str, metric: str, spread: Spread | None, sources: Sequence[str]) -> tuple[str, ...]:
    if spread is None:
        return (name, metric, "0", "-", "", "-", "-", "")
    deviation = percent(spread.deviation)
    return (
        name,
        metric,
        str(spread.n),
        f"{percent(spread.mean)}{interval(spread.low, spread.high)}",
        "" if spread.seeds is None else f"{100 * spread.seeds:.0f} %",
        deviation,
        percent(spread.best),
        sources[spread.run],
    )


def _notes(summary: Summary) -> Iterator[str]:
    yield (
        "The interval is for other examples and other runs; seeds is the share of its variance that the runs "
        "make. sd is the standard deviation of the runs, with n - 1. The paper picks a run by its dev scores "
        "(section 6)."
    )
    if summary.score is None or summary.score.n < summary.runs:
        whole = 0 if summary.score is None else summary.score.n
        yield f"INCOMPLETE: {summary.runs - whole} of {summary.runs} runs have no macro-average."


_FIELDS = ("run", "task", "metric", "value", "low", "high", "n")


def _records(reports: Sequence[Report], sources: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The runs themselves: the summary is for a reader to take of them."""
    for source, report in zip(sources, reports, strict=True):
        for name, task in report.tasks.items():
            for metric, score in task.metrics.items():
                yield _record(score, source, task=name, metric=metric)
            yield _record(task.score, source, task=name, metric="score")
        yield _record(report.score, source, task="", metric="macro-average")
        for name, diagnostic in report.diagnostics.items():
            if diagnostic is not None:
                yield _record(diagnostic.overall, source, task=name, metric="overall")


def _record(score: Score | None, source: str, *, task: str, metric: str) -> tuple[object, ...]:
    values = score.as_dict() if score else {}
    return (source, task, metric, *(values.get(field) for field in _FIELDS[3:]))
