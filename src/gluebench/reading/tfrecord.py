"""TensorFlow's records, as tensorflow_datasets keeps them: a `tf.train.Example` after another."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from gluebench.reading.records import ReadingError, Records

MARK = ".tfrecord"
"""Part of the name of each file."""
_HEAD = struct.Struct("<QI")
_CRC_BYTES = 4
_POLYNOMIAL = 0x82F63B78
_CURE = "Fetch it again, or write it as CSV with tensorflow_datasets."


def read_tfrecords(paths: Iterable[Path]) -> Records:
    """The examples of these files in order; texts are decoded, and a feature without value is None.

    Raises ReadingError for a file that is damaged or cut, or that holds something else than examples.
    """
    examples: list[dict[str, Any]] = []
    for path in paths:
        try:
            examples += map(_read_example, _messages(path.read_bytes()))
        except (LookupError, struct.error, TypeError, AttributeError, ValueError) as error:
            raise ReadingError(f"expected whole records of TensorFlow ({error})", _CURE, None) from None
    names = tuple(dict.fromkeys(chain.from_iterable(examples)))
    rows = []
    for example in examples:
        rows.append([example.get(name) for name in names])
    return Records("TFRecord", names, rows, range(1, len(rows) + 1))


def _messages(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        length, check = _HEAD.unpack_from(data, at)
        if _checksum(data[at : at + 8]) != check:
            raise ValueError(f"the length at byte {at} does not have its checksum")
        at += _HEAD.size
        message = data[at : at + length]
        at += length + _CRC_BYTES
        if at > len(data):
            raise ValueError("the last record is cut")
        yield message


def _checksum(data: bytes) -> int:
    """The CRC-32C of a few bytes, masked as TensorFlow's files have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            lowest_bit = crc & 1
            crc >>= 1
            if lowest_bit:
                crc ^= _POLYNOMIAL
    crc ^= 0xFFFFFFFF
    rotated = (crc >> 15 | crc << 17) & 0xFFFFFFFF
    return (rotated + 0xA282EAD8) & 0xFFFFFFFF


def _read_example(message: bytes) -> dict[str, Any]:
    """Name to value of each feature: Example has features, these have entries of a name and a feature."""
    values: dict[str, Any] = {}
    for _, features in _fields(message):
        for _, entry in _fields(features):
            parts = dict(_fields(entry))
            values[parts[1].decode()] = _read_feature(parts.get(2, b""))
    return values


def _read_feature(feature: bytes) -> Any:
    """The only value of a feature, or the list of several; a feature has bytes, floats or integers."""
    values: list[Any] = []
    for kind, content in _fields(feature):
        for _, value in _fields(content):
            if kind == 1:
                values.append(value.decode())
            elif kind == 2:
                count = len(value) // 4
                values += struct.unpack(f"<{count}f", value)
            elif isinstance(value, int):
                values.append(_to_signed(value))
            else:
                values += map(_to_signed, _varints(value))
    if not values:
        return None
    if len(values) == 1:
        return values[0]
    return values


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Number and content of each field of a message of Protocol Buffers: bytes, or an integer."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            number, at = _varint(message, at)
            yield key >> 3, number
            continue
        length = 4
        if kind == 2:
            length, at = _varint(message, at)
        elif kind != 5:
            raise ValueError(f"a field of kind {kind}")
        if at + length > len(message):
            raise ValueError("a field is longer than its message")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer in groups of seven bits, and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if not byte & 0x80:
            return value, at


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _to_signed(value: int) -> int:
    """The integer that these 64 bits are as a two's complement."""
    if value >> 63:
        return value - (1 << 64)
    return value
