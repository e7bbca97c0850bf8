"""Pages about the ranks of a board: under every rule, pair by pair, against costs, and over time."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe
from pydantic_core import to_json

from gluebench.analysis.charts import (
    MOST_LINES,
    QUIET,
    ChartPoint,
    interval_chart,
)
from gluebench.analysis.rank.rules import pareto_front
from gluebench.analysis.scatter import scatter_chart
from gluebench.benchmark.figures import heading
from gluebench.leaderboard.apps.accounts.trust import role_of
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, BenchmarkVersion, find_version
from gluebench.leaderboard.apps.common.fields import LISTED
from gluebench.leaderboard.apps.common.formats import (
    ABSENT,
    ENDS,
    display_interval,
    labels_of,
    score_intervals,
)
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.page_cache import TYPES, serve_from_cache
from gluebench.leaderboard.apps.common.parameters import takes, takes_phase
from gluebench.leaderboard.apps.common.text import csv_text, page_number
from gluebench.leaderboard.apps.phases.models import at_phase, on_board
from gluebench.leaderboard.apps.ranks.order import TITLES, withheld_words
from gluebench.leaderboard.apps.ranks.pairs import pairs_csv, pairs_json, pairs_page
from gluebench.leaderboard.apps.ranks.places import (
    NAMES,
    NOWHERE,
    RankingState,
    RankWithSet,
    latest_ranking,
    ranking_of,
    read_ranks,
)
from gluebench.leaderboard.apps.submissions.facts import comparable_entries

SHOWN = 200
"""Most contested pairs that a page lists."""
PLACE = ("rank", "rank_low", "rank_high", "value")
"""Fields of a system's place under one rule."""
COSTS = {field.name: field for field in LISTED if field.cost}
SYSTEMS = 30
"""Systems with a row of their own in a chart, the best ones."""
POINTS = 300
"""Most points with a mark in a chart: those on the front or that led, then the highest scores."""
TABLE = 300
"""Most rows of the table below a chart."""
FEW = 12
"""Systems of which a chart of points names all."""
CHART_WIDTH = 1000.0
PHONE_WIDTH = 366.0
CHART_COLUMNS = {
    "efficiency": ["key", "name", "model", "score"] + list(COSTS) + ["front"],
    "progress": ["key", "name", "model", "team", "submitted", "score", "led"],
}


@takes("phase")
@require_safe
def status_json(request: HttpRequest, name: str) -> JsonResponse:
    """Whether the ranks of a board are final, for the pages that wait for them."""
    benchmark = find_version(name, request.user).benchmark()
    _, _, waiting = latest_ranking(of_phase(benchmark, phase_in_query(request)))
    return JsonResponse({"final": not waiting})


_LINKS = {"phase_query": "?", "phase_more": "&"}
"""For links without a query and with one: what comes before the phase."""


def phase_in_query(request: HttpRequest) -> int:
    """The number of the phase that the address names; 0 for none, -1 for one that is no number."""
    text = request.GET.get("phase", "")
    if not text:
        return 0
    is_number = re.fullmatch("[1-9][0-9]{0,17}", text)
    return int(text) if is_number else -1


def phase_links(number: int) -> Values:
    """What links of a page end with so that they stay in a phase; empty for the one on the board."""
    if not number:
        return dict.fromkeys(_LINKS, "")
    return {name: f"{mark}phase={number}" for name, mark in _LINKS.items()}


def of_phase(benchmark: Benchmark, number: int) -> Benchmark:
    """The benchmark as its pages are for a phase, if the board shows that; for 0, the one on the board."""
    if not number:
        return on_board(benchmark)
    phase = benchmark.phases.filter(pk=number).first()
    if phase is None or not phase.is_shown:
        raise Http404("The board does not show this phase.")
    return at_phase(benchmark, phase)


def rules_page(ranking: RankingState) -> Values:
    """Context of the rules page: ranks under every rule, and the pairs whose order depends on the rule."""
    systems = ranking.systems
    rules = ranking.pairs["rules"]
    rows = []
    for at in ranking.positions_with_rank:
        cells = [_rule_text(ranking, rule, at) for rule in rules]
        rows.append((systems[at], cells))

    counts = ranking.pairs["counts"]
    contested = []
    for a, b, unless in ranking.pairs["contested"][:SHOWN]:
        words = ", ".join(map(_rule_title, unless))
        if len(unless) == len(rules):
            words = "any rule: they are equal"
        contested.append((systems[a], systems[b], words))
    return {
        "ranking": ranking,
        "titles": list(map(_rule_title, rules)),
        "rows": rows,
        "counts": counts,
        "of": counts["holds"] + counts["contested"],
        "contested": contested,
        "more": max(counts["contested"] - SHOWN, 0),
        "withheld": withheld_words(ranking.board["rules"]),
    }


