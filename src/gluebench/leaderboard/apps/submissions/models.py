"""Models of submissions, of their gradings and edits, and of the workers that grade them."""

from __future__ import annotations

import secrets
import uuid
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files.storage import Storage, storages
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator, URLValidator
from django.db import models
from django.db.models import Count, Q
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from gluebench import benchmark as records
from gluebench.leaderboard.apps.accounts.models import Team, User, team_for
from gluebench.leaderboard.apps.audit.models import seal
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import Policy
from gluebench.leaderboard.apps.common.fields import EVALUATORS, FIELDS
from gluebench.leaderboard.apps.common.formats import APART
from gluebench.leaderboard.apps.common.text import plain
from gluebench.leaderboard.apps.phases.models import Phase, at_phase, policy_at
from gluebench.leaderboard.apps.submissions.queries import (
    OPEN,
    Kind,
    Regime,
    Status,
    SubmissionQueries,
    Visibility,
    lease_seconds,
)
from gluebench.scoring.exports import MODEL_ID

WEB = URLValidator(["http", "https"])
MODEL_ID_FORM = RegexValidator(rf"^{MODEL_ID}\Z", "Write it as developer/model.")


def new_key() -> str:
    """Return a random key for a submission's address, which cannot be guessed or counted."""
    return secrets.token_hex(6)


def submission_storage() -> Storage:
    """Storage of the submitted files; each is served to its owner alone."""
    return storages["submissions"]


def stored_name(submission: Submission, filename: str) -> str:
    """A random name: what the submitter called the file is never part of a path."""
    name = uuid.uuid4().hex
    return f"{name[:2]}/{name}"


def _limits(field: str) -> list[MinValueValidator | MaxValueValidator]:
    return [MinValueValidator(FIELDS[field].least), MaxValueValidator(FIELDS[field].most)]


class SubmissionQuerySet(SubmissionQueries["Submission"]):
    """Queries on submissions."""

    def rewrite(self, **values: Any) -> None:
        """Write columns of these rows, and seal each row again whose seal is intact."""
        for row in self.only("seal", *Submission.SEALED):
            row.rewrite(**values)


