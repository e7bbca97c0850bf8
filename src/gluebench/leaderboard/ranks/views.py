"""Pages about the ranks of a board: under every rule, pair by pair, against costs, and over time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe
from pydantic_core import to_json

from gluebench.analysis.charts import Point, scatter_chart
from gluebench.analysis.rank.rules import pareto_front
from gluebench.benchmark.figures import heading
from gluebench.leaderboard.benchmarks.models import Benchmark, Live, live
from gluebench.leaderboard.common.formats import ENDS, drawn, labels_of, score_bars, signed
from gluebench.leaderboard.common.page_cache import TYPES, cached
from gluebench.leaderboard.common.text import csv_text
from gluebench.leaderboard.fields import LISTED
from gluebench.leaderboard.ranks.models import MOST, Ranking, hidden_reason
from gluebench.leaderboard.ranks.order import TITLES, withheld_words
from gluebench.leaderboard.submissions.anonymity import masked
from gluebench.leaderboard.submissions.facts import entries_of
from gluebench.leaderboard.submissions.models import Submission

NAMES = ("key", "name", "model")
"""Fields that identify a system."""
P = 0.05
"""A pair differs significantly up to this p-value, after Holm's correction."""
SHOWN = 200
"""Most contested pairs that a page lists."""
PLACE = ("rank", "low", "high", "value", "first")
"""Fields of a system's place under one rule."""
COSTS = {field.name: field for field in LISTED if field.cost}
SYSTEMS = 30
"""Most systems in a chart: those on the front or that led, then the highest scores. More would overlap."""
CHART_COLUMNS = {
    "efficiency": ("key", "name", "model", "score", *COSTS, "front"),
    "progress": ("key", "name", "model", "team", "submitted", "score", "led"),
}
WAIT = (
    "This is computed in the background after the board changes: usually within a minute, later while "
    "submissions wait to be graded. Load the page again then."
)
TOO_FEW = "There is nothing to compare yet: it takes two systems with a score, whose files are still kept."


class RankingState(NamedTuple):
    """The last ranking of a board, or why there is none."""

    reason: str
    """Why there is nothing to show; empty where there is."""
    stale: bool = False
    """Whether the board has changed since; a new ranking is then under way."""
    at: Any = None
    systems: tuple[dict[str, str], ...] = ()
    """By position, as `system_json` names them."""
    board: Mapping[str, Any] = {"tasks": [], "rules": {}}
    """Systems and ranks for the usual board, of `Ranking.board`."""
    pairs: Mapping[str, Any] = {"order": [], "rules": {}, "pairs": [], "holds": [], "contested": []}
    """Pairs and rules for the usual board, of `Ranking.pairs`; `order` is the positions from its top."""

    loss: bool = False
    """Whether scores are negated losses."""
    shares: Mapping[str, Any] | None = None
    """The health of the test sets, as everybody may see it."""

    @property
    def keys(self) -> list[str]:
        """The systems' keys, by position."""
        return [system["key"] for system in self.systems]

    def as_json(self, schema: str, **values: Any) -> dict[str, Any]:
        """Return the JSON view: the state of the ranking, then `values`."""
        return {
            "schema": f"gluebench.{schema}/1",
            "status": "none" if self.reason else "renewing" if self.stale else "current",
            "detail": self.reason or None,
            "computed": self.at.isoformat(timespec="seconds") if self.at else None,
            "most": MOST,
            **values,
        }


def ranking_of(benchmark: Benchmark) -> RankingState:
    """Return what may be shown of the last ranking; nothing once one of its systems has left the board."""
    if reason := hidden_reason(benchmark):
        return RankingState(reason)
    ranking = Ranking.objects.filter(benchmark=benchmark).defer("health").first()
    if ranking is None or ranking.at is None:
        return RankingState(WAIT)
    if ranking.failure:
        return RankingState(f"The ranks could not be computed. {ranking.failure}")
    if ranking.board is None or ranking.pairs is None:
        return RankingState(TOO_FEW if ranking.since is None else WAIT)
    rows = Submission.objects.on_board(benchmark).filter(key__in=ranking.board["keys"])
    systems = {row["key"]: system_json(row) for row in masked(benchmark, rows.values("pk", *NAMES))}
    if len(systems) < len(ranking.board["keys"]):
        return RankingState(WAIT)
    return RankingState(
        "",
        ranking.version != benchmark.version,
        ranking.at,
        tuple(systems[key] for key in ranking.board["keys"]),
        ranking.board["boards"][""],
        ranking.pairs["boards"][""],
        benchmark.record.loss,
        ranking.board["shares"],
    )


