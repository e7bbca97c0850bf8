"""Archives, folders and files that are fine: read as they are, whatever made them."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real import REAL, needs_real
from submission import hostile
from submission.hostile import TABLE, End, Member, archive, codes, error_codes, extra_64, streamed

from gluebench.submission.archive import Archive, Limits, read_members
from gluebench.submission.archive_problems import base_name

SOURCE = Path(__file__).resolve().parents[2] / "src"
OTHER = b"index\tprediction\n0\tentailment\n"
FILES = {"MRPC.tsv": TABLE, "RTE.tsv": OTHER}
MRPC, RTE = Member("MRPC.tsv"), Member("RTE.tsv", OTHER)
FULL_32 = hostile.FULL_32


def by_zipfile(
    names: dict[str, bytes],
    method: int = zipfile.ZIP_DEFLATED,
    *,
    force: bool = False,
    level: int | None = None,
) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method, compresslevel=level) as zipped:
        for name, content in names.items():
            with zipped.open(zipfile.ZipInfo(name) if force else name, "w", force_zip64=force) as member:
                member.write(content)
    return made.getvalue()


class Pipe(io.BytesIO):
    """Takes what it is given and cannot seek, as a socket."""

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        raise OSError

    def seek(self, offset: int, whence: int = 0) -> int:
        raise OSError


def by_streaming(*, force: bool = False) -> bytes:
    made = Pipe()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in FILES.items():
            with zipped.open(name, "w", force_zip64=force) as member:
                member.write(content)
    return made.getvalue()


def appended() -> bytes:
    made = io.BytesIO(by_zipfile({"MRPC.tsv": TABLE}))
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("RTE.tsv", OTHER)
    return made.getvalue()


def wide(member: Member) -> Member:
    """Zip64 sizes in both headers, as a writer that does not know them beforehand."""
    sizes = extra_64(len(member.content), len(member.data))
    local = {"size": FULL_32, "packed_size": FULL_32, "extra": sizes}
    return Member(
        member.name,
        member.content,
        size=FULL_32,
        packed_size=FULL_32,
        extra=sizes,
        local=local,
        packed=member.data,
    )


WHOLE: dict[str, Callable[[], bytes]] = {
    "by zipfile": lambda: by_zipfile(FILES),
    "by zipfile, stored": lambda: by_zipfile(FILES, zipfile.ZIP_STORED),
    "by zipfile, deflated at level 0": lambda: by_zipfile(FILES, level=0),
    "by zipfile, deflated at level 9": lambda: by_zipfile(FILES, level=9),
    "by zipfile with Zip64 forced": lambda: by_zipfile(FILES, force=True),
    "by zipfile, streamed": by_streaming,
    "by zipfile, streamed with Zip64": lambda: by_streaming(force=True),
    "by zipfile, appended": appended,
    "by hand": lambda: archive(MRPC, RTE),
    "UTF-8 flag": lambda: archive(Member("MRPC.tsv", flags=2048), RTE),
    "no Unix mode": lambda: archive(Member("MRPC.tsv", mode=0, host=0), RTE),
    "executable": lambda: archive(Member("MRPC.tsv", mode=0o100775), RTE),
    "zip comment": lambda: archive(MRPC, RTE, end=End(comment=b"our best system")),
    "longest zip comment": lambda: archive(MRPC, RTE, end=End(comment=bytes(0xFFFF))),
    "zip comment with an end mark": lambda: archive(MRPC, RTE, end=End(comment=b"PK\5\6" + bytes(40))),
    "member comments and extras": lambda: archive(
        Member("MRPC.tsv", extra=b"UT\5\0\1abcd", comment=b"ours"), RTE
    ),
    "data descriptors": lambda: archive(streamed(MRPC), streamed(RTE)),
    "data descriptors without mark": lambda: archive(
        streamed(MRPC, marked=False), streamed(RTE, marked=False)
    ),
    "wide data descriptors": lambda: archive(
        streamed(MRPC, wide=True), streamed(RTE, marked=False, wide=True)
    ),
    "wide data descriptor of an empty file": lambda: archive(
        streamed(Member("empty.txt", b""), wide=True), streamed(Member("none.txt", b"", method=0)), MRPC, RTE
    ),
    "streaming flag without descriptor": lambda: archive(Member("MRPC.tsv", flags=8), RTE),
    "Zip64 end records": lambda: archive(
        MRPC, RTE, end=End(full=True, zip64=lambda *honest: hostile.end_64(*honest))
    ),
    "Zip64 end records beside plain ones": lambda: archive(
        MRPC, RTE, end=End(zip64=lambda *honest: hostile.end_64(*honest))
    ),
    "Zip64 sizes": lambda: archive(wide(MRPC), wide(RTE)),
    "Zip64 offset": lambda: archive(
        Member("MRPC.tsv", offset=FULL_32, extra=extra_64(0), local={"extra": b""}), RTE
    ),
}


@pytest.mark.parametrize("case", WHOLE)
def test_a_zip_is_read_whatever_wrote_it(case: str, read: Callable[[bytes], Archive]) -> None:
    found = read(WHOLE[case]())
    assert found.problems == []
    assert dict(found.members) == FILES


FOLDER = Member("run 3/", b"", method=0, mode=hostile.FOLDER)
INSIDE = (Member("run 3/MRPC.tsv"), Member("run 3/RTE.tsv", OTHER))

NOTICED: dict[str, tuple[Callable[[], bytes], list[str]]] = {
    "wrapper folder": (lambda: archive(FOLDER, *INSIDE), ["wrapper-folder"]),
    "wrapper folder without an entry": (lambda: archive(*INSIDE), ["wrapper-folder"]),
    "folder entry with data, as from .NET": (
        lambda: archive(Member("run 3/", b"", method=8, mode=0, host=0), *INSIDE),
        ["wrapper-folder"],
    ),
    "dots in names": (lambda: archive(Member("./MRPC.tsv"), Member("./RTE.tsv", OTHER)), []),
    "folder for dots": (lambda: archive(Member("./", b"", method=0, mode=hostile.FOLDER), MRPC, RTE), []),
    "backslashes": (
        lambda: archive(Member("run\\MRPC.tsv"), Member("run\\RTE.tsv", OTHER)),
        ["wrapper-folder", "backslash-names"],
    ),
    "backslash folder": (
        lambda: archive(Member("run\\", b"", method=0, mode=0), MRPC, RTE),
        ["backslash-names"],
    ),
    "macOS": (
        lambda: archive(MRPC, Member("__MACOSX/._MRPC.tsv", b"\0\5"), Member(".DS_Store", b"\0"), RTE),
        ["system-files"],
    ),
    "macOS with a folder": (
        lambda: archive(
            FOLDER,
            *INSIDE,
            Member("__MACOSX/", b"", mode=hostile.FOLDER),
            Member("__MACOSX/run 3/._MRPC.tsv", b"\0\5"),
        ),
        ["wrapper-folder", "system-files"],
    ),
    "macOS folder icon": (lambda: archive(MRPC, Member("Icon\r", b""), RTE), ["system-files"]),
    "Windows": (
        lambda: archive(MRPC, Member("Thumbs.db", b""), Member("desktop.ini", b""), RTE),
        ["system-files"],
    ),
    "other files": (lambda: archive(MRPC, Member("README.md"), Member("log/run.txt"), RTE), []),
    "other files in any compression": (lambda: archive(MRPC, Member("model.zst", method=93), RTE), []),
    "other files with a password": (lambda: archive(MRPC, Member("secret", flags=1), RTE), []),
    "other archives": (lambda: archive(MRPC, Member("more.zip", archive(RTE)), RTE), []),
    "other files however large": (lambda: archive(MRPC, hostile.bomb(1 << 30, name="zeros"), RTE), []),
    "names of other languages": (lambda: archive(Member("Übung 2 – 結果/x.txt", flags=2048), MRPC, RTE), []),
    "names of other code pages": (lambda: archive(Member(b"\x81bung/x.txt"), MRPC, RTE), []),
    "times in names": (lambda: archive(Member("2024-01-01T10:00:00.txt"), MRPC, RTE), []),
    "names near those of devices": (
        lambda: archive(Member("console.txt"), Member("COM.txt"), Member("nulls"), MRPC, RTE),
        [],
    ),
    "hundreds of other files": (
        lambda: archive(MRPC, *(Member(f"{at}.txt", b"") for at in range(1000)), RTE),
        [],
    ),
}


@pytest.mark.parametrize("case", NOTICED)
def test_what_does_not_matter_is_tolerated(case: str, read: Callable[[bytes], Archive]) -> None:
    make, expected = NOTICED[case]
    found = read(make())
    assert codes(found) == expected
    assert all(problem.severity == "notice" for problem in found.problems)
    assert {base_name(path): content for path, content in found.members.items()} == FILES


def test_other_files_are_named_and_system_files_are_not(read: Callable[[bytes], Archive]) -> None:
    found = read(archive(MRPC, Member("a/README.md"), Member(".DS_Store", b""), Member("a/", b"")))
    assert found.ignored == ["a/README.md"]
    assert ".DS_Store" in str(found.problems[0])


def test_members_are_keyed_by_their_path(read: Callable[[bytes], Archive]) -> None:
    found = read(archive(MRPC, Member("again/mrpc.tsv", OTHER)))
    assert dict(found.members) == {"MRPC.tsv": TABLE, "again/mrpc.tsv": OTHER}
    assert codes(found) == ["wrapper-folder"]


def test_only_wanted_names_are_read(tmp_path: Path) -> None:
    asked: list[str] = []
    path = tmp_path / "submission.zip"
    path.write_bytes(archive(*INSIDE, Member("run 3/corrupt.tsv", packed=b"\xff" * 9)))
    found = read_members(path, lambda name: (asked.append(name), name == "RTE.tsv")[1])
    assert dict(found.members) == {"run 3/RTE.tsv": OTHER}
    assert found.ignored == ["run 3/MRPC.tsv", "run 3/corrupt.tsv"]
    assert asked == ["MRPC.tsv", "RTE.tsv", "corrupt.tsv"]


def test_a_faulty_member_leaves_the_others_to_be_checked(read: Callable[[bytes], Archive]) -> None:
    found = read(archive(MRPC, Member("RTE.tsv", OTHER, crc=7)))
    assert dict(found.members) == {"MRPC.tsv": TABLE}
    assert [(problem.code, problem.file) for problem in found.problems] == [("bad-crc", "RTE.tsv")]


def test_limits_may_be_set(read: Callable[[bytes], Archive], tmp_path: Path) -> None:
    read(archive(MRPC, RTE))
    path = tmp_path / "submission.zip"
    total = len(TABLE) + len(OTHER)
    assert not error_codes(read_members(path, limits=Limits(total=total, members=2, entries=2)))
    assert error_codes(read_members(path, limits=Limits(total=total - 1))) == ["too-large-unpacked"]
    assert error_codes(read_members(path, limits=Limits(members=1))) == ["too-many-members"]
    assert error_codes(read_members(path, limits=Limits(entries=1))) == ["too-many-members"]


@pytest.mark.parametrize("name", ["submission", "submission.tsv", "submission.tar.gz", "upload.bin"])
def test_a_zip_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(archive(MRPC, RTE))
    assert dict(read_members(tmp_path / name).members) == FILES


ZIP = shutil.which("zip")
needs_zip = pytest.mark.skipif(ZIP is None, reason="the zip program is not installed")


OPTIONS = ["", "-0", "-9", "-fd", "-X", "-j -D", "-k", "-UN=UTF8", "-fz- -9", "-n .tsv"]


def by_program(folder: Path, options: str, *, to_pipe: bool) -> Path:
    """A zip of FILES as the zip program makes it, seeking in a file or streaming into a pipe."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    made = folder / "submission.zip"
    command = [str(ZIP), "-q", *options.split(), "-" if to_pipe else made.name, *FILES]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    if to_pipe:
        made.write_bytes(ran.stdout)
    return made


