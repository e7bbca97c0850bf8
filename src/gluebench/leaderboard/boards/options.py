"""How a visitor wants a board, read from its address and written into the links of the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest

from gluebench.leaderboard.boards.columns import SORTED_AS_WORDS, Standing
from gluebench.leaderboard.fields import REGIMES
from gluebench.leaderboard.ranks.order import RankingOptions

ROWS = 100
"""Rows a board shows at first."""
ALL_ROWS = 1010
"""Rows it shows at most, on request: a thousand systems, and references between them."""
WORDS = 80
"""Characters of a search, or of a team's name, that are looked at."""
Row = TypeVar("Row")
NUMBER = r"\d{1,15}(\.\d{1,3})?[KkMmBbTt]?"
"""How a number of parameters may be written: 110000000, 110M, 1.5B."""
FACTORS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


class Filters(NamedTuple):
    """Conditions that a row has to meet, as the address has them; an empty one is always met."""

    training: str = ""
    since: str = ""
    """The first day, as 2026-01-31."""
    parameters: str = ""
    """At most so many; a system that does not state its parameters does not meet it."""
    team: str = ""
    """A part of the team's name, whatever the case."""
    verified: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filters:
        """From the address; a value that cannot be read counts as not given."""
        training, parameters = query.get("training", ""), query.get("parameters", "").strip()
        return cls(
            training if training in REGIMES else "",
            _day(query.get("since", "")),
            parameters.upper() if re.fullmatch(NUMBER, parameters, re.ASCII) else "",
            " ".join(query.get("team", "")[:WORDS].split()),
            "1" if query.get("verified") == "1" else "",
        )

    def accepts(self, row: Standing) -> bool:
        """Whether a system meets all of them."""
        most = float(self.parameters.rstrip("KMBT") or 0) * FACTORS.get(self.parameters[-1:], 1)
        day = row.submitted.date().isoformat() if row.submitted else ""
        return (
            self.training in ("", row.regime)
            and day >= self.since
            and (not self.parameters or (row.parameters is not None and row.parameters <= most))
            and self.team.casefold() in row.team.casefold()
            and (row.verified or not self.verified)
        )


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


class Options(NamedTuple):
    """What the address asks for; everything else in it is ignored."""

    grouped: bool = False
    intervals: bool = False
    everything: bool = False
    sort: str = ""
    """What the rows are ordered by: a column or "name", "model"; empty for the score."""
    turned: bool = False
    """Whether the order is the other way round than usual: numbers from the lowest, names from Z."""
    search: str = ""
    page: int = 1
    ranking: RankingOptions = RankingOptions()
    """The rule that ranks."""
    filters: Filters = Filters()
    columns: tuple[str, ...] = ()
    """The columns that are shown; empty for the usual ones."""

    @classmethod
    def of(cls, request: HttpRequest, sorts: Collection[str], choices: Collection[str] = ()) -> Options:
        """From the address; `sorts` is what this board can be ordered by, `choices` its columns."""
        query = request.GET
        sort = query.get("sort", "")
        named = ",".join(query.getlist("columns")).split(",")
        columns = tuple(name for name in choices if name in named)
        sort = sort if sort in sorts and (sort in (*columns, "name", "model") or not columns) else ""
        return cls(
            grouped=query.get("view") == "training",
            intervals=query.get("intervals") == "1",
            everything=query.get("rows") == "all",
            sort=sort,
            turned=query.get("order") == ("desc" if sort in SORTED_AS_WORDS else "asc"),
            search=cleaned(query.get("q", "")),
            page=page_number(query.get("page", "")),
            filters=Filters.of(query.dict()),
            columns=columns,
        )

    @property
    def rising(self) -> bool:
        """Whether the smallest comes first."""
        return self.turned != (self.sort in SORTED_AS_WORDS)

    @property
    def narrowed(self) -> bool:
        """Whether some systems may be left out."""
        return bool(self.search or any(self.filters))

    @property
    def typed(self) -> bool:
        """Whether it is one of endlessly many, which no cache should hold."""
        return bool(self.narrowed or self.ranking.weights or self.columns)

    def pairs(self) -> dict[str, str]:
        """The address's part after the question mark, page aside."""
        turned_order = "desc" if self.sort in SORTED_AS_WORDS else "asc"
        values = {
            "view": "training" if self.grouped else "",
            "intervals": "1" if self.intervals else "",
            "sort": self.sort,
            "order": turned_order if self.turned else "",
            "q": self.search,
            **self.filters._asdict(),
            "columns": ",".join(self.columns),
            "rows": "all" if self.everything else "",
            "by": "" if self.ranking.by == "mean" else self.ranking.by,
            "weights": self.ranking.weights,
            "majority": self.ranking.majority,
        }
        return {name: value for name, value in values.items() if value}

    def query(self, **changes: Any) -> str:
        """The address of the same board with something changed; it starts again on the first page."""
        options = self._replace(**({"page": 1} | changes))
        return address(options.page, **options.pairs())

    def by(self, sort: str) -> str:
        """The address of the same board ordered by something, or turned round when it already is."""
        return self.query(sort=sort, turned=not self.turned if sort == self.sort else False)


def cleaned(search: str) -> str:
    """What is searched for, in one line and not too long."""
    return " ".join(search[:WORDS].split())


def page_number(text: str) -> int:
    """A page's number; 1 where it is none."""
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def paged(rows: Sequence[Row], size: int, page: int, **query: str) -> tuple[list[Row], dict[str, Any]]:
    """The rows of the nearest page there is, and what the pager shows; `query`: the rest of the address."""
    shown = Paginator(rows, size).get_page(page)
    return list(shown), {
        "page": shown.number,
        "pages": shown.paginator.num_pages,
        "to_previous": address(shown.number - 1, **query),
        "to_next": address(shown.number + 1, **query),
    }


def address(page: int, **pairs: str) -> str:
    """The part of an address after the question mark, for a page of something."""
    given = [(name, value) for name, value in pairs.items() if value]
    return "?" + urlencode(given + ([("page", str(page))] if page > 1 else []))
