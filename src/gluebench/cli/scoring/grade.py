"""`gluebench grade`, and the tables of a report: every score of a submission with its interval."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import DOWN, counted, on_split, percent, points, with_interval
from gluebench.benchmark.tables import Column, Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option, table_option
from gluebench.cli.common.output import Form, Output, draw, emit, notices

if TYPE_CHECKING:
    from gluebench.scoring import Spread, Summary
    from gluebench.scoring.report import DiagnosticReport, Report, Score


@click.command
@click.argument("subs", metavar="SUB...", nargs=-1, required=True, callback=option.matching)
@labels_option
@table_option
@option.new_file("--out", help="Grade each SUB by itself, into a row of this .csv or .parquet file.")
@option.number("--workers", help="Processes for --out [one per core].", least=1)
@option.flag("--no-intervals", help="Scores alone.")
@option.flag("--classes", help="Also precision, recall and F1 of each class; as CSV, these alone.")
@option.flag("--paragraph", help="Also the scores in words, to paste into a paper.")
@option.plot("the scores with their intervals")
@inputs_options("Score what the gold covers")
@option.output
def grade(
    subs: tuple[str, ...],
    out: str | None,
    workers: int | None,
    no_intervals: bool,
    classes: bool,
    paragraph: bool,
    plot: str | None,
    inputs: Inputs,
    form: Form,
) -> None:
    """Grade a submission, or several runs of one system.

    With several SUBs: their mean with an interval over runs and examples together, its share that is due to
    the runs, their standard deviation and the best, as section 6 of the paper reports three runs. With
    --table, SUB is the name of a system in a table.

    With --out: a table of any number of systems; a SUB may be a folder of submissions. The same command
    again continues the table.

    \b
    Example:
      gluebench grade submission.zip --gold gold/
      gluebench grade submission.zip --gold gold/ --classes
      gluebench grade submissions/ --gold gold/ --out scores.csv
      gluebench grade dev-predictions/ --data data/ --split dev --plot scores.svg
    """
    from gluebench.scoring import grade as score
    from gluebench.scoring import grade_runs, summarize

    if (classes or paragraph) and (out is not None or len(subs) > 1):
        name = "--classes" if classes else "--paragraph"
        raise click.UsageError(f"{name} shows those of one SUB; grade each by itself.")
    if out is not None:
        if form or plot:
            raise click.UsageError("--out writes a table; it goes with no other form of output.")
        _grade_many(subs, out, workers, inputs, intervals=not no_intervals)
        return
    submissions = [inputs.submission(sub) for sub in subs]
    labels = inputs.labels()
    if len(subs) > 1 and not no_intervals:
        reports, summary = grade_runs(submissions, labels)
    else:
        reports = [score(submission, labels, intervals=not no_intervals) for submission in submissions]
        summary = summarize(reports)
    if len(reports) == 1:
        output = report_output(reports[0], inputs.manifest, source=subs[0], classes=classes)
        if paragraph:
            system = os.path.basename(os.path.normpath(subs[0])).removesuffix(".zip")
            words = reports[0].paragraph(inputs.manifest, system=system)
            output = output._replace(words=["", words])
        notices(f"warning: {warning}" for warning in reports[0].warnings)
        emit(output, form)
        draw(reports[0], plot)
        return
    for report in reports:
        notices(f"warning: {warning}" for warning in report.warnings)
    emit(runs_output(reports, summary, inputs.manifest, sources=subs), form)
    draw(summary, plot)


def _grade_many(
    subs: Sequence[str], out: str, workers: int | None, inputs: Inputs, *, intervals: bool
) -> None:
    from collections import Counter
    from concurrent.futures.process import BrokenProcessPool

    from gluebench.cli.common.progress import Progress
    from gluebench.scoring.many import grade_many, submissions_in

    paths = submissions_in(subs, inputs.manifest, inputs.split)
    progress = Progress("Graded", "submissions")
    try:
        rows = grade_many(
            paths, inputs.labels(), out=out, intervals=intervals, workers=workers, progress=progress
        )
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise click.UsageError(str(error)) from None
    except BrokenProcessPool:
        message = "A process ended unexpectedly, such as for lack of memory. Finished rows are kept."
        raise click.ClickException(f"{message} Run the command again, with fewer --workers.") from None
    verdicts = Counter(row["verdict"] for row in rows)
    counts = ", ".join(f"{verdicts[verdict]:,} {verdict}" for verdict in ("valid", "incomplete", "invalid"))
    notices([f"{out}: {counts}"])


BETWEEN_MODELS = (
    "Compare systems within a category, never one system's categories with each other: the categories differ "
    "in their examples, and the GLUE paper warns against it (section 4)."
)


CLASS_NOTE = (
    "support is how often gold has the class. - is undefined, and 0 in an average over classes. For an "
    "interval, name the precision, recall or f1 of a label as a metric of the task."
)


def print_report(
    report: Report,
    benchmark: Benchmark,
    *,
    source: str,
    form: Form,
    only: Collection[str] | None = None,
) -> None:
    """Print the report of one submission, its warnings on standard error, as `report_output` has it."""
    notices(f"warning: {warning}" for warning in report.warnings)
    emit(report_output(report, benchmark, source=source, only=only), form)


def report_output(
    report: Report,
    benchmark: Benchmark,
    *,
    source: str,
    only: Collection[str] | None = None,
    classes: bool = False,
) -> Output:
    """The report of one submission in every form; `only` leaves other tasks out of the table.

    With `classes`, a table of the classes is added, and the CSV has these alone.
    """
    from gluebench.scoring.report import FIELDS

    tables = [_task_table(report, benchmark, source=source, only=only)]
    for task in benchmark.diagnostics:
        diagnostic = report.diagnostics.get(task.name)
        if diagnostic is not None:
            tables.append(_diagnostic_table(diagnostic, task))
    if classes:
        table = _class_table(report)
        tables.append(table)
        return Output(report.as_dict(), tables, table.names, table.rows)
    return Output(report.as_dict(), tables, FIELDS, report.records())


def _class_table(report: Report) -> Table:
    sections = []
    for file, scores in report.as_dict()["classes"].items():
        rows = []
        for name, score in scores.items():
            rows.append([file, name] + list(score.values()))
        sections.append(Section(rows, file))
    columns = [Column("file", for_people=False), Column("class", show=lambda name: name or "(no name)")]
    columns += [numeric(title, percent, name=title.lower()) for title in ("precision", "recall", "F1")]
    columns += [numeric("support"), numeric("predicted")]
    return Table(
        columns,
        sections=sections,
        title="By class",
        notes=[CLASS_NOTE] if sections else ["No test file here has classes."],
    )


def score_cell(score: Score | None) -> str:
    """A score as "84.8 [83.0, 86.4]"; "-" for None; why an interval is withheld in parentheses."""
    if score is None:
        return "    -"
    cell = with_interval(score.value, score.low, score.high, score.loss, score.withheld)
    return " " * (5 - len(percent(score.value, score.loss))) + cell


def _task_table(report: Report, benchmark: Benchmark, *, source: str, only: Collection[str] | None) -> Table:
    shown = [task for task in benchmark.scored if only is None or task.name in only]
    rows: list[tuple[object, ...]] = []
    for task in shown:
        rows += _task_rows(report, task)
    average = (_heading("macro-average", benchmark.loss), _over(report, benchmark), report.score, None)
    notes: list[str] = []
    if len(shown) == len(benchmark.scored):
        notes += _notes(report, benchmark)
    heading = "score [95 % interval]" if _has_intervals(report) else "score"
    return Table(
        ("task", "metric", Column(heading, show=score_cell), numeric("n")),
        sections=[Section(rows), Section([average])],
        title=f"{on_split(benchmark.title, report.split, report.provenance)}: {source}",
        notes=notes,
    )


def _heading(name: str, loss: bool) -> str:
    """The name of a score, marked where lower is better."""
    return name + DOWN if loss else name


def _has_intervals(report: Report) -> bool:
    for task in report.tasks.values():
        if any(score.low is not None for score in task.metrics.values()):
            return True
    return False


def _over(report: Report, benchmark: Benchmark) -> str:
    """What the macro-average is of."""
    if report.score is None:
        scored = sum(report.tasks[task.name].score is not None for task in benchmark.averaged)
        return f"none: {scored} of {len(benchmark.averaged)} tasks"
    if len(benchmark.averaged) < len(benchmark.scored):
        return f"of {', '.join(task.name for task in benchmark.averaged)}"
    return f"of {counted(report.score.n, 'task')}"


def _task_rows(report: Report, task: Task) -> Iterator[tuple[object, ...]]:
    """A row for each metric, then the task score unless it equals the only metric."""
    result = report.tasks.get(task.name)
    missing = [file.path for file in task.files if file.name in report.missing]
    if missing:
        reason = f"missing: {', '.join(missing)}"
    elif task.averaged:
        reason = "no gold labels"
    else:
        reason = "not submitted, or without gold labels"
    if result is None or not result.metrics:
        yield (task.name, reason, None, None)
        return
    names = titles(task)
    name = task.name
    for metric, score in result.metrics.items():
        yield (name, names.get(metric, metric), score, score.n)
        name = ""
    if result.score is None:
        yield ("", f"no task score, {reason}", None, None)
    elif len(task.metrics) > 1:
        yield ("", _heading("task score", task.loss), result.score, None)


def titles(task: Task) -> Mapping[str, str]:
    """Metric name to its heading."""
    return {metric.name: metric.title for metric in task.metrics}


def _notes(report: Report, benchmark: Benchmark) -> Iterator[str]:
    if not report.complete:
        names = ", ".join(task.name for task in benchmark.averaged if report.tasks[task.name].score is None)
        yield f"INCOMPLETE: no macro-average without a score for {names}."
    for name, task in report.tasks.items():
        shares = {score.covered for score in task.metrics.values() if score.covered is not None}
        for share in sorted(shares):
            yield f"{name}: gold for {percent(share)} % of the examples only."


def _diagnostic_table(diagnostic: DiagnosticReport, task: Task) -> Table:
    scores = {(kind, name): score for kind, name, score in diagnostic.parts()}
    sections = []
    for entries in [[("overall", "", "overall")]] + categories(task, diagnostic.metadata):
        rows = []
        for kind, name, text in entries:
            if (kind, name) in scores:
                score = scores[kind, name]
                rows.append((text, score, score.n))
        if rows:
            sections.append(Section(rows))
    return Table(
        ("category", Column(task.metrics[0].title, show=score_cell), numeric("n")),
        sections=sections,
        title=f"{task.name}: {task.title}",
        notes=[BETWEEN_MODELS],
    )


def categories(task: Task, metadata: Mapping[str, Iterable[str]]) -> list[list[tuple[str, str, str]]]:
    """Kind, name and text of each category of a diagnostic set, by section.

    Coarse phenomena, each with its fine ones, then the values of the metadata columns.
    """
    sections = []
    for coarse in task.coarse():
        section = [("coarse", coarse, coarse)]
        for entry in task.phenomena:
            if entry.coarse == coarse:
                section.append(("fine", entry.name, f"  {entry.name}"))
        sections.append(section)
    for column, names in metadata.items():
        sections.append([(column, name, f"{column}: {name}") for name in names])
    return sections


RUNS_SCHEMA = "gluebench.runs/1"
RUN_COLUMNS = (
    "task",
    "metric",
    numeric("runs"),
    "mean [95 % interval]",
    numeric("seeds"),
    numeric("sd"),
    numeric("best"),
    "best run",
)


RUN_FIELDS = ("run", "task", "metric", "value", "low", "high", "n")


def runs_output(
    reports: Sequence[Report], summary: Summary, benchmark: Benchmark, *, sources: Sequence[str]
) -> Output:
    """The reports of several runs and their summary in every form; CSV has only the runs."""
    runs = list(zip(sources, reports, strict=True))
    data = {
        "schema": RUNS_SCHEMA,
        "summary": summary.as_dict(),
        "runs": [{"source": source, "report": report.as_dict()} for source, report in runs],
    }
    return Output(data, [_runs_table(summary, benchmark, sources)], RUN_FIELDS, _run_records(runs))


def _runs_table(summary: Summary, benchmark: Benchmark, sources: Sequence[str]) -> Table:
    tasks: list[tuple[str, ...]] = []
    for task in benchmark.scored:
        tasks += _spread_rows(summary, task, sources)
    average = _spread_row(_heading("macro-average", benchmark.loss), "", summary.score, sources)
    diagnostics = []
    for task in benchmark.diagnostics:
        if task.name in summary.diagnostics:
            spread = summary.diagnostics[task.name]
            diagnostics.append(_spread_row(task.name, task.metrics[0].title, spread, sources))
    notes = [
        "The interval is for other examples and other runs; seeds is the share of its variance that the runs "
        "make. sd is the standard deviation of the runs, with n - 1. The paper picks a run by its dev scores "
        "(section 6)."
    ]
    if summary.runs == 2:
        notes.append(
            "Two runs are too few: the interval covers 95, 91 and 88 % where they make a quarter, half and "
            "three quarters of its variance. Use three or more."
        )
    unscored = summary.runs - (0 if summary.score is None else summary.score.n)
    if unscored:
        notes.append(f"INCOMPLETE: {unscored} of {summary.runs} runs have no macro-average.")
    return Table(
        RUN_COLUMNS,
        sections=[Section(rows) for rows in (tasks, [average], diagnostics) if rows],
        title=f"{benchmark.title}, {summary.split} split: {summary.runs} runs",
        notes=notes,
    )


def _spread_rows(summary: Summary, task: Task, sources: Sequence[str]) -> Iterator[tuple[str, ...]]:
    spreads = summary.tasks.get(task.name, {})
    name = task.name
    for metric in task.metrics:
        if metric.name in spreads:
            yield _spread_row(name, titles(task)[metric.name], spreads[metric.name], sources)
            name = ""
    if len(task.metrics) > 1 or not spreads:
        yield _spread_row(name, _heading("task score", task.loss), spreads.get("score"), sources)


def _spread_row(name: str, metric: str, spread: Spread | None, sources: Sequence[str]) -> tuple[str, ...]:
    from gluebench.scoring.summary import spread_words

    if spread is None:
        return (name, metric, "0", "-", "", "-", "-", "")
    return (
        name,
        metric,
        str(spread.n),
        spread_words(spread),
        "" if spread.seeds is None else f"{100 * spread.seeds:.0f} %",
        points(spread.deviation, spread.loss),
        percent(spread.best, spread.loss),
        sources[spread.run],
    )


def _run_records(runs: Sequence[tuple[str, Report]]) -> Iterator[dict[str, object]]:
    """The scores of each run, without the categories of diagnostic sets."""
    for source, report in runs:
        for row in report.records():
            if "category" not in row:
                yield {"run": source, "metric": row.get("breakdown"), **row}