def system_json(row: Mapping[str, Any]) -> dict[str, str]:
    """Return what identifies a submission in JSON views: its names and its URL."""
    return {**{name: row[name] for name in NAMES}, "url": reverse("submission", args=[row["key"]])}


def rules_page(ranking: RankingState) -> dict[str, Any]:
    """Context of the rules page: ranks under every rule, and the pairs whose order depends on the rule."""
    rules, holds, contested = (ranking.pairs[name] for name in ("rules", "holds", "contested"))
    systems = ranking.systems

    def titles(rules: Sequence[str]) -> list[str]:
        """Rules as headings: "without RTE" is the average without a task."""
        return [TITLES.get(rule, rule.replace("mean without", "without")) for rule in rules]

    return {
        "ranking": ranking,
        "titles": titles(list(rules)),
        "rows": [
            (systems[at], [ranks[at] or "–" for ranks in rules.values()]) for at in ranking.pairs["order"]
        ],
        "holds": len(holds),
        "everywhere": sum(everywhere for *_, everywhere in holds),
        "of": len(holds) + len(contested),
        "contested": [
            (
                systems[a],
                systems[b],
                "any rule: they are equal" if len(unless) == len(rules) else ", ".join(titles(unless)),
            )
            for a, b, unless in contested[:SHOWN]
        ],
        "more": max(len(contested) - SHOWN, 0),
        "withheld": withheld_words(ranking.board["rules"]),
    }


def rules_json(ranking: RankingState) -> dict[str, Any]:
    """JSON view of `rules_page`, with intervals under each rule."""
    keys, pairs = ranking.keys, ranking.pairs
    rows = [
        {
            **ranking.systems[at],
            "ranks": {rule: ranks[at] for rule, ranks in pairs["rules"].items()},
            "by": {by: rule["places"][at] for by, rule in ranking.board["rules"].items()},
        }
        for at in pairs["order"]
    ]
    holds = [{"ahead": keys[a], "behind": keys[b], "everywhere": always} for a, b, always in pairs["holds"]]
    contested = [{"ahead": keys[a], "behind": keys[b], "unless": rules} for a, b, rules in pairs["contested"]]
    about = {"tasks": ranking.board["tasks"]}
    about["withheld"] = {rule: of.get("withheld") for rule, of in ranking.board["rules"].items()}
    return ranking.as_json("rules", **about, rows=rows, holds=holds, contested=contested)


def rules_csv(ranking: RankingState) -> str:
    """CSV with a row per system: place and interval under each of the rules, then without each task."""
    main_rules = ranking.board["rules"]
    others = {rule: ranks for rule, ranks in ranking.pairs["rules"].items() if rule not in main_rules}
    head = [*NAMES, "tied_first", "tied_last", "joint_low", "joint_high"]
    head += [*(f"{rule}_{name}" for rule in main_rules for name in PLACE), *others]
    rows = []
    for at in ranking.pairs["order"]:
        mean = main_rules["mean"]["places"][at]
        ends = [*(mean["group"] or (None, None)), *(mean["joint"] or (None, None))]
        places = [rule["places"][at][name] for rule in main_rules.values() for name in PLACE]
        names = [ranking.systems[at][name] for name in NAMES]
        rows.append([*names, *ends, *places, *(ranks[at] for ranks in others.values())])
    return csv_text(head, rows)


