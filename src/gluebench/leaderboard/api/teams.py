"""The caller's team: read it, found one, join, and leave it, by the acts of the page."""

from typing import Annotated

from django.http import HttpRequest, JsonResponse
from ninja import Router
from pydantic import StringConstraints

from gluebench.leaderboard.accounts.models import Scope, User
from gluebench.leaderboard.api import schemas
from gluebench.leaderboard.api.callers import SIGNED_IN, user_with
from gluebench.leaderboard.api.schemas import answers
from gluebench.leaderboard.common.kinds import Values
from gluebench.leaderboard.limits import acts

router = Router(tags=["Team"], auth=SIGNED_IN)
ACT = answers(schemas.TeamFacts, 403, 409, 422)


class TeamName(schemas.Strict):
    """A new team."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]


class Invitation(schemas.Strict):
    """The code of a team's link, which is its last part."""

    code: Annotated[str, StringConstraints(pattern=r"^[-\w]{1,32}$")]


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


@router.post("/leave", response=ACT)
def leave(request: HttpRequest) -> Values:
    """Leave the team, which stays."""
    user = user_with(request, Scope.SUBMIT)
    return _facts(user, acts.leave_team(user))


def _facts(user: User, done: str) -> Values:
    team = User.objects.select_related("team").get(pk=user.pk).team
    members = None if team is None else team.members.count()
    return {"name": team and team.name, "members": members, "code": team and team.code, "done": done}
