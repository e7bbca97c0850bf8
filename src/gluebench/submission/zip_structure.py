"""Read and cross-check the records of a zip: end record, directory and local headers.

Follows PKWARE's APPNOTE 6.3.10, sections 4.3 and 4.4. Nothing is inflated here, and no value of a record is
trusted until another record or the length of the file confirms it.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from gluebench.submission.archive_problems import Refused, refusal
from gluebench.submission.problems import Problem

END = Struct("<4s4H2LH")
"""End record: signature, disk, directory's disk, entries here, entries, directory size, offset, comment."""
END_64 = Struct("<4sQ2H2L4Q")
"""Zip64 end record: signature, size of the rest, made by, needs, then as in the end record."""
LOCATOR_64 = Struct("<4sLQL")
"""Zip64 locator: signature, disk of the Zip64 end record, its offset, number of disks."""
CENTRAL = Struct("<4s6H3L5H2L")
"""Directory entry: see `_entry`."""
LOCAL = Struct("<4s5H3L2H")
"""Local header: signature, needs, flags, method, time, date, crc, packed, size, name length, extra length."""

END_MARK = b"PK\5\6"
END_64_MARK = b"PK\6\6"
LOCATOR_MARK = b"PK\6\7"
CENTRAL_MARK = b"PK\1\2"
LOCAL_MARK = b"PK\3\4"
DESCRIPTOR_MARK = b"PK\7\x08"
SPLIT_MARK = b"PK00"

# Bits of the general flags.
ENCRYPTED = 1
DESCRIPTOR = 8
PATCHED = 32
STRONG = 64
UTF_8 = 2048
MASKED = 8192

_SHORT = 0xFFFF
_LONG = 0xFFFFFFFF
END_REACH = END.size + _SHORT
"""Largest distance from the start of an end record, with its comment, to the end of the file."""
_SAME_FLAGS = ENCRYPTED | DESCRIPTOR | STRONG | MASKED


class Directory(NamedTuple):
    """Position of the directory, and the number of entries that the end record states."""

    start: int
    end: int
    entries: int
    comment: bytes = b""
    """Of the whole zip."""


class Entry(NamedTuple):
    """One entry of the directory, as stated there."""

    path: str
    """The name, with slashes; undecodable bytes are kept as surrogates, which `name_fault` refuses."""
    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    """Compressed size in bytes."""
    size: int
    """Size in bytes, unpacked."""
    disk: int
    mode: int
    """Unix mode; 0 if the writer gave none."""
    offset: int
    """Offset of the local header."""


class Span(NamedTuple):
    """The bytes of one member: its local header begins at `start`, its data are `data` to `end`."""

    start: int
    data: int
    end: int


def find_directory(data: bytes) -> Directory:
    """Find the directory. Raises Refused if the end of the file is invalid or ambiguous."""
    if data[:4] in (DESCRIPTOR_MARK, SPLIT_MARK):
        raise Refused("multi-disk")
    at = _find_end(data)
    _, disk, directory_disk, here, entries, size, offset, _ = END.unpack_from(data, at)
    comment = data[at + END.size :]
    directory = Directory(offset, offset + size, entries, comment)
    before = at - LOCATOR_64.size
    if before >= 0 and data[before : before + 4] == LOCATOR_MARK:
        wide = _find_directory_64(data, before, (disk, directory_disk, here, entries, size, offset))
        return wide._replace(comment=comment)
    if _SHORT in (disk, directory_disk, here, entries) or _LONG in (size, offset):
        raise Refused("zip64", value="no Zip64 record where the end of the zip asks for one")
    if disk or directory_disk or here != entries:
        raise Refused("multi-disk")
    return _check_end(data, directory, at)


