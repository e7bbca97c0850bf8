"""Exceptions from a benchmark's quota, and who accepted which version of the rules."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import (
    Team,
    User,
    account_name,
    acting_for,
    new_code,
    team_for,
)
from gluebench.leaderboard.apps.accounts.trust import has_confirmed_address
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.signals import account_deleted, account_exported, act_begun
from gluebench.leaderboard.apps.common.text import plain
from gluebench.leaderboard.apps.phases.table import ActError


class OverrideQuerySet(models.QuerySet["Override"]):
    """Queries on exceptions."""

    def in_force(self, now: datetime | None = None) -> OverrideQuerySet:
        """Those that have not run out."""
        moment = now or timezone.now()
        return self.filter(models.Q(until__isnull=True) | models.Q(until__gt=moment))

    def for_user(
        self, benchmark: Benchmark, user: User, team: int | None, now: datetime | None = None
    ) -> OverrideQuerySet:
        """Those of a person and of this team of theirs, by precedence: the person's own, then the newest."""
        whose = models.Q(user=user)
        if team is not None:
            whose |= models.Q(team=team)
        overrides = self.in_force(now).filter(whose, benchmark=benchmark)
        return overrides.order_by(models.F("user").asc(nulls_last=True), "-created", "-pk")


class Override(models.Model):
    """Other limits for one person or team; an empty number leaves the policy's."""

    LIMITS: ClassVar = ("per_day", "per_month", "total", "at_once")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="overrides")
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.CASCADE, related_name="overrides")
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE, related_name="overrides")
    per_day = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    per_month = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    total = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    at_once = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    until = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=400)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    objects = OverrideQuerySet.as_manager()

    class Meta:
        verbose_name = "exception"
        ordering = ["-created"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=False) ^ models.Q(team__isnull=False), name="user_or_team"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user or self.team}: {self.reason}"

    def whose(self, viewer: User) -> str:
        """The person or team that it is for, under the name that the viewer may see."""
        return account_name(self.user, viewer) if self.user else str(self.team)

    def clean(self) -> None:
        """Raise ValidationError for a person whose address is not confirmed."""
        if self.user is not None and not has_confirmed_address(self.user):
            raise ValidationError(
                "The address of this account is not confirmed: anybody may have signed up with it."
            )


class Acceptance(models.Model):
    """An account accepted one version of a benchmark's rules."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="acceptances")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="acceptances")
    digest = models.CharField(max_length=64)
    """SHA-256 of the text."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "benchmark", "digest"], name="one_acceptance_each")
        ]


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Queries on invitations."""

    def usable(self) -> InvitationQuerySet:
        """Those that somebody may still use."""
        return self.filter(used__lt=models.F("uses"), expires__gt=timezone.now())


class Invitation(models.Model):
    """A link by which people register for a benchmark or join a team: so many of them, until it expires."""

    benchmark = models.ForeignKey(Benchmark, null=True, on_delete=models.CASCADE, related_name="invitations")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="invitations")
    code = models.CharField(max_length=32, unique=True, default=new_code)
    """The secret part of its address."""
    label = models.CharField(max_length=254, blank=True, validators=[plain])
    """For whom it is, in the organizer's words, or the address that it was sent to."""
    uses = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    """How many people may register with it."""
    used = models.PositiveIntegerField(default=0)
    expires = models.DateTimeField()
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(default=timezone.now)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(benchmark__isnull=False) ^ models.Q(team__isnull=False),
                name="benchmark_or_team",
            )
        ]

    def __str__(self) -> str:
        return self.label or f"Invitation {self.pk}"

    @property
    def is_usable(self) -> bool:
        """Whether somebody may still use it."""
        return self.used < self.uses and self.expires > timezone.now()

    @property
    def path(self) -> str:
        """Its address on the site."""
        if self.benchmark is None:
            return reverse("team-join", args=[self.code])
        return reverse("join-invited", args=[self.benchmark.name, self.code])


class Registration(models.Model):
    """A person takes part in a benchmark, or would like to, or may not."""

    class Standing(models.TextChoices):
        """Whether the person may submit."""

        WAITING = "waiting", "Waits for approval"
        ACCEPTED = "accepted", "Accepted"
        REFUSED = "refused", "Refused"
        BLOCKED = "blocked", "Blocked"

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="registrations")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="registrations")
    standing = models.CharField(max_length=10, choices=Standing)
    affiliation = models.CharField(max_length=200, blank=True, validators=[plain])
    consent = models.TextField(blank=True)
    """The text that the person agreed to."""
    reason = models.CharField(max_length=400, blank=True)
    """Why an organizer refused or blocked the person, who reads it."""
    invitation = models.ForeignKey(Invitation, null=True, on_delete=models.SET_NULL, related_name="guests")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "user"], name="one_registration_each")]

    def __str__(self) -> str:
        return f"{self.user}: {self.get_standing_display()}"


