"""The hostile archives by a telling name, each with the code it must be refused with."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from submission import hostile
from submission.hostile import HONEST, TABLE, End, Member, archive, bomb, extra_64, streamed

GOOD = Member("CoLA.tsv")
LAST = Member("RTE.tsv")
BIG = 1 << 30
MIB = 1 << 20


def one(*, end: End = HONEST, **fields: object) -> bytes:
    """A zip of one honest file and one that is not."""
    return archive(GOOD, Member(**fields), LAST, end=end)  # type: ignore[arg-type]


def local(**fields: object) -> bytes:
    return one(local=fields)


def named(name: str | bytes, flags: int = hostile.UTF_8) -> bytes:
    return one(name=name, flags=flags)


def wide(**fields: int) -> End:
    """Zip64 records of which some fields are not as they should be."""
    return End(full=True, zip64=lambda *honest: hostile.end_64(*honest, **fields))


def compressed(method: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as zipped:
        zipped.writestr("MRPC.tsv", TABLE)
    return made.getvalue()


def split_in_two() -> bytes:
    return b"PK\7\x08" + archive(GOOD)


def entries(count: int, *, end: End = HONEST) -> bytes:
    """A zip of that many tiny members; the directory is what costs."""
    return archive(*(Member(f"{at}.txt", b"", method=0) for at in range(count)), end=end)


def shared(count: int) -> bytes:
    """Members that all point at the first one's bytes."""
    return archive(GOOD, *(Member(f"{at}.tsv", offset=0) for at in range(count)))


def backwards() -> bytes:
    """The second member begins inside the first one's data."""
    inner = hostile.local_header(Member("MRPC.tsv", b"abc", method=0)) + b"abc"
    outer = Member("CoLA.tsv", b"x" + inner + b"y", method=0)
    at = len(hostile.local_header(outer)) + 1
    return archive(outer, Member("MRPC.tsv", b"abc", method=0, offset=at))


def tampered(at: int, patch: bytes, data: bytes | None = None) -> bytes:
    data = archive(GOOD) if data is None else data
    at = at if at >= 0 else len(data) + at
    return data[:at] + patch + data[at + len(patch) :]


def nested(name: str = "MRPC.tsv") -> bytes:
    return one(name=name, content=archive(GOOD))


NAMES: dict[str, tuple[str | bytes, str]] = {
    "up": ("../MRPC.tsv", "path-traversal"),
    "up twice": ("../../etc/MRPC.tsv", "path-traversal"),
    "up inside": ("run/../../MRPC.tsv", "path-traversal"),
    "up at the end": ("run/..", "path-traversal"),
    "up with backslashes": ("..\\..\\MRPC.tsv", "path-traversal"),
    "up with a space": (".. /MRPC.tsv", "path-traversal"),
    "up with dots": (".../MRPC.tsv", "path-traversal"),
    "up in a folder": ("../", "path-traversal"),
    "absolute": ("/etc/MRPC.tsv", "absolute-path"),
    "network share": ("\\\\host\\share\\MRPC.tsv", "absolute-path"),
    "backslash first": ("\\MRPC.tsv", "absolute-path"),
    "drive": ("C:/MRPC.tsv", "drive-letter"),
    "drive with backslash": ("d:\\MRPC.tsv", "drive-letter"),
    "drive without separator": ("C:MRPC.tsv", "drive-letter"),
    "drive inside": ("run/C:/MRPC.tsv", "drive-letter"),
    "NUL": ("MRPC.tsv\0.exe", "nul-in-name"),
    "NUL first": ("\0MRPC.tsv", "nul-in-name"),
    "line feed": ("MRPC.tsv\n", "control-character"),
    "escape": ("\x1b[31mMRPC.tsv", "control-character"),
    "delete": ("MRPC\x7f.tsv", "control-character"),
    "C1 control": ("MRPC\x9b.tsv", "control-character"),
    "reversed reading": ("MRPC\u202evst.tsv", "control-character"),
    "line separator": ("MRPC\u2028.tsv", "control-character"),
    "CON": ("CON", "device-name"),
    "NUL device": ("nul.tsv", "device-name"),
    "COM1": ("COM1.tsv", "device-name"),
    "COM with a superscript": ("com¹.tsv", "device-name"),
    "LPT9 in a folder": ("run/LPT9.tsv", "device-name"),
    "device as a folder": ("aux/MRPC.tsv", "device-name"),
    "device with a space": ("PRN .tsv", "device-name"),
    "console": ("CONOUT$", "device-name"),
    "not UTF-8": (b"MRPC\xff.tsv", "undecodable-name"),
    "half a surrogate": (b"MRPC\xed\xa0\x80.tsv", "undecodable-name"),
    "too long": ("M" * 252 + ".tsv", "name-too-long"),
    "very long": ("M" * 60_000, "name-too-long"),
    "empty": ("", "empty-name"),
    "only a dot": (".", "empty-name"),
}

