"""A page of a board, its rows and what stands around them; the list of boards; what every page knows."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from jinja2 import Environment, StrictUndefined

from gluebench.analysis.rank.rules import competition_ranks
from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.columns import PRIVACY, USUAL_FACTS, Scheme
from gluebench.leaderboard.boards.filters import NUMBER, Filters
from gluebench.leaderboard.boards.options import ALL_ROWS, Options, paged
from gluebench.leaderboard.boards.standings import Standings, standings
from gluebench.leaderboard.boards.table import (
    Layout,
    Line,
    Table,
    arrange,
    bests,
    fill,
    references_of,
)
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.fields import REGIMES
from gluebench.leaderboard.ranks.order import Order, Place, order_of, ranks_of, span
from gluebench.leaderboard.submissions.entries import entries_of, graded_again, with_systems
from gluebench.leaderboard.text import breakable

BENCHMARKS = 30
"""Benchmarks on a page of the list."""
RANKED_BY = ("by", "weights", "majority")
"""What the address says of the order."""


class Page(NamedTuple):
    """What a page shows, and where in the whole it stands."""

    table: Table
    layout: Layout
    options: Options
    best: float | None
    """The highest score of the whole board."""
    order: Order | None = None
    """What ranks; None on the board of a task, which its score does."""
    again: int = 0
    """Systems that are being graded again, shown with the scores that they had."""

    @property
    def whole(self) -> bool:
        """Whether all rows are on this page, so that the browser can sort and search them itself."""
        return not self.layout.page.has_other_pages() and not self.options.narrowed

    @property
    def can_show_all(self) -> bool:
        """Whether fewer, longer pages are to be had."""
        return self.layout.page.has_other_pages() and not self.options.everything

    @property
    def all_fit(self) -> bool:
        """Whether one long page has all rows."""
        return self.layout.page.paginator.count <= ALL_ROWS


def read_page(benchmark: Benchmark, scheme: Scheme, options: Options, *, whole: bool = False) -> Page:
    """The page of the board that the options ask for, or the whole board as one page."""
    lines = _lines(standings(benchmark), scheme)
    pks, scores = [line.pk for line in lines], [line.score for line in lines]
    by_score = competition_ranks(scores)
    order = None
    if scheme.task is None:
        order = order_of(benchmark, options.wanted, dict(zip(pks, by_score, strict=True)))
    ranks = ranks_of(order, pks, by_score) if order else by_score
    places = order.places if order else {}
    times = Counter(ranks)
    placed = [
        line._replace(rank=rank, rank_text=_rank_text(rank, times[rank], places.get(line.pk)))
        for line, rank in zip(lines, ranks, strict=True)
    ]
    placed += references_of(benchmark.record, scheme)
    if order is not None and order.another:
        placed = list(map(_by_rank, placed))
    layout = arrange(placed, scheme.names, options, rows=None if whole else options.rows)
    shown = [line.pk for _, group in layout.groups for line in group if line.row is None]
    entries = {entry["pk"]: entry for entry in entries_of(benchmark, shown)}
    high = bests([line.values for line in lines])
    table = fill(scheme, layout, entries, systems=len(lines), bests=high, places=places)
    best = max((score for score in scores if score is not None), default=None)
    return Page(
        table, layout, options._replace(page=layout.page.number), best, order, graded_again(benchmark)
    )


def _rank_text(rank: int | None, times: int, place: Place | None) -> str:
    """The ranks that a system shares with those it is tied with, or its own."""
    if place and place.tied:
        return place.text
    return span(rank, rank + times - 1) if rank else ""


def _by_rank(line: Line) -> Line:
    """The line with its rank in place of its score; a reference, which has none, comes last."""
    return line._replace(score=None if line.rank is None else -float(line.rank))


def table_html(benchmark: Benchmark, page: Page, scheme: Scheme) -> str:
    """The table itself, by the fast templates."""
    shown = {"benchmark": benchmark, "page": page, "table": page.table, "options": page.options}
    return render_to_string("boards/table.html", {**shown, "task": scheme.task, "sorts": scheme.sorts})


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
        "settings": sum(map(bool, (*options.filters, options.columns, not options.wanted.usual))),
    }


def _lines(known: Standings, scheme: Scheme) -> list[Line]:
    """Every system of this board; of a task's board, those that have the task."""
    at = [known.place[column.task.name, column.metrics[0].name] for column in scheme.columns]
    own = None if scheme.task is None else known.place[scheme.task.name, ""]
    found = []
    for row in known.rows:
        score = row.value if own is None else row.numbers[own]
        values = tuple(row.numbers[place] for place in at)
        if own is None or score is not None or any(value is not None for value in values):
            text = f"{row.name}\n{row.model}\n{row.team}".casefold()
            line = Line(row.name, row.model, text, row.regime, score, values, row.pk)
            found.append(line._replace(system=row))
    return found


class TaskLine(NamedTuple):
    """One task as a table lists it."""

    task: Task
    metrics: str
    examples: int
    labels: str


def task_line(task: Task) -> TaskLine:
    """How it is scored, how much there is and who knows the labels."""
    metrics = ", ".join(dict.fromkeys(metric.title for metric in task.metrics))
    examples = sum(file.size() for file in task.files if "test" in file.splits)
    return TaskLine(task, metrics, examples, PRIVACY[task.private])


def facts(record: Record, *, systems: int, best: float | None) -> list[tuple[str, str]]:
    """Titles and texts of what to know at a glance; what is not known is left out."""
    human = next((each for each in record.references if "score" in each.scores), None)
    private = sum(task.private is True for task in record.scored)
    number = len(record.scored)
    found = [("Tasks", f"{number}"), ("Systems", f"{systems:,}")]
    if best is not None:
        found.append(("Best score", percent(best)))
    if human:
        found.append((human.name, percent(human.scores["score"])))
    if private:
        found.append(("Private test labels", f"{private} of {number} tasks"))
    return found


def home_page(search: str, page: int, *, signed_in: bool) -> str:
    """The list of benchmarks of a site that has several; a search looks into names and titles."""
    rows = Benchmark.objects.values_list("pk", "name", "title").order_by("added", "pk")
    words = search.casefold().split()
    found = [pk for pk, *texts in rows if all(word in "\n".join(texts).casefold() for word in words)]
    pks, pager = paged(found, BENCHMARKS, page, q=search)
    shown = {each.pk: each for each in with_systems(Benchmark.objects.all()).filter(pk__in=pks)}
    context = {
        "benchmarks": [shown[pk] for pk in pks if pk in shown],
        "number": len(rows),
        "found": len(found),
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
    made.filters["breakable"] = breakable
    made.globals["url"] = lambda name, *args: reverse(name, args=args)
    return made
