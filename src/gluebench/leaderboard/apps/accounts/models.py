"""Accounts: people, the teams that share a quota, the tokens that programs sign in with.

Roles: everyone with an account is a submitter; a benchmark names its organizers; an admin (`is_superuser`)
may do all that organizers may, for every benchmark, and sees the admin pages.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models.functions import Coalesce
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
    """People who share one quota, and act for each other. A person is in one team at most."""

    name = models.CharField(max_length=80, unique=True, validators=[plain])
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
    team = models.ForeignKey(Team, models.SET_NULL, null=True, blank=True, related_name="members")

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
    """When the person left; null for the present team."""

    class Meta:
        ordering = ["-since", "-pk"]

    def __str__(self) -> str:
        return f"{self.team} {self.since:%Y-%m-%d}"


def move_to(user: User, team: Team | None) -> None:
    """Put a person into a team, or out of the present one; in a transaction with the person's row locked."""
    now = timezone.now()
    if user.team_id is not None:
        present = {"user": user, "team_id": user.team_id, "until": None}
        Membership.objects.get_or_create(**present, defaults={"since": user.date_joined})
        Membership.objects.filter(**present).update(until=now)
    if team is not None:
        Membership.objects.create(user=user, team=team, since=now)
    teams = [one for one in (user.team_id, team and team.pk) if one is not None]
    user.team = team
    user.save(update_fields=["team"])
    team_changed.send(Team, teams=teams, act="leave" if team is None else "join")


def team_at(user: int, team: int | None, moment: datetime) -> int | None:
    """The number of a person's team at a moment; `team` is the present one's.

    A person without any record of a membership has always been in the present team.
    """
    known = list(Membership.objects.filter(user=user).values_list("team", "since", "until"))
    if not known:
        return team
    then = (one for one, since, until in known if since <= moment and (until is None or moment < until))
    return next(then, None)


def leader_of(team: Team) -> User | None:
    """Who invites and removes people: the leader or, once that person has left, who is in it for longest."""
    if team.leader is not None and team.leader.team_id == team.pk:
        return team.leader
    present = User.objects.filter(team=team)
    since = Membership.objects.filter(user=models.OuterRef("pk"), team=team, until=None).values("since")[:1]
    first = present.annotate(since=Coalesce(models.Subquery(since), "date_joined"))
    return first.order_by("since", "pk").first()


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
