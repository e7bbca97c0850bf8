"""Columns and systems of a board, and the options of its view, as the address gives them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest

from gluebench.analysis.charts import tick_text as compact
from gluebench.benchmark import Benchmark, Metric, Task
from gluebench.benchmark.figures import DOWN
from gluebench.leaderboard.apps.benchmarks.models import Benchmark as BenchmarkRow
from gluebench.leaderboard.apps.common.fields import FIELDS, LISTED, REGIMES
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.page_cache import once
from gluebench.leaderboard.apps.common.parameters import names_in, pinned_keys
from gluebench.leaderboard.apps.common.text import page_number
from gluebench.leaderboard.apps.ranks.order import RankingOptions
from gluebench.leaderboard.apps.submissions.anonymity import mask_names
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import JsonNumbers

WIDTHS = {"one": 3.1, "long": 3.9, "two": 4.9, "regime": 5.2, "parameters": 3.9, "submitted": 5.6, "fact": 7}
"""How wide the kinds of columns are, in rem, as in site.css."""
ROOM = 46
"""Rem that a window of 1280 pixels has for these columns, beside rank, name and score."""
WIDE_ONLY = ("regime", "submitted")
"""Facts that narrower windows than 1440 pixels show on demand only."""
SORTED_AS_WORDS = ("name", "model", "regime")
USUAL_FACTS = ("regime", "parameters", "submitted")
"""Facts that a board shows by default, where some row has them."""
PRIVACY = {True: "private", False: "public", None: "not stated"}
"""How a task's test labels are marked."""
ROWS = 100
"""Rows a board shows at first."""
ALL_ROWS = 1010
"""Rows it shows at most, on request: a thousand systems, and references between them."""
WORDS = 80
"""Most characters that are used of a search or of a team's name."""
NUMBER = r"\d{1,15}(\.\d{1,3})?[KkMmBbTt]?"
"""How a number of parameters may be written: 110000000, 110M, 1.5B."""
FACTORS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


class ScoreColumn(NamedTuple):
    """One test file of a scored task (MNLI has two); on a task's own board, one metric."""

    file: str
    """Its name in the address."""
    title: str
    task: Task
    metrics: tuple[Metric, ...]

    @property
    def kind(self) -> str:
        """Its key in `WIDTHS`: two numbers, a long heading, or neither."""
        if len(self.metrics) > 1:
            return "two"
        if len(self.title) > 5:
            return "long"
        return "one"

    @property
    def loss(self) -> bool:
        """Whether its numbers are negated losses."""
        return any(metric.loss for metric in self.metrics)

    @property
    def measure(self) -> str:
        """The titles of its metrics: "acc./F1"."""
        return "/".join(metric.title for metric in self.metrics)

    def numbers(self, scores: Facts) -> list[Facts | None]:
        """Its numbers in a submission's scores."""
        task = scores["tasks"].get(self.task.name) or {"metrics": {}}
        return [task["metrics"].get(metric.name) for metric in self.metrics]


class FactColumn(NamedTuple):
    """A column with a property of a system other than a score."""

    name: str
    title: str
    is_address: bool = False

    @property
    def kind(self) -> str:
        """Its key in `WIDTHS`."""
        return self.name if self.name in WIDTHS else "fact"

    def short_text(self, entry: Facts) -> str:
        """An entry's value in short form; empty if it is not stated."""
        value = entry[self.name]
        if value is None:
            return ""
        if self.name == "submitted":
            return str(value.date().isoformat())
        if self.name == "regime":
            return str(value)
        if isinstance(value, int):
            return compact(value)
        return FIELDS[self.name].format_value(value)


FACTS = {
    field.name: FactColumn(field.name, field.label, field.kind == "address")
    for field in LISTED
    if field.name not in ("name", "model", "team", "link")
} | {"parameters": FactColumn("parameters", "Params"), "submitted": FactColumn("submitted", "Date")}
"""The columns beside the scores; the other fields are shown with the name."""
_USUAL_FACTS = tuple(FACTS[name] for name in USUAL_FACTS)


