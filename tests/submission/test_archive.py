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
from submission.hostile import TABLE, End, Member, archive, extra_64, streamed

from gluebench.submission.archive import Archive, Limits, base_name, read_members

SOURCE = Path(__file__).resolve().parents[2] / "src"
OTHER = b"index\tprediction\n0\tentailment\n"
FILES = {"MRPC.tsv": TABLE, "RTE.tsv": OTHER}
MRPC, RTE = Member("MRPC.tsv"), Member("RTE.tsv", OTHER)
FULL_32 = hostile.FULL_32


def codes(found: Archive) -> list[str]:
    return [problem.code for problem in found.problems]


def errors(found: Archive) -> list[str]:
    return [problem.code for problem in found.problems if problem.severity == "error"]


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Archive]:
    def write_and_read(data: bytes) -> Archive:
        path = tmp_path / "submission.zip"
        path.write_bytes(data)
        return read_members(path)

    return write_and_read


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
    "member comments and extras": lambda: archive(Member("MRPC.tsv", extra=b"UT\5\0\1abcd", comment=b"ours"), RTE),
    "data descriptors": lambda: archive(streamed(MRPC), streamed(RTE)),
    "data descriptors without mark": lambda: archive(streamed(MRPC, marked=False), streamed(RTE, marked=False)),
    "wide data descriptors": lambda: archive(streamed(MRPC, wide=True), streamed(RTE, marked=False, wide=True)),
    "wide data descriptor of an empty file": lambda: archive(
        streamed(Member("empty.txt", b""), wide=True), streamed(Member("none.txt", b"", method=0)), MRPC, RTE
    ),
    "streaming flag without descriptor": lambda: archive(Member("MRPC.tsv", flags=8), RTE),
    "Zip64 end records": lambda: archive(MRPC, RTE, end=End(full=True, zip64=lambda *honest: hostile.end_64(*honest))),
    "Zip64 end records beside plain ones": lambda: archive(
        MRPC, RTE, end=End(zip64=lambda *honest: hostile.end_64(*honest))
    ),
    "Zip64 sizes": lambda: archive(wide(MRPC), wide(RTE)),
    "Zip64 offset": lambda: archive(
        Member("MRPC.tsv", offset=FULL_32, extra=extra_64(0), local={"extra": b""}), RTE
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WHOLE)
def test_a_zip_is_read_whatever_wrote_it(case: str, read: Callable[[bytes], Archive]) -> None:
    found = read(WHOLE[case]())
    assert found.problems == ()
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
            FOLDER, *INSIDE, Member("__MACOSX/", b"", mode=hostile.FOLDER), Member("__MACOSX/run 3/._MRPC.tsv", b"\0\5")
        ),
        ["wrapper-folder", "system-files"],
    ),
    "macOS folder icon": (lambda: archive(MRPC, Member("Icon\r", b""), RTE), ["system-files"]),
    "Windows": (lambda: archive(MRPC, Member("Thumbs.db", b""), Member("desktop.ini", b""), RTE), ["system-files"]),
    "other files": (lambda: archive(MRPC, Member("README.md"), Member("log/run.txt"), RTE), []),
    "other files in any compression": (lambda: archive(MRPC, Member("model.zst", method=93), RTE), []),
    "other files with a password": (lambda: archive(MRPC, Member("secret", flags=1), RTE), []),
    "other archives": (lambda: archive(MRPC, Member("more.zip", archive(RTE)), RTE), []),
    "other files however large": (lambda: archive(MRPC, hostile.bomb(1 << 30, name="zeros"), RTE), []),
    "names of other languages": (lambda: archive(Member("Übung 2 – 結果/x.txt", flags=2048), MRPC, RTE), []),
    "names of other code pages": (lambda: archive(Member(b"\x81bung/x.txt"), MRPC, RTE), []),
    "times in names": (lambda: archive(Member("2024-01-01T10:00:00.txt"), MRPC, RTE), []),
    "names near those of devices": (lambda: archive(Member("console.txt"), Member("COM.txt"), Member("nulls"), MRPC, RTE), []),
    "hundreds of other files": (lambda: archive(MRPC, *(Member(f"{at}.txt", b"") for at in range(1000)), RTE), []),
}  # fmt: skip


@pytest.mark.parametrize("case", NOTICED)
def test_what_does_not_matter_is_tolerated(case: str, read: Callable[[bytes], Archive]) -> None:
    make, expected = NOTICED[case]
    found = read(make())
    assert codes(found) == expected
    assert all(problem.severity == "notice" for problem in found.problems)
    assert {base_name(path): content for path, content in found.members.items()} == FILES


