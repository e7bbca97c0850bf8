"""Change a benchmark's policy and exceptions, with a log entry; create, join and leave teams."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import (
    Membership,
    Team,
    User,
    acting_for,
    leader_of,
    leave,
    move_to,
    team_for,
)
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import SETTINGS, Policy, PolicyFile, toml_line
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.text import alphabetical
from gluebench.leaderboard.apps.limits.forms import policy_for
from gluebench.leaderboard.apps.limits.models import Invitation, Override
from gluebench.leaderboard.apps.limits.phase_acts import phase_lines, set_phases
from gluebench.leaderboard.apps.limits.quota import REJECTED, lock_user_and_team
from gluebench.leaderboard.apps.phases.models import Extension, Phase, policy_at
from gluebench.leaderboard.apps.phases.moments import effect_of_act, phases_where, require
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.counting import recount
from gluebench.leaderboard.apps.submissions.grading import follow_policy
from gluebench.leaderboard.apps.submissions.models import Submission


def change_policy(
    benchmark: Benchmark,
    values: Mapping[str, Any],
    *,
    actor: User | None = None,
    open: bool | None = None,
    reason: str = "",
) -> str:
    """Set some or all of a benchmark's policy, and whether it takes submissions; what is left out stays.

    The log has the changes. Raises PolicyError, and ActError.
    """
    with transaction.atomic():
        row = Benchmark.objects.lock(benchmark.pk)
        former = row.policy
        before = {**former.as_dict(), "open": row.open}
        policy = policy_for(row, {**row.settings, **values})
        usual = Policy().as_dict()
        row.settings = {name: value for name, value in policy.as_dict().items() if value != usual[name]}
        row.open = row.open if open is None else open
        after = {**policy.as_dict(), "open": row.open}
        changes = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        if changes:
            for phase in row.phases.all():
                require("rule", phase)
            row.save(update_fields=["settings", "open"])
            follow_policy(row, former)
            seals = seals_of_parts(row, "settings", "open", "revealed")
            record("policy", actor=actor, benchmark=row, reason=reason, changes=changes, sealed=seals)
    benchmark.settings, benchmark.open = row.settings, row.open
    return "The policy holds from now on." if changes else "Nothing was changed."


def set_limits(benchmark: Benchmark, actor: User, *, open: bool, reason: str, **policy: Any) -> str:
    """Do `change_policy` with the values of its form."""
    return change_policy(benchmark, policy, actor=actor, open=open, reason=reason)


def add_override(override: Override, actor: User) -> str:
    """Save an exception, which applies from now on."""
    with transaction.atomic():
        override.by = actor
        override.save()
        _record("exception", override, actor, override.reason)
    return f"The exception for {override.whose(actor)} holds from now on."


def remove_override(override: Override, actor: User, *, reason: str) -> str:
    """End an exception; the log keeps what it was."""
    with transaction.atomic():
        _record("exception removed", override, actor, reason)
        override.delete()
    return f"The exception for {override.whose(actor)} is removed."


def _record(action: str, override: Override, actor: User, reason: str) -> None:
    numbers = {name: getattr(override, name) for name in Override.LIMITS}
    record(
        action,
        actor=actor,
        benchmark=override.benchmark,
        reason=reason,
        user=override.user_id,
        team=override.team_id,
        limits={name: number for name, number in numbers.items() if number is not None},
        until=override.until and override.until.isoformat(),
    )


def set_policy(
    name: str, file: PolicyFile | None = None, changes: Mapping[str, str] | None = None
) -> list[str]:
    """Change a benchmark's policy: all of it by a file, then single settings.

    Returns it with the phases as lines of TOML, as of a file.

    Raises SiteError for an unknown benchmark, or PolicyError with all that is wrong.
    """
    benchmark = Benchmark.objects.get_by_name(name)
    values = {} if file is None else file.policy.as_dict()
    for setting, text in (changes or {}).items():
        values[setting] = SETTINGS[setting].read(text) if setting in SETTINGS else text
    with transaction.atomic():
        change_policy(benchmark, values, reason="command line")
        set_phases(benchmark, [] if file is None else file.phases)
    lines = [toml_line(setting, value) for setting, value in benchmark.policy.as_dict().items()]
    return lines + list(phase_lines(benchmark))


GUESTS = 20
"""How many people the first link of a team is for."""
DAYS_VALID = 14
"""For how many days a link is valid if not told."""
OVER = "This link no longer works: it is used up, has expired, or was replaced. Ask the team for another."


def create_team(user: User, name: str, benchmark: Benchmark | None = None) -> Team:
    """A new team for a benchmark, or for all, led by this person; it has a first link.

    Raises ActError if the name is taken, or for who is in such a team, and ValidationError for other names.
    """
    Team(name=name).clean_fields(exclude={"merging"})
    try:
        with transaction.atomic():
            person, present = lock_user_and_team(user.pk, benchmark)
            _require_none(present, benchmark)
            team = Team.objects.create(name=name, leader=person, benchmark=benchmark)
            move_to(person, team)
            _invite(team, person, uses=GUESTS, days=DAYS_VALID)
    except IntegrityError:
        raise _team_error(
            f"There is a team {name!r} already. Choose another name, or ask it for its link."
        ) from None
    return team


def join_team(user: User, code: str) -> str:
    """Enter the team of this invitation, which counts as one use of it.

    Raises ActError for an invitation that is over, for who is in another team, and for a team that may not
    take in people now.
    """
    team = team_of_invitation(code)
    with transaction.atomic():
        person, present = lock_user_and_team(user.pk, team.benchmark)
        if present != team:
            _require_none(present, team.benchmark)
            # Lock it only without holding another team: two people who swap teams must not deadlock.
            if not Team.objects.select_for_update(no_key=True).filter(pk=team.pk):
                raise _team_error("This team has just merged with another. Ask it for the current link.")
            if not Invitation.objects.usable().filter(team=team, code=code).update(used=F("used") + 1):
                raise _team_error(OVER)
            _require_growth([team], [person])
            move_to(person, team)
    return f"You are in the team {team} now.{_note_on_closed_phases('join', user)}"


def team_of_invitation(code: str) -> Team:
    """The team to which the invitation with this code is, while it may be used. Raises ActError."""
    invitation = Invitation.objects.usable().filter(code=code).select_related("team").first()
    if invitation is None or invitation.team is None:
        raise _team_error(OVER)
    return invitation.team


def team_scope(user: User, name: str) -> Benchmark | None:
    """The benchmark of this name, which a person sees or has a team for; None for "". Raises Http404."""
    if not name:
        return None
    visible = Q(pk__in=Benchmark.objects.visible_to(user).values("pk"))
    own = Q(pk__in=Membership.objects.filter(user=user, until=None).values("team__benchmark"))
    return get_object_or_404(Benchmark.objects.filter(visible | own), name=name)


def _benchmarks_of(team: Team) -> QuerySet[Benchmark]:
    """The benchmarks for which a team is."""
    if team.benchmark_id is None:
        return Benchmark.objects.all()
    return Benchmark.objects.filter(pk=team.benchmark_id)


def _require_growth(teams: Sequence[Team], more: Sequence[User] = ()) -> None:
    """Raise ActError if a benchmark that they submit to does not let these become one team."""
    numbers = [team.pk for team in teams]
    for benchmark in _benchmarks_of(teams[0]).filter(open=True, settings__per="team"):
        people = set(acting_for(numbers, benchmark.pk))
        for person in more:
            # Who has a team of this benchmark keeps it on entering one for all benchmarks.
            if teams[0].benchmark_id is not None or team_for(person.pk, benchmark.pk) is None:
                people.add(person.pk)
        if not benchmark.submissions.filter(Q(owner__in=people) | Q(group__in=numbers)).exists():
            continue
        policy = benchmark.policy
        if policy.team_size is not None and len(people) > policy.team_size:
            raise _team_error(
                f"{benchmark} takes at most {policy.team_size} people in a team; you would be {len(people)}."
            )
        if policy.merge_until is not None and timezone.now().date() > policy.merge_until:
            day = f"{policy.merge_until.day} {policy.merge_until:%B %Y}"
            raise _team_error(f"In {benchmark}, teams could take in people and merge through {day} (UTC).")


def leave_team(user: User, benchmark: Benchmark | None = None) -> str:
    """Leave one's team; what it has sent until now keeps counting for oneself. The team stays."""
    with transaction.atomic():
        person, team = _member(user, benchmark)
        leave(person, team)
    return f"You left the team.{_note_on_closed_phases('leave', user)}"


