"""Boards and diagnostic sets for programs: JSON views and CSV; a board as LaTeX and Markdown; citations."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from django.core.files.storage import storages

from gluebench.analysis.diagnostics.paper import explain
from gluebench.benchmark import Task
from gluebench.benchmark.figures import DOWN
from gluebench.benchmark.tables import Best, Column, Table, latex_escape, numeric, to_latex, to_markdown
from gluebench.data.croissant import PublishedFile, croissant
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.boards.columns import (
    PRIVACY,
    USUAL,
    BoardOptions,
    BoardScheme,
    ScoreColumn,
    board_entries,
    number_places,
)
from gluebench.leaderboard.apps.boards.diagnostics import Category, page_of_entries
from gluebench.leaderboard.apps.boards.pages import read_page, read_systems
from gluebench.leaderboard.apps.boards.table import BoardRow
from gluebench.leaderboard.apps.common.fields import LISTED, as_json
from gluebench.leaderboard.apps.common.formats import ENDS, percent
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.text import csv_text
from gluebench.leaderboard.apps.phases.models import whole
from gluebench.leaderboard.apps.ranks.places import (
    LEGEND,
    NOWHERE,
    BoardRanks,
    RankWithSet,
    no_rank,
    not_different,
    read_ranks,
    system_json,
)
from gluebench.leaderboard.apps.submissions.facts import count_regrading, entries_with_diagnostic
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.report import fine_of
from gluebench.scoring.exports import Evaluated, aggregate
from gluebench.scoring.report import report_of
from gluebench.systems.reproduce.references import with_paper_systems

RANK = tuple(NOWHERE.as_json())
"""The columns of a row's place."""
_FIRST = ["name", "model", "team", "kind", "regime"]
_TEXT_FIELDS = [field.name for field in LISTED if not field.is_numeric]
_NUMERIC_FIELDS = [field.name for field in LISTED if field.is_numeric]
WORDS = list(dict.fromkeys(_FIRST + _TEXT_FIELDS))
"""Text columns of the CSV export."""
NUMBERS = ["verified"] + _NUMERIC_FIELDS + ["earlier"]
"""Its columns of numbers and flags; `earlier` counts the earlier submissions of the same people."""


def board_json(benchmark: Benchmark, scheme: BoardScheme, **part: Any) -> Values:
    """The board: columns, ranked rows, rows with rank null and why, published references.

    `part`: as in `read_systems`, for some of the rows, or for another rule.
    """
    record = with_paper_systems(benchmark.record)
    task = None
    metrics: Mapping[str, BoardRanks] = {}
    if scheme.task is not None:
        task = record.task(scheme.task.name)
        metrics = metric_ranks(benchmark, task)

    systems, order = read_systems(benchmark, scheme, **part)
    rows = []
    for row in systems:
        # An incomplete system has a rank by each task that it has.
        places = {}
        for name, ranks in metrics.items():
            if row.system.pk in ranks.places:
                places[name] = ranks.places[row.system.pk]
        rows.append(row.place.as_json() | _facts(row.entry) | _scores(row, task, places))

    keys = {row.pk: row.key for row in board_entries(benchmark)}
    if part.get("pk") is not None and not order.another:
        score = "" if task is None else task.name
        for row, values in zip(systems, rows, strict=True):
            others = not_different(benchmark, score, row.system.pk)
            values["indistinguishable"] = None
            if others is not None:
                values["indistinguishable"] = [keys[pk] for pk in others if pk in keys]
    best = [keys[pk] for pk in order.ranks.best]

    if task is not None:
        return {
            **_head("task-board/2", benchmark, task),
            "title": task.title,
            "metrics": [metric.name for metric in task.metrics],
            "test_labels": PRIVACY[task.private],
            "may_be_best": best,
            "rows": rows,
            "references": _references(task, task.name),
        }
    references = _references(record, None)
    for task in record.tasks:
        references += _references(task, task.name)
    return {
        "schema": "gluebench.board/2",
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "version": benchmark.version,
        "graded_again": count_regrading(benchmark),
        "ranked_by": order.rule,
        "may_be_best": best,
        "columns": [_column_json(column) for column in scheme.columns],
        "rows": rows,
        "references": references,
    }


def _column_json(column: ScoreColumn) -> Values:
    return {
        "file": column.file,
        "task": column.task.name,
        "metrics": [metric.name for metric in column.metrics],
        "test_labels": PRIVACY[column.task.private],
    }


