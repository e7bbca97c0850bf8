"""Arrow arrays and scalars from buffers, numpy's from Arrow's, and the bytes that a fingerprint hashes.

`pyarrow.array`, `pyarrow.scalar` and `to_numpy` import pandas where it is installed: 40 MiB and a second.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def integers(values: np.ndarray) -> pa.Array:
    """An int64 array."""
    content = pa.py_buffer(values.astype(np.int64, copy=False))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, content])


def strings(texts: Sequence[str]) -> pa.Array:
    """A string array."""
    values = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(values)))


def constant(value: bool | float | str) -> pa.Scalar:
    """A scalar to compare with."""
    if isinstance(value, str):
        return strings([value])[0]
    kind, content = (pa.bool_(), bool) if isinstance(value, bool) else (pa.float64(), float)
    return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(np.array([value], content))])[0]


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
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    values = strings([text for row in rows for text in row])
    kind = pa.list_(pa.string())
    return pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(ends)], children=[values])


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
    data = memoryview(content)[ends[0] : ends[-1]] if content is not None else b""
    return np.diff(ends).astype("<i8").tobytes(), data
