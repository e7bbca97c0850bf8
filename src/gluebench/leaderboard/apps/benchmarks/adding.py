"""Add a benchmark to the site: its manifest, its labels, its files to download, its organizers."""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import transaction

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks import models
from gluebench.leaderboard.apps.benchmarks.contents import Prepared, PublicFile, prepare
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, DataFile
from gluebench.leaderboard.apps.benchmarks.seals import LABEL_KEY, PARTS, seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.signals import benchmark_changed
from gluebench.leaderboard.apps.common.text import require_fields
from gluebench.leaderboard.keeping.folder import SiteError, make_private, write_private
from gluebench.scoring.gold import KEY_FILE, label_key

BENCHMARKS_OF_ACCOUNT = 20
"""Benchmarks that an account may have when it creates another; admins may have any number."""


def add_benchmark(name_or_path: str, gold_folder: Path | None, data_folder: Path | None = None) -> str:
    """See `commands.add`."""
    return store(prepare(name_or_path, gold_folder, data_folder)).name


def store(
    ready: Prepared,
    *,
    by: User | None = None,
    reason: str = "",
    draft: bool = False,
    must_be_new: bool = False,
) -> Benchmark:
    """Add a prepared benchmark, or replace what changed of the one with its name.

    `by` did it, for `reason`; a new one is a `draft` if so asked, and theirs to organize. A title that was
    edited on the site stays. Raises SiteError, also if it `must_be_new` and its name is taken.
    """
    taken = SiteError(f"The name {ready.name} is taken: nothing was created. Choose another one.")
    if must_be_new and Benchmark.objects.filter(name=ready.name).exists():
        raise taken
    # The name is part of an address, and some databases refuse a value longer than its column.
    named = Benchmark(name=ready.name, title=ready.title)
    require_fields(named, ("name", "title"), what=f"The benchmark {ready.name!r}")
    place = digest = ""
    if ready.gold is not None:
        place, digest = _keep_gold(ready.name, ready.gold)
        models.publish_labels(place)
    values = {
        "title": ready.title,
        "manifest": ready.manifest.text,
        "parents": list(ready.manifest.parents),
        "gold": place,
        "gold_digest": digest,
    }
    files = _save(ready.name, ready.files)
    with transaction.atomic():
        row, new = Benchmark.objects.get_or_create(name=ready.name, defaults={**values, "draft": draft})
        if must_be_new and not new:  # created by another request since it was looked for
            raise taken
        if new and by is not None:
            # Not `add`, which would sign out and strip of second factors who was given a role by others.
            Benchmark.organizers.through.objects.create(benchmark=row, user=by)
            require_few(by)
        if not new:
            _update(row, ready, values, by=by, reason=reason)
        Benchmark.objects.lock(row.pk)
        replaced = _replace(row, files, examples=ready.has_examples)
        if new:
            record("benchmark added", actor=by, benchmark=row, sealed=seals_of_parts(row, *PARTS))
        elif replaced:
            Benchmark.objects.filter(pk=row.pk).touch()
            why = reason or "The files to download changed."
            record("data", actor=by, benchmark=row, reason=why, sealed=seals_of_parts(row, "data_files"))
    return row


def _update(row: Benchmark, ready: Prepared, values: Values, *, by: User | None, reason: str) -> None:
    """Write the values that differ from those of an existing benchmark, with an entry of the log."""
    if row.title != row.record.title:  # it was edited on the site
        del values["title"]
    changed = [field for field, value in values.items() if getattr(row, field) != value]
    if not changed:
        return
    # Phases elsewhere are graded again with this one's labels. Locked as `save_phase` does: first the one
    # with the labels, so that no phase begins or ends to use them, then those with the phases; the log last.
    Benchmark.objects.lock(row.pk)
    for pk in sorted(set(row.phases_elsewhere.values_list("benchmark", flat=True))):
        Benchmark.objects.lock(pk)
    _require_fit_of_phases(row, ready)
    Benchmark.objects.filter(pk=row.pk).update(**values)
    kind = "labels" if "gold" in changed else "manifest"
    why = reason or f"The {kind} changed."
    row.gold = values["gold"]
    seals = seals_of_parts(row, LABEL_KEY, *(field for field in changed if field in PARTS))
    record(kind, actor=by, benchmark=row, reason=why, sealed=seals)
    benchmark_changed.send(Benchmark, benchmark=row, reason=why, act="labels")
    row.refresh_from_db()