def _rule_title(rule: str) -> str:
    """A rule as a heading: "without RTE" is the average without a task."""
    return TITLES.get(rule, rule.replace("mean without", "without"))


def _rule_place(ranking: RankingState, rule: str, at: int) -> Values:
    """The fields of `PLACE` of a system under a rule; under the usual average those of the board."""
    place = ranking.board["rules"][rule]["places"][at]
    if rule == "mean":
        own = ranking.places[at]
        return {"rank": own.rank, "rank_low": own.low, "rank_high": own.high, "value": place["value"]}
    return {name: place[name] for name in PLACE}


def _rule_text(ranking: RankingState, rule: str, at: int) -> str:
    """The cell of a system under a rule, with its rank set where the rule has them."""
    if rule == "mean":
        return ranking.places[at].text
    rank = ranking.pairs["rules"][rule][at]
    main = ranking.board["rules"].get(rule)
    if main and main["places"][at]["rank_low"]:
        place = main["places"][at]
        return RankWithSet(rank, place["rank_low"], place["rank_high"]).text
    return str(rank or ABSENT)


def rules_json(ranking: RankingState) -> Values:
    """JSON view of `rules_page`, with rank sets under the rules that have them."""
    keys = ranking.keys
    pairs = ranking.pairs
    main_rules = ranking.board["rules"]
    rows = []
    for at in ranking.positions_with_rank:
        ranks = {rule: of_rule[at] for rule, of_rule in pairs["rules"].items()}
        ranks["mean"] = ranking.places[at].rank
        by = {rule: _rule_place(ranking, rule, at) for rule in main_rules}
        rows.append({**ranking.systems[at], "ranks": ranks, "by": by})
    holds = []
    for a, b, always in pairs["holds"]:
        holds.append({"ahead": keys[a], "behind": keys[b], "everywhere": always})
    contested = []
    for a, b, rules in pairs["contested"]:
        contested.append({"ahead": keys[a], "behind": keys[b], "unless": rules})
    return ranking.as_json(
        "rules/2",
        tasks=ranking.board["tasks"],
        withheld={rule: of_rule["withheld"] for rule, of_rule in main_rules.items()},
        counts=pairs["counts"],
        rows=rows,
        holds=holds,
        contested=contested,
    )


def rules_csv(ranking: RankingState) -> str:
    """CSV with a row per system: place and rank set under each of the rules, then without each task."""
    main_rules = ranking.board["rules"]
    others = {rule: ranks for rule, ranks in ranking.pairs["rules"].items() if rule not in main_rules}
    head = list(NAMES)
    for rule in main_rules:
        head += [f"{rule}_{name}" for name in PLACE]
    rows = []
    for at in ranking.positions_with_rank:
        row: list[Any] = [ranking.systems[at][name] for name in NAMES]
        for rule in main_rules:
            row += _rule_place(ranking, rule, at).values()
        row += [ranks[at] for ranks in others.values()]
        rows.append(row)
    return csv_text(head + list(others), rows)


Row = Facts
"""An entry of the board with its `score`, and `front` or `led` for a chart."""


def _entries_with_score(benchmark: Benchmark) -> list[Values]:
    """The entries with a score that may be compared, in the order of submission."""
    columns = ["key", "name", "model", "team", "submitted", "scores__score"] + list(COSTS)
    scored = []
    for entry in comparable_entries(benchmark, columns):
        entry["score"] = entry.pop("scores__score")
        if entry["score"]:
            scored.append(entry)
    return scored


def _best_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -row["score"]["value"])


def costs_of(benchmark: Benchmark) -> list[Row]:
    """The systems that state a cost, best first; `front` maps each cost to whether it is Pareto-optimal."""
    rows = _best_first([row for row in _entries_with_score(benchmark) if any(row[cost] for cost in COSTS)])
    scores = [row["score"]["value"] for row in rows]
    systems: list[Row] = [{**row, "front": {}} for row in rows]
    for cost in COSTS:
        front = pareto_front(scores, [[row[cost] or None] for row in rows])
        for system, is_optimal in zip(systems, front, strict=True):
            system["front"][cost] = is_optimal
    return systems