def test_other_files_are_named_and_system_files_are_not(read: Callable[[bytes], Archive]) -> None:
    found = read(archive(MRPC, Member("a/README.md"), Member(".DS_Store", b""), Member("a/", b"")))
    assert found.ignored == ("a/README.md",)
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
    assert found.ignored == ("run 3/MRPC.tsv", "run 3/corrupt.tsv")
    assert asked == ["MRPC.tsv", "RTE.tsv", "corrupt.tsv"]


def test_a_faulty_member_leaves_the_others_to_be_checked(read: Callable[[bytes], Archive]) -> None:
    found = read(archive(MRPC, Member("RTE.tsv", OTHER, crc=7)))
    assert dict(found.members) == {"MRPC.tsv": TABLE}
    assert [(problem.code, problem.file) for problem in found.problems] == [("bad-crc", "RTE.tsv")]


def test_limits_may_be_set(read: Callable[[bytes], Archive], tmp_path: Path) -> None:
    read(archive(MRPC, RTE))
    path = tmp_path / "submission.zip"
    total = len(TABLE) + len(OTHER)
    assert not errors(read_members(path, limits=Limits(total=total, members=2, entries=2)))
    assert errors(read_members(path, limits=Limits(total=total - 1))) == ["too-large-unpacked"]
    assert errors(read_members(path, limits=Limits(members=1))) == ["too-many-members"]
    assert errors(read_members(path, limits=Limits(entries=1))) == ["too-many-members"]


@pytest.mark.parametrize("name", ["submission", "submission.tsv", "submission.tar.gz", "upload.bin"])
def test_a_zip_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(archive(MRPC, RTE))
    assert dict(read_members(tmp_path / name).members) == FILES


ZIP = shutil.which("zip")
needs_zip = pytest.mark.skipif(ZIP is None, reason="the zip program is not installed")


@needs_zip
@pytest.mark.parametrize(
    "options",
    ["", "-0", "-9", "-fd", "-fz", "-fz -fd", "-X", "-j -D", "-k", "-UN=UTF8", "-fz- -9", "-n .tsv", "-l"],
)
@pytest.mark.parametrize("target", ["file", "pipe"])
def test_zips_of_the_zip_program_are_read(options: str, target: str, tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    command = [str(ZIP), "-q", *options.split(), "-", *FILES]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    if target == "file":
        subprocess.run([*command[:-3], "out.zip", *FILES], cwd=tmp_path, check=True)
        made = (tmp_path / "out.zip").read_bytes()
    (tmp_path / "submission.zip").write_bytes(made)
    found = read_members(tmp_path / "submission.zip")
    assert found.problems == ()
    expected = zipped_contents(made)
    assert dict(found.members) == expected
    assert len(expected) == 2


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
    assert errors(read_members(tmp_path / "out.zip")) == ["encrypted"]


@needs_zip
def test_a_link_in_a_zip_of_the_zip_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "MRPC.tsv").symlink_to("/etc/hostname")
    subprocess.run([str(ZIP), "-q", "-y", "out.zip", "MRPC.tsv"], cwd=tmp_path, check=True)
    assert errors(read_members(tmp_path / "out.zip")) == ["symlink"]


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
    assert found.problems == ()
    assert dict(found.members) == zipped_contents(made.getvalue()) == files


def test_a_large_compressible_table_is_read(tmp_path: Path) -> None:
    table = b"index\tprediction\n" + b"".join(b"%d\t0\n" % at for at in range(400_000))
    (tmp_path / "QQP.zip").write_bytes(by_zipfile({"QQP.tsv": table}))
    assert dict(read_members(tmp_path / "QQP.zip").members) == {"QQP.tsv": table}


@needs_real
def test_the_zip_that_was_submitted_in_2021_is_read() -> None:
    path = REAL / "submissions" / "fastmtl" / "submission.zip"
    found = read_members(path)
    assert found.problems == ()
    assert dict(found.members) == zipped_contents(path.read_bytes())
    assert len(found.members) == 11


