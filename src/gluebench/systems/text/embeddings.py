"""A row of numbers for each word of a vocabulary, from a file of word vectors."""

import hashlib
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark.atomic import replacing
from gluebench.data import DataError
from gluebench.data.home import data_folder
from gluebench.data.vectors import Vectors, read_vectors
from gluebench.systems.text.vocabulary import Vocabulary

Floats = NDArray[np.float32]

OutOfVectors = Literal["normal", "zero"]
"""What stands for words the file lacks: draws of standard deviation 1, as in the paper, or zeros."""


def embedding_matrix(
    vocabulary: Vocabulary,
    vectors: Path | Vectors | None,
    *,
    dim: int,
    oov: OutOfVectors = "normal",
    seed: int = 0,
    lower: bool = False,
    cache: Path | None = None,
) -> Floats:
    """Shape (len(vocabulary), dim): zeros for the padding, and `oov` for words without a vector.

    The unknown word is one of those. Without vectors no word has one. With `lower`, a word that they lack
    takes the vector of its small letters, as files without capitals need it. What is read of a file is kept
    in the folder `cache` (vectors/ below the data folder), under a key of file and vocabulary: reading 5.6 GB
    takes minutes. Raises DataError for a file that cannot be used, or of another width.
    """
    shape = (len(vocabulary), dim)
    draws = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    matrix = draws if oov == "normal" else np.zeros(shape, dtype=np.float32)
    if vectors is not None:
        if isinstance(vectors, Path):
            rows = _from_file(vocabulary, vectors, dim, lower=lower, cache=cache or data_folder() / "vectors")
        else:
            rows = _look_up(vocabulary, vectors, lower=lower)
        has = ~np.isnan(rows[:, 0])
        matrix[has] = rows[has]
    matrix[0] = 0
    return matrix


def _from_file(vocabulary: Vocabulary, path: Path, dim: int, *, lower: bool, cache: Path) -> Floats:
    """The rows of the file, NaN for words it lacks: from the cache, or read and left there."""
    try:
        state = path.stat()
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise DataError(f"{path}: {reason}; expected word vectors as text") from None
    about = f"{path.resolve()} {state.st_size} {state.st_mtime_ns} {lower} {vocabulary.key()}"
    kept = cache / f"{hashlib.sha256(about.encode(errors='surrogateescape')).hexdigest()[:32]}.npy"
    if kept.is_file():
        rows: Floats = np.load(kept, allow_pickle=False)
    else:
        words = set(vocabulary.words)
        if lower:
            words = words | {word.lower() for word in words}
        read = read_vectors(path, words)
        rows = _look_up(vocabulary, read, lower=lower)
        cache.mkdir(parents=True, exist_ok=True)
        with replacing(kept) as file:
            np.save(file, rows)
    if rows.shape[1] != dim:
        raise DataError(f"{path}: vectors of {rows.shape[1]} numbers, expected {dim}")
    return rows


def _look_up(vocabulary: Vocabulary, vectors: Vectors, *, lower: bool) -> Floats:
    """A row for each id of the vocabulary, NaN for words without a vector."""
    rows = [vectors.row(word) if lower else vectors.rows.get(word) for word in vocabulary.words]
    matrix = np.full((len(vocabulary), vectors.matrix.shape[1]), np.nan, dtype=np.float32)
    for at, row in enumerate(rows, len(vocabulary) - len(rows)):
        if row is not None:
            matrix[at] = vectors.matrix[row]
    return matrix
