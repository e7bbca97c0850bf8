"""The encoders of published weights can be asked for by name, as a command does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from systems.weights import files

from gluebench.benchmark import Benchmark
from gluebench.data.recipes import OptionError
from gluebench.systems.encoders import ENCODERS, encoder_called
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.infersent import InferSentEncoder
from gluebench.systems.encoders.skip_thought import SkipThoughtEncoder
from gluebench.systems.text.ptb import tokenizer

TEXTS = ["a warm evening came .", "a", ""]


@pytest.fixture
def corpus(sample: Benchmark, sample_folder: Path) -> Corpus:
    return Corpus(sample, sample_folder)


@pytest.mark.parametrize("name", ["infersent", "dissent"])
def test_infersent_and_dissent_by_name_are_the_encoder_itself(
    corpus: Corpus, tmp_path: Path, name: str
) -> None:
    weights = files.write_state(tmp_path / "model.pkl", files.recurrent(4, 6, 5, prefix="enc_lstm."))
    files.write_vectors(tmp_path / "vectors.txt", files.WORDS, 6)
    given = {"weights": str(weights), "vectors": str(tmp_path / "vectors.txt"), "padding": "zero"}
    called = encoder_called(name, given, corpus)
    itself = InferSentEncoder(weights, tmp_path / "vectors.txt", tokenizer("ptb"), padding="zero")
    assert (called.name, called.dim) == (name, 10)
    np.testing.assert_allclose(called.encode(TEXTS), itself.encode(TEXTS), rtol=0, atol=1e-6)


def test_skip_thought_by_name_takes_its_kind(corpus: Corpus, tmp_path: Path) -> None:
    files.write_skip_thought(tmp_path, ["<eos>", "UNK", "a", "warm", "evening", "came", "."])
    called = encoder_called("skip-thought", {"weights": str(tmp_path), "kind": "uni"}, corpus)
    itself = SkipThoughtEncoder(tmp_path, tokenizer("ptb"), kind="uni")
    assert called.dim == 8
    np.testing.assert_allclose(called.encode(TEXTS), itself.encode(TEXTS), rtol=0, atol=1e-6)


def test_gensen_by_name_puts_its_models_side_by_side(corpus: Corpus, tmp_path: Path) -> None:
    for name in ("one", "two"):
        files.write_gensen(tmp_path, name, ["<s>", "<pad>", "</s>", "<unk>", "a", "warm"])
    called = encoder_called("gensen", {"weights": str(tmp_path), "models": "one,two"}, corpus)
    assert called.encode(TEXTS).shape == (3, called.dim) == (3, 20)


@pytest.mark.parametrize("name", [name for name in ENCODERS if name != "cbow"])
def test_files_that_are_not_named_are_asked_for(corpus: Corpus, name: str) -> None:
    with pytest.raises(OptionError, match="weights is not given; expected a path"):
        encoder_called(name, {}, corpus)


def test_a_choice_that_is_none_of_those_there_are_is_told(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="kind is 'tri'; expected one of uni, bi, combine"):
        encoder_called("skip-thought", {"weights": str(tmp_path), "kind": "tri"}, corpus)
