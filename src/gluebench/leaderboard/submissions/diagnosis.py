"""What may be shown of which label a system takes for which: not all that was counted in grading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.leaderboard.submissions.models import Submission


def diagnosis_of(submission: Submission) -> dict[str, Any] | None:
    """Diagnostic set to its confusions and directions, of the latest grading.

    None where no report is shown, or it was graded before these were counted. Sets whose labels are public
    are there as they are. Of others the Ladder shows scores alone, and where small categories are withheld,
    only the whole set's table is there: counts could be subtracted from each other.
    """
    if submission.report is None:
        return None
    found = submission.results.values_list("diagnosis", "shown__schema").first()
    if found is None or found[0] is None:
        return None
    counted, laddered = found[0], found[1] is not None
    public = {task.name for task in submission.benchmark.record.diagnostics if task.labels_public}
    smallest = submission.benchmark.policy.smallest_category
    return {
        name: counts if name in public or not smallest else _whole(counts)
        for name, counts in counted.items()
        if name in public or not laddered
    }


def _whole(counts: Mapping[str, Any]) -> dict[str, Any]:
    kept = {kind: tables for kind, tables in counts["confusions"].items() if kind == "overall"}
    return {**counts, "confusions": kept}
