"""From a row's name to a system that fits and predicts tasks: a BiLSTM, or an encoder with classifiers."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

from gluebench.systems.devices import arithmetic
from gluebench.systems.encoders.cbow import CBoW, cbow
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.gensen import GenSenEncoder
from gluebench.systems.encoders.infersent import InferSentEncoder
from gluebench.systems.encoders.skip_thought import SkipThoughtEncoder
from gluebench.systems.encoders.trained_vectors import own_vectors
from gluebench.systems.probe.store import encode_into, store_of
from gluebench.systems.probe.system import ProbedEncoder
from gluebench.systems.protocols import SentenceEncoder, TrainablePredictor
from gluebench.systems.reproduce.row import DEFAULT, Files, Row, check_files, row_called
from gluebench.systems.run import Say, quiet
from gluebench.systems.text.ptb import tokenizer

PathLike = str | os.PathLike[str]


def system(
    name: str,
    corpus: Corpus,
    *,
    preset: str = DEFAULT,
    vectors: PathLike | None = None,
    weights: PathLike | None = None,
    folder: PathLike | None = None,
    seeds: Sequence[int] = (),
    device: str = "cpu",
    precision: str | None = None,
    say: Say = quiet,
) -> TrainablePredictor:
    """The system of a row of Table 4, made from its file; `corpus` is the benchmark that it will answer.

    `vectors` is a file of word vectors, `weights` a folder of published weights, `folder` where runs are
    kept. A BiLSTM row trains a run for each seed and answers with the best on dev, a frozen row takes the
    first seed. Raises UnknownNameError for a row, preset or precision, CannotBeHadError for missing files.
    """
    files = Files(Path(vectors) if vectors else None, Path(weights) if weights else None)
    row = row_called(name).at(preset, seeds=seeds, precision=precision)
    return system_of(row, corpus, files, folder=Path(folder) if folder else None, device=device, say=say)


def system_of(
    row: Row,
    corpus: Corpus,
    files: Files,
    *,
    folder: Path | None = None,
    device: str = "cpu",
    say: Say = quiet,
) -> TrainablePredictor:
    """The system of a row. Raises CannotBeHadError for files that are not there, DataError or WeightsError.

    A frozen row stores its sentences in the folder, or for as long as it is used. Published encoders encode
    all sentences of the corpus at once: word vectors are read in one pass, and vectors that depend on their
    batch ("zero" padding) do not depend on the order of the tasks.
    """
    check_files(row, files)
    if row.probe is None:
        from gluebench.systems.reproduce.neural import NeuralSystem

        return NeuralSystem(row, corpus, files, folder=folder, device=device, say=say)
    encoder = _encoder(row, files, corpus, device)
    place = folder or Path(tempfile.mkdtemp(prefix="gluebench-"))
    place.mkdir(parents=True, exist_ok=True)
    path = place / "sentences.npy"
    if row.encoder["reader"] != "cbow":
        with arithmetic(row.precision):
            encode_into(store_of(path, encoder), encoder, list(corpus.there()))
    probed = ProbedEncoder(encoder, row.probe.seeded(row.seeds[0]), vectors=path, device=device)
    if folder is None:
        weakref.finalize(probed, shutil.rmtree, place, ignore_errors=True)
    return probed


def _encoder(row: Row, files: Files, corpus: Corpus, device: str) -> SentenceEncoder:
    """CBoW, or a reader of published weights."""
    own = dict(row.encoder)
    reader, split, longest = own.pop("reader"), own.pop("tokenizer"), own.pop("longest")
    dim, case = own.pop("vectors_dim", None), own.pop("case", "either")
    if reader == "cbow":
        if files.vectors is not None:
            return cbow(corpus, vectors=files.vectors, tokenizer=split, most=longest, case=case)
        trained = own_vectors(corpus, split, dim)
        return CBoW(trained, name=f"cbow({corpus.benchmark.name}, own vectors)", most=longest)
    tokenize = tokenizer(split)
    own |= {"device": device, "name": row.name}

    def tokens(text: str) -> list[str]:
        return tokenize(text)[:longest]

    if reader == "skip-thought":
        return SkipThoughtEncoder(files.weight("uni_skip.npz").parent, tokens, **own)
    assert files.vectors is not None  # `check_files` has seen to it
    if reader == "infersent":
        return InferSentEncoder(files.weight(own.pop("weights")), files.vectors, tokens, **own)
    models = own.pop("models")
    pairs = [(files.weight(f"{name}.model"), files.weight(f"{name}_vocab.pkl")) for name in models]
    return GenSenEncoder(pairs, tokens, vectors=files.vectors, **own)
