"""A page of a board, its rows and what stands around them; the list of boards; what every page knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import ordinal
from django.core.paginator import Page
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from jinja2 import Environment, StrictUndefined

from gluebench.analysis.charts import Scale
from gluebench.analysis.rank.rules import competition_ranks
from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.columns import (
    PRIVACY,
    ROOM,
    USUAL_FACTS,
    WIDTHS,
    Scheme,
    scheme_of,
    sections_of,
)
from gluebench.leaderboard.boards.data_views import task_data
from gluebench.leaderboard.boards.options import ALL_ROWS, NUMBER, ROWS, Filters, Options, paged
from gluebench.leaderboard.boards.standings import Standings, standings
from gluebench.leaderboard.boards.table import Group, Row, arrange, bests, fill, references_of
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.common.text import breakable
from gluebench.leaderboard.fields import REGIMES
from gluebench.leaderboard.ranks.models import majority_tasks
from gluebench.leaderboard.ranks.order import ABOUT, TITLES, Order, order_of, ranks_of, span
from gluebench.leaderboard.submissions.facts import entries_of, graded_again, with_systems

BENCHMARKS = 30
"""Benchmarks on a page of the list."""
RANKED_BY = ("by", "weights", "majority")
"""What the address says of the order."""


class Board(NamedTuple):
    """What a page of a board shows, and where in the whole it stands."""

    scheme: Scheme
    groups: tuple[Group, ...]
    matches: int
    """Systems that the search and the filters leave; all, where there are none."""
    page: Page[tuple[str, Row]]
    options: Options
    systems: int
    """Systems on the whole board."""
    best: float | None
    """The highest score of the whole board."""
    scale: Scale | None
    """That of the bars, in points; None without a score."""
    order: Order | None = None
    """What ranks; None on the board of a task, which its score does."""
    again: int = 0
    """Systems that are being graded again, shown with the scores that they had."""

    @property
    def sections(self) -> list[tuple[str, int]]:
        """The headings above the columns, each with the number of its columns."""
        return sections_of(self.scheme.columns)

    @property
    def fits(self) -> bool:
        """Whether a desktop shows all columns side by side, as it does GLUE's ten."""
        kinds = [column.kind for column in self.scheme.columns] + [fact.kind for fact in self.scheme.facts]
        return sum(WIDTHS[kind] for kind in kinds) <= ROOM

    @property
    def rows(self) -> list[Row]:
        """All of the page, whatever their group."""
        return [row for group in self.groups for row in group.rows]

    @property
    def marks(self) -> set[str]:
        """The marks on its rows, for a legend."""
        return {mark for mark, has in MARKS.items() if any(map(has, self.rows))}

    @property
    def divided(self) -> tuple[str, ...]:
        """The tasks that have several columns and count once."""
        files = Counter(column.task.name for column in self.scheme.columns)
        return tuple(name for name, number in files.items() if number > 1)

    @property
    def two_metrics(self) -> bool:
        """Whether some task is scored by more than one metric."""
        return any(len(column.task.metrics) > 1 for column in self.scheme.columns)

    @property
    def whole(self) -> bool:
        """Whether all rows are on this page, so that the browser can sort and search them itself."""
        return not self.page.has_other_pages() and not self.options.narrowed

    @property
    def all_fit(self) -> bool:
        """Whether one long page has all rows."""
        return self.page.paginator.count <= ALL_ROWS


MARKS: dict[str, Callable[[Row], Any]] = {
    "reference": lambda row: row.reference,
    "incomplete": lambda row: not row.complete,
    "tied": lambda row: "–" in row.rank_text,
    "earlier": lambda row: row.entry.get("earlier"),
    "verified": lambda row: row.entry.get("verified"),
    "resampled": lambda row: row.resampled,
}
"""Marks of rows, and which rows have them."""


def read_page(benchmark: Benchmark, scheme: Scheme, options: Options, *, whole: bool = False) -> Board:
    """The page of the board that the options ask for, or the whole board as one page."""
    rows = _systems(standings(benchmark), scheme)
    order = _rank(benchmark, scheme, options, rows)
    layout = arrange(
        [*rows, *references_of(benchmark.record, scheme)],
        scheme.names,
        options,
        None if whole else ALL_ROWS if options.everything else ROWS,
        by_rank=order is not None and order.another,
    )
    pks = [row.system.pk for group in layout.groups for row in group.rows if row.system]
    entries = {entry["pk"]: entry for entry in entries_of(benchmark, pks)}
    for row in rows:
        row.entry = entries.get(row.system.pk, {}) if row.system else {}
    # A submission that left the board since the standings were read has no entry any more.
    groups = tuple(Group(title, tuple(row for row in those if row.entry)) for title, those in layout.groups)
    has = [fact for fact in scheme.facts if any(fact.text(entry) for entry in entries.values())]
    scheme = scheme._replace(facts=tuple(has))
    scale = fill(scheme, [row for group in groups for row in group.rows], bests(rows))
    return Board(
        scheme,
        groups,
        layout.matches,
        layout.page,
        options._replace(page=layout.page.number),
        len(rows),
        max((row.value for row in rows if row.value is not None), default=None),
        scale,
        order,
        graded_again(benchmark),
    )


def _rank(benchmark: Benchmark, scheme: Scheme, options: Options, rows: list[Row]) -> Order | None:
    """Give the rows their ranks; returns what ranks them, if that is more than a task's score."""
    ranks = competition_ranks([row.value for row in rows])
    order = None
    if scheme.task is None:
        pks = [row.system.pk for row in rows if row.system]
        order = order_of(benchmark, options.ranking, dict(zip(pks, ranks, strict=True)))
        ranks = ranks_of(order, pks, ranks)
    times = Counter(ranks)
    for row, rank in zip(rows, ranks, strict=True):
        row.rank = rank
        row.place = order.places.get(row.system.pk) if order and row.system else None
        if row.place and row.place.tied:
            row.rank_text = row.place.text
        elif rank:
            row.rank_text = span(rank, rank + times[rank] - 1)
    return order


