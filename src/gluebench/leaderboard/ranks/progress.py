"""Scores with their intervals, and the best score over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from gluebench.analysis.charts import Point, scatter_chart
from gluebench.leaderboard.common.escapes import csv_text
from gluebench.leaderboard.common.formats import hundred, labels_of, score_bars
from gluebench.leaderboard.ranks.costs import ENDS

SHOWN = 30
"""Systems of a chart: those that led, then the highest scores."""
DAY = 86400


class Scored(NamedTuple):
    """One system with a score."""

    entry: Mapping[str, Any]
    score: Mapping[str, Any]
    led: bool
    """Whether it was the best of the board when it was submitted."""


def scored(entries: Sequence[Mapping[str, Any]]) -> list[Scored]:
    """The systems with a score; `entries` and they are in the order of submission."""
    found, best = [], float("-inf")
    for entry in entries:
        score = entry["scores"]["score"]
        if score:
            found.append(Scored(entry, score, score["value"] > best))
            best = max(best, score["value"])
    return found


def progress_page(rows: Sequence[Scored]) -> dict[str, Any]:
    """Both charts and the table behind them, best first."""
    ordered = sorted(rows, key=lambda row: -row.score["value"])
    shown = ordered[:SHOWN]
    labels = labels_of([row.entry for row in shown])
    return {
        "rows": ordered,
        "bars": score_bars(
            "Scores with 95 % intervals",
            "Score",
            zip(labels, (row.score for row in shown), strict=True),
        ),
        "over_time": _over_time(rows) if rows else "",
        "shown": len(shown),
    }


def _over_time(rows: Sequence[Scored]) -> str:
    """Every system at its date; those that led are joined by steps."""
    shown = sorted(rows, key=lambda row: (not row.led, -row.score["value"]))[:SHOWN]
    first = min(row.entry["submitted"] for row in shown)
    seconds = [(row.entry["submitted"] - first).total_seconds() for row in shown]
    written = "%Y-%m-%d" if max(seconds) > 3 * DAY else "%m-%d %H:%M"

    def date(days: float) -> str:
        when: datetime = first + timedelta(days=days)
        return when.astimezone(UTC).strftime(written)

    points = [
        Point(label, second / DAY, *(hundred(row.score[end]) for end in ENDS))._replace(
            group=int(not row.led)
        )
        for label, second, row in zip(labels_of([row.entry for row in shown]), seconds, shown, strict=True)
    ]
    return scatter_chart(
        "Best score over time",
        points,
        x_title="Submitted (UTC)",
        y_title="Score",
        front=[(point.x, point.y) for point in points if point.group == 0],
        x_words=date,
    )


def progress_twin(rows: Sequence[Scored]) -> dict[str, Any]:
    """The same as JSON, in the order of submission."""
    return {
        "schema": "gluebench.progress/1",
        "rows": [
            {
                **{name: row.entry[name] for name in ("key", "name", "model", "team")},
                "submitted": row.entry["submitted"].isoformat(timespec="seconds"),
                "score": row.score,
                "led": row.led,
            }
            for row in rows
        ],
    }


def progress_csv(rows: Sequence[Scored]) -> str:
    """A row for each system, in the order of submission; numbers are fractions."""
    head = ["key", "name", "model", "team", "submitted", "score", "low", "high", "led"]
    lines = (
        [row.entry[name] for name in head[:4]]
        + [row.entry["submitted"].isoformat(timespec="seconds")]
        + [row.score[end] for end in ENDS]
        + [row.led]
        for row in rows
    )
    return csv_text(head, lines)