class Submission(models.Model):
    """One system's predictions, the fields that its author filled in, and its report."""

    key = models.CharField(max_length=12, unique=True, default=new_key, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="submissions")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="submissions")

    # Filled in by its author: `fields.FIELDS` describes each.
    name = models.CharField(max_length=80, validators=[plain])
    model = models.CharField(max_length=80, validators=[plain])
    team = models.CharField(max_length=80, blank=True, validators=[plain])
    link = models.URLField(max_length=300, blank=True, validators=[WEB])
    paper = models.URLField(max_length=300, blank=True, validators=[WEB])
    code = models.URLField(max_length=300, blank=True, validators=[WEB])
    description = models.TextField(max_length=4000, blank=True)
    model_id = models.CharField(max_length=120, blank=True, validators=[plain, MODEL_ID_FORM])
    evaluator = models.CharField(max_length=16, choices=list(EVALUATORS.items()), blank=True)
    training_data = models.CharField(max_length=400, blank=True, validators=[plain])
    compute = models.CharField(max_length=200, blank=True, validators=[plain])
    latency_ms = models.FloatField(null=True, blank=True, validators=_limits("latency_ms"))
    regime = models.CharField(max_length=16, choices=Regime, default=Regime.OTHER)
    parameters = models.PositiveBigIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    shared_parameters = models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MinValueValidator(0)]
    )
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.SYSTEM)
    verified = models.BooleanField(default=False)
    """An organizer reproduced it, or looked at its code."""
    group = models.ForeignKey(
        Team, null=True, blank=True, on_delete=models.SET_NULL, related_name="submissions"
    )
    """Its author's team when it was sent, whose quota it counts against."""

    phase = models.ForeignKey(
        Phase, null=True, blank=True, on_delete=models.PROTECT, related_name="submissions"
    )
    """The phase that it was sent to; null on a benchmark that had none then."""
    began = models.DateTimeField(null=True, editable=False)
    """When its upload began, as far as that counts: the deadline is compared with it."""
    late = models.BooleanField(default=False, editable=False)
    chosen = models.DateTimeField(null=True, editable=False)
    """When its author chose it to count, in a phase in which authors choose."""
    counts = models.BooleanField(default=True, editable=False)
    """Whether its phase lets a board show it now; see `counting.recount`."""

    public = models.BooleanField(default=False)
    """Whether its author wants it on the board."""
    approved = models.BooleanField(default=True)
    """Whether an organizer agrees; asked for only where the policy says so."""
    declined = models.CharField(max_length=400, blank=True, validators=[plain])
    """Why an organizer keeps it off the board; its author is shown this."""
    published = models.DateTimeField(null=True)
    """When it was first public with what it scored."""
    withdrawn = models.DateTimeField(null=True)
    """When its author withdrew it. It stays in the database, but on no board."""

    file = models.FileField(storage=submission_storage, upload_to=stored_name, max_length=100)
    filename = models.CharField(max_length=120)
    """The file name that its author gave it: for the download, never for a path."""
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    retry_key = models.CharField(max_length=64, null=True, editable=False)
    """Key of this upload from its sender, so that sending it again makes no second submission."""
    replaces = models.OneToOneField(
        "self", null=True, editable=False, on_delete=models.SET_NULL, related_name="replaced_by"
    )
    """The upload that was not valid and whose address it took."""
    reproduces = models.ForeignKey(
        "self", null=True, editable=False, on_delete=models.PROTECT, related_name="reproductions"
    )
    """The public row of other people that it reproduces; see `reproducing`."""
    agreement = models.JSONField(null=True, editable=False)
    """As `similarity.samples.agreement` gives it, of a reproduction with its row."""
    reproduced = models.JSONField(default=list, editable=False)
    """What its row shows of its reproductions: `reproducing.reproductions_of`."""
    why = models.CharField(max_length=200, blank=True)
    """Why it is graded this time: empty for the first time, else what changed."""

    status = models.CharField(max_length=8, choices=Status, default=Status.QUEUED)
    lease = models.PositiveIntegerField(default=lease_seconds)
    """Seconds without a sign of life after which a sweep puts it back in the queue."""
    renewed = models.FloatField(null=True)
    """The last sign of life, by `clock`; None until a sweep sees it first."""
    attempts = models.PositiveSmallIntegerField(default=0)
    """Times that a worker took it. Never reset: `with_lease` compares it, to see whether one lost the row."""
    spent = models.PositiveSmallIntegerField(default=0)
    """How many of them were for gradings before this one."""
    submitted = models.DateTimeField(default=timezone.now, editable=False)
    begun = models.DateTimeField(null=True)
    """When a worker last took it, by the database's clock."""
    finished = models.DateTimeField(null=True)

    verdict = models.CharField(max_length=12, blank=True)
    problems = models.JSONField(default=dict)
    """The problems of the file, as `gluebench.submission.Submission.as_dict` gives them."""
    report = models.JSONField(null=True)
    """The report of `gluebench.report/1` as it may be shown: what the policy holds back is not in it."""
    scores = models.JSONField(null=True)
    """The part of the report that a board shows; stored apart because a board reads a thousand of them."""
    value = models.FloatField(null=True)
    """The score that ranks it, from `scores`; null when it is incomplete."""
    public_value = models.FloatField(null=True, editable=False)
    """Its score on the public share, where its phase scores the other rows in the end: it finds the best."""
    apart = models.CharField(max_length=8, blank=True, editable=False)
    """In what its scores differ from those that its board ranks, a name of `APART`; then it has no rank."""
    failure = models.CharField(max_length=200, blank=True)
    seal = models.CharField(max_length=64, default="", editable=False)
    """Keyed digest of what decides whether it counts, by which an edit in the database shows."""

    SEALED = ["key", "owner_id", "benchmark_id", "group_id", "phase_id", "reproduces_id", "submitted"]
    SEALED += ["began", "late", "chosen", "public_value"]

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-submitted"]
        indexes = [
            models.Index(fields=["benchmark", "status", "public"], name="board"),
            models.Index(fields=["status"], name="sweep"),
            models.Index(fields=["benchmark", "owner", "submitted"], name="quota"),
            models.Index(fields=["benchmark", "value"], name="ranked"),
            models.Index(fields=["benchmark", "begun"], name="turns"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["owner", "retry_key"], name="one_per_retry_key"),
            models.CheckConstraint(condition=Q(reproduces=None) | Q(public=False), name="unreproduced"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *arguments: Any, **options: Any) -> None:
        """Seal a new row."""
        if self._state.adding:
            self.seal = self.digest()
        super().save(*arguments, **options)

    def digest(self) -> str:
        """The seal of its present values."""
        return seal("submission", *(getattr(self, name) for name in self.SEALED))

    def rewrite(self, **values: Any) -> None:
        """Write these columns; an intact seal is renewed, a broken one stays broken."""
        intact = self.seal == self.digest()
        for name, value in values.items():
            setattr(self, name, value)
        if intact:
            self.seal = self.digest()
        self.save(update_fields=list(values) + ["seal"])

    def clean(self) -> None:
        """Raise ValidationError where more parameters are shared than there are."""
        total, shared = self.parameters, self.shared_parameters
        if total is not None and shared is not None and shared > total:
            raise ValidationError({"shared_parameters": f"More than the {total:,} parameters in total."})

    @property
    def has_team_name(self) -> bool:
        """Whether the board shows the name of its author's team, which no field changes."""
        if self.group_id is None or self.reproduces_id is not None:
            return False
        return self.benchmark.policy.per == "team"

    def is_managed_by(self, user: Any) -> bool:
        """Whether this person may do the acts of its author; as `SubmissionQueries.managed_by`."""
        if self.owner_id == user.pk:
            return True
        if user.pk is None or not self.has_team_name:
            return False
        return self.group_id == team_for(user.pk, self.benchmark_id)

    def get_absolute_url(self) -> str:
        """Its page."""
        return reverse("submission", args=[self.key])

    @property
    def in_phase(self) -> Benchmark:
        """Its benchmark, with the tasks of its phase."""
        return at_phase(self.benchmark, self.phase)

    @property
    def record(self) -> records.Benchmark:
        """What it is checked, graded and shown by."""
        return self.in_phase.record

    @property
    def policy(self) -> Policy:
        """The policy that it was sent under."""
        return policy_at(self.benchmark, self.phase)

    @property
    def is_open(self) -> bool:
        """Whether it still waits or is being graded."""
        return self.status in OPEN

    @property
    def is_replaceable(self) -> bool:
        """Whether its author may send another file in its place."""
        return self.status == Status.INVALID and self.withdrawn is None

    @property
    def is_scored(self) -> bool:
        """Whether there are scores to show: while it is graded again, those from before."""
        return self.status == Status.GRADED or (self.is_open and self.scores is not None)

    @property
    def why_apart(self) -> str:
        """Why the board shows it without a rank, in a sentence; empty where it has one or is incomplete."""
        if not self.apart:
            return ""
        graded = "It is graded again." if self.is_open else "Its file is no longer kept."
        return f"Not ranked: it was scored {APART[self.apart]}. {graded}"

    @property
    def is_exported(self) -> bool:
        """Whether there is a record of it for other sites, which need a model and who evaluated it."""
        return bool(self.report and self.model_id and self.evaluator)

    @property
    def is_listed(self) -> bool:
        """Whether the board shows it: `queries.is_listed` for one row."""
        eligible = self.public and self.approved and not self.late and self.is_scored
        return eligible and self.counts and self.withdrawn is None

    @property
    def standing(self) -> Visibility:
        """Who sees it, and what it waits for."""
        if self.withdrawn is not None:
            return Visibility.WITHDRAWN
        if self.declined and not self.approved:
            return Visibility.DECLINED
        if self.reproduces_id is not None:
            return Visibility.REPRODUCTION
        if not self.public:
            return Visibility.PRIVATE
        if self.late:
            return Visibility.LATE
        if self.status in (Status.INVALID, Status.FAILED):
            return Visibility.UNSCORED
        if not self.is_scored:
            return Visibility.UNGRADED
        if not self.approved:
            return Visibility.WAITING
        if self.counts:
            return Visibility.LISTED
        is_phase_shown = self.phase is not None and self.phase.is_shown
        return Visibility.ANOTHER if is_phase_shown else Visibility.HIDDEN

    def queue_position(self) -> int:
        """How many of those that wait now are graded until this one is done at the latest, itself included.

        People take turns, and so do benchmarks: its owner's second is graded after at most two of each other
        person in its benchmark, and a benchmark's tenth after at most ten of each other benchmark.
        """
        waiting = Submission.objects.waiting().order_by()
        here = waiting.filter(benchmark=self.benchmark_id)
        turn = here.filter(owner=self.owner_id, submitted__lte=self.submitted).count()
        for rows, field in ((here, "owner"), (waiting, "benchmark")):
            counts = rows.values(field).annotate(number=Count("pk")).values_list("number", flat=True)
            turn = sum(min(number, turn) for number in counts)
        return turn


@receiver(models.signals.pre_delete, sender=Team)
def leave_deleted_team(instance: Team, **_: Any) -> None:
    """Take a team that an admin deletes from its submissions."""
    Submission.objects.filter(group=instance).rewrite(group=None)


class Result(models.Model):
    """One grading of a submission. A new one is added when labels change; old ones are kept."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="results")
    created = models.DateTimeField(default=timezone.now)
    why = models.CharField(max_length=200, blank=True)
    """Why it was graded again; empty for the first time."""
    labels = models.CharField(max_length=64)
    """Digest of the gold folder it was graded on."""
    package = models.CharField(max_length=40)
    """Version of gluebench that graded it."""
    verdict = models.CharField(max_length=12)
    report = models.JSONField(null=True)
    """The report as graded, for organizers; `Submission.report` is the part that may be shown."""
    diagnosis = models.JSONField(null=True)
    """Confusions and directions of diagnostic sets, as graded; `report.py` selects what is shown."""
    shown = models.JSONField(null=True)
    """The report that is shown instead under the Ladder; null without the Ladder."""
    scores = models.JSONField(null=True)
    """What a board showed of it, as `Submission.scores`; null where nothing was shown."""
    best = models.JSONField(default=dict)
    """Under the Ladder: for each task, the key of the same person's or team's best submission so far."""
    seal = models.CharField(max_length=64, default="", editable=False)
    """Keyed digest of all the above and of the time of the grading before it, by which edits and
    deletions in the database show."""

    SEALED = ["submission_id", "created", "why", "labels", "package", "verdict"]
    SEALED += ["report", "diagnosis", "shown", "scores", "best"]

    class Meta:
        ordering = ["-pk"]  # not by time: workers' clocks differ

    def __str__(self) -> str:
        return f"{self.submission} {self.created:%Y-%m-%d}"

    def save(self, *arguments: Any, **options: Any) -> None:
        """Seal a new result."""
        if self._state.adding:
            self.seal = self.digest(self.before())
        super().save(*arguments, **options)

    def before(self) -> datetime | None:
        """When the submission was graded before; None for the first time."""
        earlier = Result.objects.filter(submission=self.submission_id)
        if self.pk is not None:
            earlier = earlier.filter(pk__lt=self.pk)
        return earlier.values_list("created", flat=True).first()

    def digest(self, before: datetime | None) -> str:
        """The seal that its current values have after the grading `before` it."""
        values = [getattr(self, name) for name in self.SEALED]
        if before is not None:
            values.append(before)
        return seal("result", *values)

    def show(self, scores: Any) -> None:
        """Store what the board shows of it; an intact seal is renewed, a broken one stays broken."""
        before = self.before()
        intact = self.seal == self.digest(before)
        self.scores = scores
        if intact:
            self.seal = self.digest(before)
        self.save(update_fields=["scores", "seal"])


class Worker(models.Model):
    """A worker process and its last sign of life, by the database's clock."""

    name = models.CharField(max_length=80, primary_key=True)
    seen = models.DateTimeField()


class Revision(models.Model):
    """One edit of a submission's fields, with their former values."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="revisions")
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    changes = models.JSONField()
    """For each changed field: [before, after]."""

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.submission} {self.at:%Y-%m-%d}"
