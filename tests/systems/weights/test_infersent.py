from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from oracles.recurrent import both_ways, lstm_step  # noqa: E402
from systems.weights import files  # noqa: E402

from gluebench.systems.encoders.infersent import InferSentEncoder, read_infersent  # noqa: E402
from gluebench.systems.weights import WeightsError  # noqa: E402

ARRAYS = files.recurrent(4, 6, 5, prefix="enc_lstm.")
TEXTS = ["a warm evening came .", "", "evening", "qqq zzz", "Evening " * 120, "a qqq evening"]
MARKED = files.WORDS


def encoder(
    folder: Path, words: list[str] = MARKED, **options: object
) -> tuple[InferSentEncoder, dict[str, object]]:
    torch.set_num_threads(1)
    weights = files.write_state(folder / "infersent.pkl", ARRAYS)
    vectors = files.write_vectors(folder / "vectors.txt", words, 6)
    return InferSentEncoder(weights, folder / "vectors.txt", str.split, **options), vectors  # type: ignore[arg-type]


def formula(vectors: dict[str, object], words: list[str], longest: int = 0) -> object:
    """The maximum over time, with as many zeros as fill the sentence up to the longest."""
    known = [vectors[word] for word in words if word in vectors] or [np.zeros(6)]
    outputs = both_ways(ARRAYS, np.array(known), step=lstm_step, prefix="enc_lstm.")
    return np.concatenate([outputs, np.zeros((max(0, longest - len(known)), 10))]).max(axis=0)


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_vectors_equal_the_formulas_in_order_whatever_the_batch(tmp_path: Path, batch: int) -> None:
    system, vectors = encoder(tmp_path, batch=batch)
    found = system.encode(TEXTS)
    assert found.dtype == np.float32
    assert found.shape == (len(TEXTS), system.dim) == (6, 10)
    for row, text in zip(found, TEXTS, strict=True):
        np.testing.assert_allclose(row, formula(vectors, ["<s>", *text.split(), "</s>"]), atol=1e-5)


def test_zero_padding_counts_in_the_maximum_as_published(tmp_path: Path) -> None:
    system, vectors = encoder(tmp_path, padding="zero", batch=2)
    texts = ["evening", "a warm evening came .", "warm"]
    found = system.encode(texts)
    # Batches from the longest: the long one with the first short one, the second short one alone.
    for row, text, longest in zip(found, texts, [7, 7, 3], strict=True):
        np.testing.assert_allclose(row, formula(vectors, ["<s>", *text.split(), "</s>"], longest), atol=1e-5)
    assert (found[0] >= 0).all()
    assert (found[2] < 0).any()


def test_version_2_has_other_marks_and_splits_not_as_fasttext_does(tmp_path: Path) -> None:
    system, vectors = encoder(tmp_path, version=2)
    found = system.encode(["a do n't warm"])
    np.testing.assert_allclose(
        found[0], formula(vectors, ["<p>", "a", "don", "'t", "warm", "</p>"]), atol=1e-5
    )


def test_a_sentence_without_known_words_where_the_marks_have_no_vectors(tmp_path: Path) -> None:
    system, vectors = encoder(tmp_path, ["a", "warm"])
    found = system.encode(["zzz", "a"])
    np.testing.assert_allclose(found[0], formula(vectors, []), atol=1e-5)
    np.testing.assert_allclose(found[1], formula(vectors, ["a"]), atol=1e-5)


def test_the_file_of_vectors_is_not_read_again_for_prepared_words(tmp_path: Path) -> None:
    system, _ = encoder(tmp_path)
    system.prepare(TEXTS)
    (tmp_path / "vectors.txt").unlink()
    assert system.encode(TEXTS[:2]).shape == (2, 10)


def test_no_sentences(tmp_path: Path) -> None:
    system, _ = encoder(tmp_path)
    assert system.encode([]).shape == (0, 10)


def test_vectors_of_another_width(tmp_path: Path) -> None:
    system, _ = encoder(tmp_path)
    files.write_vectors(tmp_path / "vectors.txt", ["a"], 4)
    with pytest.raises(WeightsError, match="vectors of 4 numbers; the model takes 6"):
        system.encode(["a"])


def test_a_padding_that_is_none(tmp_path: Path) -> None:
    system, _ = encoder(tmp_path, padding="ones")
    with pytest.raises(ValueError, match="expected one of mask, zero"):
        system.encode(["a"])


def test_the_weights_of_another_model(tmp_path: Path) -> None:
    path = files.write_state(tmp_path / "cove.pth", files.recurrent(4, 6, 5, layers=2))
    with pytest.raises(WeightsError, match=r"enc_lstm\.weight_ih_l0: missing, expected \(8192, 300\)"):
        read_infersent(path)
    extra = files.write_state(
        tmp_path / "more.pkl", ARRAYS | {"classifier.0.weight": files.random((2, 2), 1)}
    )
    with pytest.raises(WeightsError, match=r"classifier\.0\.weight: \(2, 2\), expected nothing"):
        read_infersent(extra)
