"""Scores against what systems cost, and over time: pictures, and their tables as JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, timedelta
from typing import Any

from gluebench.analysis.charts import Point, scatter_chart
from gluebench.analysis.rank.rules import pareto_front
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.escapes import csv_text
from gluebench.leaderboard.common.formats import hundred, labels_of, score_bars
from gluebench.leaderboard.fields import LISTED
from gluebench.leaderboard.submissions.facts import entries_of

Row = Mapping[str, Any]
"""An entry of the board with its `score`, and what a chart says of it."""
COSTS = {field.name: field for field in LISTED if field.cost}
ENDS = ("value", "low", "high")
SHOWN = 30
"""Systems of a chart: those on the front or that led, then the highest scores. More would run together."""
DAY = 86400
EFFICIENCY = ("key", "name", "model", "score", *COSTS)
PROGRESS = ("key", "name", "model", "team", "submitted", "score", "led")


def _scored(benchmark: Benchmark) -> list[dict[str, Any]]:
    """The entries with a score, in the order of submission."""
    return [
        {**entry, "score": entry["scores"]["score"]}
        for entry in entries_of(benchmark)
        if entry["scores"]["score"]
    ]


def _best_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -row["score"]["value"])


def costs_of(benchmark: Benchmark) -> list[Row]:
    """The systems that state a cost, best first; `front` says of each cost whether they are on its front."""
    rows = _best_first([row for row in _scored(benchmark) if any(row[cost] for cost in COSTS)])
    scores = [row["score"]["value"] for row in rows]
    fronts = {cost: pareto_front(scores, [[row[cost] or None] for row in rows]) for cost in COSTS}
    return [
        {**row, "front": {cost: front[at] for cost, front in fronts.items()}} for at, row in enumerate(rows)
    ]


def costs_page(rows: Sequence[Row]) -> dict[str, Any]:
    """A picture for each cost that somebody states, and the table behind them."""
    for_table = [
        (row, [(field.shown(row[cost]), row["front"][cost]) for cost, field in COSTS.items()]) for row in rows
    ]
    charts = [_cost_chart(rows, cost, field.cost) for cost, field in COSTS.items()]
    return {"rows": for_table, "costs": COSTS.values(), "charts": list(filter(None, charts))}


def _cost_chart(rows: Sequence[Row], cost: str, title: str) -> dict[str, Any] | None:
    stated = [row for row in rows if row["front"][cost] is not None]
    if not stated:
        return None
    shown = sorted(stated, key=lambda row: not row["front"][cost])[:SHOWN]
    picture = _scatter(
        f"Score by {title.lower()}",
        shown,
        [row[cost] for row in shown],
        [row["front"][cost] for row in shown],
        x_title=f"{title} (logarithmic)",
        logarithmic=True,
        width=720,
    )
    return {"title": title, "svg": picture, "points": len(stated), "shown": len(shown)}


def _scatter(title: str, rows: Sequence[Row], xs: Sequence[float], leads: Sequence[bool], **more: Any) -> str:
    """Scores with their intervals; those that lead are of another shape and joined by steps."""
    points = [
        Point(label, x, *(hundred(row["score"][end]) for end in ENDS))._replace(group=int(not is_leading))
        for label, row, x, is_leading in zip(labels_of(rows), rows, xs, leads, strict=True)
    ]
    front = [(point.x, point.y) for point in points if point.group == 0]
    return scatter_chart(title, points, y_title="Score", front=front, **more)


def costs_json(rows: Sequence[Row]) -> dict[str, Any]:
    """The same as JSON."""
    return _as_json("efficiency", [*EFFICIENCY, "front"], rows)


def costs_csv(rows: Sequence[Row]) -> str:
    """A row for each system."""
    fronts = [{f"front_{cost}": is_on for cost, is_on in row["front"].items()} for row in rows]
    names = [*EFFICIENCY, *(f"front_{cost}" for cost in COSTS)]
    return _as_csv(names, [{**row, **front} for row, front in zip(rows, fronts, strict=True)])


def progress_of(benchmark: Benchmark) -> list[Row]:
    """The systems in the order of submission; `led` says whether they were the best of the board then."""
    rows, best = _scored(benchmark), float("-inf")
    for row in rows:
        row["led"], best = row["score"]["value"] > best, max(best, row["score"]["value"])
    return list(rows)


def progress_page(rows: Sequence[Row]) -> dict[str, Any]:
    """Both charts and the table behind them, best first."""
    ordered = _best_first(rows)
    shown = ordered[:SHOWN]
    scores = zip(labels_of(shown), (row["score"] for row in shown), strict=True)
    return {
        "rows": ordered,
        "bars": score_bars("Scores with 95 % intervals", "Score", scores),
        "over_time": _over_time(rows) if rows else "",
        "shown": len(shown),
    }


def _over_time(rows: Sequence[Row]) -> str:
    """Every system at its date; those that led are joined by steps."""
    shown = sorted(_best_first(rows), key=lambda row: not row["led"])[:SHOWN]
    first = min(row["submitted"] for row in shown)
    days = [(row["submitted"] - first).total_seconds() / DAY for row in shown]
    written = "%Y-%m-%d" if max(days) > 3 else "%m-%d %H:%M"

    def date(day: float) -> str:
        when = first + timedelta(days=day)
        return str(when.astimezone(UTC).strftime(written))

    leads = [row["led"] for row in shown]
    return _scatter("Best score over time", shown, days, leads, x_title="Submitted (UTC)", x_words=date)


def progress_json(rows: Sequence[Row]) -> dict[str, Any]:
    """The same as JSON, in the order of submission."""
    return _as_json("progress", PROGRESS, _dated(rows))


def progress_csv(rows: Sequence[Row]) -> str:
    """A row for each system, in the order of submission; numbers are fractions."""
    return _as_csv(PROGRESS, _dated(rows))


def _dated(rows: Sequence[Row]) -> list[Row]:
    return [{**row, "submitted": row["submitted"].isoformat(timespec="seconds")} for row in rows]


def _as_json(kind: str, names: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    return {"schema": f"gluebench.{kind}/1", "rows": [{name: row[name] for name in names} for row in rows]}


def _as_csv(names: Sequence[str], rows: Sequence[Row]) -> str:
    """These columns of the rows; a score has three, for its value and the ends of its interval."""

    def cells(row: Row) -> Iterator[Any]:
        for name in names:
            yield from (row["score"][end] for end in ENDS) if name == "score" else [row[name]]

    head = [title for name in names for title in (("score", "low", "high") if name == "score" else (name,))]
    return csv_text(head, map(cells, rows))