STRUCTURES: dict[str, tuple[Callable[[], bytes], str]] = {
    "symlink": (lambda: one(content=b"/etc/passwd", mode=0o120777), "symlink"),
    "symlink that is not read": (lambda: one(name="notes", mode=0o120777), "symlink"),
    "symlink from another host": (lambda: one(mode=0o120777, host=0), "symlink"),
    "pipe": (lambda: one(mode=0o010644), "special-file"),
    "character device": (lambda: one(mode=0o020644), "special-file"),
    "block device": (lambda: one(mode=0o060644), "special-file"),
    "socket": (lambda: one(mode=0o140644), "special-file"),
    "folder by its mode alone": (lambda: one(mode=hostile.FOLDER), "special-file"),
    "same name twice": (lambda: archive(Member(), Member()), "duplicate-name"),
    "same name, other case": (lambda: archive(Member(), Member("mrpc.TSV")), "duplicate-name"),
    "same name, other case, not ASCII": (
        lambda: archive(Member("Straße", flags=2048), Member("STRASSE")),
        "duplicate-name",
    ),
    "same name, other separator": (
        lambda: archive(Member("a/MRPC.tsv"), Member("a\\MRPC.tsv")),
        "duplicate-name",
    ),
    "same name, with a dot": (lambda: archive(Member(), Member("./MRPC.tsv")), "duplicate-name"),
    "same name, with an empty part": (
        lambda: archive(Member("a/MRPC.tsv"), Member("a//MRPC.tsv")),
        "duplicate-name",
    ),
    "file and folder": (lambda: archive(Member(), Member("MRPC.tsv/", b"", method=0)), "duplicate-name"),
    "two folders deep": (lambda: one(name="a/b/MRPC.tsv"), "nested-folder"),
    "zip in the zip": (nested, "nested-archive"),
    "gzip in the zip": (lambda: one(content=b"\x1f\x8b\x08" + bytes(20)), "nested-archive"),
    "tar in the zip": (lambda: one(content=bytes(257) + b"ustar" + bytes(250)), "nested-archive"),
    "7z in the zip": (lambda: one(content=b"7z\xbc\xaf\x27\x1c" + bytes(20)), "nested-archive"),
    "encrypted": (lambda: one(flags=hostile.ENCRYPTED), "encrypted"),
    "strongly encrypted": (lambda: one(flags=hostile.ENCRYPTED | hostile.STRONG), "encrypted"),
    "masked headers": (lambda: one(flags=8192), "encrypted"),
    "bzip2": (lambda: compressed(zipfile.ZIP_BZIP2), "unsupported-compression"),
    "lzma": (lambda: compressed(zipfile.ZIP_LZMA), "unsupported-compression"),
    "deflate64": (lambda: one(method=9), "unsupported-compression"),
    "zstandard": (lambda: one(method=93), "unsupported-compression"),
    "AES": (lambda: one(method=99), "unsupported-compression"),
    "unknown method": (lambda: one(method=1234), "unsupported-compression"),
    "patch data": (lambda: one(flags=hostile.PATCHED), "unsupported-compression"),
    "wrong checksum": (lambda: one(crc=12345), "bad-crc"),
    "wrong checksum, stored": (lambda: one(method=0, crc=1), "bad-crc"),
    "not deflate": (lambda: one(packed=b"\xff" * 40), "corrupt-data"),
    "deflate cut short": (lambda: one(packed=hostile.deflate(TABLE)[:-9]), "truncated-member"),
    "no data at all": (lambda: one(packed=b""), "truncated-member"),
    "bytes after the deflate stream": (lambda: one(packed=hostile.deflate(TABLE) + b"more"), "forged-size"),
    "size too small": (lambda: one(size=10), "forged-size"),
    "size of nothing": (lambda: one(size=0), "forged-size"),
    "size too large": (lambda: one(size=len(TABLE) + 1), "forged-size"),
    "size too large, stored": (lambda: one(method=0, size=len(TABLE) + 1), "forged-size"),
    "size too small, stored": (lambda: one(method=0, size=1), "forged-size"),
    "packed size beyond the zip": (lambda: archive(GOOD, Member(packed_size=1 << 20)), "out-of-bounds"),
    "packed size of 4 GiB": (lambda: archive(GOOD, Member(packed_size=hostile.FULL_32 - 1)), "out-of-bounds"),
    "packed size into the next member": (
        lambda: one(packed_size=len(hostile.deflate(TABLE)) + 20),
        "overlap",
    ),
    "packed size too small": (lambda: one(packed_size=20), "hidden-data"),
    "header beyond the zip": (lambda: one(offset=1 << 30), "out-of-bounds"),
    "header in the directory": (lambda: one(offset=len(archive(GOOD, Member(), LAST)) - 40), "out-of-bounds"),
    "header at no header": (lambda: one(offset=7), "out-of-bounds"),
    "header at its neighbor's": (lambda: one(offset=0), "header-mismatch"),
    "local name differs": (lambda: local(name="SST2.tsv"), "header-mismatch"),
    "local name with a folder": (lambda: local(name="../MRPC.tsv"), "header-mismatch"),
    "local size differs": (lambda: local(size=1), "header-mismatch"),
    "local size blank": (lambda: local(size=0), "header-mismatch"),
    "local packed size differs": (lambda: local(packed_size=1), "header-mismatch"),
    "local checksum differs": (lambda: local(crc=1), "header-mismatch"),
    "local method differs": (lambda: local(method=0), "header-mismatch"),
    "local encryption differs": (lambda: local(flags=1), "header-mismatch"),
    "local streaming differs": (lambda: local(flags=8), "header-mismatch"),
    "local Zip64 size differs": (
        lambda: local(size=hostile.FULL_32, packed_size=hostile.FULL_32, extra=extra_64(7, 7)),
        "header-mismatch",
    ),
    "local Zip64 field missing": (lambda: local(size=hostile.FULL_32), "zip64"),
    "local mark is wrong": (lambda: local(mark=b"PK\3\5"), "out-of-bounds"),
    "same bytes for two names": (lambda: shared(1), "header-mismatch"),
    "same bytes for sixty names": (lambda: shared(60), "header-mismatch"),
    "member inside another": (backwards, "overlap"),
    "quoted overlaps": (lambda: hostile.quoted(60), "overlap"),
    "member that no directory lists": (lambda: archive(GOOD, Member(absent=True), LAST), "hidden-data"),
    "first member that no directory lists": (lambda: archive(Member(absent=True), LAST), "leading-data"),
    "last member that no directory lists": (lambda: archive(GOOD, Member(absent=True)), "hidden-data"),
    "bytes between members": (lambda: one(before=b"hello"), "hidden-data"),
    "bytes before the directory": (lambda: archive(GOOD, gap=b"hello"), "hidden-data"),
    "wrong data descriptor": (lambda: forged_descriptor(), "hidden-data"),
    "bytes before the zip": (lambda: archive(GOOD, before=b"#!/bin/sh\n" * 9), "leading-data"),
    "program before the zip": (lambda: archive(GOOD, before=b"MZ" + bytes(4000)), "leading-data"),
    "bytes after the zip": (lambda: archive(GOOD, after=b"hello"), "trailing-data"),
    "zeros after the zip": (lambda: archive(GOOD, after=bytes(100_000)), "trailing-data"),
    "two zips in a row": (lambda: archive(GOOD) + archive(LAST), "directory-bounds"),
    "end record in the comment": (
        lambda: archive(GOOD, end=End(comment=b"x" * 9 + hostile.end_record(End(), 0, size=0, start=0))),
        "ambiguous-end",
    ),
    "comment longer than the file": (lambda: archive(GOOD, end=End(comment_length=50)), "truncated"),
    "comment shorter than stated": (
        lambda: archive(GOOD, end=End(comment=b"hello", comment_length=3)),
        "trailing-data",
    ),
    "half a zip": (lambda: archive(GOOD, LAST)[:200], "truncated"),
    "last byte missing": (lambda: archive(GOOD)[:-1], "truncated"),
    "end record missing": (lambda: archive(GOOD)[:-22], "truncated"),
    "only a mark": (lambda: b"PK\3\4", "truncated"),
    "beginning missing": (lambda: archive(GOOD, LAST)[50:], "leading-data"),
    "middle missing": (lambda: archive(GOOD, LAST)[:60] + archive(GOOD, LAST)[90:], "directory-bounds"),
    "empty zip": (lambda: archive(), "empty-archive"),
    "directory beyond the zip": (lambda: one(end=End(offset=1 << 30)), "directory-bounds"),
    "directory shifted": (lambda: one(end=End(offset=3)), "directory-bounds"),
    "directory too long": (lambda: one(end=End(size=1 << 20)), "directory-bounds"),
    "directory of another place": (
        lambda: one(end=End(size=len(archive(GOOD)), offset=0)),
        "directory-bounds",
    ),
    "directory mark is wrong": (lambda: archive(GOOD).replace(b"PK\1\2", b"PK\1\3"), "bad-directory"),
    "directory name runs over": (lambda: overlong_name(), "bad-directory"),
    "count too small": (lambda: one(end=End(entries=2)), "count-mismatch"),
    "count too large": (lambda: one(end=End(entries=4)), "count-mismatch"),
    "count of none": (lambda: one(end=End(entries=0)), "empty-archive"),
    "second of two disks": (lambda: one(end=End(disk=1)), "multi-disk"),
    "directory on another disk": (lambda: one(end=End(directory_disk=1)), "multi-disk"),
    "more entries elsewhere": (lambda: one(end=End(here=1, entries=3)), "multi-disk"),
    "member on another disk": (lambda: one(disk=2), "multi-disk"),
    "split zip": (split_in_two, "multi-disk"),
    "split zip in one part": (lambda: b"PK00" + archive(GOOD), "multi-disk"),
    "Zip64 without records": (lambda: one(end=End(full=True)), "zip64"),
    "Zip64 without a locator": (
        lambda: one(end=End(full=True, zip64=lambda *honest: hostile.end_64(*honest)[:-20])),
        "zip64",
    ),
    "Zip64 locator points elsewhere": (lambda: one(end=wide(pointer=-4)), "zip64"),
    "Zip64 locator points beyond": (lambda: one(end=wide(pointer=1 << 62)), "zip64"),
    "Zip64 record too long": (lambda: one(end=wide(rest=1 << 40)), "zip64"),
    "Zip64 record too short": (lambda: one(end=wide(rest=3)), "zip64"),
    "Zip64 on several disks": (lambda: one(end=wide(disks=3)), "multi-disk"),
    "Zip64 on another disk": (lambda: one(end=wide(disk=3)), "multi-disk"),
    "Zip64 records that differ": (
        lambda: one(end=End(zip64=lambda count, *rest: hostile.end_64(count + 1, *rest))),
        "zip64",
    ),
    "Zip64 count is nonsense": (
        lambda: one(end=End(full=True, zip64=lambda count, *rest: hostile.end_64(1 << 60, *rest))),
        "too-many-members",
    ),
    "Zip64 directory beyond the zip": (
        lambda: one(
            end=End(full=True, zip64=lambda count, size, start, at: hostile.end_64(count, 1 << 62, start, at))
        ),
        "directory-bounds",
    ),
    "Zip64 size without a field": (lambda: one(size=hostile.FULL_32), "zip64"),
    "Zip64 offset without a field": (lambda: one(offset=hostile.FULL_32), "zip64"),
    "Zip64 disk without a field": (lambda: one(disk=hostile.FULL_16), "zip64"),
    "Zip64 field too short": (
        lambda: one(size=hostile.FULL_32, packed_size=hostile.FULL_32, extra=extra_64(5)),
        "zip64",
    ),
    "Zip64 field twice": (lambda: one(size=hostile.FULL_32, extra=extra_64(5) + extra_64(6)), "zip64"),
    "Zip64 field runs over": (lambda: one(size=hostile.FULL_32, extra=b"\1\0\xff\0" + bytes(8)), "zip64"),
    "Zip64 offset beyond": (lambda: one(offset=hostile.FULL_32, extra=extra_64(1 << 62)), "out-of-bounds"),
    "Zip64 size of 16 EiB": (
        lambda: one(
            size=hostile.FULL_32, extra=extra_64((1 << 64) - 1), local={"size": len(TABLE), "extra": b""}
        ),
        "header-mismatch",
    ),
    "10,000 members": (lambda: entries(10_000), "too-many-members"),
    "70,000 members": (
        lambda: entries(70_000, end=End(full=True, zip64=lambda *honest: hostile.end_64(*honest))),
        "too-many-members",
    ),
    "70,000 members that say 3": (lambda: entries(70_000, end=End(entries=3)), "count-mismatch"),
    "65 files to read": (lambda: archive(*(Member(f"T{at}.tsv") for at in range(65))), "too-many-members"),
    "65 files of other case": (
        lambda: archive(*(Member(f"{at}.tSv") for at in range(65))),
        "too-many-members",
    ),
    "bomb": (lambda: archive(GOOD, bomb(BIG)), "ratio-bomb"),
    "bomb below the total": (lambda: archive(GOOD, bomb(60 * MIB)), "ratio-bomb"),
    "bomb that says it is small": (lambda: archive(GOOD, bomb(BIG, stated=1000)), "forged-size"),
    "bomb that says it is empty": (lambda: archive(GOOD, bomb(BIG, stated=0)), "forged-size"),
    "bomb of many members": (
        lambda: archive(*(bomb(MIB, name=f"T{at}.tsv") for at in range(64)), bomb(MIB)),
        "too-large-unpacked",
    ),
    "stored beyond the total": (
        lambda: archive(*(Member(f"T{at}.tsv", size=MIB * 9) for at in range(9))),
        "too-large-unpacked",
    ),
}


def forged_descriptor() -> bytes:
    member = streamed(Member())
    return archive(
        GOOD, Member(flags=member.flags, local=member.local, after=member.after[:-1] + b"\1"), LAST
    )


def overlong_name() -> bytes:
    data = archive(GOOD)
    at = data.index(b"PK\1\2") + 28
    return tampered(at, b"\xff\xff", data)