def _scores(row: BoardRow, task: Task | None, places: Mapping[str, RankWithSet]) -> Values:
    """The scores of a row: all, or those of one task, each metric with its place where there are several."""
    scores = row.entry["scores"]
    if task is None:
        return dict(scores)
    of_task = scores["tasks"][task.name]
    own = {"score": of_task["score"], "metrics": of_task["metrics"]}
    if places:
        own["metric_ranks"] = {name: place.as_json() for name, place in places.items()}
    return own


def metric_ranks(benchmark: Benchmark, task: Task) -> dict[str, BoardRanks]:
    """The ranks by each metric of a task that has several."""
    if len(task.metrics) < 2:
        return {}
    positions = number_places(benchmark.record)
    ranks = {}
    for metric in task.metrics:
        position = positions[task.name, metric.name]
        values = {row.pk: row.comparable_numbers[position] for row in board_entries(benchmark)}
        ranks[metric.name] = read_ranks(benchmark, f"{task.name}/{metric.name}", values)
    return ranks


def diagnostics_json(benchmark: Benchmark, task: Task) -> Values:
    """A diagnostic set: each system's rank on the whole of it, and scores by phenomenon as in its report."""
    entries = entries_with_diagnostic(benchmark, task)
    values = {}
    for entry in entries:
        values[entry["pk"]] = entry["diagnostic"]["overall"]["value"]
        if entry["apart"]:  # its number is not compared with those of others
            values[entry["pk"]] = None
    places = read_ranks(benchmark, task.name, values).places

    rows = []
    for entry in entries:
        place = places.get(entry["pk"], no_rank(entry["apart"]))
        scores = {"regime": entry["regime"], "diagnostic": entry["diagnostic"]}
        rows.append(place.as_json() | system_json(entry) | scores)
    return {
        **_head("diagnostics/2", benchmark, task),
        "metrics": [metric.name for metric in task.metrics],
        "categories": {coarse: list(fine_of(task, coarse)) for coarse in task.coarse()},
        "rows": rows,
        "references": _references(task, task.name),
    }


def phenomenon_json(benchmark: Benchmark, task: Task, category: Category) -> Values:
    """A phenomenon of a diagnostic set: its explanation, and each system's score in it."""
    about = explain(category.name)
    examples = []
    if about is not None:
        for pair in about.examples:
            sentences = {"first": pair.first, "second": pair.second}
            examples.append(sentences | {"forward": pair.forward, "backward": pair.backward})

    entries, shown = page_of_entries(benchmark, task, category)
    keys = {entry["pk"]: entry["key"] for entry in entries}
    rows = []
    for entry in entries:
        rows.append(entry["place"].as_json() | system_json(entry) | {"score": entry["number"]})
    return {
        **_head("phenomenon-board/2", benchmark, task),
        "metric": task.metrics[0].name,
        "kind": category.kind,
        "phenomenon": category.name,
        "coarse": category.coarse,
        "about": about.words if about else None,
        "examples": examples,
        "may_be_best": [keys[pk] for pk in shown["ranks"].best],
        "rows": rows,
    }


def _head(schema: str, benchmark: Benchmark, task: Task) -> Values:
    """The first keys of each JSON view of a task; `schema` has its number."""
    return {
        "schema": f"gluebench.{schema}",
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "task": task.name,
    }


def _facts(entry: Facts) -> Values:
    """The fields of an entry: the author's, the organizers' marks, earlier entries and the date."""
    facts = system_json(entry) | as_json(entry.__getitem__, LISTED)
    for name in ("kind", "verified", "reproduced", "earlier"):
        facts[name] = entry[name]
    facts["submitted"] = entry["submitted"].isoformat(timespec="seconds")
    return facts


def _references(published: Any, task: str | None) -> list[Values]:
    """The published rows of a benchmark, or of a task."""
    return [
        {"name": reference.name, "task": task, "scores": dict(reference.scores), "source": reference.source}
        for reference in published.references
    ]


def board_csv(benchmark: Benchmark, scheme: BoardScheme, options: BoardOptions = USUAL) -> str:
    """A row for each system, best first; numbers are fractions, as in reports."""
    measures = ["score"]
    for column in scheme.columns:
        measures += [f"{column.task.name}.{metric.name}" for metric in column.metrics]
    head = list(RANK) + WORDS + NUMBERS + ["submitted", "key"]
    for measure in measures:
        head += [measure, f"{measure}_low", f"{measure}_high"]

    systems, _ = read_systems(benchmark, scheme, options=options)
    return csv_text(head, [_csv_row(scheme, row) for row in systems])


