"""What is told of a submission: the pages' facts, and the addresses that go with them."""

from __future__ import annotations

from typing import Any

from gluebench.leaderboard.submissions.facts import private_facts, public_facts
from gluebench.leaderboard.submissions.models import Submission

HEAVY = ("report", "check", "edits")
"""What a list leaves out."""


def facts(submission: Submission, *, owned: bool) -> dict[str, Any]:
    """All that this caller may know."""
    found = public_facts(submission) | (private_facts(submission) if owned else {})
    return found | {
        "url": submission.get_absolute_url(),
        "listed": submission.is_listed,
        "published": _moment(submission.published),
        "withdrawn": _moment(submission.withdrawn),
        "why": submission.why,
    }


def own(submission: Submission) -> dict[str, Any]:
    """All that its author may know."""
    return facts(submission, owned=True)


def line(submission: Submission) -> dict[str, Any]:
    """A submission in its author's list, with its score alone of all the report."""
    found = {name: value for name, value in own(submission).items() if name not in HEAVY}
    return found | {"score": (submission.scores or {}).get("score")}


def standing(submission: Submission) -> dict[str, Any]:
    """Where it stands."""
    return {
        "key": submission.key,
        "status": submission.status,
        "label": submission.get_status_display(),
        "position": submission.queue_position() if submission.is_open else 0,
        "final": not submission.is_open,
    }


def _moment(at: Any) -> str | None:
    return at.isoformat(timespec="seconds") if at else None
