"""All pairs of a board's systems, tested at once: a window of them as a page, all as JSON and CSV."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from django.template.loader import render_to_string
from pydantic_core import to_json

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.formats import with_sign
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.text import csv_lines
from gluebench.leaderboard.apps.ranks.models import Decisions
from gluebench.leaderboard.apps.ranks.places import TOO_FEW, RankingState, ranking_of

WINDOW = 100
"""Rows and columns of pairs on a page."""
LEVEL = 0.05
"""Adjusted p-values up to this are significant."""
JUST_ABOVE = 0.050001
FAMILY = "all pairs of the board at once"
"""What a pair is tested among."""


class BoardPairs:
    """All pairs of the tested systems of a board on the average."""

    def __init__(self, state: RankingState) -> None:
        from gluebench.analysis.rank import packed

        self.state = state
        self.order: list[int] = []
        """The positions of the tested systems, the highest average first."""
        self.reason = state.reason
        """Why no pair is tested; empty where some are."""
        row = Decisions.objects.filter(ranking=state.ranking, score="").first()
        if state.ranking is None or row is None:
            return
        size = len(state.systems)
        self.order = [at for at in state.pairs["order"] if not isinstance(row.counts[at], str)]
        if not self.order:
            self.reason = TOO_FEW
            reasons = [place.withheld for place in state.places if place.rank is not None]
            if reasons:
                self.reason = f"No pair is tested: {reasons[0]}."
        self.values = [place["value"] for place in state.board["rules"]["mean"]["places"]]
        self._better = packed.unpack_decisions(row.better, size)
        self._p_values = None
        if row.p_values:
            self._p_values = packed.unpack_p_values(row.p_values, size)

    def pair(self, a: int, b: int) -> Values:
        """Compare the systems at two positions; p-values are None on a board of too many systems."""
        p = None
        adjusted = None
        if self._p_values is not None:
            p = _six_digits(self._p_values.raw[a, b])
            adjusted = _round_adjusted(self._p_values.adjusted[a, b])
        return {
            "difference": round(self.values[a] - self.values[b], 12),
            "p": p,
            "adjusted": adjusted,
            "significant": bool(self._better[a, b] or self._better[b, a]),
        }

    def iterate_pairs(self) -> Iterator[tuple[int, int, Values]]:
        """Yield the positions of each pair, the better average first, and its comparison."""
        for at, a in enumerate(self.order):
            for b in self.order[at + 1 :]:
                yield a, b, self.pair(a, b)

    @property
    def number(self) -> int:
        """How many pairs there are."""
        return len(self.order) * (len(self.order) - 1) // 2

    @property
    def significant(self) -> int:
        """The number of pairs that differ significantly."""
        if not self.order:
            return 0
        return int(self._better[self.order][:, self.order].sum())


def _six_digits(p: Any) -> float:
    """A single-precision number in the digits that it surely has."""
    return float(f"{p:.6g}")


def _round_adjusted(p: Any) -> float:
    """An adjusted p-value in six digits, on the same side of the level as before."""
    rounded = _six_digits(p)
    if rounded <= LEVEL < p:
        return JUST_ABOVE
    return rounded


def board_pair(benchmark: Benchmark, a: int, b: int) -> Values | None:
    """Two systems by their primary keys as one of all pairs of the board; None while that is not tested."""
    state = ranking_of(benchmark)
    if state.waiting or state.ranking is None:
        return None
    pks = [pk for pk, _ in state.ranking.systems]
    if a not in pks or b not in pks:
        return None
    at_a = pks.index(a)
    at_b = pks.index(b)
    pairs = BoardPairs(state)
    if at_a not in pairs.order or at_b not in pairs.order:
        return None
    return {"family": FAMILY, "pairs": pairs.number, **pairs.pair(at_a, at_b)}


def pairs_page(ranking: RankingState, down: int = 1, across: int = 1) -> Values:
    """Context of the pairs page: a window of the systems against each other, in the order of the board.

    `down` and `across` are the numbers of the window, from 1.
    """
    pairs = BoardPairs(ranking)
    windows = max(1, ceil(len(pairs.order) / WINDOW))
    down = min(down, windows)
    across = min(across, windows)
    numbered = list(enumerate(pairs.order, start=1))
    rows = numbered[(down - 1) * WINDOW : down * WINDOW]
    columns = numbered[(across - 1) * WINDOW : across * WINDOW]
    lines = []
    for number, row in rows:
        cells = []
        for _, column in columns:
            cell = pairs.pair(row, column)
            cell["text"] = with_sign(cell["difference"], ranking.loss)
            cell["behind"] = cell["difference"] < 0
            cells.append((ranking.systems[column]["key"], None if row == column else cell))
        lines.append((number, ranking.systems[row], cells))
    heads = [(number, ranking.systems[column]) for number, column in columns]
    return {
        "ranking": ranking,
        "reason": "" if ranking.reason else pairs.reason,
        "significant": pairs.significant,
        "of": pairs.number,
        "window": (down, across),
        "windows": range(1, windows + 1),
        "html": render_to_string("ranks/matrix.html", {"rows": lines, "columns": heads}),
    }


def pairs_json(ranking: RankingState) -> Iterator[str]:
    """Yield all pairs as JSON in parts: 2,000 systems have 200 MB."""
    keys = ranking.keys
    pairs = BoardPairs(ranking)
    about = ranking.as_json("pairs/2", detail=pairs.reason or None, family=FAMILY, pairs=[])
    yield to_json(about).decode().removesuffix("]}")
    separator = ""
    for a, b, pair in pairs.iterate_pairs():
        yield separator + to_json({"a": keys[a], "b": keys[b], **pair}).decode()
        separator = ","
    yield "]}"


def pairs_csv(ranking: RankingState) -> Iterator[str]:
    """A row for each pair, line by line."""
    names = [[system["key"], system["name"]] for system in ranking.systems]
    rows = (names[a] + names[b] + list(pair.values()) for a, b, pair in BoardPairs(ranking).iterate_pairs())
    return csv_lines(["a", "a_name", "b", "b_name", "difference", "p", "adjusted", "significant"], rows)
