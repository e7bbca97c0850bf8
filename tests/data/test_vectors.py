"""Word vectors as text: GloVe's and word2vec's, whole and damaged."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real import REAL, needs_real

from gluebench.data import DataError
from gluebench.data.vectors import read_vectors


def written(folder: Path, text: str, name: str = "vectors.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    return [problem.removeprefix(f"{path}:").strip() for problem in caught.value.problems]


def test_only_the_wanted_words_are_kept_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "the 1 2\ncat 3 4.5\nsat -1 0\n")
    found = read_vectors(path, {"sat", "the", "absent"})
    assert found.rows == {"the": 0, "sat": 1}
    assert found.matrix.dtype == np.float32
    assert found.matrix.tolist() == [[1, 2], [-1, 0]]


def test_a_word_is_looked_up_as_written_and_then_in_small_letters(tmp_path: Path) -> None:
    found = read_vectors(written(tmp_path, "may 1 2\nMay 3 4\nsun 5 6\n"))
    assert [found.row(word) for word in ("May", "may", "Sun", "moon")] == [1, 0, 2, None]


def test_the_last_of_two_lines_for_a_word_counts(tmp_path: Path) -> None:
    found = read_vectors(written(tmp_path, "a 1 2\nb 5 6\na 3 4\n"))
    assert found.matrix.tolist() == [[3, 4], [5, 6]]
    assert list(found.rows) == ["a", "b"]


def test_word2vec_header_trailing_spaces_and_gz_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec.gz"
    path.write_bytes(gzip.compress("2 3\nüber 1 2 3 \nso 4 5 6 \r\n".encode()))
    found = read_vectors(path)
    assert list(found.rows) == ["über", "so"]
    assert found.matrix.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_words_may_hold_spaces_and_be_numbers(tmp_path: Path) -> None:
    found = read_vectors(written(tmp_path, "1999 0.5 1\n. . . 2 3\nat mail.example 4 5\n"))
    assert list(found.rows) == ["1999", ". . .", "at mail.example"]
    assert found.matrix.tolist() == [[0.5, 1], [2, 3], [4, 5]]


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=6),
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3),
        min_size=1,
    )
)
def test_what_is_written_is_read(table: dict[str, list[float]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        lines = [" ".join([word, *map(repr, numbers)]) for word, numbers in table.items()]
        found = read_vectors(written(Path(name), "\n".join(lines) + "\n"))
    assert list(found.rows) == list(table)
    assert found.matrix.tolist() == list(table.values())


def test_every_damaged_line_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    path = written(tmp_path, "a 1 2 3\n 4 5 6\nb 1 2\nc 1 x 3\nd 1 nan 3\ne 1.5 2 3 4.5\nf 1 2")
    assert problems(path) == [
        "2: the word before the numbers is missing (the line begins with a space)",
        "3: 2 numbers, expected 3",
        '4: "x" is not a number',
        '5: "nan" is not a number',
        "6: 4 numbers, expected 3",
        "7: 2 numbers, expected 3; the file is cut off here",
    ]


def test_a_line_of_numbers_alone_lacks_its_word(tmp_path: Path) -> None:
    assert problems(written(tmp_path, "a 1 2 3\n0.1 0.2 0.3\n")) == ["2: 3 numbers and no word before them"]


def test_a_file_that_holds_no_vectors_is_refused(tmp_path: Path) -> None:
    assert "holds no vectors" in problems(written(tmp_path, ""))[0]
    assert "holds no vectors" in problems(written(tmp_path, "<html>\n<body>\n"))[0]


def test_a_word_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"a 1 2\ncaf\xe9 3 4\n")
    assert "not UTF-8" in problems(path)[0]
    assert read_vectors(path, {"a"}).rows == {"a": 0}


def test_missing_and_broken_files_are_told_in_a_line(tmp_path: Path) -> None:
    assert "No such file" in problems(tmp_path / "none.txt")[0]
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"word 1 2 3\n" * 99)[:-9])
    assert "cannot be read" in problems(cut)[0]
    assert "cannot be read" in problems(written(tmp_path, "word 1 2", "plain.gz"))[0]


@needs_real
def test_a_whole_part_of_glove_is_read() -> None:
    found = read_vectors(REAL / "vectors" / "glove.6B.50d.top9163.txt")
    assert found.matrix.shape == (9163, 50)
    assert {"the", "–", "’s", "josé", "n’t", '"'} <= found.rows.keys()
    assert read_vectors(REAL / "vectors" / "glove.6B.300d.sample.txt.gz").matrix.shape == (100, 300)


@needs_real
def test_the_damaged_part_of_glove_is_refused_with_its_five_lines() -> None:
    told = problems(REAL / "vectors" / "glove.840B.300d.top600.txt")
    assert [problem.split(":")[0] for problem in told] == ["9", "37", "64", "160", "601"]
    assert all("begins with a space" in problem for problem in told[:4])
    assert told[4] == "601: 181 numbers, expected 300; the file is cut off here"