def costs_page(rows: Sequence[Row]) -> Values:
    """A chart for each cost that some system states, and the table behind the charts."""
    table_rows = []
    for row in rows[:TABLE]:
        cells = [(field.format_value(row[cost]), row["front"][cost]) for cost, field in COSTS.items()]
        table_rows.append((row, cells))
    charts = []
    for cost, field in COSTS.items():
        points = [(row, row[cost], row["front"][cost]) for row in rows if row["front"][cost] is not None]
        if not points:
            continue
        points.sort(key=lambda point: not point[2])  # those that lead first
        wide, small = _scatter(
            f"Score by {field.cost.lower()}",
            points,
            x_title=f"{field.cost} (logarithmic)",
            logarithmic=True,
        )
        shown = min(len(points), POINTS)
        chart = {"title": field.cost, "wide": wide, "small": small, "points": len(points), "shown": shown}
        charts.append(chart)
    return {"rows": table_rows, "number": len(rows), "costs": COSTS.values(), "charts": charts}


def _scatter(title: str, systems: Sequence[tuple[Row, float, bool]], **more: Any) -> tuple[str, str]:
    """Scatter charts of scores, wide and for phones, from each system's row, x, and whether it leads.

    Leading systems are joined by steps and have names and intervals; the others too where there are few. The
    first `POINTS` have a mark, the others are a cloud.
    """
    other_ink = 1 if len(systems) <= FEW else QUIET
    points = []
    marked = systems[:POINTS]
    for label, (row, x, is_leading) in zip(labels_of([row for row, *_ in marked]), marked, strict=True):
        ink = 0 if is_leading else other_ink
        link = reverse("submission", args=[row["key"]])
        value, low, high = display_interval(row["score"])
        points.append(ChartPoint(label, value, low, high, link, ink, x=x))
    front = [(point.x, point.value) for point in points if point.ink == 0]
    more["cloud"] = [(x, display_interval(row["score"])[0]) for row, x, _ in systems[POINTS:]]
    y_title = "Score"
    if systems[0][0]["score"].get("loss"):
        y_title = heading(y_title)
    wide = scatter_chart(title, points, y_title=y_title, front=front, width=CHART_WIDTH, **more)
    small = scatter_chart(
        title, points, y_title=y_title, front=front, width=PHONE_WIDTH, height=320, is_small=True, **more
    )
    return wide, small


def progress_of(benchmark: Benchmark) -> list[Row]:
    """The systems in the order of submission, with their places on the average.

    `led` says whether they were the best of the board when they were submitted.
    """
    rows = _entries_with_score(benchmark)
    places = read_ranks(benchmark, "", {row["pk"]: row["score"]["value"] for row in rows}).places
    best = float("-inf")
    for row in rows:
        row["place"] = places.get(row["pk"], NOWHERE)
        row["led"] = row["score"]["value"] > best
        best = max(best, row["score"]["value"])
    return list(rows)


def progress_page(rows: Sequence[Row]) -> Values:
    """The charts and the table behind them, best first."""
    ordered = _best_first(rows)
    shown = ordered[:SYSTEMS]
    labels = labels_of(shown)
    scores = zip(labels, (row["score"] for row in shown), strict=True)
    links = [reverse("submission", args=[row["key"]]) for row in shown]
    return {
        "here": "progress",
        "rows": ordered[:TABLE],
        "number": len(ordered),
        "marked": POINTS,
        "intervals": score_intervals("Scores with 95 % intervals", "Score", scores, links),
        "over_time": _over_time(rows) if rows else ("", ""),
        "rank_sets": _rank_sets("Rank sets", shown),
        "all_rank_sets": _rank_sets("Rank sets of all systems", ordered) if len(ordered) > len(shown) else "",
        "is_band": len(ordered) > MOST_LINES,
        "shown": len(shown),
    }


def _rank_sets(title: str, rows: Sequence[Row]) -> str:
    """A chart of the rank sets; those that begin at 1 stand out. Empty where no row has one."""
    lines = []
    is_band = len(rows) > MOST_LINES
    labels = [""] * len(rows) if is_band else labels_of(rows)
    for label, row in zip(labels, rows, strict=True):
        place = row["place"]
        if place.span:
            ink = 0 if place.low == 1 else QUIET
            link = ""
            note = ""
            if not is_band:  # which shows none of these
                link = reverse("submission", args=[row["key"]])
                note = f"{label}: {place.words}"
            lines.append(ChartPoint(label, place.rank, place.low, place.high, link, ink, note))
    return interval_chart(title, lines, axis="True rank", ranks=True) if lines else ""


