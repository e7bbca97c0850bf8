"""Pages of boards, the list of benchmarks, and what templates share."""

import re
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from django import template
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import ordinal
from django.core.paginator import Page
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from jinja2 import Environment, StrictUndefined

from gluebench.analysis.charts import Scale
from gluebench.analysis.rank.rules import best
from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task, figures
from gluebench.leaderboard.apps.accounts.trust import role_of
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.boards import columns
from gluebench.leaderboard.apps.boards.columns import PRIVACY, BoardOptions, BoardScheme, board_entries
from gluebench.leaderboard.apps.boards.diagnostics import slug_of
from gluebench.leaderboard.apps.boards.table import (
    BoardRow,
    arrange,
    draw_rank_sets,
    fill,
    matching_rows,
    references_of,
    sort_rows,
)
from gluebench.leaderboard.apps.common import formats
from gluebench.leaderboard.apps.common.formats import ABSENT, percent
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.page_cache import once
from gluebench.leaderboard.apps.common.text import alphabetical, breakable, has_words, markdown, words_of
from gluebench.leaderboard.apps.limits.quota import precise
from gluebench.leaderboard.apps.phases.models import PhaseVisibility, on_board
from gluebench.leaderboard.apps.phases.wording import describe_phases, scores_come
from gluebench.leaderboard.apps.ranks.order import Order, RankingOptions, order_of
from gluebench.leaderboard.apps.ranks.places import RankWithSet, no_rank
from gluebench.leaderboard.apps.submissions.anonymity import mask_names
from gluebench.leaderboard.apps.submissions.counting import results_wait_for
from gluebench.leaderboard.apps.submissions.facts import count_regrading, entries_of, with_systems
from gluebench.leaderboard.apps.submissions.queries import is_eligible

register = template.Library()
register.filters |= {
    "count": formats.count,
    "kappa": formats.kappa,
    "percent": percent,
    "p_text": figures.p_text,
    "score": formats.score_text,
    "signed": formats.with_sign,
    "points": figures.points,
    "unit": figures.unit,
    "interval": formats.interval_text,
    "markdown": markdown,
    "section_html": partial(markdown, demoted=0),  # below the title of its page
    "breakable": breakable,
    "precise": precise,
    "slugged": slug_of,
}

BENCHMARKS = 30
"""Benchmarks on a page of the list."""
LEADERS = 3
"""Systems that the list of benchmarks names of each board."""


