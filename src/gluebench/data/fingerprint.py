"""The content fingerprint of a split: its text and labels in row order, whatever file holds them.

Each column is hashed by itself, so that neither the order of columns nor where a reader cuts its batches
can matter: SHA-256 over the lengths of its values (8 bytes each, little-endian) and SHA-256 over their
UTF-8 bytes, one behind the other; labels that are numbers by their IEEE doubles. The fingerprint is
SHA-256 over name and digests of every column, in the order of the names. Indices and extra columns have no
part in it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gluebench.data.arrays import numbers

if TYPE_CHECKING:
    import pyarrow as pa

LABEL = "label"
DIGITS = 32
"""Hexadecimal digits of a fingerprint: 128 bits."""


class _Column:
    """The running hashes of one column."""

    def __init__(self) -> None:
        self._sizes = hashlib.sha256()
        self._bytes = hashlib.sha256()

    def add(self, sizes: bytes | memoryview, content: bytes | memoryview) -> None:
        self._sizes.update(sizes)
        self._bytes.update(content)

    def digest(self) -> bytes:
        return self._sizes.digest() + self._bytes.digest()


class Fingerprint:
    """Takes a split batch by batch; `text` is the fingerprint without labels, `whole` the one with them."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = {name: _Column() for name in columns}
        self._label: _Column | None = None

    def add(self, column: str, sizes: bytes | memoryview, content: bytes | memoryview) -> None:
        """More values of an input column or of the labels: their lengths, 8 bytes each, and their bytes."""
        if column == LABEL:
            self._label = self._label or _Column()
            self._label.add(sizes, content)
        else:
            self._columns[column].add(sizes, content)

    def update(self, batch: pa.RecordBatch) -> None:
        """More rows: the input columns as strings, and `label` (strings or doubles) where there is one."""
        for name in self._columns:
            self.add(name, *_strings(batch.column(name)))
        if LABEL in batch.schema.names:
            self.add(LABEL, *_values(batch.column(LABEL)))

    @property
    def text(self) -> str:
        """Of the input columns alone."""
        return _combined(self._columns)

    @property
    def whole(self) -> str:
        """Of the input columns and the labels; the same as `text` where there are none."""
        return _combined(self._columns if self._label is None else {**self._columns, LABEL: self._label})


def fingerprint_of(columns: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Fingerprint:
    """The fingerprint of the rows of these batches, whose input columns are named."""
    running = Fingerprint(columns)
    for batch in batches:
        running.update(batch)
    return running


def fingerprint(columns: Mapping[str, Sequence[str]], labels: Sequence[str | float] | None = None) -> str:
    """The fingerprint of plain lists: input column to its texts, and the labels where there are any."""
    running = Fingerprint(list(columns))
    for name, texts in columns.items():
        running.add(name, *_listed(texts))
    if labels is not None:
        running.add(LABEL, *_listed(labels))
    return running.whole


def _listed(values: Iterable[str | float]) -> tuple[bytes, bytes]:
    parts = [value.encode() if isinstance(value, str) else struct.pack("<d", value) for value in values]
    return struct.pack(f"<{len(parts)}q", *map(len, parts)), b"".join(parts)


def _values(array: pa.Array) -> tuple[memoryview, memoryview]:
    import pyarrow as pa

    if not pa.types.is_floating(array.type):
        return _strings(array)
    import numpy as np

    values = numbers(array.cast(pa.float64())).astype("<f8")
    return memoryview(np.full(len(values), 8, dtype="<i8").tobytes()), memoryview(values.tobytes())


def _strings(array: pa.Array) -> tuple[memoryview, memoryview]:
    """Lengths and bytes of an array of strings, without making a Python string of any."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not len(array):
        return memoryview(b""), memoryview(b"")
    _, offsets, content = array.buffers()
    width = np.dtype("<i8" if pa.types.is_large_string(array.type) else "<i4")
    ends = np.frombuffer(offsets, width, count=len(array) + 1, offset=width.itemsize * array.offset)
    data = memoryview(content)[ends[0] : ends[-1]] if content is not None else memoryview(b"")
    return memoryview(np.diff(ends).astype("<i8").tobytes()), data


def _combined(columns: Mapping[str, _Column]) -> str:
    whole = hashlib.sha256()
    for name in sorted(columns):
        whole.update(struct.pack("<q", len(name.encode())) + name.encode() + columns[name].digest())
    return whole.hexdigest()[:DIGITS]
