"""A benchmark's files on this machine: its manifest with all it extends, and its labels."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from gluebench import benchmark as records
from gluebench.leaderboard.folder import make_private, write_private

_EXTENDS = re.compile(r"^(\s*extends\s*=\s*)(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)


class Manifest(NamedTuple):
    """The text of a manifest, and of the files it extends, nearest first."""

    text: str
    parents: tuple[str, ...] = ()

    def digest(self) -> str:
        """Names this very content."""
        return hashlib.sha256("\0".join((self.text, *self.parents)).encode()).hexdigest()[:16]

    def write_below(self, folder: Path) -> Path:
        """The manifest as a file in a folder named by its content."""
        home = folder / self.digest()
        path = home / "manifest.toml"
        if not path.exists():
            make_private(home)
            for number, text in enumerate(self.parents, start=1):
                write_private(home / f"parent-{number}.toml", text.encode())
            write_private(path, self.text.encode())
        return path


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
    """Put a folder of labels where every worker finds it: into the bucket, if there is one."""
    if settings.RUNNING.bucket is None:
        return
    storage = storages["labels"]
    for file in sorted((settings.FOLDER.labels / place).iterdir()):
        name = f"{place}/{file.name}"
        if not storage.exists(name):
            storage.save(name, ContentFile(file.read_bytes()))


def labels_at_hand(place: str) -> Path:
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