class BoardPage(NamedTuple):
    """A page of a board, and facts about the whole board."""

    scheme: BoardScheme
    groups: tuple[tuple[str, tuple[BoardRow, ...]], ...]
    """Rows under their headings; the ranked list is one group without a title."""
    matches: int
    """Systems that match the search and the filters."""
    page: Page[tuple[str, BoardRow]]
    options: BoardOptions
    systems: int
    """Systems on the whole board."""
    best: float | None
    """The highest score of the whole board."""
    scale: Scale | None
    """The scale of the bars, in points; None without a score."""
    order: Order
    """The places by the chosen rule; those of a task's board are by the task's score."""
    rank_scale: Scale | None = None
    """The scale of the rank sets of the page; None without any."""
    leaders: str = ""
    """Which systems may be the best, as a sentence; empty where no rank set tells."""
    linked_leaders: str = ""
    """The same sentence as HTML with links to the systems."""
    pinned: tuple[BoardRow, ...] = ()
    """Rows that stay above all others, on every page."""
    again: int = 0
    """Systems that are being graded again, shown with the scores that they had."""

    @property
    def sections(self) -> list[tuple[str, int]]:
        """The headings above the columns, each with the number of its columns."""
        grouped = groupby(self.scheme.columns, key=lambda column: column.task.section)
        return [(title, len(list(columns))) for title, columns in grouped]

    @property
    def lead_tag(self) -> str:
        """The mark of a row whose rank set begins at 1."""
        is_alone = len(self.order.ranks.best) == 1 and not self.order.ranks.number_untested
        return "best" if is_alone else "may be best"

    @property
    def fits(self) -> bool:
        """Whether a desktop shows all columns side by side, as it does GLUE's ten."""
        kinds = [column.kind for column in self.scheme.columns]
        for fact in self.scheme.facts:
            if self.options.columns or fact.name not in columns.WIDE_ONLY:
                kinds.append(fact.kind)
        return sum(columns.WIDTHS[kind] for kind in kinds) <= columns.ROOM

    @property
    def rows(self) -> list[BoardRow]:
        """All of the page, whatever their group."""
        rows = list(self.pinned)
        for _, group in self.groups:
            rows += group
        return rows

    @property
    def marks(self) -> set[str]:
        """The marks on its rows, for a legend."""
        return {mark for mark, has in MARKS.items() if any(map(has, self.rows))}

    @property
    def tasks_with_several_columns(self) -> tuple[str, ...]:
        """The tasks that have several columns and count once."""
        files = Counter(column.task.name for column in self.scheme.columns)
        return tuple(name for name, number in files.items() if number > 1)

    @property
    def two_metrics(self) -> bool:
        """Whether some task is scored by more than one metric."""
        return any(len(column.task.metrics) > 1 for column in self.scheme.columns)

    @property
    def on_one_page(self) -> bool:
        """Whether all rows are on this page, so that the browser can sort and search them itself."""
        return not self.page.has_other_pages() and not self.options.is_filtered

    @property
    def all_fit(self) -> bool:
        """Whether one long page has all rows."""
        return self.page.paginator.count <= columns.ALL_ROWS


MARKS: dict[str, Callable[[BoardRow], Any]] = {
    "reference": lambda row: row.reference,
    "incomplete": lambda row: not row.complete,
    "ranked": lambda row: row.place.span,
    "earlier": lambda row: row.entry.get("earlier"),
    "verified": lambda row: row.entry.get("verified"),
    "reproduced": lambda row: row.entry.get("reproduced"),
}
"""Marks of rows, and which rows have them."""


def read_systems(
    benchmark: Benchmark,
    scheme: BoardScheme,
    part: slice = slice(None),
    *,
    pk: int | None = None,
    options: BoardOptions = columns.USUAL,
) -> tuple[list[BoardRow], Order]:
    """A part of the systems that the options leave, best first, or the one with this key, with their entries.

    Also returns the order of all of them.
    """
    rows, options, order = _rank_rows(benchmark, scheme, options)
    chosen = sort_rows(matching_rows(rows, options), scheme.column_names, options, by_rank=order.another)
    if pk is not None:
        chosen = [row for row in chosen if row.system.pk == pk]
    chosen = chosen[part]
    _enter(benchmark, chosen, whole=len(chosen) == len(rows))
    return [row for row in chosen if row.entry], order


def _enter(benchmark: Benchmark, rows: list[BoardRow], *, whole: bool) -> None:
    """Give systems their entries; one that left the board since the standings were read has none any more."""
    pks = None
    if not whole:
        pks = [row.system.pk for row in rows]
    entries = {entry["pk"]: entry for entry in entries_of(benchmark, pks)}
    for row in rows:
        row.entry = entries.get(row.system.pk, {})


