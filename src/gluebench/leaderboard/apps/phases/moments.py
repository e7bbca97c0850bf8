"""What people may do with a phase now, by `table`."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Q, QuerySet
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User, team_for
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.phases.models import UPLOAD_TIME, LatePolicy, Phase
from gluebench.leaderboard.apps.phases.table import TABLE, ActEffect, ActError, Moment
from gluebench.leaderboard.apps.phases.times import MINUTE


def moment_of(phase: Phase | None, ends: datetime | None, at: datetime | None = None) -> Moment:
    """The stage of a phase, now or at a time, for a person to whom it closes at `ends`; without one, open."""
    now = at or timezone.now()
    if phase is None:
        return Moment.OPEN
    if now < phase.opens:
        return Moment.BEFORE
    if ends is None or now < ends:
        is_over_for_others = phase.ends is not None and now >= phase.ends
        return Moment.EXTENDED if is_over_for_others else Moment.OPEN
    if phase.is_settled:
        return Moment.ARCHIVED if hasattr(phase.benchmark, "results") else Moment.REVEALED
    if phase.benchmark.open and now < ends + UPLOAD_TIME:
        return Moment.GRACE
    return Moment.AFTER


def effect_of_act(
    act: str, phase: Phase | None, ends: datetime | None, at: datetime | None = None
) -> ActEffect:
    """What an act does, with its reason in words; as `moment_of`."""
    cell = TABLE[act].cells[moment_of(phase, ends, at)]
    if phase is None:
        return cell
    opens = phase.text_of(phase.opens)
    deadline = ""
    if ends is not None:
        deadline = phase.text_of(ends - MINUTE)
    return cell._replace(reason=cell.reason.format(phase=phase, opens=opens, deadline=deadline))


def require(act: str, phase: Phase | None, *, user: int = 0) -> ActEffect:
    """What an act does now, by this person, or by an organizer without a number. Raises ActError."""
    ends = None
    if phase is not None and user:
        ends = ends_for(phase, user)
    elif phase is not None:
        ends = phase.over
    cell = effect_of_act(act, phase, ends)
    if cell.outcome == "refused":
        raise ActError(cell.reason)
    return cell


def require_own_labels(benchmark: Benchmark, actor: User) -> None:
    """Raise ActError where a phase uses labels of a benchmark that this person does not organize."""
    for owner in Benchmark.objects.filter(phases_elsewhere__benchmark=benchmark).distinct():
        if not owner.has_organizer(actor):
            raise ActError(
                f"A phase uses the labels of {owner.title}, which you do not organize: ask one of its "
                "organizers to publish them, or publish nothing of the labels.",
                "labels",
            )


class SubmissionSlot(NamedTuple):
    """Where a submission goes that arrives at a moment."""

    phase: Phase | None = None
    """None on a benchmark without phases, or where nothing is taken."""
    ends: datetime | None = None
    """When the phase closes for this person; None where it stays open."""
    late: bool = False
    closed: str = ""
    """Why nothing is taken, in a sentence; empty where something is."""


def slot_of(
    benchmark: Benchmark, user: User, began: datetime, ended: datetime | None = None
) -> SubmissionSlot:
    """The phase that a submission of this person is for, if its upload began then and ended then, or now.

    Of several that are open, the one that opened first: a person with an extension finishes that one.
    """
    phases = list(benchmark.phases.all())
    if not phases:
        return SubmissionSlot()
    end = max(began, ended or timezone.now())
    past: list[tuple[Phase, datetime | None]] = []
    coming = None
    for phase in phases:  # in the order in which they open
        if phase.opens <= began:
            past.append((phase, ends_for(phase, user.pk)))
        elif coming is None:
            coming = phase

    for phase, ends in past:
        in_time = effect_of_act("upload", phase, ends, began).outcome == "changes"
        if in_time and effect_of_act("finish", phase, ends, end).outcome == "changes":
            return SubmissionSlot(phase, ends)
    if not past and coming is not None:
        return SubmissionSlot(closed=effect_of_act("upload", coming, coming.ends, began).reason)

    phase, ends = past[-1]  # it is closed: it does not stay open
    act = "upload on time" if phase.late == LatePolicy.REFUSED else "upload"
    cell = effect_of_act(act, phase, ends, end)
    if cell.outcome != "refused":
        return SubmissionSlot(phase, ends, late=True)
    reason = cell.reason
    if coming is not None:
        reason += f" The phase {coming} opens on {coming.text_of(coming.opens)}."
    return SubmissionSlot(closed=reason)


def ends_for(phase: Phase, user: int) -> datetime | None:
    """When a phase closes for the person with this number.

    A team's extension is for its members at the deadline. None where the phase stays open.
    """
    if phase.closes is None or phase.last is None:
        return phase.ends
    whose = Q(user=user) | Q(team=team_in(phase, user), team__isnull=False)
    own = phase.extensions.filter(whose).order_by("closes").values_list("closes", flat=True).last()
    return max(phase.closes, own or phase.closes) + MINUTE


def team_in(phase: Phase, user: int) -> int | None:
    """The number of a person's team in a phase: the present one or, after the deadline, that of then."""
    if phase.ends is None or effect_of_act("join", phase, phase.ends).outcome == "changes":
        return team_for(user, phase.benchmark_id)
    return team_for(user, phase.benchmark_id, phase.ends - timedelta(microseconds=1))


def phases_where(act: str, outcome: str, phases: QuerySet[Phase]) -> list[Phase]:
    """Those of some phases in which an act that is not one person's has this outcome now."""
    rows = phases.select_related("benchmark__results").distinct()
    return [phase for phase in rows if effect_of_act(act, phase, phase.ends).outcome == outcome]
