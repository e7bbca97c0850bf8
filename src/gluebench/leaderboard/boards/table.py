"""A board as the paper's Figure 1: which rows a page has, by search, sort and groups, and their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from math import ceil, floor
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator

from gluebench.analysis.charts import Scale
from gluebench.analysis.rank.rules import best, board_order
from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.records import Reference
from gluebench.leaderboard.boards.columns import (
    ROOM,
    SORTED_AS_WORDS,
    WIDTHS,
    Column,
    Fact,
    Scheme,
    Section,
    sections_of,
)
from gluebench.leaderboard.boards.options import Options
from gluebench.leaderboard.boards.standings import Standing
from gluebench.leaderboard.common.formats import ABSENT, margin_text, percent, score_text
from gluebench.leaderboard.ranks.order import Place
from gluebench.leaderboard.submissions.models import Regime

REFERENCES = "For reference"
BAR = 180
"""Width of a bar's picture, in its own units: about half a pixel each."""


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
    rank_text: str = ""
    row: Row | None = None
    """What a page shows of a reference."""
    system: Standing | None = None


class Layout(NamedTuple):
    """One page."""

    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    """Titles and lines; the ranked list is one group without a title."""
    found: int
    """Systems that the search and the filters found; all, where there are none."""
    page: Page[tuple[str, Line]]


def arrange(lines: Sequence[Line], names: Sequence[str], options: Options, rows: int | None = None) -> Layout:
    """The page that the options ask for, or the nearest there is; `names` are the columns' sort names."""
    found = [
        line
        for line in lines
        if all(word in line.text for word in options.words)
        and (line.system is None or options.filters.accepts(line.system))
    ]
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
    if options.sort in SORTED_AS_WORDS:
        return sorted(
            by_score, key=lambda line: getattr(line, options.sort).casefold(), reverse=options.turned
        )
    values = [_value(line, names, options.sort) for line in by_score]
    return [by_score[at] for at in board_order(values, lowest_first=options.rising)]


def _value(line: Line, names: Sequence[str], sort: str) -> float | None:
    """What a row is ordered by, where that is a number."""
    if sort == "parameters":
        return line.system.parameters if line.system else None
    if sort == "submitted":
        return line.system.submitted.timestamp() if line.system else None
    return line.values[names.index(sort)] if sort else line.score


def _by_regime(lines: Sequence[Line]) -> list[tuple[str, Line]]:
    """Table 4's groups in its order, references last."""
    titles = {str(regime.value): str(regime.label) for regime in Regime} | {"": REFERENCES}
    return [(title, line) for regime, title in titles.items() for line in lines if line.regime == regime]


class Cell(NamedTuple):
    """One column of one row, ready to show."""

    text: str
    interval: str = ""
    best: bool = False
    bar: str = ""
    """The interval and the value as an SVG path on the table's scale."""


class Row(NamedTuple):
    """One system, or one reference, with its cells in column order."""

    rank: int | None
    entry: Mapping[str, Any]
    """The submission's values; of a reference its name and its source."""
    score: Cell
    cells: tuple[Cell, ...]
    facts: tuple[str, ...] = ()
    rank_text: str = ""
    """ "1", or "1–2" where systems share these ranks."""
    reference: bool = False
    complete: bool = True
    place: Place | None = None
    """Its rank with its interval, where that is computed."""

    @property
    def resampled(self) -> str:
        """The interval of its rank, "1 to 3"; empty where it says no more than the rank."""
        interval = self.place.interval if self.place else ""
        return "" if interval.replace(" to ", "–") == self.rank_text else interval


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
    facts: tuple[Fact, ...]
    scale: Scale | None
    """That of the bars, in points; None without a score."""

    @property
    def fits(self) -> bool:
        """Whether a desktop shows all columns side by side, as it does GLUE's ten."""
        kinds = [column.kind for column in self.columns] + [fact.kind for fact in self.facts]
        return sum(WIDTHS[kind] for kind in kinds) <= ROOM

    @property
    def rows(self) -> list[Row]:
        """All of them, whatever their group."""
        return [row for group in self.groups for row in group.rows]

    @property
    def marks(self) -> set[str]:
        """The marks on its rows, for a legend."""
        return {mark for mark, has in MARKS.items() if any(map(has, self.rows))}

    @property
    def divided(self) -> tuple[str, ...]:
        """The tasks that have several columns and count once."""
        files = Counter(column.task.name for column in self.columns)
        return tuple(name for name, number in files.items() if number > 1)

    @property
    def two_metrics(self) -> bool:
        """Whether some task is scored by more than one metric."""
        return any(len(column.task.metrics) > 1 for column in self.columns)


