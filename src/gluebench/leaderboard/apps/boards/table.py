"""A board as the paper's Figure 1: which rows a page has, by search, sort and groups, and their text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from typing import NamedTuple

from django.core.paginator import Page, Paginator

from gluebench.analysis.charts import Scale
from gluebench.analysis.rank.rules import board_order
from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.records import Reference
from gluebench.leaderboard.apps.boards.columns import SORTED_AS_WORDS, BoardEntry, BoardOptions, BoardScheme
from gluebench.leaderboard.apps.common.formats import (
    ABSENT,
    bare_score,
    display_interval,
    interval_text,
    margin_text,
    percent,
    score_text,
)
from gluebench.leaderboard.apps.common.kinds import Facts
from gluebench.leaderboard.apps.common.text import alphabetical, has_words, words_of
from gluebench.leaderboard.apps.ranks.places import NOWHERE, RankWithSet
from gluebench.leaderboard.apps.submissions.queries import Regime
from gluebench.systems.reproduce.references import with_paper_systems

REFERENCES = "For reference"
BAR = 90
"""Width of a bar's picture, in its own units: a bit less than a pixel each."""
RANK_BAR = 120
"""Width of the picture of a rank set."""
RANK_MARK = 8
"""Half the height of its mark."""


class RankBar(NamedTuple):
    """The rank set of a row and its observed rank, as positions in a picture `RANK_BAR` wide."""

    low: int
    high: int
    at: int


class ScoreCell(NamedTuple):
    """One column of one row, ready to show."""

    text: str
    interval: str = ""
    best: bool = False
    bar: str = ""
    """The interval and the value as an SVG path on the table's scale."""
    words: str = ""
    """The interval for screen readers: "61.2 to 65.0"."""


_NOTHING = ScoreCell(ABSENT)


@dataclass(slots=True)
class BoardRow:
    """A system or a published reference: the values that order it, then what a page shows of it."""

    system: BoardEntry
    value: float | None
    """The number that ranks it on this board."""
    values: tuple[float | None, ...]
    """The first number of each column."""
    entry: Facts = field(default_factory=dict)
    """The submission's values; of a reference its name and its source."""
    score: ScoreCell = _NOTHING
    cells: tuple[ScoreCell, ...] = ()
    """In column order."""
    facts: tuple[str, ...] = ()
    complete: bool = True
    place: RankWithSet = NOWHERE
    """Its observed rank and its rank set."""
    rank_bar: RankBar | None = None
    """None without a rank set."""

    @property
    def rank(self) -> int | None:
        """Its observed rank."""
        return self.place.rank

    @property
    def note(self) -> str:
        """Why its scores are not compared with those of others; empty where they are."""
        if not self.system.apart:
            return ""
        return self.place.withheld

    @property
    def reference(self) -> bool:
        """Whether it is a published reference, not a submission."""
        return not self.system.regime


def arrange(
    rows: Sequence[BoardRow],
    names: Sequence[str],
    options: BoardOptions,
    size: int | None = None,
    *,
    by_rank: bool = False,
) -> tuple[int, Page[tuple[str, BoardRow]]]:
    """The page that the options ask for, or the nearest there is; `names` are the columns' sort names.

    Returns how many systems the search and the filters leave, and the rows, each with the title of its group,
    which is empty in the ranked list. `by_rank` orders by the rank, which another rule than the score gave.
    """
    matches = matching_rows(rows, options)
    sorted_rows = sort_rows(matches, names, options, by_rank=by_rank)
    titled = [("", row) for row in sorted_rows]
    if options.grouped:
        titled = _by_regime(sorted_rows)
    page = Paginator(titled, size or max(len(titled), 1)).get_page(options.page)
    systems = [row for row in matches if not row.reference]
    return len(systems), page


def _by_regime(rows: Sequence[BoardRow]) -> list[tuple[str, BoardRow]]:
    """Rows with the titles of their groups: Table 4's in its order, then the references."""
    titles = {str(regime.value): str(regime.label) for regime in Regime}
    titles[""] = REFERENCES
    titled = []
    for regime, title in titles.items():
        titled += [(title, row) for row in rows if row.system.regime == regime]
    return titled


def matching_rows(rows: Sequence[BoardRow], options: BoardOptions) -> list[BoardRow]:
    """The rows that the search and the filters leave; no filter leaves out a reference."""
    words = words_of(options.search)
    matches = []
    for row in rows:
        system = row.system
        named = has_words(words, system.name, system.model, system.team)
        if named and (row.reference or options.filters.accepts(system)):
            matches.append(row)
    return matches


def sort_rows(
    rows: Sequence[BoardRow], names: Sequence[str], options: BoardOptions, *, by_rank: bool
) -> list[BoardRow]:
    """The rows in order: ties by score, then as they came, references after systems they equal."""

    def sort_value(row: BoardRow, sort: str = "") -> float | None:
        if sort in names:
            return row.values[names.index(sort)]
        if sort == "parameters":
            return row.system.parameters
        if sort:
            submitted = row.system.submitted
            return None if submitted is None else submitted.timestamp()
        if by_rank:
            return row.rank and -float(row.rank)
        return row.value

    sort = options.sort
    ranked = [rows[at] for at in board_order([sort_value(row) for row in rows])]
    if sort in SORTED_AS_WORDS:
        return sorted(ranked, key=lambda row: alphabetical(getattr(row.system, sort)), reverse=options.turned)
    values = [sort_value(row, sort) for row in ranked]
    lowest_first = options.rising
    if options.loss:  # stored negated
        lowest_first = not lowest_first
    return [ranked[at] for at in board_order(values, lowest_first=lowest_first)]


