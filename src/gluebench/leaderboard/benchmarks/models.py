"""A benchmark on this site: its manifest, the place of its labels, a counter of what its pages show."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F
from django.db.models.signals import m2m_changed
from django.dispatch import receiver
from django.urls import reverse

from gluebench import benchmark as records
from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import revoke
from gluebench.leaderboard.benchmarks.files import Manifest, labels_at_hand
from gluebench.leaderboard.benchmarks.policy import Policy, policy_of
from gluebench.leaderboard.common.signals import account_deleted, account_exported
from gluebench.leaderboard.folder import SiteError


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    """Vocabulary of benchmarks."""

    def held(self, pk: int) -> Benchmark:
        """A benchmark as it is now, which nobody else changes before the transaction ends.

        Whoever locks submissions as well locks their benchmark first, so that nobody waits for each other.
        """
        return self.select_for_update(no_key=True).get(pk=pk)

    def named(self, name: str) -> Benchmark:
        """The benchmark of that name, for the command line. Raises SiteError."""
        row = self.filter(name=name).first()
        if row is None:
            known = ", ".join(self.values_list("name", flat=True)) or "none yet"
            raise SiteError(f"There is no benchmark {name!r} on this site. It has: {known}.")
        return row

    def touch(self) -> None:
        """Say that pages of these benchmarks show something new: in the transaction of the change."""
        self.update(version=F("version") + 1)


class Benchmark(models.Model):
    """One benchmark. Its labels are a folder below the site's `labels`, which only the grader opens."""

    name = models.SlugField(unique=True, max_length=80)
    title = models.CharField(max_length=200)
    manifest = models.TextField()
    """The TOML it was added with."""
    parents = models.JSONField(default=list)
    """The manifests in files that it extends, each extending the next."""
    gold = models.CharField(max_length=200)
    """Folder of its labels, below the site's `labels`."""
    gold_digest = models.CharField(max_length=64)
    version = models.PositiveBigIntegerField(default=1)
    """Grows with every change that a page shows; pages are cached by it."""
    added = models.DateTimeField(auto_now_add=True)
    settings = models.JSONField(default=dict)
    """The policy's settings that differ from the usual ones; see `policy`."""
    organisers = models.ManyToManyField(User, blank=True, related_name="organised")
    revealed = models.DateTimeField(null=True)
    """When scores became those of the rows that the policy's `public_share` held back."""
    open = models.BooleanField(default=True)
    """Whether it takes submissions."""

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["added"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Its board."""
        return reverse("board", args=[self.name])

    @property
    def manifest_path(self) -> Path:
        """The manifest as a file, written where it is not there yet."""
        return Manifest(self.manifest, tuple(self.parents)).write_below(settings.FOLDER.manifests)

    @property
    def gold_path(self) -> Path:
        """The folder of labels. The web process never opens it."""
        return labels_at_hand(self.gold)

    @property
    def policy(self) -> Policy:
        """What its organizer decided about limits and feedback."""
        return policy_of(self.settings)

    def organised_by(self, user: Any) -> bool:
        """Whether this person may do what its organizers may."""
        if not user.is_authenticated:
            return False
        return bool(user.is_superuser or self.organisers.filter(pk=user.pk).exists())

    @property
    def record(self) -> records.Benchmark:
        """What its manifest says."""
        return _record(self.manifest_path)


class DataFile(models.Model):
    """A file that anybody may download: examples without test labels, or a sample submission."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="data_files")
    path = models.CharField(max_length=200)
    """Its address below the Data page: "CoLA/train.tsv"."""
    task = models.CharField(max_length=100, blank=True)
    split = models.CharField(max_length=100, blank=True)
    rows = models.PositiveBigIntegerField(default=0)
    file = models.CharField(max_length=200)
    """Its name in the storage "data"; names its content, which never changes."""
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "path"], name="one_file_per_path")]

    def __str__(self) -> str:
        return self.path


@receiver(m2m_changed, sender=Benchmark.organisers.through)
def revoke_of_new_organisers(
    instance: Any, action: str, reverse: bool, pk_set: Collection[int] | None, **_: Any
) -> None:
    """Whichever way the role is given: nothing that another may have set up before comes with it.

    To an admin the role is not new.
    """
    if action == "post_add" and pk_set:
        for user in User.objects.filter(pk__in=[instance.pk] if reverse else pk_set, is_superuser=False):
            revoke(user)


@receiver(account_exported)
def export_organised(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: the benchmarks that it organizes."""
    return {"organises": list(user.organised.values_list("name", flat=True))}


@receiver(account_deleted)
def remove_from_all(user: User, **_: Any) -> None:
    """A deleted account organizes nothing."""
    user.organised.clear()


@lru_cache(maxsize=64)
def _record(path: Path) -> records.Benchmark:
    return records.load_benchmark(path)