def read_page(
    benchmark: Benchmark, scheme: BoardScheme, options: BoardOptions, *, one_page: bool = False
) -> BoardPage:
    """The page of the board that the options ask for, or the whole board as one page."""
    rows, options, order = _rank_rows(benchmark, scheme, options)
    pinned = [row for row in rows if row.system.key in options.pinned]
    pinned.sort(key=lambda row: row.rank or len(rows))
    others = [row for row in rows if row.system.key not in options.pinned]
    size: int | None = columns.ROWS
    if one_page:
        size = None
    elif options.everything:
        size = columns.ALL_ROWS
    others += references_of(benchmark.record, scheme)
    matches, page = arrange(others, scheme.column_names, options, size, by_rank=order.another)

    # A system that left the board meanwhile has no entry, and is left out.
    systems = pinned + [row for _, row in page if not row.reference]
    _enter(benchmark, systems, whole=one_page)
    systems = [row for row in systems if row.entry]
    pinned = [row for row in pinned if row.entry]
    shown = [(title, row) for title, row in page if row.entry]
    groups = []
    for title, pairs in groupby(shown, key=lambda pair: pair[0]):
        groups.append((title, tuple(row for _, row in pairs)))

    stated = [fact for fact in scheme.facts if any(fact.short_text(row.entry) for row in systems)]
    scheme = scheme._replace(facts=tuple(stated))
    values = [row.values for row in rows]
    highest = [best(column) for column in zip(*values, strict=True)]
    on_page = pinned + [row for _, row in shown]
    scale = fill(scheme, on_page, highest)

    leaders, linked_leaders = _leading_systems(rows, order, options)
    return BoardPage(
        scheme,
        tuple(groups),
        matches,
        page,
        options._replace(page=page.number),
        systems=len(rows),
        best=max((row.value for row in rows if row.value is not None), default=None),
        scale=scale,
        order=order,
        rank_scale=draw_rank_sets(on_page),
        leaders=leaders,
        linked_leaders=linked_leaders,
        pinned=tuple(pinned),
        again=count_regrading(benchmark),
    )


def _leading_systems(rows: list[BoardRow], order: Order, options: BoardOptions) -> tuple[str, str]:
    """`BoardPage.leaders` and `linked_leaders`; empty where another rule ranks only some of the systems."""
    if order.another and any(options.filters):
        return "", ""
    names = {row.system.pk: row.system.name for row in rows}
    keys = {row.system.pk: row.system.key for row in rows}
    links = {}
    for pk in order.ranks.best:
        links[pk] = f'<a href="{reverse("submission", args=[keys[pk]])}">{breakable(names[pk])}</a>'
    return order.ranks.best_words(names), order.ranks.best_words(links)


def _systems(benchmark: Benchmark, scheme: BoardScheme) -> list[BoardRow]:
    """Every system of this board; of a task's board, those that have the task."""
    positions = columns.number_places(benchmark.record)
    of_columns = [positions[column.task.name, column.metrics[0].name] for column in scheme.columns]
    rows = []
    for system in board_entries(benchmark):
        compared = system.comparable_numbers
        value = system.value
        if scheme.task is not None:
            of_score = positions[scheme.task.name, ""]
            value = compared[of_score]
            has_task = any(system.numbers[position] is not None for position in [of_score] + of_columns)
            if not has_task:
                continue
        rows.append(BoardRow(system, value, tuple(compared[position] for position in of_columns)))
    return rows


def _rank_rows(
    benchmark: Benchmark, scheme: BoardScheme, options: BoardOptions
) -> tuple[list[BoardRow], BoardOptions, Order]:
    """The rows of a board with their places, and the options and the order of the rule that ranks.

    That is the manifest's unless the address names another. With filters, the rows that meet them are ranked
    among themselves.
    """
    rows = _systems(benchmark, scheme)
    if benchmark.record.rank_by != "mean" and not options.ranking.rule:
        options = options._replace(ranking=options.ranking._replace(rule=benchmark.record.rank_by))

    is_filtered = any(options.filters)
    counted = rows
    if is_filtered:
        counted = [row for row in rows if options.filters.accepts(row.system)]
    values = {row.system.pk: row.value for row in counted}
    if scheme.task is None:
        order = order_of(benchmark, options.ranking, "", values)
    else:
        order = order_of(benchmark, RankingOptions(), scheme.task.name, values)
    for row in rows:
        nowhere = no_rank(row.system.apart, complete=row.value is not None)
        row.place = order.ranks.places.get(row.system.pk, nowhere)
    if is_filtered and not order.another:
        note = f"Filtered: ranks and rank sets are those among these {len(counted):,} systems."
        order = order._replace(notes=order.notes + (note,))
    return rows, options, order


