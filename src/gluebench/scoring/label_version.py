"""Which labels a report was made with, told apart without a clue to what they are.

A plain hash of a small label set can be guessed by trying; a keyed one cannot, and its key stays beside
the gold.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gluebench.benchmark import Phenomenon
from gluebench.scoring.tags import Metadata
from gluebench.submission.column import Column

KEY_FILE = ".label-key"
KEY_BYTES = 32
SHOWN = 16
"""Hexadecimal digits of the hash that are given: enough to tell versions apart."""


class Version(NamedTuple):
    """The name of a version of the labels."""

    name: str | None
    """None where there is no key."""
    warnings: tuple[str, ...] = ()


def label_version(
    folder: str,
    columns: Mapping[str, Column],
    phenomena: Mapping[str, Mapping[Phenomenon, tuple[int, ...]]],
    *,
    metadata: Mapping[str, Metadata],
) -> Version:
    """HMAC-SHA256 of all that scores depend on, whatever the files' line ends or order of rows.

    The key is made on first use, readable by its owner alone.
    """
    import hashlib
    import hmac

    try:
        key = label_key(folder)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        warning = f"the version of the labels has no name: no key could be kept beside the gold ({reason})"
        return Version(None, (warning,))
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in _parts(columns, phenomena, metadata):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return Version(digest.hexdigest()[:SHOWN])


def label_key(folder: str) -> bytes:
    """The secret key of a gold folder, made on first use. Raises OSError where none can be kept."""
    path = os.path.join(folder, KEY_FILE)
    try:
        key = _content(path)
    except FileNotFoundError:
        key = _new_key(path)
    if len(key) != KEY_BYTES:
        raise OSError(0, f"{KEY_FILE} holds {len(key)} bytes, expected {KEY_BYTES}")
    return key


def _new_key(path: str) -> bytes:
    """Make the key; when another process makes one at the same time, all use the first."""
    own = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
        os.link(own, path)  # unlike a rename, this never replaces a key that is there
    except FileExistsError:
        pass
    finally:
        os.unlink(own)
    return _content(path)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _parts(
    columns: Mapping[str, Column],
    phenomena: Mapping[str, Mapping[Phenomenon, tuple[int, ...]]],
    metadata: Mapping[str, Metadata],
) -> Iterator[bytes]:
    for name in sorted(columns):
        column = columns[name]
        yield name.encode()
        yield repr(column.labels).encode()
        yield column.values if isinstance(column.values, bytes) else repr(column.values.tolist()).encode()
        yield b"" if column.indices is None else repr(column.indices.tolist()).encode()
        tags = phenomena.get(name, {})
        yield repr([(phenomenon.coarse, phenomenon.name, tags[phenomenon]) for phenomenon in tags]).encode()
        about = metadata.get(name)
        yield b"" if about is None else repr((about.groups, sorted(about.columns.items()))).encode()
