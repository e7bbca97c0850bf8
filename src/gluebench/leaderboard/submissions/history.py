"""What a submission scored each time it was graded, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from gluebench.leaderboard.common.formats import score_text
from gluebench.leaderboard.submissions.models import Submission

SHOWN = 5
"""Gradings that a page shows, the newest first."""


class Grading(NamedTuple):
    """One time that it was graded."""

    at: datetime
    why: str
    labels: str
    """Name of the version of the labels, which tells nothing of them."""
    rows: str
    """"public" or "held back", of a benchmark that holds rows back."""
    package: str


class Line(NamedTuple):
    """A task, or the average, as it came out each time."""

    title: str
    values: tuple[str, ...]
    changed: bool


class History(NamedTuple):
    """Two gradings or more."""

    gradings: tuple[Grading, ...]
    lines: tuple[Line, ...]
    more: int
    """Older ones that are not shown."""


def history_of(submission: Submission) -> History | None:
    """Its gradings as they were shown, the newest first; None while there are not two to compare."""
    results = submission.results.filter(scores__isnull=False)
    rows = list(results.values("created", "why", "package", "scores", "report__provenance")[:SHOWN])
    if len(rows) < 2:
        return None
    scores = [row["scores"] or {} for row in rows]
    tasks = [task.name for task in submission.benchmark.record.scored]
    lines = [_line("Score", [each["score"] for each in scores])]
    for task in tasks:
        lines.append(_line(task, [(each["tasks"].get(task) or {}).get("score") for each in scores]))
    return History(tuple(map(_grading, rows)), tuple(lines), results.count() - len(rows))


def _grading(row: Mapping[str, Any]) -> Grading:
    provenance = row["report__provenance"] or {}
    labels, rows = provenance.get("labels") or "", provenance.get("rows") or ""
    return Grading(row["created"], row["why"], labels, rows, row["package"])


def _line(title: str, scores: Sequence[Mapping[str, Any] | None]) -> Line:
    values = tuple(score_text(score) for score in scores)
    return Line(title, values, changed=values[0] != values[1])