def rows_with_ranks(benchmark: Benchmark, task: Task | None = None) -> list[BoardRow]:
    """Every system of the board, or of a task's, with its rank, without what a page shows of it."""
    benchmark = on_board(benchmark)
    rows, _, _ = _rank_rows(benchmark, columns.scheme_of(benchmark.record, task), BoardOptions())
    return rows


def places_of(benchmark: Benchmark, task: Task | None = None) -> dict[int, RankWithSet]:
    """The places on the board, or on a task's, by primary key; read once for each version of it."""

    def read() -> dict[int, RankWithSet]:
        return {row.system.pk: row.place for row in rows_with_ranks(benchmark, task)}

    name = f"places {benchmark.pk} {benchmark.board_phase} {task and task.name}"
    return once(name, benchmark.version, read)


def phases_on_board(benchmark: Benchmark, shown: int | None) -> list[Values]:
    """The phases for a board that shows one of them, with links, or the names of systems without scores."""
    lines = describe_phases(benchmark)
    for line in lines:
        phase = line["phase"]
        line["current"] = phase.pk == shown
        line["waits"] = results_wait_for(phase)
        is_hidden = not phase.is_shown and line["standing"] != "to come"
        line["scores_come"] = scores_come(phase) if is_hidden else ""
        if phase.is_shown:
            line["board"] = f"{benchmark.get_absolute_url()}?phase={phase.pk}"
        elif phase.shown == PhaseVisibility.CLOSED:
            sent = phase.submissions.filter(is_eligible(), withdrawn=None)
            names = {row["name"] for row in mask_names(benchmark, sent.values("pk", "name"))}
            line["names"] = sorted(names, key=alphabetical)
    return lines


def task_line(task: Task) -> Values:
    """One task as a table lists it: how it is scored, how much there is and who knows the labels."""
    title = task.title if task.title != task.name else ""
    return {
        "task": task,
        "title": title,
        "asks": task.summary or title or ABSENT,
        "metrics": ", ".join(dict.fromkeys(metric.title for metric in task.metrics)),
        "examples": sum(file.size() for file in task.files if "test" in file.splits),
        "labels": PRIVACY[task.private],
    }


def glance(record: Record, *, systems: int, best: float | None) -> list[tuple[str, str]]:
    """Titles and texts of a benchmark's key facts; unknown ones are left out."""
    human = next((reference for reference in record.references if "score" in reference.scores), None)
    private = [task for task in record.scored if task.private]
    number = len(record.scored)
    lines = []
    if number > 1:
        lines.append(("Tasks", f"{number}"))
    lines.append(("Systems", f"{systems:,}"))
    if best is not None:
        lines.append(("Best score", percent(best, record.loss)))
    if human:
        lines.append((human.name, percent(human.scores["score"], record.loss)))
    if private and number > 1:
        lines.append(("Private test labels", f"{len(private)} of {number} tasks"))
    return lines


def home_page(search: str, page: int, own: Collection[int], *, signed_in: str, creates: bool) -> str:
    """The list of benchmarks of a site that has several; a search looks into names and titles.

    `own`: primary keys of the restricted ones that the visitor sees.
    """
    seen = Benchmark.objects.public() | Benchmark.objects.filter(pk__in=own)
    rows = seen.values_list("pk", "name", "title").order_by("added", "pk")
    words = words_of(search)
    matches = [pk for pk, *texts in rows if has_words(words, *texts)]
    pks, pager = columns.paginate(matches, BENCHMARKS, page, q=search)
    shown = {row.pk: row for row in with_systems(Benchmark.objects.all()).filter(pk__in=pks)}
    boards = []
    for pk in pks:
        if pk in shown:
            boards.append((shown[pk], _leaders(shown[pk])))
    context = {
        "boards": boards,
        "number": len(rows),
        "found": len(matches),
        "search": search,
        **pager,
        "many": len(rows) > BENCHMARKS,
        "signed_in": signed_in,
        "creates": creates,
        "here": "home",
    }
    return render_to_string("boards/home.html", context)