class BoardScheme(NamedTuple):
    """What a board ranks by and shows: a benchmark with its average, or one task of it."""

    columns: tuple[ScoreColumn, ...]
    task: Task | None = None
    facts: tuple[FactColumn, ...] = _USUAL_FACTS
    loss: bool = False
    """Whether it ranks by negated losses."""

    def score(self, scores: Facts) -> Facts | None:
        """The score that ranks a submission, taken from its scores."""
        scored = scores
        if self.task is not None:
            scored = scores["tasks"].get(self.task.name) or {}
        score: Facts | None = scored.get("score")
        return score

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns in the address."""
        return tuple(column.file for column in self.columns)

    @property
    def sort_titles(self) -> dict[str, str]:
        """What rows can be sorted by besides the score: names in the address, with titles."""
        titles = {"name": "System", "model": "Model"}
        for column in self.columns:
            titles[column.file] = column.title
        for name in USUAL_FACTS:
            titles[name] = FACTS[name].title
        return titles

    @property
    def losses(self) -> tuple[str, ...]:
        """The names of columns of losses."""
        return tuple(column.file for column in self.columns if column.loss)

    @property
    def choices(self) -> dict[str, str]:
        """The columns that a visitor can choose, with their titles."""
        facts = {fact.name: fact.title for fact in FACTS.values()}
        return {column.file: column.title for column in self.columns} | facts

    def only(self, names: Collection[str]) -> BoardScheme:
        """Return the scheme with the named columns and facts only; unchanged if `names` is empty."""
        if not names:
            return self
        return self._replace(
            columns=tuple(column for column in self.columns if column.file in names),
            facts=tuple(fact for fact in FACTS.values() if fact.name in names),
        )


def scheme_of(benchmark: Benchmark, task: Task | None = None) -> BoardScheme:
    """The board of a benchmark, with a column for each test file; or of one task, with one for each metric.

    A task with one metric has no column: its score is that metric.
    """
    if task is None:
        return BoardScheme(_file_columns(benchmark), loss=benchmark.loss)
    if len(task.metrics) == 1:
        return BoardScheme((), task, loss=task.loss)
    columns = []
    for metric in task.metrics:
        title = metric.title
        if len(task.files) > 1:
            title = f"{metric.file} {title}"
        columns.append(ScoreColumn(metric.name, title, task, (metric,)))
    return BoardScheme(tuple(columns), task, loss=task.loss)


def _file_columns(benchmark: Benchmark) -> tuple[ScoreColumn, ...]:
    """The columns of a benchmark's own board: one for each test file of each scored task."""
    columns = []
    for task in benchmark.scored:
        for file in task.files:
            title = task.name
            if len(task.files) > 1:
                title = file.name
            if task.loss:
                title += DOWN
            metrics = tuple(metric for metric in task.metrics if metric.file == file.name)
            columns.append(ScoreColumn(file.name, title, task, metrics))
    return tuple(columns)


def page_scheme_of(benchmark: Benchmark, task: Task | None = None) -> BoardScheme:
    """The board as its page shows it: without a column of an only task with one metric: it is the score."""
    scheme = scheme_of(benchmark, task)
    if task is None and len(benchmark.scored) == 1 and len(benchmark.scored[0].metrics) == 1:
        return scheme._replace(columns=())
    return scheme


class BoardEntry(NamedTuple):
    """A public submission: what searches and filters use, and its numbers; a reference has only a name."""

    pk: int
    name: str
    model: str = ""
    team: str = ""
    regime: str = ""
    parameters: int | None = None
    submitted: datetime | None = None
    verified: bool = False
    key: str = ""
    value: float | None = None
    """Its score; None when it is incomplete."""
    apart: str = ""
    """As `Submission.apart`."""
    numbers: tuple[float | None, ...] = ()

    @property
    def comparable_numbers(self) -> tuple[float | None, ...]:
        """The numbers that are compared with those of others: none of an entry that stands apart."""
        if self.apart:
            return (None,) * len(self.numbers)
        return self.numbers


