"""Make the frozen copies that organizers asked for, in a thread of a worker: one may take minutes."""

import tempfile
import zipfile
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from gluebench.data.home import sha256_of
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.organizing.models import FrozenCopy
from gluebench.leaderboard.keeping.folder import SiteError, files_below
from gluebench.leaderboard.keeping.freeze import freeze
from gluebench.leaderboard.serving import health

ATTEMPTS = 3
MOST_BYTES = 2 * 1024**3
"""Pages of a copy together; the operator's command has no such limit."""
GIVEN_UP = f"The site began {ATTEMPTS} times and could not make it. Ask its operator to look at the log."


def make_copies() -> None:
    """Make each copy that no living worker is making; a worker calls this every few seconds."""
    name = health.worker_name()
    others = health.alive().exclude(name=name).values("name")
    for row in FrozenCopy.objects.filter(made=None, failure="").exclude(worker__in=others):
        held = FrozenCopy.objects.filter(pk=row.pk, attempts=row.attempts, made=None)
        if row.attempts >= ATTEMPTS:
            held.update(failure=GIVEN_UP)
        elif held.update(worker=name, attempts=F("attempts") + 1):
            row.attempts += 1
            try:
                _make(row)
            except SiteError as error:
                FrozenCopy.objects.filter(pk=row.pk, attempts=row.attempts).update(failure=str(error)[:200])


def _make(row: FrozenCopy) -> None:
    benchmark = row.benchmark
    with tempfile.TemporaryDirectory(prefix="copy-", dir=settings.FOLDER.uploads) as scratch:
        folder = Path(scratch, f"{benchmark.name}-frozen")
        packed = Path(scratch, "copy.zip")
        released = [benchmark.name] if row.labels else []
        freeze(folder, released, only=benchmark.name, most=MOST_BYTES)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files_below(folder):
                archive.write(path, path.relative_to(scratch))
        sha256 = sha256_of(packed)
        with packed.open("rb") as file:
            name = storages["data"].save(f"{benchmark.name}/{sha256}", File(file))
        facts = {"file": name, "size": packed.stat().st_size, "sha256": sha256}
    with transaction.atomic():
        held = FrozenCopy.objects.filter(pk=row.pk, attempts=row.attempts, made=None)
        if held.update(made=timezone.now(), **facts):
            record("frozen copy made", benchmark=benchmark, sha256=sha256)
            if row.file not in ("", name):  # that of the earlier copy
                transaction.on_commit(partial(storages["data"].delete, row.file))
        else:  # deleted meanwhile
            storages["data"].delete(name)
