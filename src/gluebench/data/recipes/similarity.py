"""Similarity of texts as the cosine of their mean word vectors (continuous bag of words)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gluebench.data.vectors import Vectors


BLOCK = 256
"""Groups that are worked on at a time."""


class Bags(NamedTuple):
    """The words of many texts as rows of the vectors' matrix, one text after another."""

    rows: array[int]
    """Words that have no vector are left out."""
    starts: array[int]
    """Where each text begins in `rows`, and the end of the last: one more than there are texts."""


class Group(NamedTuple):
    """Texts that are compared with each other: a paragraph's questions, and right after them its sentences.

    They lie together since they share words, whose vectors are then still in the cache.
    """

    first: slice
    second: slice


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


def cosines(
    found: Bags, groups: Iterable[Group], matrix: NDArray[np.float32]
) -> Iterator[NDArray[np.float32]]:
    """For each group the cosines of all its pairs, shape (texts of first, texts of second).

    A text of which no word has a vector gives 0. The groups lie one after another. Needs scipy: the bags are
    a sparse matrix, so that each word's vector is read and nothing is written in between; and some hundred
    groups are worked on at a time, which stay in the cache.
    """
    import numpy as np

    queue = iter(groups)
    while block := list(islice(queue, BLOCK)):
        start = block[0].first.start
        means = _directions(found, start, block[-1].second.stop, matrix)
        for first, second in block:
            one = means[first.start - start : first.stop - start]
            other = means[second.start - start : second.stop - start]
            with np.errstate(invalid="ignore"):  # a BLAS may leave the flag set without an invalid value
                yield one @ other.T


def _directions(found: Bags, start: int, stop: int, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean vector of each text from start to stop at length 1, shape (texts, dimensions)."""
    import numpy as np

    csr_matrix = _sparse()
    starts = np.frombuffer(found.starts, dtype=np.intc)[start : stop + 1]
    rows = np.frombuffer(found.rows, dtype=np.intc)[starts[0] : starts[-1]] if found.rows else starts[:0]
    ones = np.ones(len(rows), dtype=np.float32)
    shape = (stop - start, len(matrix))
    sums: NDArray[np.float32] = csr_matrix((ones, rows, starts - starts[0]), shape=shape) @ matrix
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    lengths[lengths == 0] = 1
    sums /= lengths[:, None]
    return sums


def _sparse() -> Callable[..., NDArray[np.float32]]:
    try:
        from scipy.sparse import csr_matrix
    except ModuleNotFoundError:
        message = "similarity by word vectors needs scipy: pip install 'gluebench[recipes]'"
        raise ModuleNotFoundError(message, name="scipy") from None
    return csr_matrix  # type: ignore[no-any-return]
