"""A benchmark on this site: its manifest and labels as files, its policy, a version for the page cache."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection, models
from django.db.models import F, Q
from django.db.models.signals import m2m_changed
from django.dispatch import receiver
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from gluebench import benchmark as records
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import revoke
from gluebench.leaderboard.apps.benchmarks.contents import Manifest
from gluebench.leaderboard.apps.benchmarks.policy import Policy, policy_of
from gluebench.leaderboard.apps.common.signals import account_deleted, account_exported, benchmark_due
from gluebench.leaderboard.keeping.folder import SiteError, make_private, write_private

SECTIONS = {"overview": "Overview", "rules": "Rules", "dataset": "Data", "faq": "Questions and answers"}
"""The texts of a benchmark and their titles."""


def publish_labels(place: str) -> None:
    """Upload a folder of labels to the bucket, if there is one, for the workers on other machines."""
    if settings.RUNNING.bucket is None:
        return
    storage = storages["labels"]
    for file in sorted((settings.FOLDER.labels / place).iterdir()):
        name = f"{place}/{file.name}"
        if not storage.exists(name):
            storage.save(name, ContentFile(file.read_bytes()))


def labels_at_hand(place: str) -> Path:
    """The local folder of labels, downloaded from the bucket on its first use."""
    home: Path = settings.FOLDER.labels / place
    if settings.RUNNING.bucket is None or home.is_dir():
        return home
    storage = storages["labels"]
    make_private(home.parent)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=home.parent) as scratch:
        complete = Path(scratch, "labels")
        make_private(complete)
        for name in storage.listdir(place)[1]:
            with storage.open(f"{place}/{name}") as file:
                write_private(complete / name, file.read())
        try:
            complete.rename(home)
        except OSError:  # another worker has downloaded the same
            if not home.is_dir():
                raise
    return home


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    """Queries on benchmarks."""

    def lock(self, pk: int) -> Benchmark:
        """The current row of a benchmark, locked until the transaction ends.

        To avoid deadlocks, lock a benchmark before its submissions.
        """
        return self.select_for_update(no_key=True).get(pk=pk)

    def get_by_name(self, name: str) -> Benchmark:
        """The benchmark of that name, for the command line. Raises SiteError."""
        row = self.filter(name=name).first()
        if row is None:
            known = ", ".join(self.values_list("name", flat=True)) or "none yet"
            raise SiteError(f"There is no benchmark {name!r} on this site. It has: {known}.")
        return row

    def run_by(self, user: Any) -> BenchmarkQuerySet:
        """Those that this person organizes or reviews; all for an admin."""
        if not user.is_authenticated:
            return self.none()
        if user.is_superuser:
            return self.all()
        return self.filter(Q(pk__in=user.organized.values("pk")) | Q(pk__in=user.reviewed.values("pk")))

    def public(self) -> BenchmarkQuerySet:
        """Those whose pages everybody may see."""
        return self.filter(draft=False, restricted=False)

    def visible_to(self, user: Any) -> BenchmarkQuerySet:
        """Those whose pages this person may see.

        A draft is for those who run it, a restricted one for its accepted participants too.
        """
        if not user.is_authenticated:
            return self.public()
        registered = Benchmark.objects.filter(registrations__user=user, registrations__standing="accepted")
        allowed = Q(draft=False, restricted=False) | Q(draft=False, pk__in=registered.values("pk"))
        return self.filter(allowed | Q(pk__in=Benchmark.objects.run_by(user).values("pk")))

    def touch(self, **values: Any) -> int:
        """Write values, and increase the versions, so that cached pages expire; returns how many there are.

        Call it in the transaction of the change.
        """
        return self.update(**values, version=F("version") + 1)


class Benchmark(models.Model):
    """One benchmark. Its labels are a folder below the site's `labels`, which only the grader opens."""

    name = models.SlugField(unique=True, max_length=80)
    title = models.CharField(max_length=200)
    manifest = models.TextField()
    """The TOML it was added with."""
    parents = models.JSONField(default=list)
    """The manifests in files that it extends, each extending the next."""
    gold = models.CharField(max_length=200)
    """Folder of its labels, below the site's `labels`; empty if only a machine of its organizer has them."""
    gold_digest = models.CharField(max_length=64)
    version = models.PositiveBigIntegerField(default=1)
    """Grows with every change that a page shows; pages are cached by it."""
    added = models.DateTimeField(auto_now_add=True)
    settings = models.JSONField(default=dict)
    """The policy's settings that differ from the defaults; see `policy`."""
    organizers = models.ManyToManyField(User, blank=True, related_name="organized")
    reviewers = models.ManyToManyField(User, blank=True, related_name="reviewed")
    """They see all submissions and approve or decline them, and change nothing else."""
    revealed = models.DateTimeField(null=True)
    """When scores changed to those on the rows that the policy's `public_share` held back."""
    open = models.BooleanField(default=True)
    """Whether it takes submissions."""
    due = models.BigIntegerField(null=True, editable=False)
    """When its phases next change what its pages show, in seconds since 1970."""
    board_phase = models.PositiveBigIntegerField(null=True, editable=False)
    """Number of the phase whose submissions its pages show; null for those without a phase."""
    draft = models.BooleanField(default=False)
    """Whether only those who run it see it; `BenchmarkQuerySet.visible_to` decides."""
    restricted = models.BooleanField(default=False)
    """Whether only its registered participants see it, besides those who run it."""
    texts = models.JSONField(default=dict)
    """Markdown by section of `SECTIONS`; empty ones are left out."""
    looks = models.JSONField(default=dict)
    """What `organizing.forms.LooksForm` sets: logo, accent color, links, contact."""

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["added"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Its board."""
        return reverse("board", args=[self.name])

    @property
    def is_public(self) -> bool:
        """Whether everybody may see its pages, as `BenchmarkQuerySet.public`."""
        return not (self.draft or self.restricted)

    @property
    def manifest_texts(self) -> Manifest:
        """The manifest with those that it extends."""
        return Manifest(self.manifest, tuple(self.parents))

    @property
    def manifest_path(self) -> Path:
        """The manifest as a file, written where it is not there yet."""
        return self.manifest_texts.write_below(settings.FOLDER.manifests)

    @property
    def gold_path(self) -> Path:
        """The folder of labels. The web process never opens it. Raises SiteError if they are elsewhere."""
        if not self.gold:
            raise SiteError(f"The labels of {self.name} are not on this site.")
        return labels_at_hand(self.gold)

    @property
    def policy(self) -> Policy:
        """What its organizer decided about limits and feedback."""
        return policy_of(self.settings)

    @property
    def names_hidden_until(self) -> datetime | None:
        """The moment from which names are shown; None if they are shown now."""
        day = self.policy.anonymous
        if day is None:
            return None
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return moment if timezone.now() < moment else None

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Name and title of each text that it has."""
        return [(name, title) for name, title in SECTIONS.items() if name in self.texts]

    def has_organizer(self, user: Any) -> bool:
        """Whether a user has the rights of an organizer of this benchmark."""
        if not user.is_authenticated:
            return False
        return bool(user.is_superuser or self.organizers.filter(pk=user.pk).exists())

    def has_reviewer(self, user: Any) -> bool:
        """Whether a user may approve or decline its submissions: its organizers and reviewers."""
        return Benchmark.objects.run_by(user).filter(pk=self.pk).exists()

    @property
    def record(self) -> records.Benchmark:
        """The benchmark that its manifest describes."""
        load = _record if self.manifest_texts.size <= _SMALL_MANIFEST else _large_record
        return load(self.manifest_path)

    def command_line_name(self, address: str) -> str:
        """The value of `--benchmark`: its name if gluebench packages this benchmark, else its address."""
        if self.name in records.installed() and records.load_benchmark(self.name) == self.record:
            return self.name
        return address


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


@receiver(m2m_changed, sender=Benchmark.organizers.through)
@receiver(m2m_changed, sender=Benchmark.reviewers.through)
def revoke_of_new_organizers(
    instance: Any, action: str, reverse: bool, pk_set: Collection[int] | None, **_: Any
) -> None:
    """Revoke access to a new organizer's or reviewer's account that another person may have set up before.

    `reverse` tells whether benchmarks were added to a user. Admins have these rights already.
    """
    if action == "post_add" and pk_set:
        accounts = [instance.pk] if reverse else pk_set
        for user in User.objects.filter(pk__in=accounts, is_superuser=False):
            revoke(user)


@receiver(account_exported)
def export_organized(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: the benchmarks that it organizes or reviews."""
    roles = {"organizes": user.organized.all(), "reviews": user.reviewed.all()}
    return {role: list(rows.values_list("name", flat=True)) for role, rows in roles.items()}


@receiver(account_deleted)
def remove_from_all(user: User, **_: Any) -> None:
    """A deleted account organizes nothing."""
    user.organized.set([])
    user.reviewed.set([])


_SMALL_MANIFEST = 65_536
"""Characters; those that list no ids are smaller. Of large ones, which take memory, few are cached."""
_record = lru_cache(maxsize=64)(records.load_benchmark)
_large_record = lru_cache(maxsize=4)(records.load_benchmark)


# Raw SQL: building the query takes Django three times as long as running it.
_ONE = "SELECT name, version, due, draft OR restricted FROM benchmarks_benchmark WHERE name = %s"
_ONLY = "SELECT name, version, due FROM benchmarks_benchmark WHERE NOT (draft OR restricted) LIMIT 2"
_ALL = "SELECT COUNT(*), COALESCE(SUM(version), 0), COALESCE(MAX(id), 0) FROM benchmarks_benchmark"


class BenchmarkVersion(NamedTuple):
    """The name and version of a benchmark: enough for its address and the page cache."""

    name: str
    version: int
    due: int | None = None

    def benchmark(self) -> Benchmark:
        """The complete row. Raises Http404 if it was deleted meanwhile."""
        return get_object_or_404(Benchmark, name=self.name)


def find_version(name: str, user: Any) -> BenchmarkVersion:
    """The benchmark of that name. Raises Http404, also for one that this user may not see."""
    rows = _fetch_rows(_ONE, name)
    if not rows or (rows[0][3] and not Benchmark.objects.visible_to(user).filter(name=name).exists()):
        raise Http404("There is no such benchmark.")
    return _up_to_date(BenchmarkVersion(*rows[0][:3]))


def only_one() -> BenchmarkVersion | None:
    """The benchmark of a site that has exactly one public one; None on other sites."""
    rows = _fetch_rows(_ONLY)
    if len(rows) != 1:
        return None
    return _up_to_date(BenchmarkVersion(*rows[0]))


def _up_to_date(live: BenchmarkVersion) -> BenchmarkVersion:
    """The benchmark once its phases are in line with the clock."""
    if live.due is None or live.due > timezone.now().timestamp():
        return live
    benchmark_due.send(Benchmark, benchmark=live.benchmark())
    return BenchmarkVersion(*_fetch_rows(_ONE, live.name)[0][:3])


def site_version() -> str:
    """A text that changes when a benchmark is added or removed, or its version grows."""
    return " ".join(map(str, _fetch_rows(_ALL)[0]))


def _fetch_rows(query: str, *values: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[Any] = cursor.fetchall()
        return rows
