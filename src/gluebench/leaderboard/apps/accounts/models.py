"""Accounts: people, the teams that share a quota, the tokens that programs sign in with.

Roles: everyone with an account is a submitter; a benchmark names its organizers; an admin (`is_superuser`)
may do all that organizers may, for every benchmark, and sees the admin pages.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from gluebench.leaderboard.apps.common.signals import team_changed
from gluebench.leaderboard.apps.common.text import plain

TOKEN_PREFIX = "gluebench_"
"""What a token begins with, so that people and scanners recognize one."""


def new_code() -> str:
    """The secret part of an invitation."""
    return secrets.token_urlsafe(12)


class Team(models.Model):
    """People who share one quota, and act for each other, on one benchmark or on all.

    A person is in one team at most of each benchmark, and in one for all the others; see `team_for`.
    """

    name = models.CharField(max_length=80, unique=True, validators=[plain])
    benchmark = models.ForeignKey(
        "benchmarks.Benchmark", models.CASCADE, null=True, blank=True, related_name="teams"
    )
    """The benchmark that it is for; null for all."""
    leader = models.ForeignKey("User", models.SET_NULL, null=True, blank=True, related_name="+")
    """Who invites and removes people; see `leader_of`."""
    created = models.DateTimeField(auto_now_add=True)
    merging = models.ForeignKey("self", models.SET_NULL, null=True, related_name="applicants")
    """The team that it asks to merge with."""

    def __str__(self) -> str:
        return self.name

    @property
    def code(self) -> str:
        """The code of the invitation that people may use now; empty where there is none."""
        usable: Any = self.invitations.usable()
        return usable.values_list("code", flat=True).first() or ""

    @property
    def members(self) -> models.QuerySet[User]:
        """The people who are in it now."""
        return User.objects.filter(memberships__team=self, memberships__until=None)


class UserManager(BaseUserManager["User"]):
    """Creates accounts."""

    def create_user(self, email: str, password: str | None = None) -> User:
        """Create an account; without a password it cannot sign in."""
        user = self.model(email=self.normalize_email(email))
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractUser):
    """A person, known by an email address that is never shown to others."""

    username = None  # type: ignore[assignment]
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120, blank=True, validators=[plain])
    """As the person wants to be called; for organizers and the person's team."""

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()  # type: ignore[assignment,misc]

    def __str__(self) -> str:
        return self.email


class Membership(models.Model):
    """When a person was in a team. Limits and deadlines of the past follow from it, not from today's team."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    since = models.DateTimeField(default=timezone.now)
    until = models.DateTimeField(null=True)
    """When the person left; null for a present member."""

    class Meta:
        ordering = ["-since", "-pk"]

    def __str__(self) -> str:
        return f"{self.team} {self.since:%Y-%m-%d}"


def _acting(benchmark: int | None, moment: datetime | None = None) -> models.QuerySet[Membership]:
    """The memberships by which people act on a benchmark, now or at a moment, first the benchmark's own.

    `benchmark`: its number; None for the teams for all benchmarks alone.
    """
    if moment is None:
        rows = Membership.objects.filter(until=None)
    else:
        not_over = models.Q(until=None) | models.Q(until__gt=moment)
        rows = Membership.objects.filter(not_over, since__lte=moment)
    scope = models.Q(team__benchmark=None)
    if benchmark is not None:
        scope |= models.Q(team__benchmark=benchmark)
    return rows.filter(scope).order_by(F("team__benchmark").asc(nulls_last=True), "-since", "-pk")


def team_for(user: int, benchmark: int | None, moment: datetime | None = None) -> int | None:
    """The number of the team that a person acts for on a benchmark, now or at a moment; None without one.

    Everything that depends on a person's team asks here, by the numbers of person and benchmark. A team of
    the benchmark comes before one for all benchmarks. `benchmark=None`: the team for all benchmarks.
    """
    return _acting(benchmark, moment).filter(user=user).values_list("team", flat=True).first()


def acting_for(teams: Iterable[int], benchmark: int, moment: datetime | None = None) -> dict[int, int]:
    """Of everybody whom `team_for` gives one of these teams: the number of the person to the team's."""
    known = set(teams)
    members = Membership.objects.filter(team__in=known).values("user")
    rows = _acting(benchmark, moment).filter(user__in=members)
    acting: dict[int, int] = {}
    for user, team in rows.values_list("user", "team"):
        acting.setdefault(user, team)
    return {user: team for user, team in acting.items() if team in known}


def acting_teams(benchmark: int) -> dict[int, Team]:
    """The team that each person acts for on a benchmark now, by the number of the person."""
    acting: dict[int, Team] = {}
    for row in _acting(benchmark).select_related("team"):
        acting.setdefault(row.user_id, row.team)
    return acting


