"""Which submissions of a phase a board shows: of each person or team every one, the best, last or chosen."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from datetime import timedelta
from typing import Any, NamedTuple

from django.dispatch import receiver
from django.utils import timezone

from gluebench.benchmark.figures import counted as numbered
from gluebench.leaderboard.apps.accounts.models import acting_for
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.signals import submissions_changed, team_changed
from gluebench.leaderboard.apps.phases.models import GRADED_BY, CountingRule, Phase, ScoredRows
from gluebench.leaderboard.apps.phases.moments import ends_for, phases_where
from gluebench.leaderboard.apps.submissions.models import Submission, SubmissionQuerySet
from gluebench.leaderboard.apps.submissions.queries import LISTED, Kind, is_eligible, people_of


class RankedSubmission(NamedTuple):
    """A graded submission, as the rule sees it."""

    pk: int
    people: tuple[str, int]
    """As `people_of`."""
    value: float | None
    """Its score, the higher the better; None for one that is incomplete."""
    chosen: bool = False
    lost: bool = False
    """Whether it keeps scores that the others no longer have: its file is gone."""


def select_counting(
    sent: Iterable[RankedSubmission], rule: str, *, otherwise: str = CountingRule.BEST
) -> set[int]:
    """The submissions that count; `sent` is in the order of arrival, and of equal scores the first counts."""
    by_people = defaultdict(list)
    for row in sent:
        by_people[row.people].append(row)
    counting: set[int] = set()
    for rows in by_people.values():
        counting.update(row.pk for row in _of_one(rows, rule, otherwise))
    return counting


def _of_one(rows: list[RankedSubmission], rule: str, otherwise: str) -> list[RankedSubmission]:
    """The rows that count of one person or team, which has at least one."""
    if rule == CountingRule.EVERY:
        return rows
    if rule == CountingRule.CHOSEN:
        chosen = [row for row in rows if row.chosen]
        return chosen or _of_one(rows, otherwise, otherwise)
    if rule == CountingRule.LAST:
        return rows[-1:]
    # The best: scores of other labels or tasks, and incomplete ones, only where there is nothing else.
    return [max(rows, key=lambda row: (not row.lost, row.value is not None, row.value or 0.0))]


def teams_of_several(teams: Iterable[int | None], benchmark: int, phase: Phase | None) -> set[int]:
    """Those of some teams that have more than one member at the deadline of a phase, or now before it.

    `benchmark`: the number of that for which they act.

    What was sent for any other team counts for its sender alone: else each team that a person founds, alone
    or with somebody who stays for a moment, has an entry of its own.
    """
    moment = timezone.now()
    if phase is not None and phase.ends is not None:
        moment = min(moment, phase.ends - timedelta(microseconds=1))
    known = {team for team in teams if team is not None}
    people = Counter(acting_for(known, benchmark, moment).values())
    return {team for team, number in people.items() if number > 1}


@receiver(team_changed)
def follow_teams(teams: Sequence[int], act: str, **_: Any) -> None:
    """Count again in the phases in which it matters who is in a team."""
    for phase in phases_where(act, "changes", Phase.objects.filter(submissions__group__in=teams)):
        Benchmark.objects.filter(pk=phase.benchmark_id).touch()
        recount(phase)


def those_that_count(phase: Phase) -> set[int]:
    """The submissions that count by the phase's rule, of those that may be listed; none before it is shown.

    Baselines and people always count. What an author withdraws after the deadline stays the one that counts:
    another does not move up.
    """
    if not phase.is_shown:
        return set()
    rows = phase.submissions.filter(is_eligible())
    given = set(rows.exclude(kind=Kind.SYSTEM).values_list("pk", flat=True))
    systems = rows.filter(kind=Kind.SYSTEM).order_by("submitted", "pk")
    score = "public_value" if phase.rows == ScoredRows.BOTH else "scores__score__value"
    columns = ("pk", "owner", "group", "chosen", "withdrawn", "apart", "file", score)
    rule, _, otherwise, per = phase.state["counting"]
    teams: set[int] = set()
    if per == "team":
        teams = teams_of_several(systems.values_list("group", flat=True), phase.benchmark_id, phase)
    sent = []
    for pk, owner, group, chosen, withdrawn, apart, file, value in systems.values_list(*columns):
        if withdrawn is not None:
            ends = ends_for(phase, owner)
            if ends is None or withdrawn < ends:
                continue
        lost = apart in ("labels", "tasks") and not file
        people = people_of(owner, group, teams)
        sent.append(RankedSubmission(pk, people, value, chosen is not None, lost))
    return given | select_counting(sent, rule, otherwise=otherwise)


def waiting_in(phase: Phase) -> SubmissionQuerySet:
    """The submissions of a phase that may count and are not graded yet: its results wait for them."""
    return Submission.objects.waiting().filter(phase=phase, late=False, reproduces=None)


def results_wait_for(phase: Phase) -> str:
    """What the results of a phase that is over wait for; empty where they do not wait."""
    now = timezone.now()
    if phase.over is None or phase.complete is None or now < phase.over or phase.is_settled:
        return ""
    if now < phase.complete and phase.benchmark.open:
        return f"Uploads that began before the deadline may end until {phase.text_of(phase.complete)}."
    return f"{numbered(waiting_in(phase).count(), 'submission')} in the queue may count."


def describe_moves(phase: Phase) -> list[str]:
    """Whom a change of a phase's rule would move, in sentences; `phase` is changed and not saved."""
    stored = Phase.objects.filter(pk=phase.pk).first()
    if stored is None or not stored.is_shown:
        return []
    after = copy(phase)
    after.state = phase.state_at(timezone.now(), waits=waiting_in(phase).exists())
    counting = phase.submissions.filter(pk__in=those_that_count(after), withdrawn=None)
    listed_now = set(phase.submissions.filter(LISTED).values_list("pk", flat=True))
    listed_then = set(counting.values_list("pk", flat=True))
    names = dict(phase.submissions.values_list("pk", "name"))

    sentences = []
    if any(after.state.get(name) != stored.state.get(name) for name in GRADED_BY):
        sentences.append("All submissions are graded again.")
    leaving = [names[pk] for pk in sorted(listed_now - listed_then)]
    if leaving:
        sentences.append(f"These would leave the board: {', '.join(leaving)}.")
    coming = [names[pk] for pk in sorted(listed_then - listed_now)]
    if coming:
        sentences.append(f"These would come to the board: {', '.join(coming)}.")
    return sentences or ["Nobody would leave the board or come to it."]


def recount(phase: Phase | None) -> None:
    """Store which submissions of a phase count; in the transaction that changed one of them, or the phase."""
    if phase is None:
        return
    pks = those_that_count(phase)
    changed = pks ^ set(phase.submissions.filter(counts=True).values_list("pk", flat=True))
    phase.submissions.filter(pk__in=changed - pks).update(counts=False)
    phase.submissions.filter(pk__in=changed & pks).update(counts=True)
    submissions_changed.send(Submission, submissions=sorted(changed))
