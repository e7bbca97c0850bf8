"""Edits as a page shows them: what stood there, what stands there now."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from gluebench.leaderboard.boards.formats import count
from gluebench.leaderboard.submissions.models import Regime, Submission


class Change(NamedTuple):
    """One field of an edit; the texts are for its author and organisers, others see that it changed."""

    field: str
    before: str
    after: str


class Edit(NamedTuple):
    """One edit."""

    at: datetime
    changes: tuple[Change, ...]
    whole: bool
    """Whether the changes say what the fields said."""


SHOWN = 50
"""Edits that are shown, the newest: whoever edits without end makes no page endless."""

TITLES = {
    "latency_ms": "latency",
    "parameters": "parameters in total",
    "regime": "training",
    "shared_parameters": "shared parameters",
    "training_data": "other training data",
}


def edits_of(submission: Submission, *, whole: bool) -> list[Edit]:
    """The edits, newest first.

    Readers of a public page are told which fields changed and when; what an author took back is not spread.
    """
    return [
        Edit(
            revision.at,
            tuple(
                Change(TITLES.get(name, name), *(_text(name, value) for value in pair))
                if whole
                else Change(TITLES.get(name, name), "", "")
                for name, pair in revision.changes.items()
            ),
            whole,
        )
        for revision in submission.revisions.all()[:SHOWN]
    ]


def _text(field: str, value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    if field == "regime":
        return str(Regime(value).label)
    if field == "latency_ms":
        return f"{value:g} ms"
    return count(value) if isinstance(value, int) else str(value)
