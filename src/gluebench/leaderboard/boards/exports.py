"""A board as a file: CSV for programs, LaTeX and Markdown as the page shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.live import live
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.columns import Scheme, ranked, scheme_of
from gluebench.leaderboard.boards.options import Options
from gluebench.leaderboard.boards.pages import read_page
from gluebench.leaderboard.boards.table import Row, Table
from gluebench.leaderboard.boards.views import task_or_404
from gluebench.leaderboard.common.escapes import csv_text, latex, markdown_cell
from gluebench.leaderboard.common.page_cache import CSV, cached
from gluebench.leaderboard.fields import LISTED
from gluebench.leaderboard.submissions.entries import entries_of

_FIRST = ("name", "model", "team", "kind", "regime")
WORDS = tuple(dict.fromkeys([*_FIRST, *(field.name for field in LISTED if not field.is_numeric)]))
"""Columns of what people wrote."""
NUMBERS = ("verified", *(field.name for field in LISTED if field.is_numeric), "earlier")
HEAD = ("rank", *WORDS, *NUMBERS, "submitted", "key", "score", "score_low", "score_high")


def board_csv(benchmark: Benchmark, scheme: Scheme) -> str:
    """A row for each system, best first; numbers are fractions, as in reports."""
    measures = [(column.task.name, metric.name) for column in scheme.columns for metric in column.metrics]
    names = [f"{task}.{metric}{end}" for task, metric in measures for end in ("", "_low", "_high")]
    rows = (
        [rank, *_facts(entry, scheme), *_numbers(entry, measures)]
        for rank, entry in ranked(scheme, entries_of(benchmark))
    )
    return csv_text([*HEAD, *names], rows)


def _facts(entry: Mapping[str, Any], scheme: Scheme) -> Iterator[Any]:
    yield from (str(entry[name]) for name in WORDS)
    yield from (entry[name] for name in NUMBERS)
    yield entry["submitted"].isoformat(timespec="seconds")
    yield entry["key"]
    yield from _ends(scheme.score(entry["scores"]))


def _numbers(entry: Mapping[str, Any], measures: Sequence[tuple[str, str]]) -> Iterator[Any]:
    for task, metric in measures:
        found = entry["scores"]["tasks"].get(task) or {"metrics": {}}
        yield from _ends(found["metrics"].get(metric))


def _ends(score: Mapping[str, Any] | None) -> tuple[Any, Any, Any]:
    return (score["value"], score["low"], score["high"]) if score else (None, None, None)


def latex_text(benchmark: Benchmark, scheme: Scheme) -> str:
    """A table for a paper, with the package booktabs; the highest of each column is bold."""
    table = _whole(benchmark, scheme)
    lines = [f"% {benchmark.title} leaderboard; needs \\usepackage{{booktabs}}"]
    lines += [rf"\begin{{tabular}}{{rllr{'r' * len(table.columns)}}}", r"\toprule"]
    if any(section.title for section in table.sections):
        spans = [rf"\multicolumn{{{each.columns}}}{{c}}{{{latex(each.title)}}}" for each in table.sections]
        lines.append(" & & & & " + " & ".join(spans) + r" \\")
    heads = ["Rank", "Name", "Model", "Score", *(latex(column.title) for column in table.columns)]
    lines += [" & ".join(heads) + r" \\", r"\midrule"]
    lines += [
        " & ".join(_texts(row, latex, latex, r"\textbf{%s}")) + r" \\"
        for group in table.groups
        for row in group.rows
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _texts(row: Row, words: Callable[[str], str], number: Callable[[str], str], bold: str) -> list[str]:
    """A row's cells; `bold` has %s for the number of the highest of a column."""
    model = f"({row.entry['source']})" if row.reference else row.entry["model"]
    texts = [str(row.rank or ""), words(row.entry["name"]), words(model), number(row.score.text)]
    return texts + [bold % number(cell.text) if cell.best else number(cell.text) for cell in row.cells]


def markdown_text(benchmark: Benchmark, scheme: Scheme) -> str:
    """A pipe table."""
    table = _whole(benchmark, scheme)
    heads = ["Rank", "Name", "Model", "Score", *(markdown_cell(column.title) for column in table.columns)]
    lines = [_piped(heads), _piped(["--:", ":--", ":--", *["--:"] * (len(heads) - 3)])]
    lines += [
        _piped(_texts(row, markdown_cell, str, "**%s**")) for group in table.groups for row in group.rows
    ]
    return "\n".join([*lines, ""])


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _whole(benchmark: Benchmark, scheme: Scheme) -> Table:
    return read_page(benchmark, scheme, Options(), whole=True).table


def _rows(table: Table) -> list[Row]:
    return [row for group in table.groups for row in group.rows]


FORMATS: dict[str, tuple[Callable[[Benchmark, Scheme], str], str]] = {
    "csv": (board_csv, CSV),
    "tex": (latex_text, "application/x-tex; charset=utf-8"),
    "md": (markdown_text, "text/markdown; charset=utf-8"),
}


@require_safe
def export(request: HttpRequest, name: str, ending: str, task: str = "") -> HttpResponse:
    """The board as a file to download; anybody may."""
    found = live(name)
    write, content_type = FORMATS[ending]

    def make() -> str:
        benchmark = found.benchmark()
        wanted = task_or_404(benchmark.record, task, scored=True) if task else None
        return write(benchmark, scheme_of(benchmark.record, wanted))

    return cached(
        request,
        name=f"export {name} {task} {ending}",
        version=found.version,
        make=make,
        content_type=content_type,
        filename=f"{name}-{task}.{ending}" if task else f"{name}.{ending}",
    )
