"""A board as a file: JSON and CSV for programs, LaTeX and Markdown as the page shows it; and citations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards import json_views
from gluebench.leaderboard.boards.columns import Scheme, ranked
from gluebench.leaderboard.boards.options import Options
from gluebench.leaderboard.boards.pages import Board, read_page
from gluebench.leaderboard.boards.table import Row
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.common.page_cache import CSV, JSON
from gluebench.leaderboard.common.text import csv_text, latex, markdown_cell
from gluebench.leaderboard.fields import LISTED
from gluebench.leaderboard.ranks.charts import ENDS
from gluebench.leaderboard.submissions.entries import entries_of
from gluebench.leaderboard.submissions.models import Submission

_FIRST = ("name", "model", "team", "kind", "regime")
WORDS = tuple(dict.fromkeys([*_FIRST, *(field.name for field in LISTED if not field.is_numeric)]))
"""Columns of what people wrote."""
NUMBERS = ("verified", *(field.name for field in LISTED if field.is_numeric), "earlier")


def board_csv(benchmark: Benchmark, scheme: Scheme) -> str:
    """A row for each system, best first; numbers are fractions, as in reports."""
    measures = [f"{column.task.name}.{metric.name}" for column in scheme.columns for metric in column.metrics]
    names = [f"{measure}{end}" for measure in ("score", *measures) for end in ("", "_low", "_high")]
    rows = (
        [
            rank,
            *(str(entry[name]) for name in WORDS),
            *(entry[name] for name in NUMBERS),
            entry["submitted"].isoformat(timespec="seconds"),
            entry["key"],
            *(score and score[end] for score in _scores(entry["scores"], scheme) for end in ENDS),
        ]
        for rank, entry in ranked(scheme, entries_of(benchmark))
    )
    return csv_text(["rank", *WORDS, *NUMBERS, "submitted", "key", *names], rows)


def _scores(scores: Mapping[str, Any], scheme: Scheme) -> list[Mapping[str, Any] | None]:
    """The number that ranks, then those of the columns."""
    return [scheme.score(scores), *(score for column in scheme.columns for score in column.found(scores))]


def latex_text(benchmark: Benchmark, scheme: Scheme) -> str:
    """A table for a paper, with the package booktabs; the highest of each column is bold."""
    board = _whole(benchmark, scheme)
    lines = [f"% {benchmark.title} leaderboard; needs \\usepackage{{booktabs}}"]
    lines += [rf"\begin{{tabular}}{{rllr{'r' * len(board.columns)}}}", r"\toprule"]
    if any(title for title, _ in board.sections):
        spans = [rf"\multicolumn{{{span}}}{{c}}{{{latex(title)}}}" for title, span in board.sections]
        lines.append(" & & & & " + " & ".join(spans) + r" \\")
    heads = ["Rank", "Name", "Model", "Score", *(latex(column.title) for column in board.columns)]
    lines += [" & ".join(heads) + r" \\", r"\midrule"]
    lines += [" & ".join(_texts(row, latex, latex, r"\textbf{%s}")) + r" \\" for row in board.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _texts(row: Row, words: Callable[[str], str], number: Callable[[str], str], bold: str) -> list[str]:
    """A row's cells; `bold` has %s for the number of the highest of a column."""
    model = f"({row.entry['source']})" if row.reference else row.entry["model"]
    texts = [str(row.rank or ""), words(row.entry["name"]), words(model), number(row.score.text)]
    return texts + [bold % number(cell.text) if cell.best else number(cell.text) for cell in row.cells]


def markdown_text(benchmark: Benchmark, scheme: Scheme) -> str:
    """A pipe board."""
    board = _whole(benchmark, scheme)
    heads = ["Rank", "Name", "Model", "Score", *(markdown_cell(column.title) for column in board.columns)]
    lines = [_piped(heads), _piped(["--:", ":--", ":--", *["--:"] * (len(heads) - 3)])]
    lines += [_piped(_texts(row, markdown_cell, str, "**%s**")) for row in board.rows]
    return "\n".join([*lines, ""])


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _whole(benchmark: Benchmark, scheme: Scheme) -> Board:
    return read_page(benchmark, scheme, Options(), whole=True)


def json_text(benchmark: Benchmark, scheme: Scheme) -> str:
    """All of it, with what pages leave out."""
    return json.dumps(json_views.board(benchmark, scheme))


FORMATS: dict[str, tuple[Callable[[Benchmark, Scheme], str], str]] = {
    "json": (json_text, JSON),
    "csv": (board_csv, CSV),
    "tex": (latex_text, "application/x-tex; charset=utf-8"),
    "md": (markdown_text, "text/markdown; charset=utf-8"),
}


def citation(submission: Submission, address: str) -> str:
    """A BibTeX record of an entry as it stands now; `address` is the full one of its page."""
    when = submission.submitted
    who = submission.team or submission.name
    title = (
        f"{submission.name} ({submission.model}): an entry of the {submission.benchmark.title} leaderboard"
    )
    score = f"Score {percent(submission.value)}. " if submission.value is not None else ""
    lines = [
        f"  author = {{{{{latex(who)}}}}}",
        f"  title = {{{{{latex(title)}}}}}",
        f"  year = {{{when.year}}}",
        f"  month = {when.strftime('%b').lower()}",
        f"  howpublished = {{\\url{{{address}}}}}",
        f"  note = {{{latex(f'{score}Scored by gluebench')}}}",
    ]
    return f"@misc{{{submission.benchmark.name}-{submission.key},\n" + ",\n".join(lines) + "\n}\n"
