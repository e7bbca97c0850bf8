"""What a submission may come in besides a zip: a folder, a single table, and what is none of these."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from submission.hostile import TABLE, Member, archive, codes

from gluebench.submission.archive import Archive, read_members

OTHER = b"index\tprediction\n0\tentailment\n"
FILES = {"MRPC.tsv": TABLE, "RTE.tsv": OTHER}


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
    assert found.ignored == ["README.md", "checkpoints/", "latest"]
    assert codes(found) == ["system-files"]


def test_a_folder_in_a_folder_is_read(tmp_path: Path) -> None:
    filled(tmp_path / "run")
    (tmp_path / "__MACOSX").mkdir()
    found = read_members(tmp_path)
    assert dict(found.members) == {f"run/{name}": content for name, content in FILES.items()}
    assert codes(found) == ["wrapper-folder", "system-files"]


def test_no_deeper_folder_is_read(tmp_path: Path) -> None:
    filled(tmp_path / "a" / "b")
    assert read_members(tmp_path) == Archive({}, ["a/b/"], [])


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert read_members(tmp_path) == Archive({}, [], [])


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
    "zip": (lambda folder: (folder / "CoLA.tsv").write_bytes(archive(Member())), "nested-archive"),
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
    assert codes(found) == [code]
    assert str(found.problems[0]).isprintable()


def test_a_linked_wrapper_folder_is_not_entered(tmp_path: Path) -> None:
    filled(tmp_path / "elsewhere")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "inner").symlink_to(tmp_path / "elsewhere")
    assert read_members(tmp_path / "run") == Archive({}, ["inner"], [])


def test_a_single_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "MRPC.tsv").write_bytes(TABLE)
    (tmp_path / "link.tsv").symlink_to("MRPC.tsv")
    assert read_members(tmp_path / "MRPC.tsv") == Archive({"MRPC.tsv": TABLE}, [], [])
    assert read_members(tmp_path / "link.tsv") == Archive({"link.tsv": TABLE}, [], [])
    assert read_members(tmp_path / "MRPC.tsv", lambda name: name == "RTE.tsv") == Archive(
        {}, ["MRPC.tsv"], []
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
    (tmp_path / "submission.zip").write_bytes(archive(Member()))
    (tmp_path / "submission.zip").chmod(0)
    assert codes(read_members(tmp_path / "submission.zip")) == ["unreadable"]


def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert codes(read_members(tmp_path)) == ["unreadable"]