def number_places(benchmark: Benchmark) -> dict[tuple[str, str], int]:
    """Map task and metric, "" for the task's score, to the position in `Standing.numbers`."""
    places: dict[tuple[str, str], int] = {}
    for task in benchmark.scored:
        places[task.name, ""] = len(places)
        for metric in task.metrics:
            places[task.name, metric.name] = len(places)
    return places


def board_entries(benchmark: BenchmarkRow) -> tuple[BoardEntry, ...]:
    """The board's systems in the order in which they were submitted."""

    def read() -> tuple[BoardEntry, ...]:
        paths: list[tuple[str, ...]] = []
        for task, metric in number_places(benchmark.record):
            if metric:
                paths.append(("tasks", task, "metrics", metric, "value"))
            else:
                paths.append(("tasks", task, "score", "value"))

        stored = [name for name in BoardEntry._fields if name != "numbers"]
        public = Submission.objects.on_board(benchmark).filter(scores__isnull=False)
        rows = public.order_by("submitted", "pk").values(*stored, numbers=JsonNumbers("scores", *paths))
        systems = []
        for row in mask_names(benchmark, rows):
            row["numbers"] = tuple(row["numbers"])
            systems.append(BoardEntry(**row))
        return tuple(systems)

    # Read once for each version of the board: scores are kilobytes of JSON for each system.
    return once(f"standings {benchmark.pk} {benchmark.board_phase}", benchmark.version, read)


class BoardFilters(NamedTuple):
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
    def from_query(cls, query: Mapping[str, str]) -> BoardFilters:
        """From the address; a value that cannot be read counts as not given."""
        training = query.get("training", "")
        if training not in REGIMES:
            training = ""
        parameters = query.get("parameters", "").strip()
        if not re.fullmatch(NUMBER, parameters, re.ASCII):
            parameters = ""
        return cls(
            training,
            _day(query.get("since", "")),
            parameters.upper(),
            clean_search(query.get("team", "")),
            "1" if query.get("verified") == "1" else "",
        )

    @property
    def most_parameters(self) -> float:
        """`parameters` as a number, where it is given: 1.5e9 for "1.5B"."""
        return float(self.parameters.rstrip("KMBT")) * FACTORS.get(self.parameters[-1], 1)

    def accepts(self, row: BoardEntry) -> bool:
        """Whether a system meets all of them."""
        if self.training and self.training != row.regime:
            return False
        if self.since and (row.submitted is None or row.submitted.date().isoformat() < self.since):
            return False
        if self.parameters and (row.parameters is None or row.parameters > self.most_parameters):
            return False
        if self.verified and not row.verified:
            return False
        return self.team.casefold() in row.team.casefold()


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


