"""A report as tables: metrics, task scores, macro-average, diagnostics; and the reports of several runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gluebench.cli.common.output import Output, Records, Section, Table, interval, percent

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task
    from gluebench.scoring import Spread, Summary
    from gluebench.scoring.report import DiagnosticReport, Report, Score, TaskReport

BETWEEN_MODELS = (
    "Compare systems within a category, never one system's categories with each other: the categories differ "
    "in their examples, and the paper warns against it (section 4)."
)


def report_output(report: Report, benchmark: Benchmark, *, source: str) -> Output:
    """The report of one submission in every form."""
    from gluebench.scoring.report import FIELDS

    tables = [_task_table(report, benchmark, source=source)]
    for task in benchmark.diagnostics:
        diagnostic = report.diagnostics.get(task.name)
        if diagnostic is not None:
            tables.append(_diagnostic_table(diagnostic, task))
    return Output(report.as_dict(), tuple(tables), Records.of(FIELDS, report.records()))


def score_cell(score: Score | None) -> str:
    """A score as "84.8 [83.0, 86.4]", or why there is none."""
    if score is None:
        return "    -"
    withheld = f" ({score.withheld})" if score.withheld else ""
    return f"{percent(score.value):>5}{interval(score.low, score.high)}{withheld}"


def titles(task: Task) -> Mapping[str, str]:
    """Metric name to the heading it goes under."""
    return {metric.name: metric.title for metric in task.metrics}


def missing_files(report: Report, task: Task) -> str:
    """What a task without a score lacks."""
    absent = [f"{file.name}.tsv" for file in task.files if file.name in report.missing]
    return f"missing: {', '.join(absent)}" if absent else "no gold labels"


def _task_table(report: Report, benchmark: Benchmark, *, source: str) -> Table:
    rows = [row for task in benchmark.scored for row in _task_rows(report, task)]
    return Table(
        columns=("task", "metric", _score_heading(report), "n"),
        sections=(Section(tuple(rows)), Section((_average_row(report, benchmark),))),
        title=f"{benchmark.title}, {report.split} split: {source}",
        right=frozenset({3}),
        notes=tuple(_notes(report, benchmark)),
    )


def _score_heading(report: Report) -> str:
    scores = [score for task in report.tasks.values() for score in task.metrics.values()]
    return "score [95 % interval]" if any(score.low is not None for score in scores) else "score"


def _task_rows(report: Report, task: Task) -> Iterator[tuple[str, ...]]:
    result = report.tasks.get(task.name)
    if result is None or not result.metrics:
        yield (task.name, missing_files(report, task), score_cell(None), "")
        return
    name = task.name
    for metric, score in result.metrics.items():
        yield (name, titles(task).get(metric, metric), score_cell(score), str(score.n))
        name = ""
    yield from _task_score_row(report, task, result)


def _task_score_row(report: Report, task: Task, result: TaskReport) -> Iterator[tuple[str, ...]]:
    """The task score, unless it equals the task's only metric."""
    if result.score is None:
        yield ("", f"no task score, {missing_files(report, task)}", score_cell(None), "")
    elif len(task.metrics) > 1:
        yield ("", "task score", score_cell(result.score), "")


def _average_row(report: Report, benchmark: Benchmark) -> tuple[str, ...]:
    if report.score is None:
        there = sum(task.score is not None for task in report.tasks.values())
        return ("macro-average", f"none: {there} of {len(benchmark.scored)} tasks", score_cell(None), "")
    tasks = f"of {report.score.n} task{'s' * (report.score.n != 1)}"
    return ("macro-average", tasks, score_cell(report.score), "")


def _notes(report: Report, benchmark: Benchmark) -> Iterator[str]:
    if not report.complete:
        names = ", ".join(name for name, task in report.tasks.items() if task.score is None)
        yield f"INCOMPLETE: no macro-average without a score for {names}."
    for name, task in report.tasks.items():
        covered = {score.covered for score in task.metrics.values() if score.covered is not None}
        for share in sorted(covered):
            yield f"{name}: gold for {percent(share)} % of the examples only."


