"""A submission's row is the durable truth about it: what was sent, where it stands, what it scored."""

from __future__ import annotations

import secrets
import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.core.validators import MinValueValidator, URLValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.text import plain


class Status(models.TextChoices):
    """Where a submission stands. The last three are final."""

    QUEUED = "queued", "Waiting"
    RUNNING = "running", "Being graded"
    GRADED = "graded", "Graded"
    INVALID = "invalid", "Not valid"
    FAILED = "failed", "Failed"


class Regime(models.TextChoices):
    """How a system was trained, as Table 4 of the paper groups them."""

    SINGLE = "single-task", "Single-task training"
    MULTI = "multi-task", "Multi-task training"
    FROZEN = "frozen", "Pre-trained sentence representations, frozen"
    OTHER = "other", "Other"


OPEN = (Status.QUEUED, Status.RUNNING)


def new_key() -> str:
    """A name for a submission's address that cannot be guessed or counted."""
    return secrets.token_hex(6)


def submission_storage() -> Storage:
    """Where submitted files are kept; nothing in it is served but to its owner."""
    return storages["submissions"]


def stored_name(submission: Submission, filename: str) -> str:
    """A random name: what the submitter called the file is never part of a path."""
    name = uuid.uuid4().hex
    return f"{name[:2]}/{name}"


class SubmissionQuerySet(models.QuerySet["Submission"]):
    """Vocabulary of submissions."""

    def public(self) -> SubmissionQuerySet:
        """Those that a board shows."""
        return self.filter(public=True, status=Status.GRADED)

    def visible_to(self, user: Any) -> SubmissionQuerySet:
        """Those whose page this person may see."""
        shown = Q(public=True, status=Status.GRADED)
        return self.filter(shown | Q(owner=user)) if user.is_authenticated else self.filter(shown)

    def owned_by(self, user: Any) -> SubmissionQuerySet:
        """Those this person sent."""
        return self.filter(owner=user) if user.is_authenticated else self.none()

    def waiting(self) -> SubmissionQuerySet:
        """Those not final yet."""
        return self.filter(status__in=OPEN)

    def lapsed(self) -> SubmissionQuerySet:
        """Those whose worker, or whose place in the queue, gave no sign of life until its lease ran out."""
        return self.waiting().filter(lease__lt=timezone.now())

    def claim(self, pk: int) -> bool:
        """Take a submission for grading; one worker of several succeeds."""
        free = Q(status=Status.QUEUED) | Q(status=Status.RUNNING, lease__lt=timezone.now())
        return bool(
            self.filter(free, pk=pk).update(
                status=Status.RUNNING, attempts=F("attempts") + 1, lease=lease_end()
            )
        )

    def held(self, pk: int, attempt: int) -> SubmissionQuerySet:
        """The submission, if this attempt at it still holds the lease: no other worker took over."""
        return self.filter(pk=pk, status=Status.RUNNING, attempts=attempt)


def lease_end(seconds: int | None = None) -> Any:
    """The time until which a worker must give a sign of life."""
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS if seconds is None else seconds)


class Submission(models.Model):
    """One system's predictions, what its author says of it, and its report."""

    key = models.CharField(max_length=12, unique=True, default=new_key, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="submissions")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="submissions")

    name = models.CharField(max_length=80, validators=[plain])
    model = models.CharField(max_length=80, validators=[plain])
    team = models.CharField(max_length=80, blank=True, validators=[plain])
    link = models.URLField(max_length=300, blank=True, validators=[URLValidator(["http", "https"])])
    description = models.TextField(max_length=4000, blank=True)
    regime = models.CharField(max_length=16, choices=Regime, default=Regime.OTHER)
    parameters = models.PositiveBigIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    shared_parameters = models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MinValueValidator(0)]
    )
    public = models.BooleanField(default=False)

    file = models.FileField(storage=submission_storage, upload_to=stored_name, max_length=100)
    filename = models.CharField(max_length=120)
    """What its author called it: for the download, never for a path."""
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()

    status = models.CharField(max_length=8, choices=Status, default=Status.QUEUED)
    lease = models.DateTimeField(default=lease_end)
    attempts = models.PositiveSmallIntegerField(default=0)
    submitted = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True)

    verdict = models.CharField(max_length=12, blank=True)
    problems = models.JSONField(default=dict)
    """The validator's findings, as `gluebench.submission.Submission.as_dict` gives them."""
    report = models.JSONField(null=True)
    """The report of `gluebench.report/1`."""
    scores = models.JSONField(null=True)
    """The part of the report that a board shows, apart because a board reads a thousand of them."""
    failure = models.CharField(max_length=200, blank=True)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-submitted"]
        indexes = [
            models.Index(fields=["benchmark", "status", "public"], name="board"),
            models.Index(fields=["status", "lease"], name="sweep"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Its page."""
        return reverse("submission", args=[self.key])

    @property
    def is_open(self) -> bool:
        """Whether it still waits or is being graded."""
        return self.status in OPEN

    @property
    def is_listed(self) -> bool:
        """Whether the board shows it."""
        return self.public and self.status == Status.GRADED

    def queue_position(self) -> int:
        """How many submissions are graded before this one is done, itself included."""
        return Submission.objects.waiting().filter(submitted__lte=self.submitted).count()
