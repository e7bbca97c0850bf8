"""What participants read about phases: their times, which submissions count, and when a board shows them."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from gluebench.benchmark.figures import counted
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.tables import toml_beside
from gluebench.leaderboard.apps.phases.models import UPLOAD_TIME, Phase, PhaseVisibility, policy_at
from gluebench.leaderboard.apps.phases.times import MINUTE

SENTENCES = toml_beside(__file__)
"""For each choice of a phase, what participants read."""


def phase_sentences(phase: Phase) -> list[str]:
    """What a phase adds to the policy, one sentence for each rule."""
    per_team = policy_at(phase.benchmark, phase).per == "team"
    facts = {
        "whose": "Your team's" if per_team else "Your",
        "most": phase.most,
        "otherwise": phase.otherwise,
        "share": f"{100 * (phase.share or 0):.3g} %",
        "shows": phase.text_of(phase.shows) if phase.shows else "",
        "minutes": UPLOAD_TIME // MINUTE,
        "tasks": ", ".join(phase.tasks),
        "owner": str(phase.tasks_of),
    }
    rules = []
    if phase.tasks_of is not None:
        rules.append(("tasks_of", "another"))
    if phase.tasks:
        rules.append(("tasks", "some"))
    rules += [("counting", phase.counting), ("rows", phase.rows), ("shown", phase.shown)]
    if phase.closes is not None:
        rules += [("deadline", "closes"), ("late", phase.late)]

    sentences = []
    for name, choice in rules:
        sentence = SENTENCES[name].get(choice)
        if sentence:  # some choices need none
            sentences.append(sentence.format(**facts))
    return sentences


def scores_come(phase: Phase) -> str:
    """When the board shows the scores of a phase that it does not show yet, as a sentence."""
    if phase.shows is None:
        return "Scores come once the phase is closed; it has no deadline yet."
    moment = phase.text_of(phase.shows)
    if phase.shown == PhaseVisibility.DATE:
        return f"Scores come on {moment}."
    return f"Scores come on {moment}, or later, once all submissions are graded."


def announcements(phase: Phase) -> list[str]:
    """The extensions, newest first; those of single people without names and reasons."""
    lines = []
    own = 0
    for extension in phase.extensions.all():
        if extension.for_all:
            until = phase.text_of(extension.closes)
            before = phase.text_of(extension.before)
            lines.append(f"Deadline extended to {until}; it was {before}. {extension.reason}")
        else:
            own += 1
    if own and phase.last:
        until = phase.text_of(phase.last)
        lines.append(f"Extensions for single people or teams: {own}; the last of them is until {until}.")
    return lines


def describe_phases(
    benchmark: Benchmark, now: datetime | None = None, *, planned: bool = False
) -> list[dict[str, Any]]:
    """The phases of a benchmark in their order, for pages and the API; empty on one without phases.

    Those to come are left out once results day has closed the benchmark, unless `planned`.
    """
    phases = benchmark.phases.select_related("benchmark", "tasks_of")
    if not (benchmark.open or planned) and hasattr(benchmark, "results"):
        phases = phases.filter(opens__lte=now or timezone.now())
    lines = []
    for phase in phases:
        line = {
            "phase": phase,
            "standing": phase.standing(now or timezone.now()),
            "opens": phase.text_of(phase.opens),
            "closes": phase.text_of(phase.closes) if phase.closes else None,
            "sentences": phase_sentences(phase),
            "announcements": announcements(phase),
        }
        lines.append(line)
    return lines


def time_left(ends: datetime, now: datetime) -> str:
    """The time until a deadline in words, as the page's script counts it down: "2 days 03:04:05"."""
    seconds = max(0, int((ends - now).total_seconds()))
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    if not days:
        return clock
    return f"{counted(days, 'day')} {clock}"