def _diagnostic_table(diagnostic: DiagnosticReport, task: Task) -> Table:
    sections = [Section((("overall", score_cell(diagnostic.overall), str(diagnostic.overall.n)),))]
    for coarse, score in diagnostic.coarse.items():
        fine = [phenomenon.name for phenomenon in task.phenomena if phenomenon.coarse == coarse]
        rows = [_category_row(coarse, score)]
        rows += [
            _category_row(f"  {name}", diagnostic.fine[name]) for name in fine if name in diagnostic.fine
        ]
        sections.append(Section(tuple(rows)))
    for column, values in diagnostic.metadata.items():
        rows = [_category_row(f"{column}: {name}", score) for name, score in values.items()]
        sections.append(Section(tuple(rows)))
    metric = task.metrics[0].title
    return Table(
        columns=("category", metric, "n"),
        sections=tuple(section for section in sections if section.rows),
        title=f"{task.name}: {task.title}",
        right=frozenset({2}),
        notes=(BETWEEN_MODELS,),
    )


def _category_row(name: str, score: Score) -> tuple[str, ...]:
    return (name, score_cell(score), str(score.n))


RUNS_SCHEMA = "gluebench.runs/1"
RUN_COLUMNS = ("task", "metric", "runs", "mean [95 % interval]", "seeds", "sd", "best", "best run")


def runs_output(
    reports: Sequence[Report], summary: Summary, benchmark: Benchmark, *, sources: Sequence[str]
) -> Output:
    """The reports of several runs and their summary in every form."""
    data = {
        "schema": RUNS_SCHEMA,
        "summary": summary.as_dict(),
        "runs": [
            {"source": source, "report": report.as_dict()}
            for source, report in zip(sources, reports, strict=True)
        ],
    }
    return Output(
        data,
        (_runs_table(summary, benchmark, sources),),
        Records.of(RUN_FIELDS, _run_records(reports, sources)),
    )


def _runs_table(summary: Summary, benchmark: Benchmark, sources: Sequence[str]) -> Table:
    tasks = [row for task in benchmark.scored for row in _spread_rows(summary, task, sources)]
    average = _spread_row("macro-average", "", summary.score, sources)
    diagnostics = [
        _spread_row(task.name, task.metrics[0].title, summary.diagnostics[task.name], sources)
        for task in benchmark.diagnostics
        if task.name in summary.diagnostics
    ]
    sections = [Section(tuple(tasks)), Section((average,)), Section(tuple(diagnostics))]
    return Table(
        columns=RUN_COLUMNS,
        sections=tuple(section for section in sections if section.rows),
        title=f"{benchmark.title}, {summary.split} split: {summary.runs} runs",
        right=frozenset({2, 4, 5, 6}),
        notes=tuple(_runs_notes(summary)),
    )


def _spread_rows(summary: Summary, task: Task, sources: Sequence[str]) -> Iterator[tuple[str, ...]]:
    spreads = summary.tasks.get(task.name, {})
    name = task.name
    for metric in task.metrics:
        if metric.name in spreads:
            yield _spread_row(name, titles(task)[metric.name], spreads[metric.name], sources)
            name = ""
    if len(task.metrics) > 1 or not spreads:
        yield _spread_row(name, "task score", spreads.get("score"), sources)


def _spread_row(name: str, metric: str, spread: Spread | None, sources: Sequence[str]) -> tuple[str, ...]:
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


def _runs_notes(summary: Summary) -> Iterator[str]:
    yield (
        "The interval is for other examples and other runs; seeds is the share of its variance that the runs "
        "make. sd is the standard deviation of the runs, with n - 1. The paper picks a run by its dev scores "
        "(section 6)."
    )
    if summary.score is None or summary.score.n < summary.runs:
        whole = 0 if summary.score is None else summary.score.n
        yield f"INCOMPLETE: {summary.runs - whole} of {summary.runs} runs have no macro-average."


RUN_FIELDS = ("run", "task", "metric", "value", "low", "high", "n")


def _run_records(reports: Sequence[Report], sources: Sequence[str]) -> Iterator[dict[str, object]]:
    """The runs themselves: the summary is for a reader to take of them."""
    from gluebench.scoring.report import record

    for source, report in zip(sources, reports, strict=True):
        for name, task in report.tasks.items():
            for metric, score in task.metrics.items():
                yield record(score, run=source, task=name, metric=metric)
            yield record(task.score, run=source, task=name, metric="score")
        yield record(report.score, run=source, task="", metric="macro-average")
        for name, diagnostic in report.diagnostics.items():
            if diagnostic is not None:
                yield record(diagnostic.overall, run=source, task=name, metric="overall")
