"""Which submissions of a phase a board shows: of each person or team every one, the best, last or chosen."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from copy import copy
from typing import NamedTuple

from django.utils import timezone

from gluebench.leaderboard.accounts.models import Membership, User
from gluebench.leaderboard.common.signals import submissions_changed
from gluebench.leaderboard.phases.models import Counting, Phase, Rows
from gluebench.leaderboard.phases.moments import ends_for
from gluebench.leaderboard.submissions.models import Submission, SubmissionQuerySet
from gluebench.leaderboard.submissions.queries import LISTED, Kind, eligible, people_of


class Sent(NamedTuple):
    """A graded submission, as the rule sees it."""

    pk: int
    owner: int
    group: int | None
    value: float | None
    """Its score, the higher the better; None for one that is incomplete."""
    chosen: bool = False
    lost: bool = False
    """Whether it keeps scores that the others no longer have: its file is gone."""


def counted(sent: Iterable[Sent], rule: str, *, per: str, otherwise: str = Counting.BEST) -> set[int]:
    """The submissions that count; `sent` is in the order of arrival, and of equal scores the first counts."""
    of_people = defaultdict(list)
    for one in sent:
        of_people[people_of(one.owner, one.group if per == "team" else None)].append(one)
    return {one.pk for rows in of_people.values() for one in _of_one(rows, rule, otherwise)}


def _of_one(rows: list[Sent], rule: str, otherwise: str) -> list[Sent]:
    """The rows that count of one person or team, which has at least one."""
    if rule == Counting.EVERY:
        return rows
    if rule == Counting.CHOSEN:
        return [row for row in rows if row.chosen] or _of_one(rows, otherwise, otherwise)
    if rule == Counting.LAST:
        return rows[-1:]
    return [max(rows, key=lambda row: (not row.lost, row.value is not None, row.value or 0.0))]


def teams_of_several(phase: Phase) -> set[int]:
    """The teams of a phase that more than one person was in until its deadline.

    Any other team counts as its only member alone: else each new team of one person has an entry of its own.
    """
    sent = phase.submissions.filter(group__isnull=False, late=False)
    pairs = set(sent.values_list("group", "owner"))
    teams = {team for team, _ in pairs}
    members = Membership.objects.filter(team__in=teams)
    unrecorded = User.objects.filter(team__in=teams, memberships=None)  # see `move_to`
    if phase.ends is not None:
        members = members.filter(since__lt=phase.ends)
        unrecorded = unrecorded.filter(date_joined__lt=phase.ends)
    pairs.update(members.values_list("team", "user"))
    pairs.update(unrecorded.values_list("team", "pk"))
    people = Counter(team for team, _ in pairs)
    return {team for team in teams if people[team] > 1}


def those_that_count(phase: Phase) -> set[int]:
    """The submissions that count by the phase's rule, of those that may be listed; none before it is shown.

    Baselines and people always count. What an author withdraws after the deadline stays the one that counts:
    another does not move up.
    """
    if not phase.is_shown:
        return set()
    rows = phase.submissions.filter(eligible())
    given = set(rows.exclude(kind=Kind.SYSTEM).values_list("pk", flat=True))
    systems = rows.filter(kind=Kind.SYSTEM).order_by("submitted", "pk")
    score = "public_value" if phase.rows == Rows.BOTH else "scores__score__value"
    columns = ("pk", "owner", "group", "chosen", "withdrawn", "owner__team", "apart", "file", score)
    rule, _, otherwise, per = phase.state["counting"]
    several = teams_of_several(phase) if per == "team" else set()
    sent = []
    for pk, owner, group, chosen, withdrawn, team, apart, file, value in systems.values_list(*columns):
        ends = None if withdrawn is None else ends_for(phase, owner, team)
        if withdrawn is None or (ends is not None and ends <= withdrawn):
            lost = apart in ("labels", "tasks") and not file
            unit = group if group in several else None
            sent.append(Sent(pk, owner, unit, value, chosen is not None, lost))
    return given | counted(sent, rule, per=per, otherwise=otherwise)


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
    number = waiting_in(phase).count()
    return f"{number:,} submission{'s' * (number != 1)} in the queue may count."


def moved_by(phase: Phase) -> list[str]:
    """Whom a change of a phase's rule would move, in sentences; `phase` is changed and not saved."""
    stored = Phase.objects.filter(pk=phase.pk).first()
    if stored is None or not stored.is_shown:
        return []
    listed = set(phase.submissions.filter(LISTED).values_list("pk", flat=True))
    after = copy(phase)
    after.state = phase.state_at(timezone.now(), waits=waiting_in(phase).exists())
    counting = phase.submissions.filter(pk__in=those_that_count(after), withdrawn=None)
    names = dict(phase.submissions.values_list("pk", "name"))
    sentences = []
    if after.state["rows"] != stored.state["rows"]:
        sentences.append("All submissions are graded again, on other rows.")
    moves = counting.values_list("pk", flat=True)
    for pks, text in ((listed - {*moves}, "leave the board"), ({*moves} - listed, "come to the board")):
        if pks:
            sentences.append(f"These would {text}: {', '.join(names[pk] for pk in sorted(pks))}.")
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
