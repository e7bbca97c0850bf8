"""Labels on the machine that grades, wherever they are kept."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from gluebench.leaderboard.folder import make_private, write_private


def publish(place: str) -> None:
    """Put a folder of labels where every worker finds it: into the bucket, if there is one."""
    if settings.RUNNING.bucket is None:
        return
    storage = storages["labels"]
    for file in sorted((settings.FOLDER.labels / place).iterdir()):
        name = f"{place}/{file.name}"
        if not storage.exists(name):
            storage.save(name, ContentFile(file.read_bytes()))


def at_hand(place: str) -> Path:
    """The folder on this machine, fetched from the bucket if no grading here needed it before."""
    home: Path = settings.FOLDER.labels / place
    if settings.RUNNING.bucket is not None and not home.is_dir():
        _fetch(place, home)
    return home


def _fetch(place: str, home: Path) -> None:
    """Whole or not at all: another worker may fetch the same."""
    storage = storages["labels"]
    make_private(home.parent)
    scratch = Path(tempfile.mkdtemp(prefix=".fetch-", dir=home.parent))
    try:
        for name in storage.listdir(place)[1]:
            with storage.open(f"{place}/{name}") as file:
                write_private(scratch / name, file.read())
        scratch.rename(home)
    except OSError:
        if not home.is_dir():
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
