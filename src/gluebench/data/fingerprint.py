"""The content fingerprint of a split: its text and labels in row order, whatever file holds them.

Each column is hashed separately, so that the order of columns and the size of batches do not matter: SHA-256
over the lengths of its values (8 bytes each, little-endian) and SHA-256 over their concatenated UTF-8 bytes;
numeric labels are hashed as IEEE doubles. The fingerprint is SHA-256 over name and digests of every column,
sorted by name. Indices and extra columns are not part of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from gluebench.data.dataset import LABEL

if TYPE_CHECKING:
    import pyarrow as pa

DIGITS = 32
"""Hexadecimal digits of a fingerprint: 128 bits."""


class Fingerprint:
    """Running fingerprint of a split; `text` is the fingerprint without labels, `full` with them."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._names = tuple(columns)
        self._hashes = {name: (sha256(), sha256()) for name in self._names + (LABEL,)}
        """Column to the hashes of the lengths of its values, and of their bytes."""
        self._labeled = False

    def add(self, column: str, sizes: bytes, content: bytes | memoryview) -> None:
        """Add values of an input column or of the labels: their lengths, 8 bytes each, and their bytes."""
        self._labeled |= column == LABEL
        hash_of_sizes, hash_of_bytes = self._hashes[column]
        hash_of_sizes.update(sizes)
        hash_of_bytes.update(content)

    def update(self, batch: pa.RecordBatch) -> None:
        """Add rows: the input columns as strings, and `label` (strings or doubles) if there is one."""
        from gluebench.data.arrays import sizes_and_bytes

        for name in self._names:
            self.add(name, *sizes_and_bytes(batch.column(name)))
        if LABEL in batch.schema.names:
            self.add(LABEL, *sizes_and_bytes(batch.column(LABEL)))

    @property
    def text(self) -> str:
        """Fingerprint of the input columns only."""
        return self._combine(self._names)

    @property
    def full(self) -> str:
        """Fingerprint of the input columns and the labels; equal to `text` without labels."""
        if not self._labeled:
            return self.text
        return self._combine(self._names + (LABEL,))

    def _combine(self, names: Sequence[str]) -> str:
        running = sha256()
        for name in sorted(names):
            sizes, content = self._hashes[name]
            running.update(struct.pack("<q", len(name.encode())) + name.encode())
            running.update(sizes.digest() + content.digest())
        return running.hexdigest()[:DIGITS]


def fingerprint_of(columns: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Fingerprint:
    """The fingerprint of the rows of these batches; `columns` are the input columns."""
    running = Fingerprint(columns)
    for batch in batches:
        running.update(batch)
    return running


def fingerprint(columns: Mapping[str, Sequence[str]], labels: Sequence[str | float] | None = None) -> str:
    """The fingerprint of plain lists: input column to its texts, and the labels where there are any."""
    running = Fingerprint(list(columns))
    for name, texts in columns.items():
        _add_values(running, name, texts)
    if labels is not None:
        _add_values(running, LABEL, labels)
    return running.full


def _add_values(running: Fingerprint, column: str, values: Sequence[str | float]) -> None:
    contents = []
    for value in values:
        contents.append(value.encode() if isinstance(value, str) else struct.pack("<d", value))
    sizes = b"".join(struct.pack("<q", len(content)) for content in contents)
    running.add(column, sizes, b"".join(contents))