MARKS: dict[str, Callable[[Row], Any]] = {
    "reference": lambda row: row.reference,
    "incomplete": lambda row: not row.complete,
    "tied": lambda row: "–" in row.rank_text,
    "earlier": lambda row: row.entry.get("earlier"),
    "verified": lambda row: row.entry.get("verified"),
    "resampled": lambda row: row.resampled,
}
"""Marks of rows, and which rows have them."""


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
    facts = tuple(fact for fact in scheme.facts if any(fact.text(entry) for entry in entries.values()))
    scheme = scheme._replace(facts=facts)
    shown = [line for _, lines in layout.groups for line in lines]
    scale = scale_of(
        [line.score for line in shown], [scheme.score(each["scores"]) for each in entries.values()]
    )
    groups = tuple(
        Group(
            title,
            tuple(
                _reference_row(line, line.row, facts, scale)
                if line.row
                else _row(scheme, line, entries[line.pk], bests, places.get(line.pk), scale)
                for line in lines
                if line.row or line.pk in entries
            ),
        )
        for title, lines in layout.groups
    )
    return Table(sections_of(scheme.columns), scheme.columns, groups, systems, facts, scale)


def bests(values: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The highest first number of each column."""
    return [best(column) for column in zip(*values, strict=True)]


def _row(
    scheme: Scheme,
    line: Line,
    entry: Mapping[str, Any],
    highest: Sequence[float | None],
    place: Place | None,
    scale: Scale | None,
) -> Row:
    scores = entry["scores"]
    cells = tuple(
        _cell(column.found(scores), high) for column, high in zip(scheme.columns, highest, strict=True)
    )
    score = scheme.score(scores)
    shown = Cell(score_text(score), margin_text(score), bar=bar_path(scale, score))
    complete = bool(scores["complete"]) or scheme.task is not None
    facts = tuple(fact.text(entry) for fact in scheme.facts)
    return Row(line.rank, entry, shown, cells, facts, line.rank_text, complete=complete, place=place)


def _reference_row(line: Line, row: Row, facts: Sequence[Fact], scale: Scale | None) -> Row:
    score = None if line.score is None else {"value": line.score, "low": None, "high": None}
    bar = row.score._replace(bar=bar_path(scale, score))
    return row._replace(score=bar, facts=("",) * len(facts))


def scale_of(values: Iterable[float | None], scores: Iterable[Mapping[str, Any] | None]) -> Scale | None:
    """A scale in whole fives that holds these values and the intervals of these scores."""
    ends = [end for score in scores if score for end in (score["value"], score["low"], score["high"])]
    known = [100 * value for value in (*values, *ends) if value is not None]
    if not known:
        return None
    low, high = 5 * floor(min(known) / 5), 5 * ceil(max(known) / 5)
    return Scale(low, max(high, low + 5), 2, BAR - 2)


def bar_path(scale: Scale | None, score: Mapping[str, Any] | None) -> str:
    """A line over the interval and a stroke across it at the value."""
    if scale is None or score is None:
        return ""
    stroke = f"M{_place(scale, score['value'])} 2v16"
    if score["low"] is None or score["high"] is None:
        return stroke
    return f"M{_place(scale, score['low'])} 10H{_place(scale, score['high'])}{stroke}"


def _place(scale: Scale, value: float) -> int:
    return round(scale.at(100 * value))


def _cell(scores: Sequence[Mapping[str, Any] | None], highest: float | None) -> Cell:
    if not any(scores):
        return Cell(percent(None))
    intervals = [margin_text(score) or ABSENT for score in scores]
    shown = " / ".join(intervals) if any(text != ABSENT for text in intervals) else ""
    first = scores[0]
    leads = highest is not None and first is not None and first["value"] == highest
    return Cell("/".join(map(score_text, scores)), shown, leads)


def references_of(benchmark: Benchmark, scheme: Scheme) -> list[Line]:
    """The published rows: those of the benchmark, filled with those of its tasks of the same name.

    One without a score has no place in the order, and stands on the boards of its tasks alone.
    """
    tasks = benchmark.scored if scheme.task is None else (scheme.task,)
    whole = {each.name: each for each in benchmark.references} if scheme.task is None else {}
    by_task: dict[str, dict[str, Reference]] = {name: {} for name in whole}
    for task in tasks:
        for each in task.references:
            by_task.setdefault(each.name, {})[task.name] = each
    lines = [_reference(scheme, name, whole.get(name), found) for name, found in by_task.items()]
    return [line for line in lines if line.score is not None]


def _reference(scheme: Scheme, name: str, own: Reference | None, by_task: Mapping[str, Reference]) -> Line:
    sources = dict.fromkeys(each.source for each in (own, *by_task.values()) if each)
    scores = {task: each.scores for task, each in by_task.items()}
    values = [
        [scores.get(column.task.name, {}).get(metric.name) for metric in column.metrics]
        for column in scheme.columns
    ]
    if scheme.task is None:
        score = own.scores.get("score") if own else None
    else:
        score = _task_score(scheme.task, scores[scheme.task.name])
    entry = {"name": name, "source": "; ".join(sources)}
    cells = tuple(Cell("/".join(map(percent, each)) if set(each) - {None} else ABSENT) for each in values)
    row = Row(None, entry, Cell(percent(score)), cells, reference=True)
    return Line(name, "", name.casefold(), "", score, tuple(each[0] for each in values), row=row)


def _task_score(task: Task, scores: Mapping[str, float]) -> float | None:
    """The mean of the task's metrics; None where one is not published."""
    found = [scores.get(metric.name) for metric in task.metrics]
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if len(known) == len(found) else None