def fill(scheme: BoardScheme, rows: Sequence[BoardRow], highest: Sequence[float | None]) -> Scale | None:
    """Write the text of a page's rows, whose entries are known; returns the scale of their bars."""
    scores: list[Facts | None] = []
    for row in rows:
        if row.reference:
            scores.append(bare_score(row.value, scheme.loss))
        else:
            scores.append(scheme.score(row.entry["scores"]))
    scale = scale_of(scores)

    for row, score in zip(rows, scores, strict=True):
        bar = bar_path(scale, score)
        if row.reference:
            row.score = ScoreCell(score_text(score), bar=bar)
            row.facts = ("",) * len(scheme.facts)
            continue
        result = row.entry["scores"]
        row.score = ScoreCell(score_text(score), margin_text(score), bar=bar, words=interval_text(score))
        cells = []
        for column, high in zip(scheme.columns, highest, strict=True):
            # A row that is not compared with others has no number that is the best.
            cells.append(_score_cell(column.numbers(result), None if row.note else high))
        row.cells = tuple(cells)
        row.facts = tuple(fact.short_text(row.entry) for fact in scheme.facts)
        row.complete = bool(result["complete"]) or scheme.task is not None
    return scale


def scale_of(scores: Iterable[Facts | None]) -> Scale | None:
    """A scale that contains these scores and their intervals, better on the right.

    Its ends are multiples of 5 points, or of losses of 0.1.
    """
    values: list[float] = []
    is_loss = False
    for score in scores:
        if score:
            values += [end for end in display_interval(score) if end is not None]
            is_loss = bool(score.get("loss"))
    if not values:
        return None
    step = 0.1 if is_loss else 5
    first = floor(min(values) / step)
    last = max(ceil(max(values) / step), first + 1)
    if is_loss:  # the lowest is the best
        return Scale(round(step * last, 1), round(step * first, 1), 2, BAR - 2)
    return Scale(step * first, step * last, 2, BAR - 2)


def bar_path(scale: Scale | None, score: Facts | None) -> str:
    """A line over the interval and a stroke across it at the value."""
    if scale is None or score is None or score["value"] is None:
        return ""
    value, low, high = display_interval(score)
    stroke = f"M{round(scale.position(value))} 2v16"
    if low is None or high is None:
        return stroke
    return f"M{round(scale.position(low))} 10H{round(scale.position(high))}{stroke}"


def draw_rank_sets(rows: Iterable[BoardRow]) -> Scale | None:
    """Draw the rank sets of a page's rows on one scale, which is returned; None without a rank set."""
    ranked = []
    for row in rows:
        rank, low, high = row.place[:3]
        if rank is not None and low is not None and high is not None:
            ranked.append((row, low, high, rank))
    if not ranked:
        return None
    first = min(low for _, low, _, _ in ranked)
    last = max(high for _, _, high, _ in ranked)
    scale = Scale(first, max(last, first + 1), RANK_MARK, RANK_BAR - RANK_MARK)
    for row, *ends in ranked:
        positions = [round(scale.position(end)) for end in ends]
        row.rank_bar = RankBar(*positions)
    return scale


def _score_cell(scores: Sequence[Facts | None], highest: float | None) -> ScoreCell:
    if not any(scores):
        return ScoreCell(percent(None))
    margins = [margin_text(score) for score in scores]
    shown = ""
    if any(margins):
        shown = " / ".join(margin or ABSENT for margin in margins)
    first = scores[0]
    leads = highest is not None and first is not None and first["value"] == highest
    return ScoreCell("/".join(map(score_text, scores)), shown, leads)


def references_of(benchmark: Benchmark, scheme: BoardScheme) -> list[BoardRow]:
    """The published rows: those of the benchmark, filled with those of its tasks of the same name.

    One without a score cannot be ordered, and is on the boards of its tasks only.
    """
    benchmark = with_paper_systems(benchmark)
    by_name: dict[str, dict[str, Reference]] = {}
    tasks = benchmark.scored
    if scheme.task is not None:
        tasks = (benchmark.task(scheme.task.name),)
    else:
        by_name = {reference.name: {"": reference} for reference in benchmark.references}
    for task in tasks:
        for reference in task.references:
            by_name.setdefault(reference.name, {})[task.name] = reference

    rows = []
    for name, references in by_name.items():
        scores = {task: reference.scores for task, reference in references.items()}
        if scheme.task is None:
            score = scores.get("", {}).get("score")
        else:
            score = _mean_of_metrics(tasks[0], scores[scheme.task.name])
        if score is None:
            continue
        row = BoardRow(BoardEntry(0, name), score, ())
        for column in scheme.columns:
            of_task = scores.get(column.task.name, {})
            numbers = [of_task.get(metric.name) for metric in column.metrics]
            text = ABSENT
            if any(number is not None for number in numbers):
                losses = [metric.loss for metric in column.metrics]
                text = "/".join(map(percent, numbers, losses))
            row.values += (numbers[0],)
            row.cells += (ScoreCell(text),)
        sources = dict.fromkeys(reference.source for reference in references.values())
        row.entry = {"name": name, "source": "; ".join(sources)}
        rows.append(row)
    return rows


def _mean_of_metrics(task: Task, scores: Mapping[str, float]) -> float | None:
    """The mean of the published numbers of a task's metrics; None where one is not published."""
    values = []
    for metric in task.metrics:
        if metric.name not in scores:
            return None
        values.append(scores[metric.name])
    return sum(values) / len(values)
