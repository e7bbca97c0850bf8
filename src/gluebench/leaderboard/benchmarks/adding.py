"""Taking a benchmark into the site: its manifest, its labels, who organizes it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from gluebench import benchmark as records
from gluebench.leaderboard.accounts.trust import account, require_vouched
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks import data_files
from gluebench.leaderboard.benchmarks.models import Benchmark, Manifest, publish_labels, read_manifest
from gluebench.leaderboard.common import benchmark_changed
from gluebench.leaderboard.common.text import require_fields
from gluebench.leaderboard.folder import SiteError, make_private, write_private

if TYPE_CHECKING:
    from gluebench.scoring import Gold


def add_benchmark(name_or_path: str, gold_folder: Path, data_folder: Path | None = None) -> str:
    """See `commands.add`."""
    from gluebench.scoring import read_gold

    manifested = records.load_benchmark(name_or_path)
    # The name is part of an address, and some databases refuse what is longer than its column.
    named = Benchmark(name=manifested.name, title=manifested.title)
    require_fields(named, ("name", "title"), what=f"The benchmark {manifested.name!r}")
    if not gold_folder.is_dir():
        raise SiteError(f"{gold_folder} is not a folder. Name the folder of {manifested.name}'s labels.")
    gold = read_gold(gold_folder, manifested)  # says all that is wrong, now and to the organizer
    _require_all(gold)
    manifest = read_manifest(name_or_path)
    _require_kept(manifest, manifested)
    contents = [] if data_folder is None else data_files.read_folder(data_folder, gold)
    place, digest = _keep_gold(manifested.name, gold_folder)
    publish_labels(place)
    values = {
        "title": manifested.title,
        "manifest": manifest.text,
        "parents": list(manifest.parents),
        "gold": place,
        "gold_digest": digest,
    }
    files = data_files.save(manifested.name, [*contents, data_files.sample_submission(manifested)])
    with transaction.atomic():
        row, new = Benchmark.objects.get_or_create(name=manifested.name, defaults=values)
        changed = [] if new else [field for field, value in values.items() if getattr(row, field) != value]
        if changed:
            Benchmark.objects.filter(pk=row.pk).update(**values)
            reason = "The labels changed." if "gold" in changed else "The manifest changed."
            record("labels" if "gold" in changed else "manifest", benchmark=row, reason=reason)
            benchmark_changed.send(Benchmark, benchmark=row, reason=reason)
            row.refresh_from_db()
        if data_files.replace(row, files, examples=data_folder is not None) and not new:
            Benchmark.objects.filter(pk=row.pk).touch()
            record("data", benchmark=row, reason="The files to download changed.")
    return manifested.name


def _require_all(gold: Gold) -> None:
    """A file without labels would make every submission that has it fail."""
    bare = [f"{file.name}.tsv" for file in gold.benchmark.files(gold.role) if file.name not in gold.columns]
    if bare:
        raise SiteError(
            f"{gold.folder} has no labels for {', '.join(bare)}; a board needs them for every test file. Add "
            f'them, or leave their tasks out by a manifest of your own: extends = "{gold.benchmark.name}" '
            "and tasks = [...]."
        )


def _require_kept(manifest: Manifest, record: records.Benchmark) -> None:
    """The site works by its own copy, so the copy must say what the organizer's files say."""
    try:
        same = records.load_benchmark(manifest.write_below(settings.FOLDER.manifests)) == record
    except records.ManifestError:
        same = False
    if not same:
        raise SiteError(
            f"The site's copy of the manifest of {record.name} would not find what it extends. Name that on "
            'a line of its own below [benchmark], as extends = "./other.toml".'
        )


def _keep_gold(name: str, source: Path) -> tuple[str, str]:
    """Copy the labels into a folder named by their content; returns that name and the content's digest.

    The key beside them stays the one that the benchmark's labels here had before: it names their versions
    and decides which rows are held back, and fixed labels are to change neither for the others. It is made
    here where the source could keep none, so that no machine makes one of its own.
    """
    from gluebench.scoring.gold import KEY_FILE, label_key

    files = {path.name: path.read_bytes() for path in sorted(source.iterdir()) if path.is_file()}
    digest = hashlib.sha256()
    for file, data in files.items():
        if file.startswith("."):  # the key of the label version: it names labels and is none
            continue
        digest.update(f"{file}\0{len(data)}\0".encode() + data)
    place = f"{name}/{digest.hexdigest()[:16]}"
    home: Path = settings.FOLDER.labels / place
    make_private(home.parent)
    make_private(home)
    former = Benchmark.objects.filter(name=name).first()
    if former and (key := former.gold_path / KEY_FILE).exists():
        files[KEY_FILE] = key.read_bytes()
    for file, data in files.items():
        if not (home / file).exists():
            write_private(home / file, data)
    if not (home / KEY_FILE).exists():
        label_key(str(home))
    return place, digest.hexdigest()


def set_organiser(email: str, benchmark: str, *, remove: bool = False, unconfirmed: bool = False) -> None:
    """Let this account organize a benchmark, or no longer.

    Raises SiteError for an unknown account or benchmark, and for an address that is not confirmed.
    """
    user = account(email)
    if not (remove or unconfirmed):
        require_vouched(user)
    row = Benchmark.objects.named(benchmark)
    with transaction.atomic():
        if remove:
            row.organisers.remove(user)
        else:
            row.organisers.add(user)
        action = "organiser removed" if remove else "organiser added"
        record(action, benchmark=row, account=user.pk, by="command line")