def _note_on_closed_phases(act: str, user: User) -> str:
    """In which phases that a person takes part in the act changes nothing, in sentences after another."""
    phases = phases_where(act, "keeps", Phase.objects.filter(submissions__owner=user))
    per_team = [phase for phase in phases if policy_at(phase.benchmark, phase).per == "team"]
    return "".join(f" {effect_of_act(act, phase, phase.ends).reason}" for phase in per_team)


def propose_merge(user: User, code: str) -> str:
    """Ask the team that has this code to merge with one's own. Raises ActError."""
    with transaction.atomic():
        other = team_of_invitation(code)
        _, own = _member(user, other.benchmark)
        if other == own:
            raise _team_error("This link is your own team's.")
        Team.objects.filter(pk=own.pk).update(merging=other)
        record("merge proposed", actor=user, team=own.pk, into=other.pk)
    return f"The team {other} is asked; one of its members accepts or declines."


def merge(user: User, pk: int, *, accepted: bool) -> str:
    """Take in, or decline, a team that asked one's own to merge; its submissions count for the merged team.

    In a phase whose deadline has passed both stay apart, with their submissions and extensions. Raises
    ActError if the two have sent more than one team may have sent by now.
    """
    with transaction.atomic():
        proposed = Team.objects.filter(pk=pk).values_list("merging", flat=True).first()
        # As `lock_user_and_team`: first people, then teams, each in the order of their keys.
        members = Membership.objects.filter(team__in=[proposed, pk], until=None)
        people = User.objects.select_for_update(no_key=True).filter(pk__in=members.values("user"))
        list(people.order_by("pk"))
        locked = Team.objects.select_for_update().filter(pk__in=[proposed, pk]).order_by("pk")
        teams = {team.pk: team for team in locked}
        own = teams.get(proposed or 0)
        other = teams.get(pk)
        is_asked = own is not None and members.filter(user=user, team=own).exists()
        if own is None or other is None or other.merging_id != own.pk or not is_asked:
            raise _team_error("This team does not ask to merge with yours any more.")
        if accepted:
            _require_growth([own, other])
            _require_room(own, other)
            _take_in(own, other)
        else:
            Team.objects.filter(pk=pk).update(merging=None)
        action = "teams merged" if accepted else "merge declined"
        record(action, actor=user, team=own.pk, other=pk, name=other.name)
    if accepted:
        return f"The team {other} is part of yours now.{_note_on_closed_phases('merge', user)}"
    return f"You declined the team {other}."


