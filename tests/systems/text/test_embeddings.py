from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from gluebench.data import DataError
from gluebench.systems.text.embeddings import embedding_matrix
from gluebench.systems.text.vocabulary import Vocabulary

KNOWN = Vocabulary(["cat", "Dog", "unheard"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("dog 1 2 3\nother 9 9 9\ncat 4 5 6\n")
    return path


def test_words_take_the_files_vectors_and_the_padding_zeros(file: Path, tmp_path: Path) -> None:
    found = embedding_matrix(KNOWN, file, dim=3, oov="zero", cache=tmp_path)
    assert found.tolist() == [[0, 0, 0], [0, 0, 0], [4, 5, 6], [0, 0, 0], [0, 0, 0]]
    assert found.dtype == np.float32


def test_small_letters_stand_in_where_that_is_asked_for(file: Path, tmp_path: Path) -> None:
    found = embedding_matrix(KNOWN, file, dim=3, oov="zero", lower=True, cache=tmp_path)
    assert found[3].tolist() == [1, 2, 3]


def test_words_without_a_vector_are_drawn_with_deviation_1_by_the_seed(file: Path, tmp_path: Path) -> None:
    one, same, other = (embedding_matrix(KNOWN, file, dim=3, seed=seed, cache=tmp_path) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one[[1, 3, 4]], other[[1, 3, 4]])
    assert one[2].tolist() == [4, 5, 6]
    many = embedding_matrix(Vocabulary([str(at) for at in range(5000)]), None, dim=3)
    assert many[1:].std() == pytest.approx(1, abs=0.03)
    assert not many[0].any()


def test_what_was_read_is_kept_until_file_or_vocabulary_change(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    def vector(known: Vocabulary = KNOWN) -> list[float]:
        return list(embedding_matrix(known, file, dim=3, oov="zero", cache=cache)[2])

    assert vector() == [4, 5, 6]
    state = file.stat()
    file.write_text("dog 1 2 3\nother 9 9 9\ncat 7 7 7\n")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert vector() == [4, 5, 6]  # same size and time: not read again
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 10**9))
    assert vector() == [7, 7, 7]
    assert vector(Vocabulary(["dog"])) == [1, 2, 3]
    assert len(list(cache.iterdir())) == 3


def test_a_file_of_another_width_or_none_at_all_is_named(file: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"vectors\.txt: vectors of 3 numbers, expected 300"):
        embedding_matrix(KNOWN, file, dim=300, cache=tmp_path)
    with pytest.raises(DataError, match=r"none\.txt: No such file"):
        embedding_matrix(KNOWN, tmp_path / "none.txt", dim=3, cache=tmp_path)
