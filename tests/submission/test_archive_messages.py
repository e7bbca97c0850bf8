"""What is said of an archive beyond its code: which file, and what stood there."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from submission import hostile
from submission.hostile import TABLE, End, Member, archive
from submission.hostile_cases import GOOD, LAST, STRUCTURES, one

from gluebench.submission.archive import Limits, read_members
from gluebench.submission.archive_problems import base_name, printable

SIZE = len(TABLE)
IN_MRPC = "MRPC.tsv"

SAID: dict[str, tuple[str, str, str | None]] = {
    "symlink": ("symlink", IN_MRPC, None),
    "pipe": ("special-file", IN_MRPC, None),
    "same name, other case": ("duplicate-name", "mrpc.TSV", "MRPC.tsv"),
    "same name, with an empty part": ("duplicate-name", "a/MRPC.tsv", "a/MRPC.tsv"),
    "two folders deep": ("nested-folder", "a/b/MRPC.tsv", None),
    "zip in the zip": ("nested-archive", IN_MRPC, "zip"),
    "gzip in the zip": ("nested-archive", IN_MRPC, "gzip"),
    "tar in the zip": ("nested-archive", IN_MRPC, "tar"),
    "7z in the zip": ("nested-archive", IN_MRPC, "7z"),
    "encrypted": ("encrypted", IN_MRPC, None),
    "masked headers": ("encrypted", IN_MRPC, None),
    "bzip2": ("unsupported-compression", IN_MRPC, "bzip2"),
    "lzma": ("unsupported-compression", IN_MRPC, "lzma"),
    "deflate64": ("unsupported-compression", IN_MRPC, "deflate64"),
    "zstandard": ("unsupported-compression", IN_MRPC, "zstd"),
    "AES": ("unsupported-compression", IN_MRPC, "aes"),
    "unknown method": ("unsupported-compression", IN_MRPC, "1234"),
    "patch data": ("unsupported-compression", IN_MRPC, "8"),
    "wrong checksum": ("bad-crc", IN_MRPC, None),
    "not deflate": ("corrupt-data", IN_MRPC, None),
    "deflate cut short": ("truncated-member", IN_MRPC, None),
    "bytes after the deflate stream": ("forged-size", IN_MRPC, f"{SIZE} stated"),
    "size too small": ("forged-size", IN_MRPC, "10 stated"),
    "size too large": ("forged-size", IN_MRPC, f"{SIZE + 1} stated, {SIZE} real"),
    "size too large, stored": ("forged-size", IN_MRPC, f"{SIZE + 1} stated, {SIZE} stored"),
    "packed size beyond the zip": ("out-of-bounds", IN_MRPC, None),
    "packed size into the next member": ("overlap", "RTE.tsv", None),
    "header at no header": ("out-of-bounds", IN_MRPC, None),
    "header at its neighbor's": ("header-mismatch", IN_MRPC, "name"),
    "local name differs": ("header-mismatch", IN_MRPC, "name"),
    "local size differs": ("header-mismatch", IN_MRPC, "size"),
    "local packed size differs": ("header-mismatch", IN_MRPC, "compressed size"),
    "local checksum differs": ("header-mismatch", IN_MRPC, "checksum"),
    "local method differs": ("header-mismatch", IN_MRPC, "compression method or flags"),
    "local Zip64 field missing": ("zip64", IN_MRPC, "0 Zip64 fields where one is needed"),
    "member that no directory lists": ("hidden-data", "RTE.tsv", None),
    "first member that no directory lists": ("leading-data", "RTE.tsv", None),
    "bytes between members": ("hidden-data", IN_MRPC, None),
    "bytes before the directory": ("hidden-data", "", "5 bytes before the list of files"),
    "bytes before the zip": ("leading-data", "s.zip", None),
    "bytes after the zip": ("trailing-data", "", None),
    "end record in the comment": ("ambiguous-end", "", None),
    "half a zip": ("truncated", "", None),
    "empty zip": ("empty-archive", "", None),
    "directory shifted": ("directory-bounds", "", None),
    "directory mark is wrong": ("bad-directory", "", None),
    "count too small": ("count-mismatch", "", "2 stated, more listed"),
    "count too large": ("count-mismatch", "", "4 stated, 3 listed"),
    "second of two disks": ("multi-disk", "", None),
    "member on another disk": ("multi-disk", IN_MRPC, None),
    "split zip": ("multi-disk", "", None),
    "Zip64 without records": ("zip64", "", "no Zip64 record where the end of the zip asks for one"),
    "Zip64 locator points elsewhere": ("zip64", "", "no Zip64 end record where its locator points"),
    "Zip64 record too short": ("zip64", "", "a Zip64 end record of 3 bytes"),
    "Zip64 records that differ": ("zip64", "", "two end records that differ"),
    "Zip64 count is nonsense": ("too-many-members", "", f"{1 << 60} (at most 1024)"),
}


@pytest.mark.parametrize("case", SAID)
def test_the_place_and_the_value(case: str, tmp_path: Path) -> None:
    (tmp_path / "s.zip").write_bytes(STRUCTURES[case][0]())
    found = [(each.code, each.file, each.value) for each in read_members(tmp_path / "s.zip").problems]
    assert found == [SAID[case]]


def test_limits_are_named_beside_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "s.zip"
    path.write_bytes(archive(GOOD, LAST))
    whole = path.stat().st_size

    def said(**limits: int) -> list[tuple[str, str, str | None]]:
        return [(p.code, p.file, p.value) for p in read_members(path, limits=Limits(**limits)).problems]

    assert said(upload=whole, total=2 * SIZE, members=2, entries=2) == []
    assert said(upload=whole - 1) == [("too-large", "s.zip", f"{whole} bytes (at most {whole - 1})")]
    assert said(total=1) == [("too-large-unpacked", "", f"{2 * SIZE} bytes (at most 1)")]
    assert said(members=1) == [("too-many-members", "", "2 (at most 1)")]
    assert said(entries=1) == [("too-many-members", "", "2 (at most 1)")]


@pytest.mark.parametrize(("size", "codes"), [(1 << 20, []), ((1 << 20) + 1, ["ratio-bomb"])])
def test_the_ratio_counts_from_a_mebibyte_on(tmp_path: Path, size: int, codes: list[str]) -> None:
    (tmp_path / "s.zip").write_bytes(archive(Member("RTE.tsv", bytes(size))))
    found = read_members(tmp_path / "s.zip").problems
    assert [problem.code for problem in found] == codes
    packed = len(hostile.deflate(bytes(size)))
    assert all(problem.value == f"{size} bytes from {packed}" for problem in found)
    exact = Limits(ratio=-(-size // packed))
    assert not read_members(tmp_path / "s.zip", limits=exact).problems


def test_the_upload_limit_is_for_zips_and_the_total_for_tables(tmp_path: Path) -> None:
    table, zipped = tmp_path / "RTE.tsv", tmp_path / "s.tsv"
    table.write_bytes(TABLE)
    zipped.write_bytes(archive(GOOD))
    small = zipped.stat().st_size - 1
    assert not read_members(table, limits=Limits(upload=1, total=SIZE)).problems
    (problem,) = read_members(table, limits=Limits(total=SIZE - 1)).problems
    assert (problem.code, problem.file, problem.value) == (
        "too-large",
        "RTE.tsv",
        f"{SIZE} bytes (at most {SIZE - 1})",
    )
    (problem,) = read_members(zipped, limits=Limits(upload=small)).problems
    assert (problem.code, problem.file) == ("too-large", "s.tsv")


def test_ten_names_are_spelled_out_and_the_others_counted(tmp_path: Path) -> None:
    names = [f"__MACOSX/._{at:02}" for at in range(12)]
    for count, end in ((10, ""), (11, " and 1 more"), (12, " and 2 more")):
        (tmp_path / "s.zip").write_bytes(archive(GOOD, *(Member(name, b"") for name in names[:count])))
        (problem,) = read_members(tmp_path / "s.zip").problems
        assert (problem.code, problem.severity, problem.file) == ("system-files", "notice", "")
        assert problem.value == ", ".join(names[:10]) + end


@pytest.mark.parametrize(("count", "listed"), [(20, 20), (21, 21)])
def test_twenty_problems_are_listed(tmp_path: Path, count: int, listed: int) -> None:
    (tmp_path / "s.zip").write_bytes(archive(*(Member(f"../{at}.tsv", b"", method=0) for at in range(count))))
    found = read_members(tmp_path / "s.zip").problems
    assert len(found) == listed
    assert [(each.file, each.value) for each in found if each.code == "more-problems"] == [("", "1")] * (
        count - 20
    )


def test_a_name_is_shown_on_one_line_and_shortened() -> None:
    assert printable("a" * 120) == "a" * 120
    assert printable("a" * 121) == "a" * 119 + "…"
    assert printable("naïve\n\x1b\u2028\udcff\U000e0001") == "naïve\\n\\x1b\\u2028\\udcff\\U000e0001"


def test_folders_and_backslashes_are_named(tmp_path: Path) -> None:
    (tmp_path / "s.zip").write_bytes(
        archive(Member("a\\RTE.tsv"), Member("b/./CoLA.tsv"), Member("b/notes"), Member("b/"))
    )
    found = read_members(tmp_path / "s.zip")
    assert [(problem.code, problem.value) for problem in found.problems] == [
        ("wrapper-folder", "a, b"),
        ("backslash-names", "a/RTE.tsv"),
    ]
    assert dict(found.members) == {"a/RTE.tsv": TABLE, "b/CoLA.tsv": TABLE}
    assert found.ignored == ["b/notes"]


def test_a_name_without_the_utf_8_flag_is_in_the_old_code_page(tmp_path: Path) -> None:
    (tmp_path / "s.zip").write_bytes(archive(GOOD, Member(b"\x81ber.tsv"), Member("über.txt", flags=2048)))
    found = read_members(tmp_path / "s.zip")
    assert set(found.members) == {"CoLA.tsv", "über.tsv"}
    assert found.ignored == ["über.txt"]


@pytest.mark.parametrize("comment", [0, 1, 0xFFFF])
def test_a_comment_of_any_length_is_passed_over(tmp_path: Path, comment: int) -> None:
    (tmp_path / "s.zip").write_bytes(one(end=End(comment=b"c" * comment)))
    assert read_members(tmp_path / "s.zip").problems == []


FULL = hostile.FULL_32
DISK = struct.Struct("<2HL")


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"size": FULL, "extra": b"\1\0\4\0abcd"}, "a Zip64 field that is too short"),
        ({"disk": 0xFFFF, "extra": b"\1\0\2\0ab"}, "a Zip64 field that is too short"),
        ({"size": FULL, "extra": hostile.extra_64(SIZE) + b"\1\0\0\0"}, "2 Zip64 fields where one is needed"),
        ({"size": FULL, "extra": hostile.extra_64(SIZE)[:-1]}, "1 Zip64 fields where one is needed"),
    ],
)
def test_a_broken_zip64_field_is_named(tmp_path: Path, fields: dict[str, Any], value: str) -> None:
    (tmp_path / "s.zip").write_bytes(one(**fields, local={"size": SIZE, "disk": 0, "extra": b""}))
    (problem,) = read_members(tmp_path / "s.zip").problems
    assert (problem.code, problem.file, problem.value) == ("zip64", IN_MRPC, value)


@pytest.mark.parametrize(("disk", "codes"), [(0, []), (2, ["multi-disk"])])
def test_the_disk_may_stand_in_the_zip64_field(tmp_path: Path, disk: int, codes: list[str]) -> None:
    member = Member(disk=0xFFFF, extra=DISK.pack(1, 4, disk), local={"extra": b""})
    (tmp_path / "s.zip").write_bytes(archive(member))
    found = read_members(tmp_path / "s.zip")
    assert [problem.code for problem in found.problems] == codes
    assert list(found.members) == ([] if codes else [IN_MRPC])


def test_a_base_name_is_behind_the_last_slash() -> None:
    assert [base_name(path) for path in ("a/b/MRPC.tsv", "MRPC.tsv", "a/")] == ["MRPC.tsv", "MRPC.tsv", ""]


def test_the_one_folder_in_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "run 3").mkdir()
    (tmp_path / "run 3" / "RTE.tsv").write_bytes(TABLE)
    (notice,) = read_members(tmp_path).problems
    assert (notice.code, notice.value) == ("wrapper-folder", "run 3")
    refused = read_members(tmp_path, limits=Limits(total=1))
    assert (dict(refused.members), refused.problems[0].code) == ({}, "too-large-unpacked")
