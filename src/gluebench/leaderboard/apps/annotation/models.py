"""Models of a study of human performance: the drawn pairs, its annotators, their answers, its result."""

import secrets
from typing import Any

from django.db import models
from django.db.models import Count
from django.dispatch import receiver
from django.urls import reverse

from gluebench.benchmark import Task
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.signals import account_deleted, account_exported
from gluebench.leaderboard.apps.submissions.models import new_key as new_key  # the migration names it here
from gluebench.scoring import Score
from gluebench.scoring.feedback import bounds_of, rounded_score

SCHEMA = "gluebench.people/1"
BLANK = ""
"""The label of an item that an annotator could not decide."""


def new_code() -> str:
    """The secret part of an annotator's address."""
    return secrets.token_urlsafe(16)


class Study(models.Model):
    """Pairs of sentences drawn for some annotators. Texts are kept; tags and labels never are."""

    key = models.CharField(max_length=12, unique=True, default=new_key, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="studies")
    task = models.CharField(max_length=80)
    drawn = models.JSONField()
    """As `gluebench.analysis.human.sheets.Draw.as_dict` gives it."""
    texts = models.JSONField()
    """The texts of each item, item 1 first, in the order of the task's columns."""
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    open = models.BooleanField(default=True)
    """Whether annotators may answer."""
    public = models.BooleanField(default=False)
    """Whether everybody sees the result."""

    agreement = models.JSONField(null=True)
    """As `gluebench.analysis.human.score.Agreement.as_dict` gives it, by the grader's process."""
    problems = models.JSONField(default=list)
    """Why the last scoring failed, in sentences."""
    scored = models.DateTimeField(null=True)
    labels = models.CharField(max_length=64, blank=True)
    """Digest of the gold folder that it was scored on."""

    class Meta:
        ordering = ["-created", "-pk"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return f"{self.task}, {self.items} examples, seed {self.drawn['seed']}"

    def get_absolute_url(self) -> str:
        """The address of its result."""
        return reverse("people", args=[self.benchmark.name, self.key])

    @property
    def items(self) -> int:
        """How many examples each annotator labels."""
        return len(self.drawn["items"])

    @property
    def record(self) -> Task:
        """The task as the manifest has it."""
        return self.benchmark.record.task(self.task)

    @property
    def is_outdated(self) -> bool:
        """Whether the labels changed since it was scored."""
        return self.agreement is not None and self.labels != self.benchmark.gold_digest

    @property
    def complete(self) -> bool:
        """Whether every annotator answered everything."""
        return not self.annotators.annotate(done=Count("answers")).exclude(done=self.items).exists()


class Annotator(models.Model):
    """One invited person, known by a number."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="annotators")
    number = models.PositiveSmallIntegerField()
    code = models.CharField(max_length=32, unique=True, default=new_code)
    """Whoever has the link with it answers as this annotator, unless an account is named."""
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="annotating")
    """The invited account, which alone may use the link; None if the link suffices."""

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_per_number")]

    def __str__(self) -> str:
        return f"Annotator {self.number}"

    def get_absolute_url(self) -> str:
        """The address of this annotator's pages."""
        return reverse("label", args=[self.code])

    def answers_by_item(self) -> dict[int, str]:
        """Item to label word, or BLANK, of what was answered so far."""
        return dict(self.answers.values_list("item", "label"))

    def renew(self) -> None:
        """Make another link; the old one is not valid any more."""
        self.code = new_code()
        self.save(update_fields=["code"])


class Answer(models.Model):
    """An annotator's answer to one item."""

    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="answers")
    item = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "item"], name="one_per_item")]


def public_studies(benchmark: Benchmark, task: str = "") -> list[Study]:
    """The studies that were made public and scored, the newest first, as anybody may see them."""
    rows = benchmark.studies.filter(public=True, agreement__isnull=False).select_related("benchmark")
    return [round_scores(study) for study in rows if not task or study.task == task]


def facts_of(study: Study) -> Values:
    """A study's result for programs."""
    return {
        "schema": SCHEMA,
        "key": study.key,
        "url": study.get_absolute_url(),
        "benchmark": study.benchmark.name,
        "task": study.task,
        "seed": study.drawn["seed"],
        "pairs": len(study.drawn["pairs"]),
        "drawn": study.created.isoformat(timespec="seconds"),
        "scored": study.scored.isoformat(timespec="seconds") if study.scored else None,
        "labels_changed": study.is_outdated,
        "agreement": study.agreement,
    }


def round_scores(study: Study) -> Study:
    """The study with its scores as anybody may see them: rounded, unless the labels are public."""
    agreement = study.agreement
    if agreement is not None and not study.record.labels_public:
        bounds = bounds_of(study.record)

        def round_score(score: Facts) -> Values:
            return rounded_score(Score(**score), *bounds).as_dict()

        scores = {name: round_score(score) for name, score in agreement["annotators"].items()}
        study.agreement = {**agreement, "annotators": scores, "mean": round_score(agreement["mean"])}
    return study


@receiver(account_deleted)
def leave_studies(user: User, **_: Any) -> None:
    """Keep the labels of a deleted account under the annotator's number, and end its link."""
    for annotator in Annotator.objects.filter(user=user):
        annotator.renew()
    Annotator.objects.filter(user=user).update(user=None)


@receiver(account_exported)
def export_labels(user: User, **_: Any) -> Values:
    """For the export of an account: the labels that it gave."""
    columns = ("study__benchmark__name", "study__task", "answers__item", "answers__label")
    return {"labeled": list(user.annotating.values(*columns))}