def _csv_row(scheme: BoardScheme, row: BoardRow) -> list[Any]:
    """The cells of a system: its place, its fields, then each score and the ends of its interval."""
    entry = row.entry
    scores = [scheme.score(entry["scores"])]
    for column in scheme.columns:
        scores += column.numbers(entry["scores"])

    cells: list[Any] = list(row.place.as_json().values())
    cells += [str(entry[name]) for name in WORDS]
    cells += [entry[name] for name in NUMBERS]
    cells += [entry["submitted"].isoformat(timespec="seconds"), entry["key"]]
    for score in scores:
        cells += [score and score[end] for end in ENDS]
    return cells


def latex_text(benchmark: Benchmark, scheme: BoardScheme, options: BoardOptions = USUAL) -> str:
    """A table for a paper, with the package booktabs; the best of each column is bold."""
    about = f"% {benchmark.title} leaderboard; needs \\usepackage{{booktabs}}\n% {LEGEND}\n"
    return about + to_latex(_table(benchmark, scheme, options))


def _table(benchmark: Benchmark, scheme: BoardScheme, options: BoardOptions) -> Table:
    """The board that these options leave: rank, system, model, score, then the tasks by section."""
    board = read_page(benchmark, scheme, options, one_page=True)
    columns = [numeric("Rank"), Column("Name"), Column("Model"), numeric(f"Score{DOWN * board.scheme.loss}")]
    for column in board.scheme.columns:
        columns.append(Column(column.title, is_number=True, group=column.task.section))
    rows = []
    for row in board.rows:
        model = f"({row.entry['source']})" if row.reference else row.entry["model"]
        if row.note:
            model = f"{model} ({row.note})"
        cells = [Best(cell.text) if cell.best else cell.text for cell in row.cells]
        rows.append([row.place.text, row.entry["name"], model, row.score.text] + cells)
    return Table(columns, rows)


def markdown_text(benchmark: Benchmark, scheme: BoardScheme, options: BoardOptions = USUAL) -> str:
    """A Markdown table with pipes."""
    return to_markdown(_table(benchmark, scheme, options))


FORMATS: dict[str, Callable[..., Any]] = {
    "json": board_json,
    "csv": board_csv,
    "tex": latex_text,
    "md": markdown_text,
}
"""What makes a board for programs, of the benchmark, the scheme and, where they are named, `options`."""


def eee_json(submission: Submission, address: str) -> Values:
    """The record of Every Eval Ever of a submission that `is_exported`; `address` is that of its page."""
    leaderboard = f"{submission.benchmark.title} leaderboard"
    about = Evaluated(
        submission.model_id,
        submission.team or leaderboard,
        submission.evaluator,
        name=submission.model,
        source=leaderboard,
        url=address,
    )
    time = submission.finished or submission.submitted
    report = report_of(submission.report or {})
    return aggregate(report, submission.record, about, at=time.timestamp())


def croissant_json(benchmark: Benchmark, address: str) -> Values:
    """The data that its page offers, as Croissant; `address` is the absolute URL of the board."""
    benchmark = whole(benchmark)
    return croissant(benchmark.record, _published_files(benchmark, address), url=f"{address}/data")


def _published_files(benchmark: Benchmark, address: str) -> Iterator[PublishedFile]:
    for file in benchmark.data_files.exclude(task=""):
        with storages["data"].open(file.file) as opened:
            labeled = opened.readline().rstrip().endswith(b"\tlabel")
        url = f"{address}/data/{quote(file.path)}"
        yield PublishedFile(file.path, url, file.task, file.split, file.rows, file.sha256, labeled)


def citation(submission: Submission, address: str) -> str:
    """The BibTeX record of an entry as it is now; `address` is the absolute URL of its page."""
    date = submission.submitted
    author = submission.team or submission.name
    system = f"{submission.name} ({submission.model})"
    title = f"{system}: an entry of the {submission.benchmark.title} leaderboard"
    note = "Scored by gluebench"
    if submission.value is not None:
        note = f"Score {percent(submission.value, submission.record.loss)}. {note}"
    lines = [
        f"  author = {{{{{latex_escape(author)}}}}}",
        f"  title = {{{{{latex_escape(title)}}}}}",
        f"  year = {{{date.year}}}",
        f"  month = {date.strftime('%b').lower()}",
        f"  howpublished = {{\\url{{{address}}}}}",
        f"  note = {{{latex_escape(note)}}}",
    ]
    return f"@misc{{{submission.benchmark.name}-{submission.key},\n" + ",\n".join(lines) + "\n}\n"
