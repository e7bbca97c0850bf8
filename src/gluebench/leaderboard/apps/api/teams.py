"""The caller's teams: found one, join and leave it, invite and remove people, by the acts of the page.

Each address takes `benchmark`, the name of the one that a team is for; without it, the team is for all.
"""

from collections.abc import Callable
from typing import Annotated

from django.http import HttpRequest, JsonResponse
from ninja import Query, Router, Schema
from pydantic import Field, StringConstraints

from gluebench.leaderboard.apps.accounts.models import Scope, User, teams_of
from gluebench.leaderboard.apps.api import schemas
from gluebench.leaderboard.apps.api.callers import SIGNED_IN, user_with
from gluebench.leaderboard.apps.api.schemas import answers
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.limits import acts

router = Router(tags=["Team"], auth=SIGNED_IN)
ACT = answers(schemas.TeamDetail, 403, 404, 409, 422)


class TeamName(schemas.Strict):
    """A new team."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]


class TeamLinkCode(schemas.Strict):
    """The code of a team's link, which is its last part."""

    code: Annotated[str, StringConstraints(pattern=r"^[-\w]{1,32}$")]


class Link(schemas.Strict):
    """A new link: for how many people and days."""

    uses: int = Field(1, ge=1, le=1000)
    days: int = Field(acts.DAYS_VALID, ge=1, le=366)


class Member(schemas.Strict):
    """A member, by the number of the account."""

    account: int


class Scoped(Schema):
    """Which of the caller's teams."""

    benchmark: str = ""
    """The name of the benchmark that the team is for; empty for the team for all benchmarks."""


@router.get("", response=answers(schemas.TeamDetail, 403, 404))
def team(request: HttpRequest, scope: Query[Scoped]) -> Values:
    """The caller's team with the code by which others join it; all null without a team."""
    user = user_with(request, Scope.SUBMIT)
    return _facts(user, acts.team_scope(user, scope.benchmark), "")


@router.post("", response=answers(schemas.TeamDetail, 201, 403, 404, 409, 422))
def create_team(request: HttpRequest, new: TeamName, scope: Query[Scoped]) -> JsonResponse:
    """Start a team with the caller in it."""
    user = user_with(request, Scope.SUBMIT)
    benchmark = acts.team_scope(user, scope.benchmark)
    acts.create_team(user, new.name, benchmark)
    return JsonResponse(_facts(user, benchmark, "The team is ready."), status=201)


@router.post("/join", response=ACT)
def join(request: HttpRequest, invitation: TeamLinkCode) -> Values:
    """Enter the team that has this code."""
    user = user_with(request, Scope.SUBMIT)
    entered = acts.team_of_invitation(invitation.code)
    return _facts(user, entered.benchmark, acts.join_team(user, invitation.code))


@router.post("/invite", response=ACT)
def invite(request: HttpRequest, link: Link, scope: Query[Scoped]) -> Values:
    """Replace the code by which others join; for the leader."""
    return _do(request, scope, acts.renew_link, uses=link.uses, days=link.days)


@router.post("/remove", response=ACT)
def remove(request: HttpRequest, member: Member, scope: Query[Scoped]) -> Values:
    """Put a member out of the team; for the leader."""
    return _do(request, scope, acts.remove_member, account=member.account)


@router.post("/leader", response=ACT)
def leader(request: HttpRequest, member: Member, scope: Query[Scoped]) -> Values:
    """Let another member lead the team; for the leader."""
    return _do(request, scope, acts.hand_over_team, account=member.account)


@router.post("/leave", response=ACT)
def leave(request: HttpRequest, scope: Query[Scoped]) -> Values:
    """Leave the team, which stays."""
    return _do(request, scope, acts.leave_team)


def _do(request: HttpRequest, scope: Scoped, act: Callable[..., str], **values: int) -> Values:
    user = user_with(request, Scope.SUBMIT)
    benchmark = acts.team_scope(user, scope.benchmark)
    return _facts(user, benchmark, act(user, benchmark=benchmark, **values))


def _facts(user: User, benchmark: Benchmark | None, done: str) -> Values:
    team = teams_of(user).get(None if benchmark is None else benchmark.pk)
    if team is None:
        nothing = dict.fromkeys(("benchmark", "name", "members", "code"))
        return {**nothing, "people": [], "done": done}
    people = acts.members_of(team)
    return {
        "benchmark": team.benchmark and team.benchmark.name,
        "name": team.name,
        "members": len(people),
        "people": people,
        "code": team.code or None,
        "done": done,
    }
