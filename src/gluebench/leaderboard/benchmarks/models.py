"""A benchmark on this site: its manifest and labels as files, its policy, a version for the page cache."""

from __future__ import annotations

import hashlib
import re
import tempfile
import tomllib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection, models
from django.db.models import F
from django.db.models.signals import m2m_changed
from django.dispatch import receiver
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from gluebench import benchmark as records
from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import revoke
from gluebench.leaderboard.benchmarks.policy import Policy, policy_of
from gluebench.leaderboard.common.signals import account_deleted, account_exported
from gluebench.leaderboard.folder import SiteError, make_private, write_private

SAMPLE = "sample-submission.zip"
"""The path of the sample submission among the files to download."""
_EXTENDS = re.compile(r"^(\s*extends\s*=\s*)(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)


class Manifest(NamedTuple):
    """The text of a manifest, and of the files it extends, nearest first."""

    text: str
    parents: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The first digits of its hash."""
        return hashlib.sha256("\0".join((self.text, *self.parents)).encode()).hexdigest()[:16]

    def write_below(self, folder: Path) -> Path:
        """Write the manifest to a folder named by its hash, unless it is there; return the path."""
        home = folder / self.name
        path = home / "manifest.toml"
        if not path.exists():
            make_private(home)
            for number, text in enumerate(self.parents, start=1):
                write_private(home / f"parent-{number}.toml", text.encode())
            write_private(path, self.text.encode())
        return path


def manifest_of(home: Path) -> Manifest:
    """The manifest of a folder that `write_below` wrote, as it is now. Raises OSError, ValueError."""
    parents = sorted(home.glob("parent-*.toml"), key=lambda parent: int(parent.stem[7:]))
    texts = [path.read_bytes().decode() for path in (home / "manifest.toml", *parents)]
    return Manifest(texts[0], tuple(texts[1:]))


def read_manifest(name_or_path: str) -> Manifest:
    """The packaged manifest of that name or the file at a path, with the files it extends."""
    texts: list[str] = []
    path: Path | None = _path(name_or_path, Path())
    while path is not None:
        text = path.read_text(encoding="utf-8-sig")
        parent = tomllib.loads(text)["benchmark"].get("extends")
        path = _path(parent, path.parent) if parent and _is_file(parent) else None
        if path is not None:
            text = _EXTENDS.sub(rf'\g<1>"./parent-{len(texts) + 1}.toml"', text, count=1)
        texts.append(text)
    return Manifest(texts[0], tuple(texts[1:]))


def _is_file(name: str) -> bool:
    return "/" in name or name.endswith(".toml")


def _path(name: str, beside: Path) -> Path:
    if _is_file(name):
        return beside / name
    packaged = next(known for known in records.installed() if known.casefold() == name.casefold())
    return Path(records.__file__).parent / f"{packaged}.toml"


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

    def held(self, pk: int) -> Benchmark:
        """The current row of a benchmark, locked until the transaction ends.

        To avoid deadlocks, lock a benchmark before its submissions.
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
        """Increase the versions, so that cached pages expire; call it in the transaction of the change."""
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
    """The policy's settings that differ from the defaults; see `policy`."""
    organisers = models.ManyToManyField(User, blank=True, related_name="organised")
    revealed = models.DateTimeField(null=True)
    """When scores changed to those on the rows that the policy's `public_share` held back."""
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
        """Whether a user has the rights of an organizer of this benchmark."""
        if not user.is_authenticated:
            return False
        return bool(user.is_superuser or self.organisers.filter(pk=user.pk).exists())

    @property
    def record(self) -> records.Benchmark:
        """The benchmark that its manifest describes."""
        return _record(self.manifest_path)

    def named_for_commands(self, address: str) -> str:
        """The value of `--benchmark`: its name if gluebench packages this benchmark, else its address."""
        packaged = self.name in records.installed()
        return self.name if packaged and records.load_benchmark(self.name) == self.record else address


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


@receiver(m2m_changed, sender=Benchmark.organisers.through)
def revoke_of_new_organisers(
    instance: Any, action: str, reverse: bool, pk_set: Collection[int] | None, **_: Any
) -> None:
    """Revoke access to a new organizer's account that another person may have set up before.

    `reverse` tells whether benchmarks were added to a user. Admins have these rights already.
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


def linked_tasks(benchmark: records.Benchmark) -> dict[str, str]:
    """Task name to packaged benchmark, for tasks that `gluebench data get` fetches from their publishers."""
    from gluebench.data.sources.release import load_release

    publishers = {}
    for name in records.installed():
        packaged = records.load_benchmark(name)
        for task in packaged.tasks:
            release = load_release(name).tasks[task.name]
            hub = any(split.hub for split in release.splits.values())
            if (hub or release.archive or release.manual) and task in benchmark.tasks:
                publishers[task.name] = name
    return publishers


_record = lru_cache(maxsize=64)(records.load_benchmark)


# Raw SQL: building the query takes Django three times as long as running it.
_ONE = "SELECT name, version FROM benchmarks_benchmark WHERE name = %s"
_ONLY = "SELECT name, version FROM benchmarks_benchmark LIMIT 2"
_ALL = "SELECT COUNT(*), COALESCE(SUM(version), 0), COALESCE(MAX(id), 0) FROM benchmarks_benchmark"


class Live(NamedTuple):
    """The name and version of a benchmark: enough for its address and the page cache."""

    name: str
    version: int

    def benchmark(self) -> Benchmark:
        """The complete row. Raises Http404 if it was deleted meanwhile."""
        return get_object_or_404(Benchmark, name=self.name)


def live(name: str) -> Live:
    """The benchmark of that name. Raises Http404."""
    rows = _rows(_ONE, name)
    if not rows:
        raise Http404("There is no such benchmark.")
    return Live(*rows[0])


def only_one() -> Live | None:
    """The benchmark of a site that has exactly one; None on other sites."""
    rows = _rows(_ONLY)
    return Live(*rows[0]) if len(rows) == 1 else None


def site_version() -> str:
    """A text that changes when a benchmark is added or removed, or its version grows."""
    return " ".join(map(str, _rows(_ALL)[0]))


def _rows(query: str, *values: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[Any] = cursor.fetchall()
        return rows
