"""The token vectors of a BiLSTM row: GloVe or what stands for it, ELMo in its place, CoVe beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Task
from gluebench.data import DataError, load_split
from gluebench.data.vectors import Vectors
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.neural.token_vectors import CoveVectors, ElmoVectors, TableVectors, TokenVectors
from gluebench.systems.rows.files import CannotBeHadError, Files, needed_files
from gluebench.systems.rows.own import own_vectors
from gluebench.systems.rows.presets import Recipe
from gluebench.systems.text.embeddings import embedding_matrix
from gluebench.systems.text.ptb import tokeniser
from gluebench.systems.text.vocabulary import Vocabulary, most_frequent
from gluebench.systems.training.spec import vector_width
from gluebench.systems.weights.cove import Cove
from gluebench.systems.weights.elmo import Elmo

Floats = NDArray[np.float32]
MakeVectors = Callable[[], TokenVectors]
"""Makes token vectors for a new model: what they train is drawn or set afresh."""


def token_vectors(
    recipe: Recipe, files: Files, corpus: Corpus, tasks: Sequence[Task], *, seed: int
) -> MakeVectors:
    """Vectors for models of these tasks; files are read once, now.

    Raises CannotBeHadError, DataError or WeightsError for files that are not what they should be.
    """
    model = recipe.model
    tokenise, longest = tokeniser(model["tokeniser"]), int(model["longest"])
    if model["words"] == "elmo":
        paths = [files.weight(name) for name in needed_files()["elmo"].files]
        return _elmo(Elmo.from_files(*paths, carry=model["elmo_carry"]), recipe)
    counted = (tokenise(text)[:longest] for text in _texts(corpus, tasks))
    vocabulary = most_frequent(counted, most=model["vocabulary"])
    table = _table(recipe, files, corpus, vocabulary, seed=seed)
    if model["words"] == "glove":
        return lambda: TableVectors(vocabulary, table, tokenise, longest=longest)
    cove = Cove.from_file(files.weight(*needed_files()["cove"].files))
    if cove.inputs != table.shape[1]:
        raise CannotBeHadError(
            [f"{files.vectors}: vectors of {table.shape[1]} numbers; CoVe takes {cove.inputs}"]
        )
    return lambda: CoveVectors(TableVectors(vocabulary, table, tokenise, longest=longest), cove, dim=cove.dim)


def _elmo(elmo: Elmo, recipe: Recipe) -> MakeVectors:
    def make() -> TokenVectors:
        elmo.forget()
        return ElmoVectors(
            elmo,
            elmo.dim,
            tokeniser(recipe.model["tokeniser"]),
            dropout=recipe.model["elmo_dropout"],
            carry=elmo.carry,
            longest=recipe.model["longest"],
        )

    return make


def _texts(corpus: Corpus, tasks: Sequence[Task]) -> Iterator[str]:
    """The texts of all splits that are there, of these tasks and of those they answer: for the vocabulary."""
    names = {task.name for task in tasks}
    answered = [task for task in corpus.benchmark.tasks if task.predict_with in names]
    for task in (*tasks, *answered):
        for split in task.splits:
            try:
                examples = load_split(corpus.folder, corpus.benchmark, task.name, split)
            except DataError:  # test data need not be there; what is trained on was loaded before
                continue
            yield from (text for example in examples for text in example.inputs.values())


def _table(recipe: Recipe, files: Files, corpus: Corpus, vocabulary: Vocabulary, *, seed: int) -> Floats:
    model = recipe.model
    if files.vectors is not None:
        return embedding_matrix(
            vocabulary,
            files.vectors,
            dim=vector_width(files.vectors),
            oov=model["oov"],
            seed=seed,
            lower=model["case"] == "either",
        )
    own = own_vectors(corpus, model["tokeniser"], model["vectors_dim"])
    return _from_own(vocabulary, own, normal=model["oov"] == "normal", seed=seed)


def _from_own(vocabulary: Vocabulary, own: Vectors, *, normal: bool, seed: int) -> Floats:
    """Vectors at a deviation of 1, as is expected of those that are drawn beside them."""
    shape = (len(vocabulary), own.matrix.shape[1])
    draws = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    table = draws if normal else np.zeros(shape, dtype=np.float32)
    scaled = own.matrix / own.matrix.std()
    for word, row in zip(vocabulary.words, vocabulary.ids(vocabulary.words), strict=True):
        found = own.row(word)
        if found is not None:
            table[row] = scaled[found]
    table[0] = 0
    return table