@needs_zip
@pytest.mark.parametrize("to_pipe", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
def test_zips_of_the_zip_program_are_read(options: str, to_pipe: bool, tmp_path: Path) -> None:
    found = read_members(by_program(tmp_path, options, to_pipe=to_pipe))
    assert found.problems == []
    assert {name.upper(): content for name, content in found.members.items()} == {
        name.upper(): content for name, content in FILES.items()
    }


@needs_zip
@pytest.mark.parametrize("options", ["-fz", "-l"])
def test_other_forms_of_the_zip_program_are_read_from_a_file(options: str, tmp_path: Path) -> None:
    made = by_program(tmp_path, options, to_pipe=False)
    found = read_members(made)
    assert found.problems == []
    assert dict(found.members) == zipped_contents(made.read_bytes())


@needs_zip
@pytest.mark.parametrize(
    ("options", "to_pipe", "code"),
    [("-fz", True, "zip64"), ("-fz -fd", False, "zip64"), ("-l", True, "header-mismatch")],
)
def test_contradictions_of_the_zip_program_are_refused(
    options: str, to_pipe: bool, code: str, tmp_path: Path
) -> None:
    # zip 3.0 asks here for a Zip64 record and writes none (unzip refuses it too), or leaves the
    # size before the change of line ends in the local header: no options that a submission needs.
    found = read_members(by_program(tmp_path, options, to_pipe=to_pipe))
    assert set(error_codes(found)) == {code}


@needs_zip
def test_a_folder_zipped_by_the_zip_program_is_read(tmp_path: Path) -> None:
    (tmp_path / "my run").mkdir()
    for name, content in FILES.items():
        (tmp_path / "my run" / name).write_bytes(content)
    subprocess.run([str(ZIP), "-q", "-r", "out.zip", "my run"], cwd=tmp_path, check=True)
    found = read_members(tmp_path / "out.zip")
    assert codes(found) == ["wrapper-folder"]
    assert dict(found.members) == {f"my run/{name}": content for name, content in FILES.items()}


@needs_zip
def test_a_password_of_the_zip_program_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "MRPC.tsv").write_bytes(TABLE)
    subprocess.run([str(ZIP), "-q", "-P", "secret", "out.zip", "MRPC.tsv"], cwd=tmp_path, check=True)
    assert error_codes(read_members(tmp_path / "out.zip")) == ["encrypted"]