def registrations_blocked_in(benchmark: Benchmark) -> models.QuerySet[Registration]:
    """The registrations of those whom an organizer of the benchmark has blocked."""
    return benchmark.registrations.filter(standing=Registration.Standing.BLOCKED)


@receiver(act_begun)
def refuse_the_blocked(submission: Any, by: User, **_: Any) -> None:
    """Let a blocked account change nothing that it has sent."""
    if registrations_blocked_in(submission.benchmark).filter(user=by).exists():
        raise ActError("An organizer has blocked this account: it can change nothing.", "participation")


class SiteText(models.Model):
    """The terms or the privacy page of the site, once an admin has written it in the browser."""

    name = models.CharField(max_length=20, primary_key=True)
    text = models.TextField()
    changed = models.DateTimeField(auto_now=True)

    objects: ClassVar[models.Manager[SiteText]] = models.Manager()

    class Meta:
        app_label = "organizing"  # which has the editor; the terms may be rules to accept here


def site_text(name: str) -> str:
    """The terms or privacy in Markdown, the title first."""
    own = SiteText.objects.filter(name=name).values_list("text", flat=True).first()
    return own or str(settings.FOLDER.read_page(name))


def rules_of(benchmark: Benchmark) -> str:
    """The rules of a benchmark as Markdown: its own, else the terms of its site."""
    return benchmark.texts.get("rules") or site_text("terms")


def version_of(benchmark: Benchmark) -> str:
    """SHA-256 of the rules, which names their version."""
    return hashlib.sha256(rules_of(benchmark).encode()).hexdigest()


class Obstacle(NamedTuple):
    """Why a person may not submit to a benchmark, whatever the limits."""

    kind: str
    """"rules" or "registration": the page of the rules helps; "participation": an organizer does; "team": its
    size."""
    reason: str
    """A sentence for the person."""


def obstacle_for(benchmark: Benchmark, user: User) -> Obstacle | None:
    """What keeps this account from submitting: its registration, or rules that it has not accepted."""
    policy = benchmark.policy
    row = Registration.objects.filter(benchmark=benchmark, user=user).first()
    standings = Registration.Standing
    standing = None if row is None else row.standing
    why = f" Reason: {row.reason}" if row is not None and row.reason else ""
    if standing == standings.BLOCKED:
        return Obstacle("participation", f"An organizer of {benchmark} has blocked this account.{why}")
    if policy.registers and standing is None:
        return Obstacle("registration", f"Register for {benchmark} first.")
    if policy.registers and policy.registration != "open" and standing == standings.REFUSED:
        return Obstacle("participation", f"An organizer of {benchmark} refused your registration.{why}")
    if policy.registers and policy.registration != "open" and standing == standings.WAITING:
        return Obstacle("participation", f"An organizer of {benchmark} has to approve your registration.")
    if policy.terms and not _has_accepted(benchmark, user):
        return Obstacle("rules", f"Accept the rules of {benchmark} first.")
    if policy.per == "team" and policy.team_size is not None:
        team = team_for(user.pk, benchmark.pk)
        number = 1 if team is None else len(acting_for([team], benchmark.pk))
        if number > policy.team_size:
            limit = f"at most {policy.team_size} people in a team; yours has {number}"
            return Obstacle("team", f"{benchmark} takes {limit}.")
    return None


def _has_accepted(benchmark: Benchmark, user: User) -> bool:
    """Whether this account accepted the present version of the rules."""
    return Acceptance.objects.filter(user=user, benchmark=benchmark, digest=version_of(benchmark)).exists()


@receiver(account_exported)
def export_overrides(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: its exceptions from limits, registrations, and the rules it accepted."""
    names = ("benchmark__name", "standing", "affiliation", "consent", "reason", "at")
    return {
        "registrations": list(user.registrations.values(*names)),
        "limits": list(user.overrides.values("benchmark__name", "reason", "created", "until")),
        "rules_accepted": list(user.acceptances.values("benchmark__name", "digest", "at")),
    }


@receiver(account_deleted)
def delete_overrides(user: User, **_: Any) -> None:
    """Delete the exceptions of a deleted account, its registrations and acceptances."""
    own = models.Q(guests__user=user, uses=1) | models.Q(label__iexact=user.email)
    Invitation.objects.filter(own, benchmark__isnull=False).update(label="")
    Registration.objects.filter(user=user).delete()
    Override.objects.filter(user=user).delete()
    Acceptance.objects.filter(user=user).delete()