def pairs_page(ranking: RankingState) -> dict[str, Any]:
    """Context of the pairs page: every system against every other, in the order of the board."""
    systems, order = ranking.systems, ranking.pairs["order"]
    cells = {}
    for a, b, difference, _, adjusted in ranking.pairs["pairs"]:
        for row, column, points in ((a, b, difference), (b, a, -difference)):
            cells[row, column] = {
                "text": signed(points, ranking.loss),
                "significant": adjusted <= P,
                "behind": points < 0,
            }
    rows = [
        (systems[row], [(systems[column]["key"], cells.get((row, column))) for column in order])
        for row in order
    ]
    return {
        "ranking": ranking,
        "significant": sum(cell["significant"] for cell in cells.values()) // 2,
        "of": len(order) * (len(order) - 1) // 2,
        "html": render_to_string("ranks/matrix.html", {"rows": rows}),
    }


def pairs_json(ranking: RankingState) -> dict[str, Any]:
    """All pairs as JSON."""
    keys = ranking.keys
    pairs = [
        {"a": keys[a], "b": keys[b], "difference": difference, "p": p, "adjusted": adjusted}
        for a, b, difference, p, adjusted in ranking.pairs["pairs"]
    ]
    return ranking.as_json("pairs", pairs=pairs)


def pairs_csv(ranking: RankingState) -> str:
    """A row for each pair."""
    names = [(system["key"], system["name"]) for system in ranking.systems]
    rows = [[*names[a], *names[b], *numbers] for a, b, *numbers in ranking.pairs["pairs"]]
    return csv_text(["a", "a_name", "b", "b_name", "difference", "p", "adjusted"], rows)


Row = Mapping[str, Any]
"""An entry of the board with its `score`, and `front` or `led` for a chart."""


def _scored(benchmark: Benchmark) -> list[dict[str, Any]]:
    """The entries with a score, in the order of submission."""
    scored = [entry for entry in entries_of(benchmark) if entry["scores"]["score"]]
    return [{**entry, "score": entry["scores"]["score"]} for entry in scored]


def _best_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -row["score"]["value"])


def costs_of(benchmark: Benchmark) -> list[Row]:
    """The systems that state a cost, best first; `front` maps each cost to whether it is Pareto-optimal."""
    rows = _best_first([row for row in _scored(benchmark) if any(row[cost] for cost in COSTS)])
    scores = [row["score"]["value"] for row in rows]
    fronts = {cost: pareto_front(scores, [[row[cost] or None] for row in rows]) for cost in COSTS}
    return [
        {**row, "front": {cost: front[at] for cost, front in fronts.items()}} for at, row in enumerate(rows)
    ]


def costs_page(rows: Sequence[Row]) -> dict[str, Any]:
    """A chart for each cost that some system states, and the table behind the charts."""
    table_rows = [
        (row, [(field.shown(row[cost]), row["front"][cost]) for cost, field in COSTS.items()]) for row in rows
    ]
    charts = []
    for cost, field in COSTS.items():
        stated = [row for row in rows if row["front"][cost] is not None]
        if stated:
            shown = sorted(stated, key=lambda row: not row["front"][cost])[:SYSTEMS]
            svg = _scatter(
                f"Score by {field.cost.lower()}",
                [(row, row[cost], row["front"][cost]) for row in shown],
                x_title=f"{field.cost} (logarithmic)",
                logarithmic=True,
                width=720,
            )
            charts.append({"title": field.cost, "svg": svg, "points": len(stated), "shown": len(shown)})
    return {"rows": table_rows, "costs": COSTS.values(), "charts": charts}


def _scatter(title: str, systems: Sequence[tuple[Row, float, bool]], **more: Any) -> str:
    """Scatter chart of scores with intervals, from each system's row, x, and whether it leads.

    Leading systems have another shape and are joined by steps.
    """
    points = [
        Point(label, x, *drawn(row["score"]))._replace(group=int(not is_leading))
        for label, (row, x, is_leading) in zip(labels_of([row for row, *_ in systems]), systems, strict=True)
    ]
    front = [(point.x, point.y) for point in points if point.group == 0]
    loss = systems[0][0]["score"].get("loss")
    return scatter_chart(title, points, y_title=heading("Score") if loss else "Score", front=front, **more)


def progress_of(benchmark: Benchmark) -> list[Row]:
    """The systems in the order of submission; `led` says whether they were the best of the board then."""
    rows, best = _scored(benchmark), float("-inf")
    for row in rows:
        row["led"], best = row["score"]["value"] > best, max(best, row["score"]["value"])
    return list(rows)


