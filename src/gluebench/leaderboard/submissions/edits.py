"""Edits as a page shows them: what stood there, what stands there now."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.submissions.models import Submission


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


def edits_of(submission: Submission, *, whole: bool) -> list[Edit]:
    """The edits, newest first.

    Readers of a public page are told which fields changed and when; what an author took back is not spread.
    """
    return [
        Edit(
            revision.at,
            tuple(
                Change(FIELDS[name].label.lower(), *(_text(name, value) if whole else "" for value in pair))
                for name, pair in revision.changes.items()
                if name in FIELDS  # and not of a table from before
            ),
            whole,
        )
        for revision in submission.revisions.all()[:SHOWN]
    ]


def _text(name: str, value: Any) -> str:
    return "nothing" if value is None or value == "" else FIELDS[name].shown(value)
