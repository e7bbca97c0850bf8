"""Tokens kept on disk: split once, found again, and never those of other texts."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from gluebench.benchmark import UnknownNameError
from gluebench.systems.text import ptb
from gluebench.systems.text.ptb import cached_tokenizer

TEXTS = ["He can't, she said.", "", "He can't, she said.", "na\u00efve \u65e5\u672c \ud800 x", "a " * 60]


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were split."""
    told: list[str] = []
    plain = ptb.tokenize
    monkeypatch.setattr(ptb, "tokenize", lambda text: (told.append(text), plain(text))[1])
    return told


def test_a_second_process_splits_nothing_again(tmp_path: Path, split: list[str]) -> None:
    first = cached_tokenizer(TEXTS, "ptb", 40, cache=tmp_path)
    assert split == list(dict.fromkeys(TEXTS))
    expected = [first(text) for text in TEXTS]
    split.clear()
    second = cached_tokenizer(TEXTS, "ptb", 40, cache=tmp_path)
    assert [second(text) for text in TEXTS] == expected
    assert split == []
    assert expected[0] == ["He", "ca", "n't", ",", "she", "said", "."]
    assert (expected[1], len(expected[4])) == ([], 40)
    assert second("Not kept.") == ["Not", "kept", "."]


def test_other_texts_lengths_and_tokenizers_have_files_of_their_own(tmp_path: Path) -> None:
    for texts, name, longest in (
        (TEXTS, "ptb", 40),
        (TEXTS, "ptb", 3),
        (TEXTS, "space", 3),
        (["ab"], "ptb", 3),
    ):
        found = cached_tokenizer(texts, name, longest, cache=tmp_path)
        assert found(texts[0]) == ptb.tokenizer(name)(texts[0])[:longest]
    assert len(list(tmp_path.iterdir())) == 4
    cached_tokenizer(["a", "b"], "ptb", 3, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 5
    with pytest.raises(UnknownNameError, match="tokenizer"):
        cached_tokenizer(TEXTS, "ptbb", 3, cache=tmp_path)


def test_a_damaged_file_is_written_again(tmp_path: Path, split: list[str]) -> None:
    cached_tokenizer(TEXTS, "ptb", 40, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:100])
    split.clear()
    assert cached_tokenizer(TEXTS, "ptb", 40, cache=tmp_path)("") == []
    assert len(split) == 4
    split.clear()
    cached_tokenizer(TEXTS, "ptb", 40, cache=tmp_path)
    assert split == []


def together(folder: Path) -> list[str]:
    return cached_tokenizer([f"one {at} two" for at in range(2000)], "space", 9, cache=folder)("one 7 two")


@pytest.mark.slow
def test_processes_that_begin_together_leave_one_whole_file(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        assert list(pool.map(together, [tmp_path] * 8)) == [["one", "7", "two"]] * 8
    assert len(list(tmp_path.iterdir())) == 1