@needs_zip
def test_a_link_in_a_zip_of_the_zip_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "MRPC.tsv").symlink_to("/etc/hostname")
    subprocess.run([str(ZIP), "-q", "-y", "out.zip", "MRPC.tsv"], cwd=tmp_path, check=True)
    assert error_codes(read_members(tmp_path / "out.zip")) == ["symlink"]


def zipped_contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


TABLE_NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ()+=,-]{3,20}", fullmatch=True).map(
    lambda stem: "t" + stem + ".tsv"
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(TABLE_NAMES, st.binary(max_size=3000), max_size=8, min_size=1),
    method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    level=st.integers(0, 9),
    force=st.booleans(),
    comment=st.binary(max_size=40),
)
def test_the_same_bytes_as_the_standard_library(
    files: dict[str, bytes], method: int, level: int, force: bool, comment: bytes, tmp_path: Path
) -> None:
    files = {name.casefold(): b"\t" + content for name, content in files.items()}
    made = io.BytesIO(by_zipfile(files, method, force=force, level=level))
    if b"PK" not in comment:
        with zipfile.ZipFile(made, "a") as zipped:
            zipped.comment = comment
    (tmp_path / "random.zip").write_bytes(made.getvalue())
    found = read_members(tmp_path / "random.zip")
    assert found.problems == []
    assert dict(found.members) == zipped_contents(made.getvalue()) == files


def test_a_large_compressible_table_is_read(tmp_path: Path) -> None:
    table = b"index\tprediction\n" + b"".join(b"%d\t0\n" % at for at in range(400_000))
    (tmp_path / "QQP.zip").write_bytes(by_zipfile({"QQP.tsv": table}))
    assert dict(read_members(tmp_path / "QQP.zip").members) == {"QQP.tsv": table}


@needs_real
def test_the_zip_that_was_submitted_in_2021_is_read() -> None:
    path = REAL / "submissions" / "fastmtl" / "submission.zip"
    found = read_members(path)
    assert found.problems == []
    assert dict(found.members) == zipped_contents(path.read_bytes())
    assert len(found.members) == 11


def test_the_reader_imports_no_zipfile() -> None:
    heavy = "{'zipfile', 'tempfile', 'numpy'}"
    script = f"import sys, gluebench.submission.archive; print(sorted({heavy} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"