def read_entries(data: bytes, directory: Directory) -> list[Entry]:
    """Read all directory entries. Raises Refused if the directory is damaged or not as long as stated."""
    entries: list[Entry] = []
    at = directory.start
    for _ in range(directory.entries):
        if at == directory.end:
            raise Refused("count-mismatch", value=f"{directory.entries} stated, {len(entries)} listed")
        if at + CENTRAL.size > directory.end or data[at : at + 4] != CENTRAL_MARK:
            raise Refused("bad-directory")
        fields = CENTRAL.unpack_from(data, at)
        end = at + CENTRAL.size + sum(fields[10:13])
        if end > directory.end:
            raise Refused("bad-directory")
        entries.append(_entry(data, at + CENTRAL.size, fields))
        at = end
    if at != directory.end:
        raise Refused("count-mismatch", value=f"{directory.entries} stated, more listed")
    return entries


def place(data: bytes, entry: Entry, limit: int) -> Span:
    """The span of a member, below `limit`. Raises Refused if its local header contradicts the directory."""
    start = entry.offset
    if start + LOCAL.size > limit:
        raise Refused("out-of-bounds")
    mark, _, flags, method, _, _, crc, packed, size, name_length, extra_length = LOCAL.unpack_from(
        data, start
    )
    if mark != LOCAL_MARK:
        raise Refused("out-of-bounds")
    name_at = start + LOCAL.size
    extra_at = name_at + name_length
    first = extra_at + extra_length
    if first + entry.packed > limit:
        raise Refused("out-of-bounds")
    if data[name_at:extra_at] != entry.raw_name:
        raise Refused("header-mismatch", value="name")
    if method != entry.method or (flags ^ entry.flags) & _SAME_FLAGS:
        raise Refused("header-mismatch", value="compression method or flags")
    if _LONG in (packed, size):
        size, packed = _wide(data[extra_at:first], (size, packed))
    local = {
        "checksum": (crc, entry.crc),
        "compressed size": (packed, entry.packed),
        "size": (size, entry.size),
    }
    for what, (stated, listed) in local.items():  # a streamed file may have zeros here
        if stated != listed and not (flags & DESCRIPTOR and stated == 0):
            raise Refused("header-mismatch", value=what)
    return Span(start, first, first + entry.packed)


def gaps(data: bytes, entries: list[Entry], spans: list[Span], *, limit: int) -> list[Problem]:
    """Bytes in two members or in none, since tools could then read different contents from one zip."""
    problems = []
    expected = 0  # where the next member begins
    for span, entry in sorted(zip(spans, entries, strict=True), key=lambda pair: pair[0].start):
        name = entry.raw_name.decode("utf-8", "backslashreplace")
        if span.start < expected:
            problems.append(refusal("overlap", file=name))
        elif span.start > expected:
            problems.append(refusal("hidden-data" if expected else "leading-data", file=name))
        expected = max(expected, span.end + _descriptor(data, entry, span.end))
    if expected < limit:
        problems.append(refusal("hidden-data", value=f"{limit - expected} bytes before the list of files"))
    return problems


def _find_end(data: bytes) -> int:
    """Offset of the end record: the only one whose comment ends exactly at the end of the file."""
    rests: dict[int, int] = {}  # end record to the number of bytes after its comment
    last = data.rfind(END_MARK)
    at = last
    while at >= 0:
        if at + END.size <= len(data):
            rests[at] = len(data) - at - END.size - END.unpack_from(data, at)[-1]
        at = data.rfind(END_MARK, max(0, len(data) - END_REACH), at)
    ends = [at for at, rest in rests.items() if rest == 0]
    if len(ends) > 1:
        raise Refused("ambiguous-end")
    if not ends:
        raise Refused("trailing-data" if rests.get(last, 0) > 0 else "truncated")
    return ends[0]


def _check_end(data: bytes, directory: Directory, end: int) -> Directory:
    """Return the directory if it ends at the end record; raise Refused otherwise."""
    if directory.end == end:
        return directory
    shifted = directory.end < end and not data.startswith(LOCAL_MARK)
    raise Refused("leading-data" if shifted else "directory-bounds")


