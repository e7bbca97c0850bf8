"""The folder appears whole or not at all, and no hand's work is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench.data import DataError
from gluebench.data.organize import fresh_folder


def write(target: Path, text: str) -> None:
    with fresh_folder(target) as folder:
        (folder / "gold").mkdir()
        (folder / "gold/Mood.tsv").write_text(text)


def test_it_replaces_what_it_wrote_and_keeps_the_label_key(tmp_path: Path) -> None:
    target = tmp_path / "made"
    write(target, "one")
    (target / "gold/.label-key").write_text("key")
    write(target, "two")
    assert (target / "gold/Mood.tsv").read_text() == "two"
    assert (target / "gold/.label-key").read_text() == "key"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_it_leaves_alone_what_somebody_changed(tmp_path: Path) -> None:
    target = tmp_path / "made"
    write(target, "one")
    (target / "gold/Mood.tsv").write_text("mended by hand")
    with pytest.raises(DataError, match=r"gold/Mood\.tsv"):
        write(target, "two")
    assert (target / "gold/Mood.tsv").read_text() == "mended by hand"


@pytest.mark.parametrize("mark", [None, "{}", "[", '{"files": 3}'])
def test_it_leaves_alone_what_it_did_not_make(tmp_path: Path, mark: str | None) -> None:
    target = tmp_path / "other"
    target.mkdir()
    (target / "thesis.txt").write_text("years of work")
    if mark is not None:
        (target / "organize.json").write_text(mark)
    with pytest.raises(DataError, match="not made by this command"):
        write(target, "one")
    assert (target / "thesis.txt").read_text() == "years of work"


def test_it_leaves_alone_a_file_in_its_place(tmp_path: Path) -> None:
    target = tmp_path / "note"
    target.write_text("a note")
    with pytest.raises(DataError):
        write(target, "one")
    assert target.read_text() == "a note"


def test_nothing_is_left_behind_by_an_error(tmp_path: Path) -> None:
    write(tmp_path / "made", "one")
    with pytest.raises(IsADirectoryError), fresh_folder(tmp_path / "made") as folder:
        folder.write_text("a folder is not a file")
    assert (tmp_path / "made/gold/Mood.tsv").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
