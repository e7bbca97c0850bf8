"""What the background worker does for studies."""

from __future__ import annotations

from django_tasks import task


@task()
def score_study(pk: int) -> None:
    """Score one study."""
    from gluebench.leaderboard.people.work import score

    score(pk)