def _over_time(rows: Sequence[Row]) -> tuple[str, str]:
    """Every system at its date; those that led are joined by steps."""
    shown = sorted(_best_first(rows), key=lambda row: not row["led"])
    first = min(row["submitted"] for row in shown)
    days = [(row["submitted"] - first) / timedelta(days=1) for row in shown]
    date_format = "%H:%M:%S"
    if max(days) > 3:
        date_format = "%Y-%m-%d"
    elif max(days) > 0.01:
        date_format = "%m-%d %H:%M"
    return _scatter(
        "Best score over time",
        [(row, day, row["led"]) for row, day in zip(shown, days, strict=True)],
        x_title="Submitted (UTC)",
        x_words=lambda day: (first + timedelta(days=day)).astimezone(UTC).strftime(date_format),
    )


def chart_json(subject: str, rows: Sequence[Row]) -> Values:
    """The table behind a chart as JSON."""
    values = []
    for row in rows:
        values.append({name: _plain(row[name]) for name in CHART_COLUMNS[subject]})
    return {"schema": f"gluebench.{subject}/1", "rows": values}


def chart_csv(subject: str, rows: Sequence[Row]) -> str:
    """The table behind a chart as CSV; a score has three columns: its value and its interval's two ends."""
    parts = {"score": dict(zip(ENDS, ("score", "low", "high"), strict=True))}
    parts["front"] = {cost: f"front_{cost}" for cost in COSTS}
    head: list[str] = []
    for name in CHART_COLUMNS[subject]:
        if name in parts:
            head += parts[name].values()
        else:
            head.append(name)
    lines = []
    for row in rows:
        cells: list[Any] = []
        for name in CHART_COLUMNS[subject]:
            if name in parts:
                cells += [row[name].get(part) for part in parts[name]]
            else:
                cells.append(_plain(row[name]))
        lines.append(cells)
    return csv_text(head, lines)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return value


PAGES: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "rules": (ranking_of, rules_page, rules_json, rules_csv),
    "pairs": (ranking_of, pairs_page, pairs_json, pairs_csv),
    "efficiency": (costs_of, costs_page, partial(chart_json, "efficiency"), partial(chart_csv, "efficiency")),
    "progress": (progress_of, progress_page, partial(chart_json, "progress"), partial(chart_csv, "progress")),
}
"""For each page: the function that reads its data, then those that make its HTML, JSON and CSV."""


@takes_phase
@require_safe
def ranks_page(
    request: HttpRequest, name: str, subject: str, form: str = "", windows: Sequence[str] = ()
) -> HttpResponseBase:
    """One of `PAGES` in one of its forms; `windows` names query parameters with a page's number."""
    read, *makers = PAGES[subject]
    make = makers[("", "json", "csv").index(form)]
    options = {name: page_number(request.GET.get(name, "")) for name in windows}
    return in_form(
        request,
        name,
        form,
        lambda benchmark: make(read(benchmark), **options),
        cache_key=f"{subject} {options}",
        template=f"ranks/{subject}.html",
        filename=f"{name}-{subject}.csv",
    )


@takes_phase
@takes("down", "across")
def pairs(request: HttpRequest, name: str, subject: str, form: str = "") -> HttpResponseBase:
    """The page of all pairs; as HTML, a window of them that the address chooses."""
    return ranks_page(request, name, subject, form, windows=() if form else ("down", "across"))


def in_form(
    request: HttpRequest,
    source: str | Benchmark,
    form: str,
    make: Callable[[Benchmark], Any],
    *,
    cache_key: str,
    template: str = "",
    filename: str = "",
    keep: bool = True,
) -> HttpResponseBase:
    """Answer with a page in one form; `make` returns a context, JSON values, a text, or the parts of one.

    `source` is the benchmark or its name, which raises Http404 where there is none for this visitor.
    `cache_key` identifies it in the page cache, with all that it depends on but the phase that the address
    names, whose benchmark `make` gets; `filename` is for a text; `keep` as in `serve_from_cache`.
    """
    signed_in = "" if form else role_of(request.user)
    number = phase_in_query(request)
    known = find_version(source, request.user) if isinstance(source, str) else source

    def body() -> str | Iterator[str]:
        benchmark = known.benchmark() if isinstance(known, BenchmarkVersion) else known
        benchmark = of_phase(benchmark, number)
        content = make(benchmark)
        if isinstance(content, Iterator):
            return content
        if form == "json":
            return to_json(content).decode()
        if form:
            return str(content)
        context = {"benchmark": benchmark, "signed_in": signed_in}
        return render_to_string(template, {**context, **phase_links(number), **content})

    return serve_from_cache(
        request,
        name=f"{cache_key} {known.name} {form} {signed_in} {number}",
        version=known.version,
        make=body,
        content_type=TYPES[form],
        filename="" if form in ("", "json") else filename,
        keep=keep,
    )
