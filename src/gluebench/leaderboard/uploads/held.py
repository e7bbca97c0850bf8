"""A file that a page asks its sender about: kept until the answer, beside a copy in the right form.

Of each account the last one alone is kept, for a day at most, as all that lies in the folder of uploads.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

Copy = Literal["own", "fixed"]


class HeldFile(UploadedFile[Any]):
    """A kept file as an upload. The storage copies it, so that a page that is sent twice finds it again."""

    def __init__(self, place: Path, name: str) -> None:
        super().__init__(place.open("rb"), name, size=place.stat().st_size)
        self.place = place


class Held:
    """One kept file, by a token that is good for its sender alone."""

    def __init__(self, account: int, token: str) -> None:
        self.account = account
        self.token = token
        self.folder = Path(settings.FOLDER.uploads, f"held-{account}-{token}")

    @classmethod
    def new(cls, account: int) -> Held:
        """Room for a file; `keep` or `drop` it."""
        made = cls(account, secrets.token_hex(8))
        made.folder.mkdir(mode=0o700)
        return made

    @classmethod
    def find(cls, account: int, token: str) -> Held | None:
        """What was kept for this account under this token."""
        found = cls(account, token)
        return found if token.isalnum() and (found.folder / "name").exists() else None

    @property
    def fixed(self) -> Path:
        """Where its copy in the right form is."""
        return self.folder / "fixed"

    @property
    def name(self) -> str:
        """What its sender called it."""
        return (self.folder / "name").read_text()

    def keep(self, upload: UploadedFile[Any], *, own: bool) -> None:
        """Keep the upload, or its fixed copy alone, in place of what was kept for the account before."""
        if own:
            shutil.copyfile(place_of(upload), self.folder / "own")
        (self.folder / "name").write_text((upload.name or "submission.zip")[-120:])
        for other in self._others():
            shutil.rmtree(other, ignore_errors=True)

    def drop(self) -> None:
        """Forget it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, which: Copy) -> HeldFile | None:
        """It as an upload; None where this copy was not kept."""
        path = self.folder / which
        if not path.exists():
            return None
        name = self.name if which == "own" else f"{Path(self.name).stem}-fixed.zip"
        return HeldFile(path, name)

    def _others(self) -> Iterable[Path]:
        return (path for path in self.folder.parent.glob(f"held-{self.account}-*") if path != self.folder)


def place_of(upload: UploadedFile[Any]) -> Path:
    """Where an upload lies on this machine."""
    if isinstance(upload, HeldFile):
        return upload.place
    assert isinstance(upload, TemporaryUploadedFile)  # this site writes every upload to disk as it comes in
    return Path(upload.temporary_file_path())
