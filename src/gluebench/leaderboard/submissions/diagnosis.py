"""Which label a system takes for which, where that may be shown."""

from __future__ import annotations

from typing import Any

from gluebench.leaderboard.submissions.models import Submission


def diagnosis_of(submission: Submission) -> dict[str, Any] | None:
    """Diagnostic set to its confusions and directions, of the latest grading, where its labels are public.

    None where no report is shown, or it was graded before these were counted. Exact counts would tell labels.
    """
    if submission.report is None:
        return None
    counted = submission.results.values_list("diagnosis", flat=True).first()
    if counted is None:
        return None
    public = {task.name for task in submission.benchmark.record.diagnostics if task.labels_public}
    return {name: counts for name, counts in counted.items() if name in public}