def _require_fit_of_phases(row: Benchmark, ready: Prepared) -> None:
    """Raise SiteError for a manifest that lacks a task of a phase, and for labels that a phase needs."""
    new = Benchmark(manifest=ready.manifest.text, parents=list(ready.manifest.parents)).record
    known = {task.name for task in new.tasks}
    borrowing = row.phases.exclude(tasks_of=None).first()
    if borrowing is not None and ready.gold is None:
        raise SiteError(
            f"The phase {borrowing} is graded with labels on this site, so this benchmark's must be here "
            "too. Change the phase first."
        )
    phases = [(phase, "") for phase in row.phases.filter(tasks_of=None)]
    for phase in row.phases_elsewhere.select_related("benchmark"):
        phases.append((phase, f" of {phase.benchmark.title}"))
    for phase, where in phases:
        if where and ready.gold is None:
            raise SiteError(f"The phase {phase}{where} uses its labels. Change the phase first.")
        for name in phase.tasks:
            if name not in known:
                raise SiteError(
                    f"The phase {phase}{where} has the task {name}, which the new manifest lacks. "
                    "Change the phase first."
                )


def require_few(user: User, more: int = 0) -> None:
    """Raise SiteError if an account, which is not an admin's, organizes too many benchmarks with `more`."""
    if not user.is_superuser and user.organized.count() + more > BENCHMARKS_OF_ACCOUNT:
        raise SiteError(
            f"You organize {BENCHMARKS_OF_ACCOUNT} benchmarks, the most that an account may create here. "
            "Give one to another organizer, or ask who runs the site to create it."
        )


def _keep_gold(name: str, source: Path) -> tuple[str, str]:
    """Copy the labels into a folder named by their content; returns that name and the content's digest.

    The key beside them stays the one that the benchmark's labels on this site had before: it names their
    versions and selects the rows that are held back, which must not change when some labels are fixed.
    A missing key is made here, so that machines that share the labels do not make different ones.
    """
    files = {path.name: path.read_bytes() for path in sorted(source.iterdir()) if path.is_file()}
    digest = digest_of(source)
    place = f"{name}/{digest[:16]}"
    home: Path = settings.FOLDER.labels / place
    make_private(home.parent)
    make_private(home)
    former = Benchmark.objects.filter(name=name).first()
    if former and former.gold and (key := former.gold_path / KEY_FILE).exists():
        files[KEY_FILE] = key.read_bytes()
    for file, data in files.items():
        if not (home / file).exists():
            write_private(home / file, data)
    if not (home / KEY_FILE).exists():
        label_key(str(home))
    return place, digest


def digest_of(folder: Path) -> str:
    """SHA-256 of the files of labels, without the key that names their versions; empty for no folder."""
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            data = path.read_bytes()
            digest.update(f"{path.name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _save(name: str, files: Sequence[PublicFile]) -> list[DataFile]:
    """Put files into the storage under their checksums; returns rows that `_replace` writes."""
    rows = []
    for file in files:
        place = keep_public(name, file.data)
        facts = {"task": file.task, "split": file.split, "rows": file.rows, "size": len(file.data)}
        rows.append(DataFile(path=file.path, file=place, sha256=place.rpartition("/")[2], **facts))
    return rows


def keep_public(name: str, data: bytes) -> str:
    """Put what anybody may download into the storage "data", under its checksum; returns its name there."""
    place = f"{name}/{hashlib.sha256(data).hexdigest()}"
    if not storages["data"].exists(place):
        storages["data"].save(place, ContentFile(data))
    return place


def _replace(row: Benchmark, files: Sequence[DataFile], *, examples: bool) -> bool:
    """Make these the benchmark's files, in this transaction; return whether any changed.

    Without `examples`, those that it has stay, unless their split has gone or has another size.
    """
    before = list(row.data_files.all())
    after = list(files)
    if not examples:
        sizes = {}
        for task in row.record.tasks + row.record.auxiliary:
            for split in task.splits.values():
                sizes[task.name, split.name] = split.size
        kept = [file for file in before if sizes.get((file.task, file.split)) == file.rows]
        after = kept + after
    if {(file.path, file.sha256) for file in before} == {(file.path, file.sha256) for file in after}:
        return False
    row.data_files.all().delete()
    for file in after:
        file.pk = None
        file.benchmark = row
    DataFile.objects.bulk_create(after)
    for name in {file.file for file in before} - {file.file for file in after}:
        transaction.on_commit(partial(storages["data"].delete, name))
    return True