def _take_in(own: Team, other: Team) -> None:
    """Move the people of a team, and what it has in phases that take submissions, or outside of phases."""
    now = timezone.now()
    for left in other.memberships.exclude(until=None):  # what they had sent by then counts for them as before
        Membership.objects.create(user_id=left.user_id, team=own, since=now, until=left.until)
    for person in other.members:
        move_to(person, own)
    ended = phases_where("merge", "keeps", Phase.objects.all())
    moved = Submission.objects.filter(group=other).exclude(phase__in=ended)
    moved.rewrite(group=own)
    for extension in Extension.objects.filter(team=other).exclude(phase__in=ended):
        extension.team = own
        extension.save(update_fields=["team"])
    phases = Phase.objects.filter(submissions__group=own)
    for phase in phases_where("merge", "changes", phases):
        Benchmark.objects.filter(pk=phase.benchmark_id).touch()
        recount(phase)
    if other.submissions.exists() or Extension.objects.filter(team=other).exists():
        Team.objects.filter(pk=other.pk).update(merging=None)  # for the ended phases
        Invitation.objects.filter(team=other).update(uses=F("used"))
    else:
        other.delete()


def _require_room(own: Team, other: Team) -> None:
    """Raise ActError if two teams have sent more to a benchmark than one may have sent by now."""
    teams = [own.pk, other.pk]
    for benchmark in _benchmarks_of(own):
        policy, days = benchmark.policy, (timezone.now() - benchmark.added).days
        caps = ((policy.total, 1), (policy.per_day, days + 1), (policy.per_month, days // 30 + 1))
        most = min((cap * times for cap, times in caps if cap is not None), default=None)
        theirs = Q(owner__in=acting_for(teams, benchmark.pk)) | Q(group__in=teams)
        sent = Submission.objects.filter(theirs, ~REJECTED, benchmark=benchmark).count()
        if policy.per == "team" and most is not None and sent > most:
            raise _team_error(
                f"Together the teams have sent {sent} submissions to {benchmark.title}; one team may have "
                f"sent {most} by now. You cannot merge."
            )


def renew_link(
    user: User, *, uses: int = 1, days: int = DAYS_VALID, benchmark: Benchmark | None = None
) -> str:
    """Make another link of one's team, for so many people and days; earlier ones no longer work.

    Raises ActError for who does not lead the team.
    """
    with transaction.atomic():
        person, team = _leading(user, benchmark)
        Invitation.objects.filter(team=team).update(uses=F("used"))
        _invite(team, person, uses=uses, days=days)
        record("team invitation", actor=person, team=team.pk, uses=uses, days=days)
    return "The team has a new link; the old one no longer works."


def _invite(team: Team, by: User, *, uses: int, days: int) -> None:
    expires = timezone.now() + timedelta(days=days)
    Invitation.objects.create(team=team, uses=uses, expires=expires, by=by)


def remove_member(user: User, account: int, benchmark: Benchmark | None = None) -> str:
    """Put a person out of the team that one leads, as if that person left. Raises ActError."""
    with transaction.atomic():
        people = User.objects.select_for_update(no_key=True).filter(pk__in=[user.pk, account])
        present = {person.pk: person for person in people.order_by("pk")}
        leader, team = _leading(user, benchmark)
        other = present.get(account)
        if other is None or other not in team.members or other == leader:
            raise _team_error("This person is not a member whom you could remove.")
        leave(other, team)
        Invitation.objects.filter(team=team).update(uses=F("used"))  # or the person comes back by the link
        record("member removed", actor=leader, team=team.pk, account=account)
    done = f"{member_name(other)} is not in the team any more, and its link no longer works."
    return done + _note_on_closed_phases("leave", other)


def hand_over_team(user: User, account: int, benchmark: Benchmark | None = None) -> str:
    """Let another member lead the team. Raises ActError."""
    with transaction.atomic():
        leader, team = _leading(user, benchmark)
        other = team.members.filter(pk=account).first()
        if other is None:
            raise _team_error("This person is not in your team.")
        Team.objects.filter(pk=team.pk).update(leader=other)
        record("team leader", actor=leader, team=team.pk, account=account)
    return f"{member_name(other)} leads the team now."


def member_name(member: User) -> str:
    """The name of a person for the other members of a team."""
    return member.name or f"Account {member.pk}"


def members_of(team: Team) -> list[Values]:
    """Facts of the members of a team, the leader first, then by name."""
    leader = leader_of(team)
    since = dict(team.memberships.filter(until=None).values_list("user", "since"))
    members = [
        {
            "account": member.pk,
            "name": member_name(member),
            "role": "leader" if member == leader else "member",
            "since": since.get(member.pk),
        }
        for member in team.members
    ]
    return sorted(members, key=lambda one: (one["role"] != "leader", alphabetical(one["name"])))


def _leading(user: User, benchmark: Benchmark | None) -> tuple[User, Team]:
    """A person and the team that the person leads, both locked. Raises ActError."""
    person, team = _member(user, benchmark)
    if leader_of(team) != person:
        raise _team_error("Only the leader of the team does this.")
    return person, team


def _team_error(reason: str) -> ActError:
    return ActError(reason, "team")


def _member(user: User, benchmark: Benchmark | None) -> tuple[User, Team]:
    """A person and the person's team for exactly this benchmark, or for all. Raises ActError."""
    person, team = lock_user_and_team(user.pk, benchmark)
    if team is None or team.benchmark != benchmark:
        where = "" if benchmark is None else f" for {benchmark} alone"
        raise _team_error(f"You are in no team{where}.")
    return person, team


def _require_none(team: Team | None, benchmark: Benchmark | None) -> None:
    if team is not None and team.benchmark == benchmark:
        raise _team_error(f"You are in the team {team.name!r}. Leave it first.")
