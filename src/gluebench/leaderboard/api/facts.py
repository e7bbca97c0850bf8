"""What is told of a submission: the pages' facts, and the addresses that go with them."""

from __future__ import annotations

from typing import Any

from gluebench.leaderboard.submissions.facts import (
    facts_in_brief,
    private_facts,
    private_in_brief,
    public_facts,
)
from gluebench.leaderboard.submissions.models import Submission


def facts(submission: Submission, *, owned: bool) -> dict[str, Any]:
    """All that this caller may know."""
    found = public_facts(submission) | (private_facts(submission) if owned else {})
    return found | _where_it_is(submission)


def own(submission: Submission) -> dict[str, Any]:
    """All that its author may know."""
    return facts(submission, owned=True)


def line(submission: Submission) -> dict[str, Any]:
    """A submission in its author's list, with its score alone of all the report."""
    found = facts_in_brief(submission) | private_in_brief(submission) | _where_it_is(submission)
    return found | {"score": (submission.scores or {}).get("score")}


def _where_it_is(submission: Submission) -> dict[str, Any]:
    return {
        "url": submission.get_absolute_url(),
        "listed": submission.is_listed,
        "published": _moment(submission.published),
        "withdrawn": _moment(submission.withdrawn),
        "why": submission.why,
    }


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
