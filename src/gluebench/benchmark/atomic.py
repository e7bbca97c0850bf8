"""Atomic file replacement: a reader sees either the old file or the complete new one."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers of a full disk, a spent quota, and a file over the limit."""


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A new file that replaces `path` when the block ends; after an error, `path` is unchanged.

    Several processes may write the same path at once. `mode` is narrowed by the umask. Raises OSError.
    """
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except OSError as error:
        if error.filename == os.fspath(scratch) or (error.filename is None and error.errno in FULL):
            error.filename = os.fspath(path)  # the caller knows only this path
        raise
    finally:
        with suppress(OSError):  # what is wrong with the name or the folder is already reported
            scratch.unlink()


def write_text(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Write UTF-8. Raises OSError."""
    with replacing(path, mode=mode) as file:
        file.write(text.encode())


def write_json(path: Path, values: Any, *, indent: int | None = 2) -> None:
    """Write JSON. Raises OSError."""
    write_text(path, json.dumps(values, indent=indent, ensure_ascii=False) + "\n")
