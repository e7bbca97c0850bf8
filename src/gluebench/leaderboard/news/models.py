"""Announcements, messages to some people, how an account wants their mail, and who was sent which."""

from datetime import datetime, timedelta
from typing import Any

from django.core.signing import BadSignature, Signer
from django.db import models
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.signals import account_deleted, account_exported
from gluebench.leaderboard.common.text import plain

DIGEST_HOUR = 6
"""The hour of UTC at which daily mail is sent."""
_SALT = "gluebench.news"


class Announcement(models.Model):
    """A text for everybody who takes part in a benchmark; public."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="announcements")
    title = models.CharField(max_length=120, validators=[plain])
    text = models.TextField(max_length=20_000)
    """Markdown."""
    site = models.CharField(max_length=300)
    """The site's address as its author saw it, for links in mail: "https://board.example.org/"."""
    at = models.DateTimeField(default=timezone.now)
    changed = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return self.title

    @property
    def address(self) -> str:
        """Its absolute address."""
        return f"{self.site.rstrip('/')}{reverse('news', args=[self.benchmark.name])}#a{self.pk}"


class Message(models.Model):
    """A mail to some of those who take part in a benchmark; on no page but the organizers'."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="messages")
    title = models.CharField(max_length=120, validators=[plain])
    text = models.TextField(max_length=20_000)
    site = models.CharField(max_length=300)
    """As `Announcement.site`."""
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return self.title

    @property
    def address(self) -> str:
        """The absolute address of its benchmark."""
        return f"{self.site.rstrip('/')}{self.benchmark.get_absolute_url()}"


class Pace(models.TextChoices):
    """When an account gets mail about benchmarks that it takes part in."""

    INSTANT = "instant", "At once"
    DAILY = "daily", f"Once a day, at {DIGEST_HOUR}:00 UTC"
    NONE = "none", "Never"

    def due(self) -> datetime:
        """When mail of this pace is sent that is written now."""
        now = timezone.now()
        if self == Pace.INSTANT:
            return now
        digest = now.replace(hour=DIGEST_HOUR, minute=0, second=0, microsecond=0)
        return digest if digest > now else digest + timedelta(days=1)


class MailChoice(models.Model):
    """An account's choice; without one, mail is sent at once."""

    user = models.OneToOneField(User, models.CASCADE, related_name="mail_choice")
    pace = models.CharField(max_length=10, choices=Pace, default=Pace.INSTANT)


class Delivery(models.Model):
    """An announcement or message to one account: made with it, kept as the record of what was sent."""

    announcement = models.ForeignKey(Announcement, models.CASCADE, null=True, related_name="deliveries")
    message = models.ForeignKey(Message, models.CASCADE, null=True, related_name="deliveries")
    user = models.ForeignKey(User, models.CASCADE, related_name="deliveries")
    due = models.DateTimeField()
    claimed = models.DateTimeField(null=True)
    """When a worker began to send it; another one tries after `delivery.AGAIN`."""
    sent = models.DateTimeField(null=True)
    refused = models.BooleanField(default=False)
    """Whether the mail server refused this address; it is not tried again."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["announcement", "user"], name="one_mail_each"),
            models.UniqueConstraint(fields=["message", "user"], name="one_message_each"),
        ]
        indexes = [models.Index(fields=["due"], condition=models.Q(sent=None, refused=False), name="unsent")]

    @property
    def mail(self) -> Announcement | Message:
        """What is sent."""
        sent = self.announcement or self.message
        assert sent is not None
        return sent


def pace_of(user: User) -> Pace:
    """When this account gets mail."""
    choice = MailChoice.objects.filter(user=user).first()
    return Pace(choice.pace) if choice else Pace.INSTANT


def choose(user: User, pace: Pace) -> None:
    """Change it, for mail that is not sent yet too."""
    MailChoice.objects.update_or_create(user=user, defaults={"pace": pace})
    unsent = Delivery.objects.filter(user=user, sent=None)
    if pace == Pace.NONE:
        unsent.delete()
    else:
        unsent.update(due=pace.due())


def unsubscribe_path(user: User) -> str:
    """The path on which this account ends its mail without signing in."""
    return reverse("unsubscribe", args=[Signer(salt=_SALT).sign(str(user.pk))])


def subscriber(code: str) -> User | None:
    """The account of such a path; None if it was altered."""
    try:
        return User.objects.filter(pk=Signer(salt=_SALT).unsign(code), is_active=True).first()
    except BadSignature:
        return None


@receiver(account_exported)
def export_mail(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: its choice, and what it was sent."""
    titles = ("announcement__title", "message__title", "message__text", "sent")
    sent = Delivery.objects.filter(user=user).values(*titles)
    return {"announcements": {"mail": pace_of(user).value, "sent": [*sent]}}


@receiver(account_deleted)
def delete_mail(user: User, **_: Any) -> None:
    """Delete the choice of a deleted account, and what it was sent."""
    MailChoice.objects.filter(user=user).delete()
    Delivery.objects.filter(user=user).delete()
