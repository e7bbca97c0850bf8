"""What becomes of somebody's labels when the account is deleted."""

from __future__ import annotations

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.people.models import Annotator
from gluebench.leaderboard.people.studies import renew


def leave_studies(user: User) -> None:
    """Labels stay, under a number; the link stops working, so that nobody answers in the person's place."""
    for annotator in Annotator.objects.filter(user=user):
        annotator.user = None
        annotator.save(update_fields=["user"])
        renew(annotator)
