"""A submitted file as a file of this machine, wherever it is kept."""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models.fields.files import FieldFile

from gluebench.leaderboard.submissions.process import GraderError

logger = logging.getLogger(__name__)


class UnreadableFileError(GraderError):
    """The storage does not give a submitted file: no mistake of its author's."""


class ChangedFileError(GraderError):
    """A stored file is not the one that was sent: it is not graded."""


@contextmanager
def local_path(file: FieldFile) -> Iterator[Path]:
    """Where the grader finds it: its own place, or a copy for as long as it is needed, under its own name.

    Raises UnreadableFileError where it is not to be had; the validator would call it not valid. Raises
    ChangedFileError where its SHA-256 is no longer that of the row it belongs to.
    """
    try:
        place = file.path
    except NotImplementedError:  # kept in a bucket
        with tempfile.NamedTemporaryFile(dir=settings.FOLDER.uploads) as copy, file.open("rb") as kept:
            shutil.copyfileobj(kept, copy)
            copy.flush()
            _require_unchanged(Path(copy.name), file)
            with under_own_name(Path(copy.name), _filename(file)) as named:
                yield named
    else:
        try:
            _require_unchanged(Path(place), file)
        except OSError as error:
            raise UnreadableFileError("The submitted file cannot be read now. Ask the organiser.") from error
        with under_own_name(Path(place), _filename(file)) as named:
            yield named


@contextmanager
def under_own_name(path: Path, filename: str) -> Iterator[Path]:
    """A link with the name that its sender gave a file, by which a lone table is known; a zip needs none."""
    if filename.casefold().endswith(".zip"):
        yield path
        return
    with tempfile.TemporaryDirectory(dir=settings.FOLDER.uploads) as folder:
        link = Path(folder, Path(filename).name or "submission")
        link.symlink_to(path.absolute())
        yield link


def _filename(file: FieldFile) -> str:
    submission: Any = file.instance
    return str(submission.filename)


def _require_unchanged(path: Path, file: FieldFile) -> None:
    submission: Any = file.instance
    with open(path, "rb") as kept:
        if hashlib.file_digest(kept, "sha256").hexdigest() != submission.sha256:
            logger.error("The file of submission %s is not the one that was sent.", submission.key)
            raise ChangedFileError("A stored file changed after it was sent. Ask the organiser.")
