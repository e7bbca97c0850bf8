"""What the background worker does for the organiser's reports."""

from __future__ import annotations

from django_tasks import task


@task()
def compare_predictions(benchmark: int) -> None:
    """Read some more submissions of a benchmark; once all are read, compare them."""
    from gluebench.leaderboard.audit.similar import read_some, renew

    if read_some(benchmark):
        # A short task after another, so that submissions are graded in between.
        compare_predictions.enqueue(benchmark)
    else:
        renew(benchmark)
