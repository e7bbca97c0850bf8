"""A submitted file as a file of this machine, wherever it is kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db.models.fields.files import FieldFile

from gluebench.leaderboard.submissions.process import GraderError


class UnreadableFileError(GraderError):
    """The storage does not give a submitted file: no mistake of its author's."""


@contextmanager
def local_path(file: FieldFile) -> Iterator[Path]:
    """Where the grader finds it: its own place, or a copy for as long as it is needed.

    Raises UnreadableFileError where it is not to be had; the validator would call it not valid.
    """
    try:
        place = file.path
    except NotImplementedError:  # kept in a bucket
        with tempfile.NamedTemporaryFile(dir=settings.FOLDER.uploads) as copy, file.open("rb") as kept:
            shutil.copyfileobj(kept, copy)
            copy.flush()
            yield Path(copy.name)
    else:
        try:
            file.open("rb").close()
        except OSError as error:
            raise UnreadableFileError("The submitted file cannot be read now. Ask the organiser.") from error
        yield Path(place)
