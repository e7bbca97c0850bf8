"""What the background worker does when no submission waits."""

from __future__ import annotations

from django_tasks import task

AFTER_GRADING = -10
"""Below the priority of gradings."""


@task(priority=AFTER_GRADING)
def renew_ranking(benchmark: int) -> None:
    """Compute how sure the ranks of a board are."""
    from gluebench.leaderboard.ranks.renewing import renew

    renew(benchmark)


@task(priority=AFTER_GRADING)
def compare_pair(pk: int) -> None:
    """Compare two systems."""
    from gluebench.leaderboard.ranks.renewing import compare

    compare(pk)