def _leaders(benchmark: Benchmark) -> str:
    """Which systems of a board may be the best, in a few words; else who leads by score, or nothing.

    Read once for each version of the board: the list of benchmarks is made anew for a change of any of them.
    """
    benchmark = on_board(benchmark)
    name = f"leaders {benchmark.pk} {benchmark.board_phase}"
    return once(name, benchmark.version, lambda: _leaders_now(benchmark))


def _leaders_now(benchmark: Benchmark) -> str:
    rows, _, order = _rank_rows(benchmark, columns.scheme_of(benchmark.record), BoardOptions())
    names = {row.system.pk: row.system.name for row in rows}
    if words := order.ranks.best_words(names, LEADERS):
        return words
    first = [names[pk] for pk, place in order.ranks.places.items() if place.rank == 1]
    if not first:
        return ""
    return f"First by score: {', '.join(first[:LEADERS])}."


def site(request: HttpRequest) -> Values:
    """Context of all templates: the visitor's role, the benchmark if it is the only one, how mail is used."""
    user = getattr(request, "user", None)
    benchmarks = Benchmark.objects.public()[:2]
    return {
        "signed_in": role_of(user) if user else "",
        "benchmark": benchmarks[0] if len(benchmarks) == 1 else None,
        "mail_is_sent": settings.MAIL_IS_SENT,
        "must_verify": settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory",
    }


def environment(**options: Any) -> Environment:
    """Jinja's environment, for large tables: it escapes everything and fails on undefined names."""
    options |= {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    jinja = Environment(**options)
    jinja.filters |= {"breakable": breakable, "ordinal": ordinal, "p_text": figures.p_text}
    jinja.globals["url"] = lambda name, *args: reverse(name, args=args)
    return jinja


@register.filter
def mean_of(record: Record) -> str:
    """What the score of a benchmark is, within a sentence."""
    turn = ", the lower the better" if record.loss else ", times 100"
    if len(record.scored) == 1:
        metrics = list(dict.fromkeys(metric.title for metric in record.scored[0].metrics))
        if len(metrics) == 1:
            return f"{metrics[0]}{turn}"
        return f"the mean of {', '.join(metrics[:-1])} and {metrics[-1]}{turn}"
    names = [task.name for task in record.averaged]
    weights = [f"{task.name} by {task.weight:g}" for task in record.averaged if task.weight != 1]
    kind = "unweighted"
    weighted = ""
    if weights:
        kind = "weighted"
        weighted = f" ({', '.join(weights)}, all others by 1)"
    mean = f"the {kind} mean of the scores of {len(names)} tasks"
    if len(names) < len(record.scored):
        mean = f"{mean} ({', '.join(names)})"
        if len(names) == 1:
            mean = f"that of {names[0]}"
    return f"{mean}{weighted}{turn}"


@register.filter
def units(record: Record) -> str:
    """What follows the heading of the scores of all tasks."""
    if 0 < len(record.losses) < len(record.scored):
        return " × 100, losses ↓ as they are"
    return figures.unit(record.loss)


@register.filter
def opening(text: str) -> SafeString:
    """The first paragraph of a text that is no heading."""
    for part in re.split(r"\n(?:[^\S\n]*\n)+", text.strip()):
        if not part.lstrip().startswith("#"):
            return markdown(part)
    return markdown("")


@register.filter
def item(values: Facts, name: str) -> Any:
    """Return a mapping's value for a name that is itself a template variable; None if it is missing."""
    return values.get(name)
