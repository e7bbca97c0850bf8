"""The caller's team: found one, join and leave it, invite and remove people, by the acts of the page."""

from typing import Annotated

from django.http import HttpRequest, JsonResponse
from ninja import Router
from pydantic import Field, StringConstraints

from gluebench.leaderboard.apps.accounts.models import Scope, User
from gluebench.leaderboard.apps.api import schemas
from gluebench.leaderboard.apps.api.callers import SIGNED_IN, user_with
from gluebench.leaderboard.apps.api.schemas import answers
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.limits import acts

router = Router(tags=["Team"], auth=SIGNED_IN)
ACT = answers(schemas.TeamFacts, 403, 409, 422)


class TeamName(schemas.Strict):
    """A new team."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]


class Invitation(schemas.Strict):
    """The code of a team's link, which is its last part."""

    code: Annotated[str, StringConstraints(pattern=r"^[-\w]{1,32}$")]


class Link(schemas.Strict):
    """A new link: for how many people and days."""

    uses: int = Field(1, ge=1, le=1000)
    days: int = Field(acts.DAYS_VALID, ge=1, le=366)


class Member(schemas.Strict):
    """A member, by the number of the account."""

    account: int


@router.get("", response=answers(schemas.TeamFacts, 403))
def team(request: HttpRequest) -> Values:
    """The caller's team with the code by which others join it; all null without a team."""
    return _facts(user_with(request, Scope.SUBMIT), "")


@router.post("", response=answers(schemas.TeamFacts, 201, 403, 409, 422))
def found(request: HttpRequest, new: TeamName) -> JsonResponse:
    """Start a team with the caller in it."""
    user = user_with(request, Scope.SUBMIT)
    acts.create_team(user, new.name)
    return JsonResponse(_facts(user, "The team is ready."), status=201)


@router.post("/join", response=ACT)
def join(request: HttpRequest, invitation: Invitation) -> Values:
    """Enter the team that has this code."""
    user = user_with(request, Scope.SUBMIT)
    return _facts(user, acts.join_team(user, invitation.code))


@router.post("/invite", response=ACT)
def invite(request: HttpRequest, link: Link) -> Values:
    """Replace the code by which others join; for the leader."""
    user = user_with(request, Scope.SUBMIT)
    return _facts(user, acts.renew_link(user, uses=link.uses, days=link.days))


@router.post("/remove", response=ACT)
def remove(request: HttpRequest, member: Member) -> Values:
    """Put a member out of the team; for the leader."""
    user = user_with(request, Scope.SUBMIT)
    return _facts(user, acts.remove_member(user, member.account))


@router.post("/leader", response=ACT)
def leader(request: HttpRequest, member: Member) -> Values:
    """Let another member lead the team; for the leader."""
    user = user_with(request, Scope.SUBMIT)
    return _facts(user, acts.hand_over_team(user, member.account))


@router.post("/leave", response=ACT)
def leave(request: HttpRequest) -> Values:
    """Leave the team, which stays."""
    user = user_with(request, Scope.SUBMIT)
    return _facts(user, acts.leave_team(user))


def _facts(user: User, done: str) -> Values:
    team = User.objects.select_related("team").get(pk=user.pk).team
    if team is None:
        return {"name": None, "members": None, "people": [], "code": None, "done": done}
    people = acts.members_of(team)
    facts = {"name": team.name, "members": len(people), "people": people, "done": done}
    return {**facts, "code": team.code or None}
