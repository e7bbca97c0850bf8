from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from oracles.recurrent import both_ways, gru_step, least_squares  # noqa: E402
from systems.weights import files  # noqa: E402

from gluebench.systems.encoders.gensen import GenSen, GenSenEncoder  # noqa: E402
from gluebench.systems.weights import WeightsError  # noqa: E402

LEARNED = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "a",
    "warm",
    "evening",
    "came",
    ".",
    "the",
    "café",
    "it's",
    "to",
    "of",
]
TEXTS = ["A warm evening came .", "", "café it's", "the qqq lake zzz", "Evening " * 80]


def formula(
    arrays: files.Arrays, words: list[str], text: str, added: dict[str, Any], *, layers: int = 1
) -> Any:
    """Outputs (length, 2 x hidden) for the marked sentence in small letters."""
    table = arrays["src_embedding.weight"]
    rows = [
        added[word] if word in added else table[words.index(word) if word in words else 3]
        for word in ["<s>", *text.lower().split(), "</s>"]
    ]
    return both_ways(arrays, np.array(rows), step=gru_step, layers=layers, prefix="encoder.")


def last(outputs: Any) -> Any:
    """The backward direction's state at the beginning, then the forward one's at the end."""
    half = outputs.shape[1] // 2
    return np.concatenate([outputs[0, half:], outputs[-1, :half]])


@pytest.mark.parametrize("layers", [1, 2])
def test_last_state_and_maximum_equal_the_formulas(tmp_path: Path, layers: int) -> None:
    torch.set_num_threads(1)
    paths, arrays = files.write_gensen(tmp_path, "one", LEARNED, layers=layers)
    model = GenSen.from_files(*paths)
    tokens = [text.split() for text in TEXTS]
    ends, most, padded = (
        model(tokens),
        model(tokens, pooling="max"),
        model(tokens, pooling="max", padding="zero"),
    )
    assert ends.shape == most.shape == (5, model.dim) == (5, 10)
    for row, text in enumerate(TEXTS):
        outputs = formula(arrays, LEARNED, text, {}, layers=layers)
        np.testing.assert_allclose(ends[row], last(outputs), atol=1e-5)
        np.testing.assert_allclose(most[row], outputs.max(axis=0), atol=1e-5)
        zeros = outputs.max(axis=0) if row == 4 else np.maximum(outputs.max(axis=0), 0)
        np.testing.assert_allclose(padded[row], zeros, atol=1e-5)


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_two_models_side_by_side_with_words_added(tmp_path: Path, batch: int) -> None:
    torch.set_num_threads(1)
    other = [*LEARNED[:4], "lake", *LEARNED[4:]]
    _, first = files.write_gensen(tmp_path, "one", LEARNED)
    _, second = files.write_gensen(tmp_path, "second", other, hidden=3)
    vectors = files.write_vectors(tmp_path / "glove.txt", [*LEARNED[4:], "lake", "unused"], 5)
    words = tmp_path / "glove.txt"
    system = GenSenEncoder(tmp_path, str.split, models="one,second", vectors=words, batch=batch)
    found = np.concatenate([system.encode(TEXTS[:2]), system.encode(TEXTS[2:])])
    assert found.shape == (5, system.dim) == (5, 16)
    shared = LEARNED[4:]
    given = np.array([vectors[word] for word in shared])
    wanted = first["src_embedding.weight"][4:]
    added = {"lake": least_squares(given, wanted, np.array([vectors["lake"]]))[0]}
    for row, text in enumerate(TEXTS):
        expected = [last(formula(first, LEARNED, text, added)), last(formula(second, other, text, {}))]
        np.testing.assert_allclose(found[row], np.concatenate(expected), atol=1e-5)


def test_without_word_vectors_unknown_words_are_all_one(tmp_path: Path) -> None:
    files.write_gensen(tmp_path, "one", LEARNED)
    found = GenSenEncoder(tmp_path, str.split, models="one").encode(["the lake", "the zzz", "the warm"])
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.abs(found[0] - found[2]).max() > 1e-3


def test_prepared_words_need_the_word_vectors_no_more(tmp_path: Path) -> None:
    files.write_gensen(tmp_path, "one", LEARNED)
    files.write_vectors(tmp_path / "glove.txt", [*LEARNED, "lake"], 5)
    system = GenSenEncoder(tmp_path, str.split, models="one", vectors=tmp_path / "glove.txt")
    system.prepare(TEXTS)
    (tmp_path / "glove.txt").unlink()
    assert system.encode(TEXTS).shape == (5, 10)
    assert system.encode([]).shape == (0, 10)


def test_word_vectors_that_share_no_word(tmp_path: Path) -> None:
    files.write_gensen(tmp_path, "one", LEARNED)
    files.write_vectors(tmp_path / "glove.txt", ["lake"], 5)
    system = GenSenEncoder(tmp_path, str.split, models="one", vectors=tmp_path / "glove.txt")
    with pytest.raises(WeightsError, match="none of the model's 14 words"):
        system.encode(["lake"])


def refused(model: Path, vocabulary: Path) -> str:
    with pytest.raises(WeightsError) as raised:
        GenSen.from_files(model, vocabulary)
    return str(raised.value)


def test_a_vocabulary_larger_than_the_table(tmp_path: Path) -> None:
    (model, vocabulary), _ = files.write_gensen(tmp_path, "one", LEARNED)
    vocabulary.write_bytes(files.python2_dictionary([*LEARNED, "more"]))
    assert "src_embedding.weight: (14, 4), expected (15, 4)" in refused(model, vocabulary)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"words": {}}, "holds words; expected word2id"),
        ([1, 2], "holds list; expected word2id"),
        ({"word2id": {"<s>": 0, "a": 1}}, "2 words without </s>, <unk>"),
        ({"word2id": {"<s>": 0, "</s>": 1, "<unk>": -1}}, "rows below 0"),
        ({"word2id": {"a": "first"}}, "expected word2id with a row number"),
    ],
)
def test_a_pickle_that_is_no_vocabulary(tmp_path: Path, held: object, said: str) -> None:
    (model, vocabulary), _ = files.write_gensen(tmp_path, "one", LEARNED)
    vocabulary.write_bytes(pickle.dumps(held))
    assert said in refused(model, vocabulary)


def test_a_pooling_that_is_none(tmp_path: Path) -> None:
    paths, _ = files.write_gensen(tmp_path, "one", LEARNED)
    with pytest.raises(ValueError, match="expected one of last, max"):
        GenSen.from_files(*paths)([["a"]], pooling="mean")  # type: ignore[arg-type]
