"""Where downloads lie until they are prepared: a folder in the data folder, for one command at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gluebench.data.errors import DataError

FOLDER = ".downloads"


@contextmanager
def staging(data: Path) -> Iterator[Path]:
    """The folder for downloads; empty ones go at the end. Raises DataError where it is in use."""
    folder = data / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"{folder}: another command is getting data into this folder; wait for it to end"
            raise DataError([text]) from None
        try:
            yield folder
        finally:
            _prune(folder)
    finally:
        os.close(handle)


def _prune(folder: Path) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(parent):
            os.rmdir(parent)
