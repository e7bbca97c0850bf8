"""Change a benchmark's policy and exceptions, with a log entry; create, join and leave teams."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from gluebench.leaderboard.accounts.models import Team, User, new_code
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.policy import CHOICES, NONE, Policy, policy_of, read_phases, read_policy
from gluebench.leaderboard.limits.models import Departure, Override
from gluebench.leaderboard.limits.phase_acts import set_phases
from gluebench.leaderboard.limits.quota import hold
from gluebench.leaderboard.submissions.grading import follow_policy


def change_policy(
    benchmark: Benchmark,
    values: Mapping[str, Any],
    *,
    actor: User | None = None,
    open: bool | None = None,
    reason: str = "",
) -> dict[str, list[Any]]:
    """Set some or all of a benchmark's policy, and whether it takes submissions; what is left out stays.

    Returns the changes, [before, after] by name; each is in the log. Raises PolicyError.
    """
    with transaction.atomic():
        row = Benchmark.objects.held(benchmark.pk)
        former = row.policy
        before = {**former.as_dict(), "open": row.open}
        policy = policy_of({**row.settings, **values})
        usual = Policy().as_dict()
        row.settings = {name: value for name, value in policy.as_dict().items() if value != usual[name]}
        row.open = row.open if open is None else open
        after = {**policy.as_dict(), "open": row.open}
        changes = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        if changes:
            row.save(update_fields=["settings", "open"])
            record("policy", actor=actor, benchmark=row, reason=reason, changes=changes)
            follow_policy(row, former)
    benchmark.settings, benchmark.open = row.settings, row.open
    return changes


def add_override(override: Override, actor: User | None = None) -> Override:
    """Save an exception, which applies from now on."""
    with transaction.atomic():
        override.by = actor
        override.save()
        _record("exception", override, actor, override.reason)
    return override


def remove_override(override: Override, *, actor: User | None = None, reason: str) -> None:
    """End an exception; the log keeps what it was."""
    with transaction.atomic():
        _record("exception removed", override, actor, reason)
        override.delete()


def _record(action: str, override: Override, actor: User | None, reason: str) -> None:
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


def set_policy(name: str, file: Path | None = None, changes: Mapping[str, str] | None = None) -> list[str]:
    """Change a benchmark's policy: all of it by a file, then single settings; returns it as lines of TOML.

    Raises SiteError for an unknown benchmark, or PolicyError with all that is wrong.
    """
    benchmark = Benchmark.objects.named(name)
    values = {} if file is None else read_policy(file).as_dict()
    values.update({setting: _value(setting, text) for setting, text in (changes or {}).items()})
    with transaction.atomic():
        change_policy(benchmark, values, reason="command line")
        set_phases(benchmark, [] if file is None else read_phases(file))
    values = benchmark.policy.as_dict()
    return [f"{name} = {json.dumps(NONE if value is None else value)}" for name, value in values.items()]


def _value(name: str, text: str) -> Any:
    """Read a setting; all but a number, true or false stays text, which the policy may refuse."""
    if name in CHOICES:
        return text
    if text.lower() == NONE:
        return None
    try:
        return json.loads(text.lower())
    except ValueError:
        return text


class TeamError(ValueError):
    """Something about teams that cannot be done; the message says why."""


def create_team(user: User, name: str) -> Team:
    """A new team with this person in it. Raises TeamError if the name is taken, or for who is in a team."""
    try:
        with transaction.atomic():
            person, present = hold(user.pk)
            _require_none(present)
            person.team = team = Team.objects.create(name=name)
            person.save(update_fields=["team"])
    except IntegrityError:
        raise TeamError(
            f"There is a team {name!r} already. Choose another name, or ask it for its link."
        ) from None
    return team


def join_team(user: User, code: str) -> Team:
    """Enter the team that has this code. Raises TeamError for an old code, or for who is in another team."""
    team = Team.objects.filter(code=code).first()
    if team is None:
        raise TeamError("This link no longer works. Ask the team for the current link.")
    with transaction.atomic():
        person, present = hold(user.pk)
        if present != team:
            _require_none(present)
            # Lock it only without holding another team: two people who swap teams must not deadlock.
            Team.objects.select_for_update(no_key=True).get(pk=team.pk)
            person.team = team
            person.save(update_fields=["team"])
    return team


def leave_team(user: User) -> None:
    """Leave one's team; what it has sent until now keeps counting for oneself. The team stays."""
    with transaction.atomic():
        person, team = _member(user)
        Departure.objects.create(user=person, team=team)
        User.objects.filter(pk=person.pk).update(team=None)


def renew_link(user: User) -> Team:
    """Make another link of one's team; the old one no longer works."""
    with transaction.atomic():
        _, team = _member(user)
        team.code = new_code()
        team.save(update_fields=["code"])
    return team


def _member(user: User) -> tuple[User, Team]:
    person, team = hold(user.pk)
    if team is None:
        raise TeamError("You are in no team.")
    return person, team


def _require_none(team: Team | None) -> None:
    if team is not None:
        raise TeamError(f"You are in the team {team.name!r}. Leave it first.")