def progress_page(rows: Sequence[Row]) -> dict[str, Any]:
    """Both charts and the table behind them, best first."""
    ordered = _best_first(rows)
    shown = ordered[:SYSTEMS]
    scores = zip(labels_of(shown), (row["score"] for row in shown), strict=True)
    return {
        "rows": ordered,
        "bars": score_bars("Scores with 95 % intervals", "Score", scores),
        "over_time": _over_time(rows) if rows else "",
        "shown": len(shown),
    }


def _over_time(rows: Sequence[Row]) -> str:
    """Every system at its date; those that led are joined by steps."""
    shown = sorted(_best_first(rows), key=lambda row: not row["led"])[:SYSTEMS]
    first = min(row["submitted"] for row in shown)
    days = [(row["submitted"] - first) / timedelta(days=1) for row in shown]
    date_format = "%Y-%m-%d" if max(days) > 3 else "%m-%d %H:%M"
    return _scatter(
        "Best score over time",
        [(row, day, row["led"]) for row, day in zip(shown, days, strict=True)],
        x_title="Submitted (UTC)",
        x_words=lambda day: (first + timedelta(days=day)).astimezone(UTC).strftime(date_format),
    )


def chart_json(subject: str, rows: Sequence[Row]) -> dict[str, Any]:
    """The table behind a chart as JSON."""
    names = CHART_COLUMNS[subject]
    values = [{name: _plain(row[name]) for name in names} for row in rows]
    return {"schema": f"gluebench.{subject}/1", "rows": values}


def chart_csv(subject: str, rows: Sequence[Row]) -> str:
    """The table behind a chart as CSV; a score has three columns: its value and its interval's two ends."""
    parts = {"score": dict(zip(ENDS, ("score", "low", "high"), strict=True))}
    parts["front"] = {cost: f"front_{cost}" for cost in COSTS}

    def cells(row: Row) -> Iterator[Any]:
        for name in CHART_COLUMNS[subject]:
            yield from map(row[name].get, parts[name]) if name in parts else [_plain(row[name])]

    head = [title for name in CHART_COLUMNS[subject] for title in parts.get(name, {name: name}).values()]
    return csv_text(head, map(cells, rows))


def _plain(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


PAGES: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "rules": (ranking_of, rules_page, rules_json, rules_csv),
    "pairs": (ranking_of, pairs_page, pairs_json, pairs_csv),
    "efficiency": (costs_of, costs_page, partial(chart_json, "efficiency"), partial(chart_csv, "efficiency")),
    "progress": (progress_of, progress_page, partial(chart_json, "progress"), partial(chart_csv, "progress")),
}
"""For each page: the function that reads its data, then those that make its HTML, JSON and CSV."""


@require_safe
def page(request: HttpRequest, name: str, subject: str, form: str = "") -> HttpResponse:
    """One of `PAGES` in one of its forms."""
    read, *makers = PAGES[subject]
    make = makers[("", "json", "csv").index(form)]
    return in_form(
        request,
        live(name, request.user),
        form,
        lambda benchmark: make(read(benchmark)),
        cache_key=subject,
        template=f"ranks/{subject}.html",
        filename=f"{name}-{subject}.csv",
    )


def in_form(
    request: HttpRequest,
    source: Live | Benchmark,
    form: str,
    make: Callable[[Benchmark], Any],
    *,
    cache_key: str,
    template: str = "",
    filename: str = "",
) -> HttpResponse:
    """Answer with a page of a benchmark in one form; `make` returns a context, JSON values or a text.

    `cache_key` identifies it in the page cache, with all that it depends on; `filename` is for a text.
    """
    signed_in = request.user.is_authenticated and not form

    def body() -> str:
        benchmark = source.benchmark() if isinstance(source, Live) else source
        content = make(benchmark)
        if form:
            return to_json(content).decode() if form == "json" else str(content)
        return render_to_string(template, {"benchmark": benchmark, "signed_in": signed_in, **content})

    return cached(
        request,
        name=f"{cache_key} {source.name} {form} {signed_in}",
        version=source.version,
        make=body,
        content_type=TYPES[form],
        filename="" if form in ("", "json") else filename,
    )
