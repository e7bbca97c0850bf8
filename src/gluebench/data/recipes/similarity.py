"""Similarity of texts as the cosine of their mean word vectors (continuous bag of words)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gluebench.data.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gluebench.data.vectors import Vectors


class Bags(NamedTuple):
    """The words of many texts as rows of the vectors' matrix, one text after another."""

    rows: array[int]
    """Words that have no vector are left out."""
    starts: array[int]
    """Where each text begins in `rows`, and the end of the last: one more than there are texts."""


def bags(texts: Iterable[Sequence[str]], vectors: Vectors) -> Bags:
    """Look up the words of each text, every distinct word once."""
    known: dict[str, int | None] = {}
    rows, starts = array("i"), array("i", [0])
    for text in texts:
        for word in text:
            if word not in known:
                known[word] = vectors.row(word)
            row = known[word]
            if row is not None:
                rows.append(row)
        starts.append(len(rows))
    return Bags(rows, starts)


def directions(found: Bags, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean vector of each text at length 1, shape (texts, dimensions); zeros where no word is known.

    Needs scipy: the bags are a sparse matrix, so that each word's vector is read
    and nothing is written in between.
    """
    import numpy as np

    csr_matrix = _sparse()
    count = len(found.starts) - 1
    ones = np.ones(len(found.rows), dtype=np.float32)
    rows, starts = np.asarray(found.rows, dtype=np.int32), np.asarray(found.starts, dtype=np.int32)
    sums: NDArray[np.float32] = csr_matrix((ones, rows, starts), shape=(count, len(matrix))) @ matrix
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    lengths[lengths == 0] = 1
    sums /= lengths[:, None]
    return sums


def cosines(
    first: NDArray[np.float32], second: NDArray[np.float32], groups: Iterable[tuple[slice, slice]]
) -> Iterator[NDArray[np.float32]]:
    """For each group of rows of both: the cosines of all its pairs, shape (rows of first, rows of second)."""
    for one, other in groups:
        yield first[one] @ second[other].T


def _sparse() -> Callable[..., NDArray[np.float32]]:
    try:
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise DataError(
            ["similarity by word vectors needs scipy: pip install 'gluebench[recipes]'"]
        ) from None
    return csr_matrix  # type: ignore[no-any-return]
