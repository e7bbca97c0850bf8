"""What participants read about phases: their times, which submissions count, and when a board shows them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.utils import timezone

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.phases.models import UPLOAD_TIME, Counting, Late, Phase, Rows, Shown, policy_at
from gluebench.leaderboard.phases.times import MINUTE


def phase_sentences(phase: Phase) -> list[str]:
    """What a phase adds to the policy, one sentence for each rule."""
    lines = [*_counting(phase), _rows(phase), _board(phase)]
    if phase.closes is not None:
        minutes = UPLOAD_TIME // MINUTE
        lines.append(
            "A file counts if its upload began before the deadline and ended at most "
            f"{minutes} minutes after it. The last minute belongs to the phase; the server's clock decides."
        )
        lines.append(
            {
                Late.KEPT: "A late file is kept and marked; it is not graded and does not count.",
                Late.GRADED: "A late file is kept, marked and graded for its author; it does not count.",
                Late.REFUSED: "A late file is refused.",
            }[Late(phase.late)]
        )
    return [line for line in lines if line]


def _counting(phase: Phase) -> Iterator[str]:
    whose, of = "Your", "you"
    if policy_at(phase.benchmark, phase).per == "team":
        whose, of = "Your team's", "your team"
    if phase.counting == Counting.EVERY:
        yield "Every submission counts that its author publishes."
    elif phase.counting in (Counting.BEST, Counting.LAST):
        yield f"{whose} {phase.counting} submission counts, and is on the board without being published."
    else:
        number = f"up to {phase.most} submissions" if phase.most > 1 else "one submission"
        yield f"Choose {number} to count, on the page of each, until the deadline."
        yield f"If {of} chose none, the {phase.otherwise} one counts."


def _rows(phase: Phase) -> str:
    share = f"{100 * phase.share:.3g} %" if phase.share else ""
    return {
        Rows.ALL: "",
        Rows.PUBLIC: f"Scores are of about {share} of the test rows, the same for everybody and secret.",
        Rows.HELD_BACK: f"Scores are of the test rows that are not in the public share of {share}.",
        Rows.BOTH: f"Scores are of about {share} of the test rows until the phase is closed; "
        "then all its submissions are scored on the others instead.",
    }[Rows(phase.rows)]


def _board(phase: Phase) -> str:
    when = f" on {phase.text_of(phase.shows)}" if phase.shows else ""
    if phase.shown == Shown.CLOSED:
        return f"Until the phase is closed, the board has the systems' names; their scores come{when}."
    return f"The board shows this phase{when}." if phase.shown == Shown.DATE else ""


def announcements(phase: Phase) -> list[str]:
    """The extensions, newest first; those of single people without names and reasons."""
    lines, own = [], 0
    for extension in phase.extensions.all():
        own += not extension.for_all
        if extension.for_all:
            until, before = phase.text_of(extension.closes), phase.text_of(extension.before)
            lines.append(f"Deadline extended to {until}; it was {before}. {extension.reason}")
    if own and phase.last:
        until = phase.text_of(phase.last)
        lines.append(f"Extensions for single people or teams: {own}; the last of them is until {until}.")
    return lines


def described(benchmark: Benchmark, now: datetime | None = None) -> list[dict[str, Any]]:
    """The phases of a benchmark in their order, for pages and the API; empty on one without phases."""
    return [
        {
            "phase": phase,
            "standing": phase.standing(now or timezone.now()),
            "opens": phase.text_of(phase.opens),
            "closes": phase.text_of(phase.closes) if phase.closes else None,
            "sentences": phase_sentences(phase),
            "announcements": announcements(phase),
        }
        for phase in benchmark.phases.select_related("benchmark")
    ]


def time_left(ends: datetime, now: datetime) -> str:
    """The time until a deadline in words, as the page's script counts it down: "2 days 03:04:05"."""
    seconds = max(0, int((ends - now).total_seconds()))
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days} day{'s' * (days != 1)} {clock}" if days else clock
