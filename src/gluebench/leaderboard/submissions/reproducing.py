"""Reproductions: submissions by which a second party shows that a public row can be made again.

A reproduction is graded and limited as any submission, and is never public itself. Its row shows how far
the predictions agree, and the scores where both may be shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q
from django.dispatch import receiver

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.signals import submissions_changed
from gluebench.leaderboard.submissions.anonymity import NOBODY
from gluebench.leaderboard.submissions.models import Submission

LEAST = 0.95
"""Share of equal predictions from which it counts; of one below, nobody learns the share."""
POINTS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 100)
"""Differences of two scores, times 100, that are told apart."""
SCORED_ON = ("labels", "rows", "benchmark")
"""What the reports of comparable scores have in common."""


@receiver(submissions_changed)
def follow(submissions: Sequence[int], **_: Any) -> None:
    """Store what rows show of their reproductions, after a change of one or the other."""
    changed = Submission.objects.filter(Q(pk__in=submissions) | Q(reproduces__in=submissions))
    rows = Submission.objects.filter(pk__in=changed.exclude(reproduces=None).values("reproduces"))
    for row in rows.select_related("benchmark").defer("problems", "scores"):
        shown = shown_of(row)
        if shown != row.reproduced:
            Submission.objects.filter(pk=row.pk).update(reproduced=shown)
            Benchmark.objects.filter(pk=row.benchmark_id).touch()
            submissions_changed.send(Submission, submissions=[row.pk])


def shown_of(row: Submission) -> list[dict[str, Any]]:
    """The reproductions that a row shows, oldest first: which, when, the agreement, the distance in score."""
    reproductions = row.reproductions.filter(approved=True, withdrawn=None)
    reproductions = reproductions.select_related("benchmark", "phase").order_by("submitted", "pk")
    return [
        {
            "submission": each.key,
            "at": each.submitted.date().isoformat(),
            **agreed,
            "within": _distance(row, each),
        }
        for each in reproductions
        if (agreed := each.agreement) and agreed["equal"] >= LEAST
    ]


def _distance(row: Submission, reproduction: Submission) -> float | None:
    """The smallest of `POINTS` that their scores do not differ by more than, as far as both are shown.

    None under the Ladder, which shows another score than the file's own, and for other labels or rows.
    """
    if row.value is None or reproduction.value is None or reproduction.policy.feedback == "ladder":
        return None
    of_row, of_other = ((each.report or {})["provenance"] for each in (row, reproduction))
    same = all(of_row.get(name) == of_other.get(name) for name in SCORED_ON)
    if not same or row.benchmark.record.loss:
        return None
    gap = round(100 * abs(row.value - reproduction.value), 6)
    return next(points for points in POINTS if gap <= points)


def with_names(row: Submission) -> list[dict[str, Any]]:
    """What a row shows of its reproductions, each with a sentence, `by` whom, and their `link`."""
    rows = {each.key: each for each in row.reproductions.only("key", "team", "link")}
    hidden = row.benchmark.named_from is not None
    return [
        {
            **shown,
            "text": sentence(shown),
            "by": NOBODY if hidden else rows[shown["submission"]].team or NOBODY,
            "link": "" if hidden else rows[shown["submission"]].link,
        }
        for shown in row.reproduced
    ]


def agreed(reproduction: Submission) -> str:
    """What its sender reads of a reproduction; empty for other submissions, and before it is compared."""
    if reproduction.reproduces is None or reproduction.agreement is None:
        return ""
    for shown in reproduction.reproduces.reproduced:
        if shown["submission"] == reproduction.key:
            return sentence(shown)
    if reproduction.agreement["equal"] < LEAST:
        return f"Fewer than {LEAST:.0%} of the predictions are equal".replace("%", " %")
    return "The predictions agree, and the row does not show it"


def sentence(shown: Mapping[str, Any]) -> str:
    """The agreement in words."""
    score = "" if shown.get("within") is None else f", score within {shown['within']:g}"
    return f"{100 * shown['equal']:.1f} % of {shown['rows']:,} predictions equal{score}"