def _find_directory_64(data: bytes, locator: int, narrow: tuple[int, ...]) -> Directory:
    """As `find_directory`, from Zip64 records; plain fields must be at their maximum or equal."""
    _, disk, at, disks = LOCATOR_64.unpack_from(data, locator)
    if disk or disks > 1:
        raise Refused("multi-disk")
    if at + END_64.size != locator or data[at : at + 4] != END_64_MARK:
        raise Refused("zip64", value="no Zip64 end record where its locator points")
    _, rest, _, _, *wide = END_64.unpack_from(data, at)
    if rest != END_64.size - 12:
        raise Refused("zip64", value=f"a Zip64 end record of {rest} bytes")
    full = (_SHORT, _SHORT, _SHORT, _SHORT, _LONG, _LONG)
    if any(short not in (most, long) for short, most, long in zip(narrow, full, wide, strict=True)):
        raise Refused("zip64", value="two end records that differ")
    disk, directory_disk, here, entries, size, offset = wide
    if disk or directory_disk or here != entries:
        raise Refused("multi-disk")
    return _check_end(data, Directory(offset, offset + size, entries), at)


def _entry(data: bytes, at: int, fields: tuple[int, ...]) -> Entry:
    """One directory entry from its fixed fields; its name begins at `at`."""
    _, _, _, flags, method, _, _, crc, packed, size, length, extra, _, disk, _, attributes, offset = fields
    raw_name = data[at : at + length]
    if _LONG in (packed, size, offset) or disk == _SHORT:
        extras = data[at + length : at + length + extra]
        try:
            size, packed, offset, disk = _wide(extras, (size, packed, offset), disk=disk)
        except Refused as refused:
            name = raw_name.decode("utf-8", "backslashreplace")
            raise Refused("zip64", file=name, value=refused.problem.value) from None
    encoding = "utf-8" if flags & UTF_8 else "cp437"
    path = raw_name.decode(encoding, "surrogateescape").replace("\\", "/")
    return Entry(path, raw_name, flags, method, crc, packed, size, disk, attributes >> 16, offset)


def _wide(extras: bytes, narrow: tuple[int, ...], *, disk: int | None = None) -> list[int]:
    """The fields, with each one at its maximum replaced from the Zip64 extra field, in order."""
    field = _extra_64(extras)
    at = 0
    values = []
    for value in narrow:
        if value == _LONG:
            value = int.from_bytes(_piece(field, at, 8), "little")
            at += 8
        values.append(value)
    if disk == _SHORT:
        disk = int.from_bytes(_piece(field, at, 4), "little")
    if disk is not None:
        values.append(disk)
    return values


def _piece(field: bytes, at: int, length: int) -> bytes:
    if at + length > len(field):
        raise Refused("zip64", value="a Zip64 field that is too short")
    return field[at : at + length]


def _extra_64(extras: bytes) -> bytes:
    """The content of the only Zip64 extra field. Raises Refused unless there is exactly one."""
    at = 0
    fields = []
    while at + 4 <= len(extras):
        kind = int.from_bytes(extras[at : at + 2], "little")
        end = at + 4 + int.from_bytes(extras[at + 2 : at + 4], "little")
        if kind == 1:
            fields.append(extras[at + 4 : end])
        at = end
    if len(fields) != 1 or at > len(extras):
        raise Refused("zip64", value=f"{len(fields)} Zip64 fields where one is needed")
    return fields[0]


def _descriptor(data: bytes, entry: Entry, at: int) -> int:
    """Length of the data descriptor at `at`, 0 for none: with or without signature, sizes of 4 or 8 bytes."""
    if not entry.flags & DESCRIPTOR:
        return 0
    for width in (8, 4):
        if max(entry.packed, entry.size) >= 1 << (8 * width):
            continue
        body = entry.crc.to_bytes(4, "little")
        body += entry.packed.to_bytes(width, "little") + entry.size.to_bytes(width, "little")
        for form in (DESCRIPTOR_MARK + body, body):
            if data.startswith(form, at):
                return len(form)
    return 0
