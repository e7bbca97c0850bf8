"""What people may do with a phase now, by `table`."""

from datetime import datetime

from django.utils import timezone

from gluebench.leaderboard.phases.models import UPLOAD_TIME, Phase, ends_for
from gluebench.leaderboard.phases.table import TABLE, ActError, Cell, Moment
from gluebench.leaderboard.phases.times import MINUTE


def moment_of(phase: Phase | None, ends: datetime | None) -> Moment:
    """The stage of a phase now, for a person to whom it closes at `ends`; outside of phases it is open."""
    now = timezone.now()
    if phase is None:
        return Moment.OPEN
    if now < phase.opens:
        return Moment.BEFORE
    if ends is None or now < ends:
        return Moment.OPEN if phase.ends is None or now < phase.ends else Moment.EXTENDED
    if phase.is_settled:
        return Moment.ARCHIVED if hasattr(phase.benchmark, "results") else Moment.REVEALED
    may_come = phase.benchmark.open and now < ends + UPLOAD_TIME
    return Moment.GRACE if may_come else Moment.AFTER


def require(act: str, phase: Phase | None, *, user: int = 0, team: int | None = None) -> Cell:
    """What an act does now, by a person in a team, or by an organizer without either. Raises ActError."""
    if phase is None:
        return TABLE[act].cells[Moment.OPEN]
    ends = ends_for(phase, user, team) if user else phase.over
    cell = TABLE[act].cells[moment_of(phase, ends)]
    if cell.outcome == "refused":
        deadline = phase.text_of(ends - MINUTE) if ends else ""
        raise ActError(cell.reason.format(phase=phase, opens=phase.text_of(phase.opens), deadline=deadline))
    return cell
