"""A submitted file as a file of this machine, wherever it is kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db.models.fields.files import FieldFile


@contextmanager
def local_path(file: FieldFile) -> Iterator[Path]:
    """Where the grader finds it: its own place, or a copy for as long as it is needed."""
    try:
        place = file.path
    except NotImplementedError:  # kept in a bucket
        with tempfile.NamedTemporaryFile(dir=settings.FOLDER.uploads) as copy, file.open("rb") as kept:
            shutil.copyfileobj(kept, copy)
            copy.flush()
            yield Path(copy.name)
    else:
        yield Path(place)
