"""A board as the paper's Figure 1: which rows a page has, by search, sort and groups, and their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

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


class Layout(NamedTuple):
    """One page."""

    groups: tuple[tuple[str, tuple[int, ...]], ...]
    """Title and positions of lines; the ranked list is one group without a title."""
    found: int
    """Systems that the search found; all, where nothing is searched for."""
    first: int
    last: int
    """Which of the found rows the page has, from 1."""
    rows: int
    page: int
    pages: int


def arrange(lines: Sequence[Line], names: Sequence[str], options: Options, rows: int | None = None) -> Layout:
    """The page that the options ask for, or the nearest there is; `names` are the columns' sort names."""
    found = [at for at, line in enumerate(lines) if all(word in line.text for word in options.words)]
    ordered = _ordered(lines, found, names, options)
    titled = _by_regime(lines, ordered) if options.grouped else [("", at) for at in ordered]
    size = rows or max(len(titled), 1)
    pages = max(-(-len(titled) // size), 1)
    page = min(options.page, pages)
    start = (page - 1) * size
    shown = titled[start : start + size]
    groups = tuple(
        (title, tuple(at for _, at in group)) for title, group in groupby(shown, key=lambda each: each[0])
    )
    systems = sum(1 for at in found if lines[at].regime)
    first = start + 1 if shown else 0
    return Layout(groups, systems, first, start + len(shown), len(titled), page, pages)


def _ordered(
    lines: Sequence[Line], found: Sequence[int], names: Sequence[str], options: Options
) -> list[int]:
    """The lines found, in order: ties by score, then as they came, references after systems they equal."""
    by_score = [found[at] for at in board_order([lines[at].score for at in found])]
    if options.sort in ("name", "model"):
        text = {at: getattr(lines[at], options.sort).casefold() for at in by_score}
        return sorted(by_score, key=lambda at: text[at], reverse=options.turned)
    if not options.sort:
        values = [lines[at].score for at in by_score]
    else:
        column = names.index(options.sort)
        values = [lines[at].values[column] for at in by_score]
    return [by_score[at] for at in board_order(values, lowest_first=options.rising)]


def _by_regime(lines: Sequence[Line], ordered: Sequence[int]) -> list[tuple[str, int]]:
    """Table 4's groups in its order, references last."""
    titles = {str(regime.value): str(regime.label) for regime in Regime} | {"": REFERENCES}
    return [(title, at) for regime, title in titles.items() for at in ordered if lines[at].regime == regime]


class Cell(NamedTuple):
    """One column of one row, ready to show."""

    text: str
    interval: str = ""
    best: bool = False


class Row(NamedTuple):
    """One system, or one reference, with its cells in column order."""

    rank: int | None
    entry: Mapping[str, Any]
    """The submission's values; of a reference its name, its source and its numbers."""
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
    def references(self) -> bool:
        """Whether some row is a published reference."""
        return any(row.reference for group in self.groups for row in group.rows)

    @property
    def two_metrics(self) -> bool:
        """Whether some task is scored by more than one metric."""
        return any(len(column.task.metrics) > 1 for column in self.columns)


def fill(
    scheme: Scheme,
    layout: Layout,
    entries: Mapping[int, Mapping[str, Any]],
    references: Sequence[Row],
    *,
    ranks: Sequence[int | None],
    bests: Sequence[float | None],
    places: Mapping[int, Place],
) -> Table:
    """The rows of a page. Lines up to the number of ranks are systems, the others references.

    `entries` has the systems of this page by position; one that went since is passed over.
    """
    groups = []
    for title, lines in layout.groups:
        rows = [
            _row(scheme, entries[at], ranks[at], bests)._replace(place=places.get(entries[at]["pk"]))
            if at < len(ranks)
            else references[at - len(ranks)]
            for at in lines
            if at >= len(ranks) or at in entries
        ]
        groups.append(Group(title, tuple(rows)))
    return Table(sections_of(scheme.columns), scheme.columns, tuple(groups), len(ranks))


def reference_line(row: Row) -> Line:
    """What places a reference."""
    name, entry = row.entry["name"], row.entry
    return Line(name, "", name.casefold(), "", entry["value"], entry["values"])


def bests(values: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The highest first number of each column."""
    return [best(column) for column in zip(*values, strict=True)]


def _row(scheme: Scheme, entry: Mapping[str, Any], rank: int | None, highest: Sequence[float | None]) -> Row:
    scores = entry["scores"]
    cells = tuple(
        _cell(column.found(scores), high) for column, high in zip(scheme.columns, highest, strict=True)
    )
    score = scheme.score(scores)
    shown = Cell(score_text(score), margin_text(score))
    complete = bool(scores["complete"]) or scheme.task is not None
    return Row(rank, entry, shown, cells, complete=complete)


def _cell(scores: Sequence[Mapping[str, Any] | None], highest: float | None) -> Cell:
    if not any(scores):
        return Cell(percent(None))
    intervals = [margin_text(score) or ABSENT for score in scores]
    shown = " / ".join(intervals) if any(text != ABSENT for text in intervals) else ""
    first = scores[0]
    leads = highest is not None and first is not None and first["value"] == highest
    return Cell("/".join(map(score_text, scores)), shown, leads)


def references_of(benchmark: Benchmark, scheme: Scheme) -> list[Row]:
    """The published rows: those of the benchmark, filled with those of its tasks of the same name."""
    tasks = benchmark.scored if scheme.task is None else (scheme.task,)
    whole = {each.name: each for each in benchmark.references} if scheme.task is None else {}
    by_task: dict[str, dict[str, Reference]] = {name: {} for name in whole}
    for task in tasks:
        for each in task.references:
            by_task.setdefault(each.name, {})[task.name] = each
    return [_reference(scheme, name, whole.get(name), found) for name, found in by_task.items()]


def _reference(scheme: Scheme, name: str, own: Reference | None, by_task: Mapping[str, Reference]) -> Row:
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
    firsts = tuple(each[0] for each in values)
    entry = {"name": name, "source": "; ".join(sources), "value": score, "values": firsts}
    cells = tuple(Cell("/".join(map(percent, each)) if set(each) - {None} else ABSENT) for each in values)
    return Row(None, entry, Cell(percent(score)), cells, reference=True)