def filled(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return folder


def test_a_folder_is_read(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "CoLA.tsv").write_text("x")
    (tmp_path / "latest").symlink_to("checkpoints")
    (tmp_path / ".DS_Store").write_text("x")
    found = read_members(str(tmp_path))
    assert dict(found.members) == FILES
    assert found.ignored == ("README.md", "checkpoints/", "latest")
    assert codes(found) == ["system-files"]


def test_a_folder_in_a_folder_is_read(tmp_path: Path) -> None:
    filled(tmp_path / "run")
    (tmp_path / "__MACOSX").mkdir()
    found = read_members(tmp_path)
    assert dict(found.members) == {f"run/{name}": content for name, content in FILES.items()}
    assert codes(found) == ["wrapper-folder", "system-files"]


def test_no_deeper_folder_is_read(tmp_path: Path) -> None:
    filled(tmp_path / "a" / "b")
    assert read_members(tmp_path) == Archive({}, ("a/b/",), ())


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert read_members(tmp_path) == Archive({}, (), ())


def spoil_link(folder: Path) -> None:
    (folder / "MRPC.tsv").unlink()
    (folder / "MRPC.tsv").symlink_to("/etc/hostname")


def spoil_case(folder: Path) -> None:
    (folder / "mrpc.tsv").write_text("x")
    if len(list(folder.iterdir())) == 2:
        pytest.skip("this file system does not tell letter case apart")


FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (spoil_link, "symlink"),
    "dangling link": (lambda folder: (folder / "CoLA.tsv").symlink_to("nowhere"), "symlink"),
    "pipe": (lambda folder: os.mkfifo(folder / "CoLA.tsv"), "special-file"),
    "letter case": (spoil_case, "duplicate-name"),
    "zip": (lambda folder: (folder / "CoLA.tsv").write_bytes(archive(MRPC)), "nested-archive"),
    "control character": (lambda folder: (folder / "a\x1bb.tsv").write_text("x"), "control-character"),
    "undecodable name": (
        lambda folder: (folder / os.fsdecode(b"a\xff.tsv")).write_text("x"),
        "undecodable-name",
    ),
    "large": (lambda folder: os.truncate(folder / "MRPC.tsv", 65 << 20), "too-large-unpacked"),
    "many": (
        lambda folder: [(folder / f"T{at}.tsv").write_text("x") for at in range(65)],
        "too-many-members",
    ),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_a_hostile_folder_is_refused(case: str, tmp_path: Path) -> None:
    spoil, code = FOLDERS[case]
    spoil(filled(tmp_path / "run"))
    found = read_members(tmp_path / "run")
    assert errors(found) == [code]
    assert str(found.problems[0]).isprintable()


def test_a_linked_wrapper_folder_is_not_entered(tmp_path: Path) -> None:
    filled(tmp_path / "elsewhere")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "inner").symlink_to(tmp_path / "elsewhere")
    assert read_members(tmp_path / "run") == Archive({}, ("inner",), ())


def test_a_single_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "MRPC.tsv").write_bytes(TABLE)
    (tmp_path / "link.tsv").symlink_to("MRPC.tsv")
    assert read_members(tmp_path / "MRPC.tsv") == Archive({"MRPC.tsv": TABLE}, (), ())
    assert read_members(tmp_path / "link.tsv") == Archive({"link.tsv": TABLE}, (), ())
    assert read_members(tmp_path / "MRPC.tsv", lambda name: name == "RTE.tsv") == Archive(
        {}, ("MRPC.tsv",), ()
    )


SOURCES: dict[str, tuple[str, bytes, str]] = {
    "nothing": ("submission.zip", b"", "empty-file"),
    "gzip": ("submission.tar.gz", b"\x1f\x8b\x08" + bytes(30), "wrong-archive"),
    "gzip named as a table": ("MRPC.tsv", b"\x1f\x8b\x08" + bytes(30), "wrong-archive"),
    "tar": ("submission.tar", bytes(257) + b"ustar\0" + bytes(300), "wrong-archive"),
    "7z": ("submission.7z", b"7z\xbc\xaf\x27\x1c" + bytes(30), "wrong-archive"),
    "rar": ("submission.zip", b"Rar!\x1a\x07\0" + bytes(30), "wrong-archive"),
    "bzip2": ("submission.bz2", b"BZh91AY" + bytes(30), "wrong-archive"),
    "xz": ("submission.xz", b"\xfd7zXZ\0" + bytes(30), "wrong-archive"),
    "text": ("submission.zip", TABLE, "unknown-kind"),
    "web page": ("submission.zip", b"<!DOCTYPE html><title>Sign in</title>", "unknown-kind"),
}


@pytest.mark.parametrize("case", SOURCES)
def test_a_file_that_is_no_submission_is_refused(case: str, tmp_path: Path) -> None:
    name, content, code = SOURCES[case]
    (tmp_path / name).write_bytes(content)
    found = read_members(tmp_path / name)
    assert codes(found) == [code]
    assert found.problems[0].file == name


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "none.zip", tmp_path / "file" / "below", "a\0b", ""):
        assert codes(read_members(path)) == ["not-found"]


def test_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    assert codes(read_members(tmp_path / "pipe.zip")) == ["not-a-file"]
    assert codes(read_members("/dev/zero")) == ["not-a-file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "submission.zip").write_bytes(archive(MRPC))
    (tmp_path / "submission.zip").chmod(0)
    assert codes(read_members(tmp_path / "submission.zip")) == ["unreadable"]


def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert codes(read_members(tmp_path)) == ["unreadable"]


def test_the_reader_imports_no_zipfile() -> None:
    script = "import sys, gluebench.submission.archive; print(sorted({'zipfile', 'tempfile', 'numpy'} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"
