"""Which rows a page of a board has, in which order: search, sort, groups and pages over all lines at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from gluebench.analysis.rank.order import board_order
from gluebench.leaderboard.boards.options import Options
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
