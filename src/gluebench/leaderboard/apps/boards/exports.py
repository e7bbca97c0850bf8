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
    Options,
    Scheme,
    number_places,
    standings,
)
from gluebench.leaderboard.apps.boards.diagnostics import Category, ranked_entries
from gluebench.leaderboard.apps.boards.pages import read_page, read_systems
from gluebench.leaderboard.apps.boards.table import Row
from gluebench.leaderboard.apps.common.fields import LISTED, as_json
from gluebench.leaderboard.apps.common.formats import ENDS, percent
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.text import csv_text
from gluebench.leaderboard.apps.phases.models import whole
from gluebench.leaderboard.apps.ranks.places import (
    LEGEND,
    NOWHERE,
    BoardRanks,
    Place,
    not_different,
    read_ranks,
    system_json,
    unranked,
)
from gluebench.leaderboard.apps.submissions.facts import diagnosed, graded_again
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.report import fine_of
from gluebench.scoring.exports import Evaluated, aggregate
from gluebench.scoring.report import report_of
from gluebench.systems.reproduce.references import with_paper_systems

RANK = tuple(NOWHERE.as_json())
"""The columns of a row's place."""
_FIRST = ("name", "model", "team", "kind", "regime")
WORDS = tuple(dict.fromkeys([*_FIRST, *(field.name for field in LISTED if not field.is_numeric)]))
"""Text columns of the CSV export."""
NUMBERS = ("verified", *(field.name for field in LISTED if field.is_numeric), "earlier")
"""Its columns of numbers and flags; `earlier` counts the earlier submissions of the same people."""


def board_json(benchmark: Benchmark, scheme: Scheme, **part: Any) -> Values:
    """The board: columns, ranked rows, rows with rank null and why, published references.

    `part`: as in `read_systems`, for some of the rows, or for another rule.
    """
    record = with_paper_systems(benchmark.record)
    task = None if scheme.task is None else record.task(scheme.task.name)
    systems, order = read_systems(benchmark, scheme, **part)
    keys = {row.pk: row.key for row in standings(benchmark)}
    metrics = metric_ranks(benchmark, task) if task is not None else {}
    rows = []
    for row in systems:
        places = {
            name: ranks.places[row.system.pk]
            for name, ranks in metrics.items()
            if row.system.pk in ranks.places
        }
        rows.append({**row.place.as_json(), **_facts(row.entry), **_scores(row, task, places)})
    if part.get("pk") is not None and not order.another:
        score = "" if task is None else task.name
        for row, values in zip(systems, rows, strict=True):
            others = not_different(benchmark, score, row.system.pk)
            values["indistinguishable"] = None
            if others is not None:
                values["indistinguishable"] = [keys[pk] for pk in others if pk in keys]
    best = [keys[pk] for pk in order.ranks.best]
    if task is not None:  # an incomplete system has a rank by each task that it has
        return {
            **_head("task-board", benchmark, task, 2),
            "title": task.title,
            "metrics": [metric.name for metric in task.metrics],
            "test_labels": PRIVACY[task.private],
            "may_be_best": best,
            "rows": rows,
            "references": _references(task, task.name),
        }
    return {
        "schema": "gluebench.board/2",
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "version": benchmark.version,
        "graded_again": graded_again(benchmark),
        "ranked_by": order.rule,
        "may_be_best": best,
        "columns": [
            {
                "file": column.file,
                "task": column.task.name,
                "metrics": [metric.name for metric in column.metrics],
                "test_labels": PRIVACY[column.task.private],
            }
            for column in scheme.columns
        ],
        "rows": rows,
        "references": _references(record, None)
        + [reference for task in record.tasks for reference in _references(task, task.name)],
    }


def _scores(row: Row, task: Task | None, places: Mapping[str, Place]) -> Values:
    """The scores of a row: all, or those of one task, each metric with its place where there are several."""
    scores = row.entry["scores"]
    if task is None:
        return dict(scores)
    own = {name: scores["tasks"][task.name][name] for name in ("score", "metrics")}
    if places:
        own["metric_ranks"] = {name: place.as_json() for name, place in places.items()}
    return own


def metric_ranks(benchmark: Benchmark, task: Task) -> dict[str, BoardRanks]:
    """The ranks by each metric of a task that has several."""
    if len(task.metrics) < 2:
        return {}
    numbers, rows = number_places(benchmark.record), standings(benchmark)
    ranks = {}
    for metric in task.metrics:
        values = {row.pk: row.compared[numbers[task.name, metric.name]] for row in rows}
        ranks[metric.name] = read_ranks(benchmark, f"{task.name}/{metric.name}", values)
    return ranks


