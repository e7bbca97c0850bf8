"""Zips made by hand, field by field, so that each can lie in exactly one place."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gluebench.submission.archive import Archive

TABLE = b"index\tprediction\n" + b"".join(b"%d\t%d\n" % (at, at % 2) for at in range(50))
REGULAR, FOLDER = 0o100644, 0o040755
ENCRYPTED, DESCRIPTOR, PATCHED, STRONG, UTF_8 = 1, 8, 32, 64, 2048
FULL_16, FULL_32 = 0xFFFF, 0xFFFFFFFF


def codes(archive: Archive) -> list[str]:
    return [problem.code for problem in archive.problems]


def error_codes(archive: Archive) -> list[str]:
    return [problem.code for problem in archive.problems if problem.severity == "error"]


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


@dataclass(frozen=True)
class Member:
    """One file of a zip; what is not given is honest. `local` overrides fields of the local header alone."""

    name: str | bytes = "MRPC.tsv"
    content: bytes = TABLE
    method: int = 8
    flags: int = 0
    mode: int = REGULAR
    extra: bytes = b""
    packed: bytes | None = None
    crc: int | None = None
    size: int | None = None
    packed_size: int | None = None
    offset: int | None = None
    disk: int = 0
    host: int = 3
    comment: bytes = b""
    before: bytes = b""
    """Bytes that no record mentions, before the local header."""
    after: bytes = b""
    """Bytes after the data, as a data descriptor."""
    absent: bool = False
    """Whether the directory says nothing of it."""
    local: dict[str, Any] = field(default_factory=dict)

    @property
    def raw_name(self) -> bytes:
        return self.name if isinstance(self.name, bytes) else self.name.encode()

    @property
    def data(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return deflate(self.content) if self.method == 8 else self.content

    @property
    def fields(self) -> tuple[int, int, int]:
        """Checksum, packed size and size, as the directory states them."""
        crc = zlib.crc32(self.content) if self.crc is None else self.crc
        packed = len(self.data) if self.packed_size is None else self.packed_size
        return crc, packed, len(self.content) if self.size is None else self.size


def local_header(member: Member) -> bytes:
    stated = replace(member, **{key: value for key, value in member.local.items() if key != "mark"})
    name, (crc, packed, size) = stated.raw_name, stated.fields
    mark = member.local.get("mark", b"PK\3\4")
    head = (mark, 20, stated.flags, stated.method, 0, 33, crc, packed, size, len(name), len(stated.extra))
    return struct.pack("<4s5H3L2H", *head) + name + stated.extra


def directory_entry(member: Member, offset: int) -> bytes:
    name, (crc, packed, size) = member.raw_name, member.fields
    made, lengths = member.host << 8 | 30, (len(name), len(member.extra), len(member.comment))
    at = offset if member.offset is None else member.offset
    head = (b"PK\1\2", made, 20, member.flags, member.method, 0, 33, crc, packed, size, *lengths)
    return (
        struct.pack("<4s6H3L5H2L", *head, member.disk, 0, member.mode << 16, at)
        + name + member.extra + member.comment
    )  # fmt: skip


@dataclass(frozen=True)
class End:
    """The end record; what is not given is honest."""

    here: int | None = None
    entries: int | None = None
    size: int | None = None
    offset: int | None = None
    disk: int = 0
    directory_disk: int = 0
    comment: bytes = b""
    comment_length: int | None = None
    zip64: Callable[[int, int, int, int], bytes] | None = None
    """Makes the Zip64 records of (entries, directory size, directory offset, own offset)."""
    full: bool = False
    """Whether the fields refer to the Zip64 records."""


HONEST = End()


def end_64(
    entries: int,
    size: int,
    offset: int,
    at: int,
    *,
    rest: int = 44,
    disk: int = 0,
    disks: int = 1,
    pointer: int = 0,
) -> bytes:
    """A Zip64 end record and its locator; `pointer` is added to where the locator points."""
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", rest, 45, 45, disk, 0, entries, entries, size, offset)
    return record + struct.pack("<4sLQL", b"PK\6\7", 0, at + pointer, disks)


def extra_64(*values: int) -> bytes:
    return struct.pack("<2H", 1, 8 * len(values)) + b"".join(struct.pack("<Q", value) for value in values)


def archive(
    *members: Member, end: End = HONEST, before: bytes = b"", after: bytes = b"", gap: bytes = b""
) -> bytes:
    """The bytes of a zip of these members; `gap` lies before the directory, whose offset counts it."""
    body, directory, listed = bytearray(), bytearray(), 0
    for member in members:
        body += member.before
        if not member.absent:
            directory += directory_entry(member, len(body))
            listed += 1
        body += local_header(member) + member.data + member.after
    body += gap
    start = len(body)
    body += directory
    if end.zip64:
        body += end.zip64(listed, len(directory), start, len(body))
    return before + bytes(body) + end_record(end, listed, size=len(directory), start=start) + after


def end_record(end: End, listed: int, *, size: int, start: int) -> bytes:
    def stated(value: int | None, honest: int, full: int) -> int:
        return full if end.full else honest if value is None else value

    return (
        struct.pack(
            "<4s4H2LH",
            b"PK\5\6",
            FULL_16 if end.full else end.disk,
            FULL_16 if end.full else end.directory_disk,
            stated(end.here if end.here is not None else end.entries, listed, FULL_16),
            stated(end.entries, listed, FULL_16),
            stated(end.size, size, FULL_32),
            stated(end.offset, start, FULL_32),
            len(end.comment) if end.comment_length is None else end.comment_length,
        )
        + end.comment
    )


def descriptor(member: Member, *, marked: bool = True, wide: bool = False) -> bytes:
    body = struct.pack("<LQQ" if wide else "<3L", *member.fields)
    return (b"PK\7\x08" if marked else b"") + body


def streamed(member: Member, *, marked: bool = True, wide: bool = False) -> Member:
    """The same member as a writer that cannot seek leaves it: sizes after the data."""
    local = {"crc": 0, "packed_size": 0, "size": 0}
    flagged = replace(member, flags=member.flags | DESCRIPTOR)
    return replace(flagged, local=local, after=descriptor(flagged, marked=marked, wide=wide))


def zeros(size: int) -> bytes:
    """That many zero bytes, deflated, made without holding or packing them all: a MiB that is repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (size >> 20) + deflate(bytes(size % (1 << 20)))


