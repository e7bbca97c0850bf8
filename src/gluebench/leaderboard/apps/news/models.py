"""Announcements, messages, invitations, notices, how an account wants their mail, and who was sent which."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import models
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import has_confirmed_address
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.signals import (
    account_deleted,
    account_exported,
    registration_decided,
    submission_decided,
    submissions_changed,
)
from gluebench.leaderboard.apps.common.text import plain
from gluebench.leaderboard.apps.limits.models import Invitation, Registration
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import OPEN, Status
from gluebench.leaderboard.serving.environment import site_address

DIGEST_HOUR = 6
"""The hour of UTC at which daily mail is sent."""
_SALT = "gluebench.news"


class WrittenText(models.Model):
    """What an organizer writes to people, with what its mail needs."""

    title = models.CharField(max_length=120, validators=[plain])
    text = models.TextField(max_length=20_000)
    """Markdown."""
    site = models.CharField(max_length=300)
    """The site's address as its author saw it, for links in mail: "https://board.example.org/"."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return self.title


class Announcement(WrittenText):
    """A text for everybody who takes part in a benchmark; public."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="announcements")
    changed = models.DateTimeField(null=True)

    @property
    def address(self) -> str:
        """Its absolute address."""
        return f"{self.site.rstrip('/')}{reverse('news', args=[self.benchmark.name])}#a{self.pk}"


class Message(WrittenText):
    """A mail to some of those who take part in a benchmark; on no page but the organizers'."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="messages")
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    @property
    def address(self) -> str:
        """The absolute address of its benchmark."""
        return f"{self.site.rstrip('/')}{self.benchmark.get_absolute_url()}"


class Notice(models.Model):
    """What happened to a submission or a registration, for its author; the text is made when it is sent.

    It has no scores.
    """

    class Event(models.TextChoices):
        """What happened, with the subject of the mail."""

        GRADED = "graded", "“{name}” is graded"
        INVALID = "invalid", "“{name}” is not valid"
        FAILED = "failed", "“{name}” could not be graded"
        AGAIN = "again", "“{name}” was graded again"
        APPROVED = "approved", "An organizer approved “{name}”"
        DECLINED = "declined", "An organizer declined “{name}”"
        ADMITTED = "admitted", "An organizer approved your registration"
        REFUSED = "refused", "An organizer refused your registration"

    submission = models.ForeignKey(Submission, models.CASCADE, null=True, related_name="notices")
    registration = models.ForeignKey(Registration, models.CASCADE, null=True, related_name="notices")
    event = models.CharField(max_length=10, choices=Event)
    attempt = models.PositiveIntegerField()
    """The attempt at grading that it is of, or the number of the decision."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "event", "attempt"], name="one_notice_each"),
            models.CheckConstraint(
                condition=models.Q(submission__isnull=False) ^ models.Q(registration__isnull=False),
                name="submission_or_registration",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def subject(self) -> Submission | Registration:
        """What it is about."""
        subject = self.submission or self.registration
        assert subject is not None
        return subject

    @property
    def benchmark(self) -> Benchmark:
        """That of its subject."""
        return self.subject.benchmark

    @property
    def title(self) -> str:
        """The subject line."""
        name = "" if self.submission is None else self.submission.name
        return self.Event(self.event).label.format(name=name)

    @property
    def text(self) -> str:
        """Why, where there is a reason."""
        if self.registration is not None:
            return self.registration.reason
        assert self.submission is not None
        reasons = {self.Event.AGAIN: self.submission.why, self.Event.DECLINED: self.submission.declined}
        return reasons.get(self.Event(self.event), "")

    @property
    def site(self) -> str:
        """As `Announcement.site`."""
        return site_address(settings.RUNNING, settings.FOLDER)

    @property
    def address(self) -> str:
        """The absolute address of the submission, or of the page that registers."""
        path = reverse("join", args=[self.benchmark.name])
        if self.submission is not None:
            path = self.submission.get_absolute_url()
        return f"{self.site.rstrip('/')}{path}"


class MailFrequency(models.TextChoices):
    """When an account gets mail about benchmarks that it takes part in."""

    INSTANT = "instant", "At once"
    DAILY = "daily", f"Once a day, at {DIGEST_HOUR}:00 UTC"
    NONE = "none", "Never"

    def due(self) -> datetime:
        """When mail of this pace is sent that is written now."""
        now = timezone.now()
        if self == MailFrequency.INSTANT:
            return now
        digest = now.replace(hour=DIGEST_HOUR, minute=0, second=0, microsecond=0)
        return digest if digest > now else digest + timedelta(days=1)


class MailChoice(models.Model):
    """An account's choice; without one, mail is sent at once."""

    user = models.OneToOneField(User, models.CASCADE, related_name="mail_choice")
    pace = models.CharField(max_length=10, choices=MailFrequency, default=MailFrequency.INSTANT)
    results = models.CharField(max_length=10, choices=MailFrequency, default=MailFrequency.NONE)
    """The same for notices of one's own submissions."""


