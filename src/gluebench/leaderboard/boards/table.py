"""A board as the paper's Figure 1: which rows a page has, by search, sort and groups, and their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator

from gluebench.analysis.rank.order import best, board_order
from gluebench.benchmark import Benchmark
from gluebench.benchmark.records import Reference
from gluebench.leaderboard.boards.columns import ROOM, WIDTHS, Column, Scheme, Section, sections_of
from gluebench.leaderboard.boards.options import Options
from gluebench.leaderboard.common.formats import ABSENT, margin_text, percent, score_text
from gluebench.leaderboard.ranks.order import Place
from gluebench.leaderboard.submissions.models import Regime

REFERENCES = "For reference"


class Line(NamedTuple):
    """What is known of a row to find its place."""

    name: str
    model: str
    text: str
    """What a search looks into, casefolded."""
    regime: str
    """Empty for a reference."""
    score: float | None
    values: tuple[float | None, ...]
    """The first number of each column."""
    pk: int = 0
    """Of a submission."""
    rank: int | None = None
    row: Row | None = None
    """What a page shows of a reference."""


class Layout(NamedTuple):
    """One page."""

    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    """Titles and lines; the ranked list is one group without a title."""
    found: int
    """Systems that the search found; all, where nothing is searched for."""
    page: Page[tuple[str, Line]]


def arrange(lines: Sequence[Line], names: Sequence[str], options: Options, rows: int | None = None) -> Layout:
    """The page that the options ask for, or the nearest there is; `names` are the columns' sort names."""
    found = [line for line in lines if all(word in line.text for word in options.words)]
    ordered = _ordered(found, names, options)
    titled = _by_regime(ordered) if options.grouped else [("", line) for line in ordered]
    page = Paginator(titled, rows or max(len(titled), 1)).get_page(options.page)
    grouped = groupby(page.object_list, key=lambda each: each[0])
    groups = tuple((title, tuple(line for _, line in group)) for title, group in grouped)
    systems = sum(line.row is None for line in found)
    return Layout(groups, systems, page)


def _ordered(lines: Sequence[Line], names: Sequence[str], options: Options) -> list[Line]:
    """The lines in order: ties by score, then as they came, references after systems they equal."""
    by_score = [lines[at] for at in board_order([line.score for line in lines])]
    if options.sort in ("name", "model"):
        return sorted(
            by_score, key=lambda line: getattr(line, options.sort).casefold(), reverse=options.turned
        )
    values = [line.score for line in by_score]
    if options.sort:
        values = [line.values[names.index(options.sort)] for line in by_score]
    return [by_score[at] for at in board_order(values, lowest_first=options.rising)]


def _by_regime(lines: Sequence[Line]) -> list[tuple[str, Line]]:
    """Table 4's groups in its order, references last."""
    titles = {str(regime.value): str(regime.label) for regime in Regime} | {"": REFERENCES}
    return [(title, line) for regime, title in titles.items() for line in lines if line.regime == regime]


class Cell(NamedTuple):
    """One column of one row, ready to show."""

    text: str
    interval: str = ""
    best: bool = False


class Row(NamedTuple):
    """One system, or one reference, with its cells in column order."""

    rank: int | None
    entry: Mapping[str, Any]
    """The submission's values; of a reference its name and its source."""
    score: Cell
    cells: tuple[Cell, ...]
    reference: bool = False
    complete: bool = True
    place: Place | None = None
    """Its rank with ties and interval, where that is computed."""


class Group(NamedTuple):
    """Rows under one heading; the ranked list is one group without a title."""

    title: str
    rows: tuple[Row, ...]


class Table(NamedTuple):
    """A board, or a page of one."""

    sections: tuple[Section, ...]
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    systems: int
    """Systems on the whole board."""

    @property
    def fits(self) -> bool:
        """Whether a desktop shows all columns side by side, as it does GLUE's ten."""
        return sum(WIDTHS[column.kind] for column in self.columns) <= ROOM

    @property
    def divided(self) -> tuple[str, ...]:
        """The tasks that have several columns and count once."""
        files = Counter(column.task.name for column in self.columns)
        return tuple(name for name, number in files.items() if number > 1)

    @property
    def two_metrics(self) -> bool:
        """Whether some task is scored by more than one metric."""
        return any(len(column.task.metrics) > 1 for column in self.columns)


def fill(
    scheme: Scheme,
    layout: Layout,
    entries: Mapping[int, Mapping[str, Any]],
    *,
    systems: int,
    bests: Sequence[float | None],
    places: Mapping[int, Place],
) -> Table:
    """The rows of a page. `entries` has its submissions; one that went since is passed over."""
    groups = tuple(
        Group(
            title,
            tuple(
                line.row or _row(scheme, line, entries[line.pk], bests, places.get(line.pk))
                for line in lines
                if line.row or line.pk in entries
            ),
        )
        for title, lines in layout.groups
    )
    return Table(sections_of(scheme.columns), scheme.columns, groups, systems)


def bests(values: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The highest first number of each column."""
    return [best(column) for column in zip(*values, strict=True)]


def _row(
    scheme: Scheme,
    line: Line,
    entry: Mapping[str, Any],
    highest: Sequence[float | None],
    place: Place | None,
) -> Row:
    scores = entry["scores"]
    cells = tuple(
        _cell(column.found(scores), high) for column, high in zip(scheme.columns, highest, strict=True)
    )
    score = scheme.score(scores)
    shown = Cell(score_text(score), margin_text(score))
    complete = bool(scores["complete"]) or scheme.task is not None
    return Row(line.rank, entry, shown, cells, complete=complete, place=place)


def _cell(scores: Sequence[Mapping[str, Any] | None], highest: float | None) -> Cell:
    if not any(scores):
        return Cell(percent(None))
    intervals = [margin_text(score) or ABSENT for score in scores]
    shown = " / ".join(intervals) if any(text != ABSENT for text in intervals) else ""
    first = scores[0]
    leads = highest is not None and first is not None and first["value"] == highest
    return Cell("/".join(map(score_text, scores)), shown, leads)


def references_of(benchmark: Benchmark, scheme: Scheme) -> list[Line]:
    """The published rows: those of the benchmark, filled with those of its tasks of the same name."""
    tasks = benchmark.scored if scheme.task is None else (scheme.task,)
    whole = {each.name: each for each in benchmark.references} if scheme.task is None else {}
    by_task: dict[str, dict[str, Reference]] = {name: {} for name in whole}
    for task in tasks:
        for each in task.references:
            by_task.setdefault(each.name, {})[task.name] = each
    return [_reference(scheme, name, whole.get(name), found) for name, found in by_task.items()]


def _reference(scheme: Scheme, name: str, own: Reference | None, by_task: Mapping[str, Reference]) -> Line:
    sources = dict.fromkeys(each.source for each in (own, *by_task.values()) if each)
    scores = {task: each.scores for task, each in by_task.items()}
    values = [
        [scores.get(column.task.name, {}).get(metric.name) for metric in column.metrics]
        for column in scheme.columns
    ]
    if scheme.task is None:
        score = own.scores.get("score") if own else None
    else:  # the score of a task with one metric is that metric
        first, *others = scheme.task.metrics
        score = None if others else scores[scheme.task.name].get(first.name)
    entry = {"name": name, "source": "; ".join(sources)}
    cells = tuple(Cell("/".join(map(percent, each)) if set(each) - {None} else ABSENT) for each in values)
    row = Row(None, entry, Cell(percent(score)), cells, reference=True)
    return Line(name, "", name.casefold(), "", score, tuple(each[0] for each in values), row=row)
