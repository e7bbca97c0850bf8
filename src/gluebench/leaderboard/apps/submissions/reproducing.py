"""What a public row shows of submissions by which a second party reproduces it, which are never public."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.dispatch import receiver

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.signals import submissions_changed
from gluebench.leaderboard.apps.submissions.anonymity import NOBODY
from gluebench.leaderboard.apps.submissions.counting import teams_of_several
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import people_of

POINTS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 100)
"""Differences of two scores, times 100, that are told apart."""


@receiver(submissions_changed)
def follow(submissions: Sequence[int], **_: Any) -> None:
    """Store what rows show of their reproductions, after a change of one or the other."""
    changed = Submission.objects.filter(Q(pk__in=submissions) | Q(reproduces__in=submissions))
    for row in Submission.objects.filter(pk__in=changed.exclude(reproduces=None).values("reproduces")):
        shown = reproductions_of(row)
        if shown != row.reproduced:
            Submission.objects.filter(pk=row.pk).update(reproduced=shown)
            Benchmark.objects.filter(pk=row.benchmark_id).touch()
            submissions_changed.send(Submission, submissions=[row.pk])


def reproductions_of(row: Submission) -> list[dict[str, Any]]:
    """The reproductions that a row shows, oldest first: which, when, the agreement, the distance in score.

    Of each person or team it is the newest one, so that nobody stands for several.
    """
    sent = row.reproductions.filter(approved=True, withdrawn=None).select_related("benchmark", "phase")
    teams = teams_of_several(sent.values_list("group", flat=True), row.benchmark_id, row.phase)
    newest = {}
    for reproduction in sent.order_by("submitted", "pk"):
        people = people_of(reproduction.owner_id, reproduction.group_id, teams)
        newest[people] = reproduction

    lines = []
    for reproduction in sorted(newest.values(), key=lambda row: (row.submitted, row.pk)):
        agreement = reproduction.agreement
        if agreement and agreement["equal"]:
            sent_at = {"submission": reproduction.key, "at": str(reproduction.submitted.date())}
            lines.append(sent_at | agreement | {"within": _distance(row, reproduction)})
    return lines


def _distance(row: Submission, reproduction: Submission) -> float | None:
    """The smallest of `POINTS` that their scores do not differ by more than, as far as both are shown.

    None under the Ladder, which shows another score than the file's own, and for other labels or rows.
    """
    if row.value is None or reproduction.value is None or reproduction.policy.feedback == "ladder":
        return None
    # Both have a value, so both have a report.
    provenance = (row.report or {})["provenance"]
    other = (reproduction.report or {})["provenance"]
    same = all(provenance.get(name) == other.get(name) for name in ("labels", "rows", "benchmark"))
    if not same or row.record.loss:
        return None
    gap = round(100 * abs(row.value - reproduction.value), 6)
    return next(points for points in POINTS if gap <= points)


def with_names(row: Submission) -> list[dict[str, Any]]:
    """What a row shows of its reproductions, each with `by` whom and a `link`, unless names are hidden."""
    reproductions = {}
    if row.benchmark.names_hidden_until is None:
        reproductions = {reproduction.key: reproduction for reproduction in row.reproductions.all()}
    lines = []
    for shown in row.reproduced:
        reproduction = reproductions.get(shown["submission"], Submission())
        lines.append({**shown, "by": reproduction.team or NOBODY, "link": reproduction.link})
    return lines
