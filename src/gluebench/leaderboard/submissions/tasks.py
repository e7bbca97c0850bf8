"""What the background worker does."""

from __future__ import annotations

from django_tasks import task


@task()
def grade_submission(pk: int) -> None:
    """Grade one submission."""
    from gluebench.leaderboard.submissions.grading import grade

    grade(pk)


def hand_out(pk: int) -> None:
    """Put a submission in the worker's queue; in the transaction of whatever made it wait."""
    grade_submission.enqueue(pk)
