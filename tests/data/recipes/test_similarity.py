"""Cosines of mean word vectors, against the sum written out."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluebench.data.recipes import qa_pairs
from gluebench.data.recipes.qa_pairs import cosines, lookup
from gluebench.data.vectors import Vectors

NAMES = "abcdef"
VECTORS = Vectors(
    {name: at for at, name in enumerate(NAMES)},
    np.random.default_rng(1).standard_normal((len(NAMES), 5)).astype(np.float32),
)


def written_out(one: list[str], other: list[str]) -> float:
    means = [
        np.mean(
            [VECTORS.matrix[VECTORS.rows[word]] for word in text if word in VECTORS.rows] or [[0.0] * 5], 0
        )
        for text in (one, other)
    ]
    lengths = np.linalg.norm(means[0]) * np.linalg.norm(means[1])
    return float(means[0] @ means[1] / lengths) if lengths else 0.0


texts = st.lists(st.lists(st.sampled_from("abcdefx"), max_size=5), max_size=4)


@settings(max_examples=40)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.integers(1, 3))
def test_cosines_are_those_of_the_means(paragraphs: list[tuple[list[list[str]], ...]], block: int) -> None:
    groups = [(list(lookup(one, VECTORS)), list(lookup(other, VECTORS))) for one, other in paragraphs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qa_pairs, "BLOCK", block)
        found = list(cosines(groups, VECTORS.matrix))
    for (one, other), similar in zip(paragraphs, found, strict=True):
        expected = [[written_out(text, against) for against in other] for text in one]
        assert similar.shape == (len(one), len(other))
        np.testing.assert_allclose(similar, np.reshape(expected, similar.shape), atol=1e-5)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    one, other = lookup([["a"], ["b"]], VECTORS)
    with pytest.raises(ModuleNotFoundError, match=r"gluebench\[recipes\]"):
        list(cosines([([one], [other])], VECTORS.matrix))
