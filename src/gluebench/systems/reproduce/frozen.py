"""The encoder of a frozen row: CBoW, or a reader of its published weights."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gluebench.systems.encoders import entry_called
from gluebench.systems.encoders.cbow import CBoW
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.gensen import GenSenEncoder
from gluebench.systems.encoders.infersent import InferSentEncoder
from gluebench.systems.encoders.skip_thought import SkipThoughtEncoder
from gluebench.systems.encoders.trained_vectors import own_vectors
from gluebench.systems.probe.store import encode_into, store_of
from gluebench.systems.probe.system import ProbedEncoder
from gluebench.systems.protocols import SentenceEncoder
from gluebench.systems.reproduce.files import Files
from gluebench.systems.reproduce.presets import Recipe
from gluebench.systems.text.ptb import tokeniser


def encoder(recipe: Recipe, files: Files, corpus: Corpus, *, device: str = "cpu") -> SentenceEncoder:
    """The encoder of a row, its files read. Raises CannotBeHadError, DataError or WeightsError."""
    reader = recipe.encoder["reader"]
    if reader == "cbow":
        return _cbow(recipe, files, corpus)
    if reader == "skip-thought":
        return _skip_thought(recipe, files, device)
    return _infersent(recipe, files, device) if reader == "infersent" else _gensen(recipe, files, device)


def probed(
    recipe: Recipe, files: Files, corpus: Corpus, *, folder: Path | None, device: str = "cpu"
) -> ProbedEncoder:
    """The encoder with its classifiers; sentences are stored in the folder, or for as long as it is used.

    Published encoders encode all sentences of the corpus at once: word vectors are read in one pass, and
    vectors that depend on their batch ("zero" padding) do not depend on the order of the tasks.
    """
    assert recipe.probe is not None
    made = encoder(recipe, files, corpus, device=device)
    place = folder or Path(tempfile.mkdtemp(prefix="gluebench-"))
    place.mkdir(parents=True, exist_ok=True)
    path = place / "sentences.npy"
    if recipe.encoder["reader"] != "cbow":
        encode_into(store_of(path, made), made, list(corpus.there()))
    system = ProbedEncoder(made, recipe.probe.seeded(recipe.seeds[0]), vectors=path, device=device)
    if folder is None:
        weakref.finalize(system, shutil.rmtree, place, ignore_errors=True)
    return system


def _tokenise(options: Any) -> Callable[[str], list[str]]:
    tokenise, longest = tokeniser(options["tokeniser"]), options["longest"]
    return lambda text: tokenise(text)[:longest]


def _cbow(recipe: Recipe, files: Files, corpus: Corpus) -> SentenceEncoder:
    own = recipe.encoder
    if files.vectors is None:
        vectors = own_vectors(corpus, own["tokeniser"], own["vectors_dim"])
        return CBoW(vectors, name=f"cbow({corpus.benchmark.name}, own vectors)", most=own["longest"])
    options = {"tokeniser": own["tokeniser"], "most": str(own["longest"]), "case": own["case"]}
    return entry_called("cbow").made(options | {"vectors": str(files.vectors)}, corpus)


def _skip_thought(recipe: Recipe, files: Files, device: str) -> SentenceEncoder:
    own = recipe.encoder
    folder = files.weight("uni_skip.npz").parent
    return SkipThoughtEncoder(
        folder, _tokenise(own), kind=own["kind"], eos=own["eos"], device=device, name=recipe.row.name
    )


def _infersent(recipe: Recipe, files: Files, device: str) -> SentenceEncoder:
    own = recipe.encoder
    return InferSentEncoder(
        files.weight(own["weights"]),
        _vectors(files),
        _tokenise(own),
        version=own["version"],
        padding=own["padding"],
        device=device,
        name=recipe.row.name,
    )


def _gensen(recipe: Recipe, files: Files, device: str) -> SentenceEncoder:
    own = recipe.encoder
    pairs = [(files.weight(f"{name}.model"), files.weight(f"{name}_vocab.pkl")) for name in own["models"]]
    return GenSenEncoder(
        pairs,
        _tokenise(own),
        vectors=_vectors(files),
        pooling=own["pooling"],
        device=device,
        name=recipe.row.name,
    )


def _vectors(files: Files) -> Path:
    """The vectors, which `check_files` has seen to."""
    assert files.vectors is not None
    return files.vectors
