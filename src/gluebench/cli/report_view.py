"""A report as tables: a row per metric, the task scores, the macro-average, the diagnostics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gluebench.benchmark import Benchmark, Task
from gluebench.cli.formats import Records
from gluebench.cli.output import Output, interval, percent
from gluebench.cli.tables import Section, Table
from gluebench.scoring.report import DiagnosticReport, Report, Score, TaskReport

BETWEEN_MODELS = (
    "Compare systems within a category, never one system's categories with each other: the categories differ "
    "in their examples, and the paper warns against it (section 4)."
)
FIELDS = ("task", "metric", "breakdown", "category", "value", "low", "high", "n", "withheld", "covered")


def report_output(report: Report, benchmark: Benchmark, *, source: str) -> Output:
    """The report of one submission in every form."""
    tables = [_task_table(report, benchmark, source=source)]
    for task in benchmark.diagnostics:
        diagnostic = report.diagnostics.get(task.name)
        if diagnostic is not None:
            tables.append(_diagnostic_table(diagnostic, task))
    return Output(report.as_dict(), tuple(tables), Records(FIELDS, tuple(_records(report))))


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
    """The task score, where it is more than its one metric said again."""
    if result.score is None:
        yield ("", f"no task score, {missing_files(report, task)}", score_cell(None), "")
    elif len(task.metrics) > 1:
        yield ("", "task score", score_cell(result.score), "")


def _average_row(report: Report, benchmark: Benchmark) -> tuple[str, ...]:
    if report.score is None:
        there = sum(task.score is not None for task in report.tasks.values())
        return ("macro-average", f"none: {there} of {len(benchmark.scored)} tasks", score_cell(None), "")
    return (
        "macro-average",
        f"of {report.score.n} task{'s' * (report.score.n != 1)}",
        score_cell(report.score),
        "",
    )


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


def _records(report: Report) -> Iterator[tuple[object, ...]]:
    for name, task in report.tasks.items():
        for metric, score in task.metrics.items():
            yield _record(score, task=name, metric=metric)
        yield _record(task.score, task=name, metric="score")
    yield _record(report.score, metric="macro-average")
    for name, diagnostic in report.diagnostics.items():
        if diagnostic is None:
            continue
        yield _record(diagnostic.overall, task=name, breakdown="overall")
        parts = {"coarse": diagnostic.coarse, "fine": diagnostic.fine, **diagnostic.metadata}
        for breakdown, categories in parts.items():
            for category, score in categories.items():
                yield _record(score, task=name, breakdown=breakdown, category=category)


def _record(
    score: Score | None, *, task: str = "", metric: str = "", breakdown: str = "", category: str = ""
) -> tuple[object, ...]:
    values = score.as_dict() if score else {}
    return (task, metric, breakdown, category, *(values.get(field) for field in FIELDS[4:]))
