"""Arrow arrays and scalars from buffers, numpy's from Arrow's, and the bytes that a fingerprint hashes.

`pyarrow.array`, `pyarrow.scalar` and `to_numpy` import pandas where it is installed: 40 MiB and a second.
"""

from collections.abc import Sequence, Sized
from itertools import chain

import numpy as np
import pyarrow as pa


def integers(values: np.ndarray) -> pa.Array:
    """An int64 array."""
    content = pa.py_buffer(values.astype(np.int64, copy=False))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, content])


def strings(texts: Sequence[str]) -> pa.Array:
    """A string array."""
    values = [text.encode() for text in texts]
    return pa.StringArray.from_buffers(len(values), _offsets(values), pa.py_buffer(b"".join(values)))


def _offsets(values: Sequence[Sized]) -> pa.Buffer:
    """Arrow's offsets: where each value begins, and where the last one ends."""
    sizes = np.array([len(value) for value in values], np.int32)
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    return pa.py_buffer(offsets)


def constant(value: bool | float | str) -> pa.Scalar:
    """A scalar to compare with."""
    if isinstance(value, str):
        return strings([value])[0]
    if isinstance(value, bool):
        kind = pa.bool_()
        content = np.array([value], bool)
    else:
        kind = pa.float64()
        content = np.array([value], np.float64)
    return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(content)])[0]


def numbers(array: pa.Array) -> np.ndarray:
    """The values of an array of integers, doubles or booleans that has no nulls."""
    if pa.types.is_boolean(array.type):
        return numbers(array.cast(pa.uint8())).astype(bool)
    dtype = np.dtype(str(array.type).replace("double", "float64"))
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def lists(rows: Sequence[Sequence[str]]) -> pa.Array:
    """An array of lists of strings."""
    values = strings(list(chain.from_iterable(rows)))
    kind = pa.list_(pa.string())
    return pa.Array.from_buffers(kind, len(rows), [None, _offsets(rows)], children=[values])


def sizes_and_bytes(array: pa.Array) -> tuple[bytes, bytes | memoryview]:
    """Lengths (8 bytes each, little-endian) and bytes of strings, or of doubles; no Python string is made."""
    if pa.types.is_floating(array.type):
        doubles = numbers(array.cast(pa.float64())).astype("<f8")
        return np.full(len(doubles), 8, "<i8").tobytes(), doubles.tobytes()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not len(array):
        return b"", b""
    _, offsets, content = array.buffers()
    width = np.dtype("<i8" if pa.types.is_large_string(array.type) else "<i4")
    ends = np.frombuffer(offsets, width, count=len(array) + 1, offset=width.itemsize * array.offset)
    sizes = np.diff(ends).astype("<i8").tobytes()
    if content is None:  # every string is empty
        return sizes, b""
    return sizes, memoryview(content)[ends[0] : ends[-1]]