class Delivery(models.Model):
    """A mail of an announcement, message or notice to one account; kept as the record of what was sent.

    With an `invitation` it has its link, and goes to the address of its label, which may have no account.
    """

    announcement = models.ForeignKey(Announcement, models.CASCADE, null=True, related_name="deliveries")
    message = models.ForeignKey(Message, models.CASCADE, null=True, related_name="deliveries")
    notice = models.ForeignKey(Notice, models.CASCADE, null=True, related_name="deliveries")
    invitation = models.ForeignKey(Invitation, models.CASCADE, null=True, related_name="deliveries")
    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="deliveries")
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
    def mail(self) -> Announcement | Message | Notice:
        """What is sent."""
        sent = self.announcement or self.message or self.notice
        assert sent is not None
        return sent

    @property
    def to(self) -> str:
        """The mail address."""
        if self.user is not None:
            return self.user.email
        assert self.invitation is not None
        return self.invitation.label

    @property
    def address(self) -> str:
        """The absolute address that the mail leads to."""
        if self.invitation is not None:
            return f"{self.mail.site.rstrip('/')}{self.invitation.path}"
        return self.mail.address


def choose(user: User, pace: MailFrequency, results: MailFrequency) -> None:
    """Change when an account gets mail, and notices, for what is not sent yet too."""
    MailChoice.objects.update_or_create(user=user, defaults={"pace": pace, "results": results})
    for chosen, is_other in ((pace, True), (results, False)):
        unsent = Delivery.objects.filter(user=user, sent=None, notice__submission__isnull=is_other)
        if chosen == MailFrequency.NONE:
            unsent.delete()
        else:
            unsent.update(due=chosen.due())


def unsubscribe_path(user: User) -> str:
    """The path on which this account ends its mail without signing in."""
    return reverse("unsubscribe", args=[Signer(salt=_SALT).sign(str(user.pk))])


def subscriber(code: str) -> User | None:
    """The account of such a path; None if it was altered."""
    try:
        return User.objects.filter(pk=Signer(salt=_SALT).unsign(code), is_active=True).first()
    except BadSignature:
        return None


@receiver(submissions_changed)
def note_outcomes(submissions: Collection[int], erased: bool = False, **_: Any) -> None:
    """Queue notices to authors who want them of what is graded; each outcome is told once."""
    if erased or not settings.MAIL_IS_SENT:
        return
    rows = Submission.objects.filter(pk__in=submissions, attempts__gt=0, finished__isnull=False)
    rows = rows.exclude(status__in=OPEN).exclude(owner__mail_choice=None)
    rows = rows.exclude(owner__mail_choice__results=MailFrequency.NONE)
    for row in rows.select_related("owner").only("status", "attempts", "why", "owner"):
        event = Notice.Event.AGAIN if row.why and row.status == Status.GRADED else row.status
        if event in Notice.Event:
            _note(row.owner, event, row.attempts, submission=row)


@receiver(submission_decided)
def note_decision(submission: Submission, approved: bool, **_: Any) -> None:
    """Queue a notice of an organizer's decision."""
    event = Notice.Event.APPROVED if approved else Notice.Event.DECLINED
    number = submission.notices.filter(event=event).count() + 1
    _note(submission.owner, event, number, submission=submission)


@receiver(registration_decided)
def note_registration(registration: Registration, **_: Any) -> None:
    """Queue a notice of an organizer's decision, which a person waits for."""
    is_accepted = registration.standing == Registration.Standing.ACCEPTED
    event = Notice.Event.ADMITTED if is_accepted else Notice.Event.REFUSED
    number = registration.notices.filter(event=event).count() + 1
    _note(registration.user, event, number, registration=registration)


def _note(user: User, event: str, attempt: int, **subject: Any) -> None:
    """Queue a notice, if the person wants such and has confirmed the address."""
    choice = MailChoice.objects.filter(user=user).first() or MailChoice()
    pace = MailFrequency(choice.results if "submission" in subject else choice.pace)
    if pace == MailFrequency.NONE or not settings.MAIL_IS_SENT or not has_confirmed_address(user):
        return
    notice, is_new = Notice.objects.get_or_create(event=event, attempt=attempt, **subject)
    if is_new:
        Delivery.objects.create(notice=notice, user=user, due=pace.due())


@receiver(account_exported)
def export_mail(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: its choices, and what it was sent."""
    choice = MailChoice.objects.filter(user=user).first() or MailChoice()
    titles = ("announcement__title", "message__title", "message__text", "notice__event", "sent")
    sent = Delivery.objects.filter(user=user).values(*titles)
    return {"announcements": {"mail": choice.pace, "results": choice.results, "sent": [*sent]}}


@receiver(account_deleted)
def delete_mail(user: User, **_: Any) -> None:
    """Delete the choice of a deleted account, and what it was sent."""
    MailChoice.objects.filter(user=user).delete()
    Delivery.objects.filter(user=user).delete()
    own = models.Q(submission__owner=user) | models.Q(registration__user=user)
    Notice.objects.filter(own).delete()
