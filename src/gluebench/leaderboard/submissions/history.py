"""What happened to a submission: the edits of its fields, and what it scored each time it was graded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gluebench.leaderboard.common.formats import score_text
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.submissions.models import Submission

EDITS = 50
"""Edits that are shown, the newest: whoever edits without end makes no page endless."""
GRADINGS = 5
"""Gradings that a page shows, the newest first."""


def edits_of(submission: Submission) -> list[dict[str, Any]]:
    """The edits, newest first, each with its fields' names and texts; the texts are not for all readers."""
    return [
        {
            "at": revision.at,
            "changes": [
                (FIELDS[name].label.lower(), *(_text(name, value) for value in pair))
                for name, pair in revision.changes.items()
                if name in FIELDS  # and not of a table from before
            ],
        }
        for revision in submission.revisions.all()[:EDITS]
    ]


def _text(name: str, value: Any) -> str:
    return "nothing" if value is None or value == "" else FIELDS[name].shown(value)


def history_of(submission: Submission) -> dict[str, Any] | None:
    """Its gradings as they were shown, the newest first; None while there are not two to compare."""
    results = submission.results.filter(scores__isnull=False)
    columns = ("created", "why", "package", "scores", "report__provenance")
    rows = list(results.values(*columns)[:GRADINGS])
    if len(rows) < 2:
        return None
    scores = [row["scores"] or {} for row in rows]
    lines = [("Score", _texts(each["score"] for each in scores))]
    for task in submission.benchmark.record.scored:
        of_task = ((each["tasks"].get(task.name) or {}).get("score") for each in scores)
        lines.append((task.name, _texts(of_task)))
    return {"gradings": rows, "lines": lines, "more": results.count() - len(rows)}


def _texts(scores: Iterable[Mapping[str, Any] | None]) -> list[str]:
    return [score_text(score) for score in scores]
