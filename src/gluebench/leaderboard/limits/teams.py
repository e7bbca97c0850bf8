"""Starting, joining and leaving a team, each under the lock that sending a submission takes."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from gluebench.leaderboard.accounts.models import Team, User, new_code
from gluebench.leaderboard.limits.gate import hold
from gluebench.leaderboard.limits.models import Departure


class TeamError(ValueError):
    """Something about teams that cannot be done; the message says why."""


def create(user: User, name: str) -> Team:
    """A new team with this person in it. Raises TeamError if the name is taken, or for who is in a team."""
    try:
        with transaction.atomic():
            person, present = hold(user.pk)
            _require_none(present)
            team = Team.objects.create(name=name)
            _enter(person, team)
    except IntegrityError:
        raise TeamError(
            f"There is a team {name!r} already. Choose another name, or ask it for its link."
        ) from None
    return team


def join(user: User, code: str) -> Team:
    """Enter the team that has this code. Raises TeamError for an old code, or for who is in another team."""
    team = Team.objects.filter(code=code).first()
    if team is None:
        raise TeamError("This link is not valid any more. Ask the team for its present one.")
    with transaction.atomic():
        person, present = hold(user.pk)
        if present != team:
            _require_none(present)
            # Locked only by who holds no other team: two people who change places must not wait for ever.
            Team.objects.select_for_update(no_key=True).get(pk=team.pk)
            _enter(person, team)
    return team


def leave(user: User) -> None:
    """Leave one's team; what it has sent until now keeps counting for oneself. The team stays."""
    with transaction.atomic():
        person, team = _member(user)
        Departure.objects.create(user=person, team=team)
        User.objects.filter(pk=person.pk).update(team=None)


def renew(user: User) -> Team:
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


def _enter(person: User, team: Team) -> None:
    person.team = team
    person.save(update_fields=["team"])
