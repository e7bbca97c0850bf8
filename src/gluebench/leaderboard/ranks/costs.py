"""Scores against what systems cost: parameters, and milliseconds for an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.analysis.charts import Point, scatter_chart
from gluebench.analysis.rank.costs import pareto_front
from gluebench.leaderboard.common.escapes import csv_text
from gluebench.leaderboard.common.formats import hundred, labels_of
from gluebench.leaderboard.fields import LISTED

COSTS = {field.name: field for field in LISTED if field.cost}
ENDS = ("value", "low", "high")
SHOWN = 30
"""Points of a chart: the front, then the highest scores. More could not be told apart."""


class Costed(NamedTuple):
    """One system with a score and at least one cost."""

    entry: Mapping[str, Any]
    score: Mapping[str, Any]
    fronts: Mapping[str, bool | None]
    """Cost to whether it is on that front; None where it is not stated."""

    @property
    def costs(self) -> list[tuple[str, bool | None]]:
        """Each cost as text, and whether it is on that front."""
        return [(field.shown(self.entry[cost]), self.fronts[cost]) for cost, field in COSTS.items()]


class Chart(NamedTuple):
    """One cost as a picture."""

    title: str
    svg: str
    points: int
    """Systems that state it."""
    shown: int


def costed(entries: Sequence[Mapping[str, Any]]) -> list[Costed]:
    """The systems with a score that state a cost, best first."""
    rows = [entry for entry in entries if entry["scores"]["score"] and any(entry[cost] for cost in COSTS)]
    rows.sort(key=lambda entry: -entry["scores"]["score"]["value"])
    scores = [entry["scores"]["score"]["value"] for entry in rows]
    fronts = {cost: pareto_front(scores, [[entry[cost] or None] for entry in rows]) for cost in COSTS}
    return [
        Costed(entry, entry["scores"]["score"], {cost: front[at] for cost, front in fronts.items()})
        for at, entry in enumerate(rows)
    ]


def charts(rows: Sequence[Costed]) -> list[Chart]:
    """A picture for each cost that somebody states."""
    return [made for cost, field in COSTS.items() if (made := _chart(rows, cost, field.cost))]


def _chart(rows: Sequence[Costed], cost: str, title: str) -> Chart | None:
    stated = [row for row in rows if row.fronts[cost] is not None]
    if not stated:
        return None
    shown = sorted(stated, key=lambda row: not row.fronts[cost])[:SHOWN]
    points = [
        Point(label, row.entry[cost], *(hundred(row.score[end]) for end in ENDS))._replace(
            group=0 if row.fronts[cost] else 1
        )
        for label, row in zip(labels_of([row.entry for row in shown]), shown, strict=True)
    ]
    front = [(point.x, point.y) for point in points if point.group == 0]
    svg = scatter_chart(
        f"Score by {title.lower()}",
        points,
        x_title=f"{title} (logarithmic)",
        y_title="Score",
        front=front,
        logarithmic=True,
        width=720,
    )
    return Chart(title, svg, len(stated), len(shown))


def costs_twin(rows: Sequence[Costed]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "schema": "gluebench.efficiency/1",
        "rows": [
            {
                **{name: row.entry[name] for name in ("key", "name", "model", *COSTS)},
                "score": row.score,
                "front": dict(row.fronts),
            }
            for row in rows
        ],
    }


def costs_csv(rows: Sequence[Costed]) -> str:
    """A row for each system."""
    head = ["key", "name", "model", "score", "low", "high", *COSTS, *(f"front_{cost}" for cost in COSTS)]
    lines = (
        [*(row.entry[name] for name in head[:3]), *(row.score[end] for end in ENDS)]
        + [row.entry[cost] for cost in COSTS]
        + [row.fronts[cost] for cost in COSTS]
        for row in rows
    )
    return csv_text(head, lines)
