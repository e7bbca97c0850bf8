"""Exceptions from a benchmark's quota, and who accepted which version of the rules."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.dispatch import receiver
from django.utils import timezone

from gluebench.leaderboard.accounts.models import Team, User, account_name
from gluebench.leaderboard.accounts.trust import require_confirmed
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.signals import account_deleted, account_exported


class OverrideQuerySet(models.QuerySet["Override"]):
    """Queries on exceptions."""

    def in_force(self, now: datetime | None = None) -> OverrideQuerySet:
        """Those that have not run out."""
        moment = now or timezone.now()
        return self.filter(models.Q(until__isnull=True) | models.Q(until__gt=moment))

    def of(self, benchmark: Benchmark, user: User, now: datetime | None = None) -> OverrideQuerySet:
        """Those of a person and of the person's team, by precedence: the person's own, then the newest."""
        whose = models.Q(user=user)
        if user.team_id is not None:
            whose |= models.Q(team=user.team_id)
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
        if self.user is not None:
            require_confirmed([self.user])


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
    return own or str(settings.FOLDER.page(name))


def rules_of(benchmark: Benchmark) -> str:
    """The rules of a benchmark as Markdown: its own, else the terms of its site."""
    return benchmark.texts.get("rules") or site_text("terms")


def version_of(benchmark: Benchmark) -> str:
    """SHA-256 of the rules, which names their version."""
    return hashlib.sha256(rules_of(benchmark).encode()).hexdigest()


def must_accept(benchmark: Benchmark, user: User) -> bool:
    """Whether this account has to accept the rules before it submits."""
    if not benchmark.policy.terms:
        return False
    return not Acceptance.objects.filter(
        user=user, benchmark=benchmark, digest=version_of(benchmark)
    ).exists()


@receiver(account_exported)
def export_overrides(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: its exceptions from limits, and the rules it accepted."""
    return {
        "limits": list(user.overrides.values("benchmark__name", "reason", "created", "until")),
        "rules_accepted": list(user.acceptances.values("benchmark__name", "digest", "at")),
    }


@receiver(account_deleted)
def delete_overrides(user: User, **_: Any) -> None:
    """Delete the exceptions of a deleted account, and its acceptances."""
    Override.objects.filter(user=user).delete()
    Acceptance.objects.filter(user=user).delete()