def board_html(benchmark: Benchmark, task: Task | None, options: Options, *, signed_in: bool) -> str:
    """The page of a benchmark's board, or of a task's."""
    record = benchmark.record
    every = scheme_of(record, task)
    if task is not None:
        options = options._replace(grouped=False, intervals=True)
    board = read_page(benchmark, every.only(options.columns), options)
    context = {
        "benchmark": benchmark,
        "record": record,
        "board": board,
        "options": board.options,
        "task": task,
        "signed_in": signed_in,
        "here": "board",
        "sorts": board.scheme.sorts,
    }
    context |= {
        "html": render_to_string("boards/table.html", context),
        **panel(every, options),
        **switches(board.options),
    }
    if task is not None:
        context |= {"about": task_line(task), **task_data(benchmark, task)}
        return render_to_string("boards/task.html", context)
    context |= {
        "facts": facts(record, systems=board.systems, best=board.best),
        "tasks": list(map(task_line, (*record.scored, *record.diagnostics))),
        "rules": [(by, TITLES[by], ABOUT[by]) for by in TITLES],
        "majorities": majority_tasks(record),
    }
    return render_to_string("boards/board.html", context)


def switches(options: Options) -> dict[str, Any]:
    """The addresses of the same board, seen otherwise."""
    return {
        "to_everything": options.query(everything=True),
        "to_previous": options.query(page=options.page - 1),
        "to_next": options.query(page=options.page + 1),
        "to_unsearched": options.query(search="", filters=Filters()),
        "to_usual": Options().query(sort=options.sort, turned=options.turned, everything=options.everything),
        "kept": [pair for pair in options.pairs().items() if pair[0] in ("sort", "order", "rows")],
    }


def panel(scheme: Scheme, options: Options) -> dict[str, Any]:
    """What the form above a board offers."""
    chosen = options.columns or [*scheme.names, *USUAL_FACTS]
    return {
        "choices": [(name, title, name in chosen) for name, title in scheme.choices.items()],
        "regimes": REGIMES.items(),
        "number_pattern": NUMBER,
        "settings": sum(map(bool, (*options.filters, options.columns, not options.ranking.usual))),
    }


def _systems(known: Standings, scheme: Scheme) -> list[Row]:
    """Every system of this board; of a task's board, those that have the task."""
    at = [known.place[column.task.name, column.metrics[0].name] for column in scheme.columns]
    own = None if scheme.task is None else known.place[scheme.task.name, ""]
    rows = []
    for system in known.rows:
        value = system.value if own is None else system.numbers[own]
        values = tuple(system.numbers[place] for place in at)
        if own is None or value is not None or any(value is not None for value in values):
            text = f"{system.name}\n{system.model}\n{system.team}".casefold()
            rows.append(Row(system.name, system.model, text, system.regime, value, values, system))
    return rows


def task_line(task: Task) -> dict[str, Any]:
    """One task as a table lists it: how it is scored, how much there is and who knows the labels."""
    return {
        "task": task,
        "metrics": ", ".join(dict.fromkeys(metric.title for metric in task.metrics)),
        "examples": sum(file.size() for file in task.files if "test" in file.splits),
        "labels": PRIVACY[task.private],
    }


def facts(record: Record, *, systems: int, best: float | None) -> list[tuple[str, str]]:
    """Titles and texts of what to know at a glance; what is not known is left out."""
    human = next((reference for reference in record.references if "score" in reference.scores), None)
    private = sum(task.private is True for task in record.scored)
    number = len(record.scored)
    lines = [("Tasks", f"{number}"), ("Systems", f"{systems:,}")]
    if best is not None:
        lines.append(("Best score", percent(best)))
    if human:
        lines.append((human.name, percent(human.scores["score"])))
    if private:
        lines.append(("Private test labels", f"{private} of {number} tasks"))
    return lines


def home_page(search: str, page: int, *, signed_in: bool) -> str:
    """The list of benchmarks of a site that has several; a search looks into names and titles."""
    rows = Benchmark.objects.values_list("pk", "name", "title").order_by("added", "pk")
    words = search.casefold().split()
    matches = [pk for pk, *texts in rows if all(word in "\n".join(texts).casefold() for word in words)]
    pks, pager = paged(matches, BENCHMARKS, page, q=search)
    shown = {row.pk: row for row in with_systems(Benchmark.objects.all()).filter(pk__in=pks)}
    context = {
        "benchmarks": [shown[pk] for pk in pks if pk in shown],
        "number": len(rows),
        "found": len(matches),
        "search": search,
        **pager,
        "many": len(rows) > BENCHMARKS,
        "signed_in": signed_in,
        "here": "home",
    }
    return render_to_string("boards/home.html", context)


def site(request: HttpRequest) -> dict[str, Any]:
    """Whether somebody is signed in, and the benchmark of a site that has one; a view may name another."""
    user = getattr(request, "user", None)
    first = Benchmark.objects.all()[:2]
    return {
        "signed_in": bool(user and user.is_authenticated),
        "benchmark": first[0] if len(first) == 1 else None,
    }


def environment(**options: Any) -> Environment:
    """Jinja's, for large tables: escapes everything, and fails on a name that is not there."""
    strict = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    made = Environment(**{**options, **strict})
    made.filters |= {"breakable": breakable, "ordinal": ordinal}
    made.globals["url"] = lambda name, *args: reverse(name, args=args)
    return made