def teams_of(user: User) -> dict[int | None, Team]:
    """The present teams of a person, by the number of the benchmark; under None the one for all others."""
    teams = Team.objects.filter(memberships__user=user, memberships__until=None)
    ordered = teams.select_related("benchmark").order_by(F("benchmark__title").asc(nulls_first=True))
    return {team.benchmark_id: team for team in ordered}


def former_teams(user: int, benchmark: int) -> list[tuple[int, datetime]]:
    """The teams that a person acted for on a benchmark and left, and until when.

    Who is in a team for all benchmarks stops to act for it here when entering one of this benchmark.
    """
    scope = models.Q(team__benchmark=benchmark) | models.Q(team__benchmark=None)
    rows = Membership.objects.filter(scope, user=user).select_related("team").order_by("since", "pk")
    own = []
    for row in rows:
        if row.team.benchmark_id is not None and (row.until is None or row.since < row.until):
            own.append(row)
    former: list[tuple[int, datetime]] = []
    for row in rows:
        if row.team.benchmark_id is None:
            former += _left_for_others(row, own)
        elif row.until is not None:
            former.append((row.team_id, row.until))
    return former


def _left_for_others(general: Membership, own: Sequence[Membership]) -> Iterator[tuple[int, datetime]]:
    """Until when a person acted for a team for all benchmarks, between own memberships of one benchmark."""
    if general.until is not None and general.until <= general.since:  # it came by a merge, see `_take_in`
        yield general.team_id, general.until
        return
    start = general.since
    for row in own:
        if general.until is not None and general.until <= row.since:
            break
        if start < row.since:
            yield general.team_id, row.since
        if row.until is None:
            return
        start = max(start, row.until)
    if general.until is not None and start < general.until:
        yield general.team_id, general.until


def move_to(user: User, team: Team) -> None:
    """Put a person into a team, and out of the present one for the same benchmark.

    In a transaction with the person's row locked.
    """
    now = timezone.now()
    present = Membership.objects.filter(user=user, until=None)
    teams = _with_general(user, team)
    former = present.filter(team__benchmark=team.benchmark_id).exclude(team=team)
    teams += former.values_list("team", flat=True)
    former.update(until=now)
    if not present.filter(team=team).exists():
        Membership.objects.create(user=user, team=team, since=now)
    team_changed.send(Team, teams=teams, act="join")


def leave(user: User, team: Team) -> None:
    """Put a person out of a team; in a transaction with the person's row locked."""
    Membership.objects.filter(user=user, team=team, until=None).update(until=timezone.now())
    team_changed.send(Team, teams=_with_general(user, team), act="leave")


def _with_general(user: User, team: Team) -> list[int]:
    """The numbers of a team and of the person's team for all benchmarks, where both may count anew."""
    general = Membership.objects.filter(user=user, until=None, team__benchmark=None)
    return [team.pk] + list(general.values_list("team", flat=True))


def leader_of(team: Team) -> User | None:
    """Who invites and removes people: the leader or, once that person has left, who is in it for longest."""
    present = team.memberships.filter(until=None).select_related("user").order_by("since", "user_id")
    members = [membership.user for membership in present]
    if team.leader in members:
        return team.leader
    return members[0] if members else None


class SignedInRequest(HttpRequest):
    """A request of a signed-in user."""

    user: User


class Scope(models.TextChoices):
    """What a token permits."""

    READ = "read", "Read one's own submissions"
    SUBMIT = "submit", "Submit, edit and publish"
    GRADE = "grade", "Grade on a machine of one's own"
    ORGANIZE = "organize", "Organize: do what the organizers' pages do"


class Token(models.Model):
    """A secret that a program signs in with. Only its digest is kept; it is shown once."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80, validators=[plain])
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    """Values of `Scope`."""
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name

    @classmethod
    def find(cls, secret: str) -> Token | None:
        """The token with this secret, unless it expired or its account was closed."""
        usable = cls.objects.filter(expires__gt=timezone.now(), user__is_active=True)
        return usable.select_related("user").filter(digest=digest(secret)).first()


def digest(secret: str) -> str:
    """SHA-256 of a token. The secret has 256 random bits, so that no slow hash is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def issue(user: User, name: str, scopes: list[str], lifetime: timedelta) -> tuple[Token, str]:
    """Create a token; return it and its secret, which is not stored."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    expires: datetime = timezone.now() + lifetime
    token = Token.objects.create(user=user, name=name, scopes=scopes, expires=expires, digest=digest(secret))
    return token, secret


def account_name(account: User, viewer: User) -> str:
    """The name of an account for a viewer, with its address for admins, and its number for others."""
    known = account.email if viewer.is_superuser else f"Account {account.pk}"
    if not account.name:
        return known
    return f"{account.name} ({known})"