def diagnostics_json(benchmark: Benchmark, task: Task) -> Values:
    """A diagnostic set: each system's rank on the whole of it, and scores by phenomenon as in its report."""
    entries = diagnosed(benchmark, task)
    values = {
        entry["pk"]: None if entry["apart"] else entry["diagnostic"]["overall"]["value"] for entry in entries
    }
    places = read_ranks(benchmark, task.name, values).places
    return {
        **_head("diagnostics", benchmark, task, 2),
        "metrics": [metric.name for metric in task.metrics],
        "categories": {coarse: list(fine_of(task, coarse)) for coarse in task.coarse()},
        "rows": [
            {
                **places.get(entry["pk"], unranked(entry["apart"])).as_json(),
                **system_json(entry),
                "regime": entry["regime"],
                "diagnostic": entry["diagnostic"],
            }
            for entry in entries
        ],
        "references": _references(task, task.name),
    }


def phenomenon_json(benchmark: Benchmark, task: Task, category: Category) -> Values:
    """A phenomenon of a diagnostic set: its explanation, and each system's score in it."""
    about = explain(category.name)
    examples = about.examples if about else ()
    fields = ("first", "second", "forward", "backward")
    entries, shown = ranked_entries(benchmark, task, category)
    keys = {entry["pk"]: entry["key"] for entry in entries}
    return {
        **_head("phenomenon-board", benchmark, task, 2),
        "metric": task.metrics[0].name,
        "kind": category.kind,
        "phenomenon": category.name,
        "coarse": category.coarse,
        "about": about.words if about else None,
        "examples": [{name: getattr(pair, name) for name in fields} for pair in examples],
        "may_be_best": [keys[pk] for pk in shown["ranks"].best],
        "rows": [
            {**entry["place"].as_json(), **system_json(entry), "score": entry["number"]} for entry in entries
        ],
    }


def _head(schema: str, benchmark: Benchmark, task: Task, number: int) -> Values:
    """The first keys of each JSON view of a task; `number` is that of its schema."""
    return {
        "schema": f"gluebench.{schema}/{number}",
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "task": task.name,
    }


def _facts(entry: Facts) -> Values:
    """The fields of an entry: the author's, the organizers' marks, earlier entries and the date."""
    return {
        **system_json(entry),
        **as_json(entry.__getitem__, LISTED),
        **{name: entry[name] for name in ("kind", "verified", "reproduced", "earlier")},
        "submitted": entry["submitted"].isoformat(timespec="seconds"),
    }


def _references(published: Any, task: str | None) -> list[Values]:
    """The published rows of a benchmark, or of a task."""
    return [
        {"name": reference.name, "task": task, "scores": dict(reference.scores), "source": reference.source}
        for reference in published.references
    ]


def board_csv(benchmark: Benchmark, scheme: Scheme, options: Options = USUAL) -> str:
    """A row for each system, best first; numbers are fractions, as in reports."""
    measures = [f"{column.task.name}.{metric.name}" for column in scheme.columns for metric in column.metrics]
    names = [f"{measure}{end}" for measure in ("score", *measures) for end in ("", "_low", "_high")]

    def numbers(scores: Facts) -> Iterator[Facts | None]:
        yield scheme.score(scores)
        for column in scheme.columns:
            yield from column.numbers(scores)

    rows = (
        [
            *row.place.as_json().values(),
            *(str(row.entry[name]) for name in WORDS),
            *(row.entry[name] for name in NUMBERS),
            row.entry["submitted"].isoformat(timespec="seconds"),
            row.entry["key"],
            *(score and score[end] for score in numbers(row.entry["scores"]) for end in ENDS),
        ]
        for row in read_systems(benchmark, scheme, options=options)[0]
    )
    return csv_text([*RANK, *WORDS, *NUMBERS, "submitted", "key", *names], rows)


def latex_text(benchmark: Benchmark, scheme: Scheme, options: Options = USUAL) -> str:
    """A table for a paper, with the package booktabs; the best of each column is bold."""
    about = f"% {benchmark.title} leaderboard; needs \\usepackage{{booktabs}}\n% {LEGEND}\n"
    return about + to_latex(_table(benchmark, scheme, options))


def _table(benchmark: Benchmark, scheme: Scheme, options: Options) -> Table:
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


def markdown_text(benchmark: Benchmark, scheme: Scheme, options: Options = USUAL) -> str:
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
    title = (
        f"{submission.name} ({submission.model}): an entry of the {submission.benchmark.title} leaderboard"
    )
    score = (
        f"Score {percent(submission.value, submission.record.loss)}. " if submission.value is not None else ""
    )
    lines = [
        f"  author = {{{{{latex_escape(author)}}}}}",
        f"  title = {{{{{latex_escape(title)}}}}}",
        f"  year = {{{date.year}}}",
        f"  month = {date.strftime('%b').lower()}",
        f"  howpublished = {{\\url{{{address}}}}}",
        f"  note = {{{latex_escape(f'{score}Scored by gluebench')}}}",
    ]
    return f"@misc{{{submission.benchmark.name}-{submission.key},\n" + ",\n".join(lines) + "\n}\n"
