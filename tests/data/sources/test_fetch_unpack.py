"""Unpacking a zip that came from elsewhere: nothing leaves its folder, nothing grows beyond reason."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from gluebench.data import DataError
from gluebench.data.sources.unpack import unpack


def zip_of(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "name", ["../out.txt", "a/../../out.txt", "/out.txt", "a\\..\\..\\out.txt", "C:/out.txt"]
)
def test_a_name_that_leads_elsewhere_stops_everything(tmp_path: Path, name: str) -> None:
    archive = zip_of(tmp_path / "bad.zip", {"fine.txt": b"fine", name: b"out"})
    with pytest.raises(DataError, match=r"bad.zip: '.*out.txt' leads out of the archive's folder"):
        unpack(archive, tmp_path / "to" / "Task")
    assert files(tmp_path).keys() == {"bad.zip"}


def test_a_link_is_refused(tmp_path: Path) -> None:
    member = zipfile.ZipInfo("train.tsv")
    member.create_system, member.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(member, "/etc/hostname")
    with pytest.raises(DataError, match=r"'train\.tsv' is a link"):
        unpack(tmp_path / "bad.zip", tmp_path / "to")


def test_an_archive_that_grows_beyond_reason_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gluebench.data.sources.unpack.FREE", 1 << 20)
    archive = zip_of(tmp_path / "bomb.zip", {"train.tsv": bytes(2 << 20)})
    with pytest.raises(DataError, match="would unpack to 2,097,152 bytes"):
        unpack(archive, tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_an_encrypted_archive_is_told(tmp_path: Path) -> None:
    content = bytearray(zip_of(tmp_path / "a.zip", {"train.tsv": b"secret"}).read_bytes())
    content[content.index(b"PK\1\2") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(DataError, match="is encrypted"):
        unpack(tmp_path / "a.zip", tmp_path / "to")


def test_a_damaged_member_is_told(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "a.zip", {"train.tsv": b"some text " * 99})
    content = bytearray(archive.read_bytes())
    content[45] ^= 0xFF
    archive.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.zip: not a whole zip"):
        unpack(archive, tmp_path / "to")


def test_every_cut_of_an_archive_is_told(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("train.tsv", "some text")
    whole = out.getvalue()
    for length in range(len(whole)):
        (tmp_path / "a.zip").write_bytes(whole[:length])
        with pytest.raises(DataError, match="not a whole zip"):
            unpack(tmp_path / "a.zip", tmp_path / "to")


def test_only_the_files_named_are_taken_from_the_folder_named(tmp_path: Path) -> None:
    members = {
        "data/Other/train.tsv": b"another task",
        "data/Mood/train.tsv": b"right",
        "data/Mood/original/dev.tsv": b"too deep",
        "data/Mood/readme.txt": b"not asked for",
        "__MACOSX/data/Mood/train.tsv": b"noise",
    }
    archive = zip_of(tmp_path / "a.zip", members)
    place = unpack(archive, tmp_path / "to", only={"train.tsv", "dev.tsv"}, folders={"Mood"})
    assert files(place) == {"train.tsv": b"right"}


def test_of_two_of_one_name_the_less_deeply_nested_is_taken(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "a.zip", {"x/original/train.tsv": b"deep", "x/train.tsv": b"right"})
    assert files(unpack(archive, tmp_path / "to", only={"train.tsv"})) == {"train.tsv": b"right"}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"corpus_1.0/a.txt": b"a", "corpus_1.0/b/c.txt": b"c"}, {"a.txt": b"a", "b/c.txt": b"c"}),
        ({"a.txt": b"a", "b/c.txt": b"c"}, {"a.txt": b"a", "b/c.txt": b"c"}),
    ],
)
def test_a_corpus_is_the_folder_that_is_all_its_archive_holds(
    tmp_path: Path, members: dict[str, bytes], expected: dict[str, bytes]
) -> None:
    assert files(unpack(zip_of(tmp_path / "a.zip", members), tmp_path / "to")) == expected