class BoardOptions(NamedTuple):
    """The options of a board in the address."""

    grouped: bool = False
    intervals: bool = False
    everything: bool = False
    sort: str = ""
    """What the rows are ordered by: a column or "name", "model"; empty for the score."""
    turned: bool = False
    """Whether the usual order is reversed: numbers from the lowest, names from Z."""
    search: str = ""
    page: int = 1
    ranking: RankingOptions = RankingOptions()
    """The rule that ranks."""
    filters: BoardFilters = BoardFilters()
    columns: tuple[str, ...] = ()
    """The columns that are shown; empty for the usual ones."""
    phase: int = 0
    """Number of a phase that the board shows instead of the usual one; 0 for that."""
    pinned: tuple[str, ...] = ()
    """Keys of systems that stay above all others."""
    loss: bool = False
    """Whether it is sorted by losses, of which the lowest number is the best."""

    @classmethod
    def from_request(
        cls,
        request: HttpRequest,
        sorts: Collection[str],
        choices: Collection[str] = (),
        losses: Collection[str] = (),
    ) -> BoardOptions:
        """From the address; `sorts` is what this board can be ordered by, `choices` and `losses` columns."""
        query = request.GET
        requested = names_in(query, "columns")
        columns = tuple(name for name in choices if name in requested)

        sort = query.get("sort", "")
        is_shown = not columns or sort in columns or sort in ("name", "model")
        if sort not in sorts or not is_shown:
            sort = ""
        return cls(
            grouped=query.get("view") == "training",
            intervals=query.get("intervals") == "1",
            everything=query.get("rows") == "all",
            sort=sort,
            turned=query.get("order") == _order_when_reversed(sort, loss=sort in losses),
            search=clean_search(query.get("q", "")),
            page=page_number(query.get("page", "")),
            filters=BoardFilters.from_query(query.dict()),
            columns=columns,
            phase=page_number(query.get("phase", "")) if "phase" in query else 0,
            pinned=pinned_keys(query),
            loss=sort in losses,
        )

    @property
    def rising(self) -> bool:
        """Whether the smallest that is shown comes first."""
        return self.turned != (self.loss or self.sort in SORTED_AS_WORDS)

    @property
    def is_filtered(self) -> bool:
        """Whether some systems may be left out."""
        return bool(self.search or any(self.filters))

    @property
    def is_uncacheable(self) -> bool:
        """Whether a visitor can type endlessly many such options, too many to cache the pages."""
        return bool(self.is_filtered or self.ranking.weights or self.columns or self.pinned)

    def query_parameters(self) -> dict[str, str]:
        """Every query parameter of a board, without the page; empty where it is not needed."""
        order = ""
        if self.turned:
            order = _order_when_reversed(self.sort, loss=self.loss)
        return {
            "view": "training" if self.grouped else "",
            "intervals": "1" if self.intervals else "",
            "sort": self.sort,
            "order": order,
            "q": self.search,
            **self.filters._asdict(),
            "columns": ",".join(self.columns),
            "rows": "all" if self.everything else "",
            "by": self.ranking.rule,
            "weights": self.ranking.weights,
            "majority": self.ranking.majority,
            "phase": str(self.phase) if self.phase else "",
            "pin": ",".join(self.pinned),
        }

    def pairs(self) -> dict[str, str]:
        """The query parameters of the address, without the page."""
        return {name: value for name, value in self.query_parameters().items() if value}

    def query(self, **changes: Any) -> str:
        """The address of the board with some options changed, on the first page unless `page` is given."""
        changes.setdefault("page", 1)
        options = self._replace(**changes)
        return address(options.page, **options.pairs())

    def address_sorted_by(self, sort: str) -> str:
        """The address of the same board sorted by `sort`, or reversed if it already is."""
        is_sorted_so = sort == self.sort
        return self.query(sort=sort, turned=is_sorted_so and not self.turned)


USUAL = BoardOptions()
"""The board as it is without any option."""


def _order_when_reversed(sort: str, *, loss: bool) -> str:
    """What "order" in an address reverses the usual order: names rise from A, losses from the lowest."""
    if loss or sort in SORTED_AS_WORDS:
        return "desc"
    return "asc"


def clean_search(search: str) -> str:
    """Return a search text as one line of at most `WORDS` characters."""
    return " ".join(search[:WORDS].split())


def paginate(rows: Sequence[Any], size: int | None, page: int, **query: str) -> tuple[list[Any], Values]:
    """Return the rows of the page nearest to `page`, and the pager's values; `query`: rest of the address.

    `size`: rows of a page; None for all.
    """
    shown = Paginator(rows, size or max(1, len(rows))).get_page(page)
    return list(shown), {
        "page": shown.number,
        "pages": shown.paginator.num_pages,
        "to_previous": address(shown.number - 1, **query),
        "to_next": address(shown.number + 1, **query),
    }


def address(page: int, **pairs: str) -> str:
    """The query string of an address, with its question mark; the first page has no number."""
    given = {name: value for name, value in pairs.items() if value}
    if page > 1:
        given["page"] = str(page)
    return "?" + urlencode(given)