def bomb(size: int, *, stated: int | None = None, name: str = "MRPC.tsv") -> Member:
    """A member that unpacks to `size` zeros and says that it unpacks to `stated`."""
    return Member(name, b"", packed=zeros(size), size=size if stated is None else stated, crc=0)


def quoted(count: int) -> bytes:
    """Members that share one block of data, each seeing the later headers as stored bytes (Fifield 2019)."""
    kernel = deflate(bytes(1 << 16))
    names = [f"T{at}.tsv" for at in range(count)]
    headers, data, members = [], kernel, []
    size, crc_input = 1 << 16, bytes(1 << 16)
    for name in reversed(names):
        member = Member(name, crc_input, packed=data, size=size)
        header = local_header(member)
        headers.insert(0, header)
        members.insert(0, member)
        quote = struct.pack("<BHH", 0, len(header), len(header) ^ FULL_16) + header
        data, crc_input, size = quote + data, header + crc_input, size + len(header)
    body = headers[0] + members[0].data
    offsets, at = [], 0
    for header in headers:
        offsets.append(at)
        at += len(header) + 5  # the head of the stored block that quotes the next header
    directory = b"".join(
        directory_entry(member, offset) for member, offset in zip(members, offsets, strict=True)
    )
    return body + directory + end_record(End(), count, size=len(directory), start=len(body))
