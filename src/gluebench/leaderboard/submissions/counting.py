"""Which submissions of a phase a board shows: of each person or team every one, the best, last or chosen."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Q
from django.db.models.functions import Coalesce

from gluebench.leaderboard.common.signals import submissions_changed
from gluebench.leaderboard.phases.models import Counting, Phase, ends_for
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.queries import Kind, people_of, scored


class Sent(NamedTuple):
    """A graded submission, as the rule sees it."""

    pk: int
    owner: int
    group: int | None
    value: float | None
    """Its score, the higher the better; None for one that is incomplete."""
    chosen: bool = False


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
    return [max(rows, key=lambda row: (row.value is not None, row.value or 0.0))]


def recount(phase: Phase | None) -> None:
    """Store which submissions of a phase count; in the transaction that changed one of them, or the phase.

    Before the board shows the phase, none does. Baselines and people always count, late files never.
    What an author withdraws after the deadline stays the one that counts: another does not move up.
    """
    if phase is None:
        return
    rows = phase.submissions.filter(scored(), late=False, reproduces=None).exclude(
        ~Q(declined=""), approved=False
    )
    pks: set[int] = set()
    if phase.is_shown:
        given = set(rows.exclude(kind=Kind.SYSTEM).values_list("pk", flat=True))
        systems = rows.filter(kind=Kind.SYSTEM).order_by("submitted", "pk")
        value = Coalesce("public_value", "value")
        columns = ("pk", "owner", "group", value, "chosen", "withdrawn")
        sent = [
            Sent(pk, owner, group, value, chosen is not None)
            for pk, owner, group, value, chosen, withdrawn in systems.values_list(*columns)
            if withdrawn is None or ((end := ends_for(phase, owner, group)) and end <= withdrawn)
        ]
        rule, _, otherwise, per = phase.state["counting"]
        pks = given | counted(sent, rule, per=per, otherwise=otherwise)
    changed = pks ^ set(phase.submissions.filter(counts=True).values_list("pk", flat=True))
    phase.submissions.filter(pk__in=changed - pks).update(counts=False)
    phase.submissions.filter(pk__in=changed & pks).update(counts=True)
    submissions_changed.send(Submission, submissions=sorted(changed))
