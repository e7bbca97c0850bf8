"""A BiLSTM row as a system, and its token vectors: GloVe or a stand-in, ELMo instead, CoVe beside it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Task
from gluebench.data import DataError, Example
from gluebench.data.vectors import Vectors
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.trained_vectors import own_vectors
from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.token_vectors import CoveVectors, ElmoVectors, TableVectors, TokenVectors
from gluebench.systems.reproduce.files import CannotBeHadError, Files, needed_files
from gluebench.systems.reproduce.presets import Recipe
from gluebench.systems.run import held_out
from gluebench.systems.text.embeddings import embedding_matrix
from gluebench.systems.text.ptb import tokeniser
from gluebench.systems.text.vocabulary import Vocabulary, most_frequent
from gluebench.systems.training.checkpoint import take_weights
from gluebench.systems.training.data import TaskData, dev_splits, load_task_data
from gluebench.systems.training.engine import engine
from gluebench.systems.training.evaluation import predict
from gluebench.systems.training.log import Say
from gluebench.systems.training.runs import best_runs
from gluebench.systems.training.settings import Settings
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
    counted = (tokenise(text)[:longest] for text in corpus.texts(tasks))
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
        own_row = own.row(word)
        if own_row is not None:
            table[row] = scaled[own_row]
    table[0] = 0
    return table


class NeuralSystem:
    """The paper's BiLSTMs. A multi-task row trains at its first prediction, on all data given by then."""

    def __init__(
        self,
        recipe: Recipe,
        corpus: Corpus,
        files: Files,
        *,
        folder: Path | None = None,
        device: str = "cpu",
        say: Say | None = None,
    ) -> None:
        """Runs are kept in the folder, so that a killed one can continue; without a folder none are kept."""
        self.recipe = recipe
        self._corpus, self._files, self._device, self._say = corpus, files, device, say
        self._scratch = None if folder else tempfile.TemporaryDirectory(prefix="gluebench-")
        self._folder = folder or Path(self._scratch.name if self._scratch else "")
        self._waiting: dict[str, TaskData] = {}
        self._models: dict[str, MultiTaskModel] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Train the task's own model, or note its data for the model of all tasks."""
        data = task_data(task, train, dev, self._corpus)
        if self.recipe.row.training == "multi-task":
            self._models.clear()
            self._waiting[task.name] = data
        else:
            self.train({task.name: data})

    def train(self, data: Mapping[str, TaskData]) -> None:
        """Train on these tasks, together or each by itself; raises what wrong data and files raise."""
        together = self.recipe.row.training == "multi-task"
        groups = [dict(data)] if together else [{name: entry} for name, entry in data.items()]
        for group in groups:
            tasks = [entry.task for entry in group.values()]
            auxiliary = self._auxiliary() if together else {}
            every = [*tasks, *(entry.task for entry in auxiliary.values())]
            vectors = token_vectors(self.recipe, self._files, self._corpus, every, seed=self.recipe.seeds[0])
            self._run(group | auxiliary, vectors)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The predictions of the task's best model."""
        if self._waiting:
            self.train(self._waiting)
            self._waiting = {}
        if not examples:
            return []
        model = self._models[task.name]
        return predict(model, task.name, examples, batch_size=self._settings.batch_size)

    def parameters(self) -> int:
        """The trained weights of all models."""
        models = {id(model): model for model in self._models.values()}
        return sum(
            weights.numel()
            for model in models.values()
            for weights in model.parameters()
            if weights.requires_grad
        )

    def _auxiliary(self) -> dict[str, TaskData]:
        names = self.recipe.auxiliary
        benchmark = self._corpus.benchmark
        known = {task.name for task in benchmark.auxiliary}
        if not set(names) & known:  # another benchmark's affair
            return {}
        # loaded with one task, since an empty list of tasks would mean all
        loaded = load_task_data(self._corpus.folder, benchmark, [benchmark.scored[0].name], names)
        return {name: entry for name, entry in loaded.items() if entry.auxiliary}

    def _run(self, data: Mapping[str, TaskData], vectors: MakeVectors) -> None:
        model, settings = self.recipe.model, self._settings

        def make(tasks: Sequence[Task]) -> MultiTaskModel:
            sizes = {name: model[name] for name in ("layers", "attention", "dropout", "pool_padding")}
            body = BiLstmBody(vectors(), model["hidden"], **sizes)
            return MultiTaskModel(body, tasks, hidden=model["classifier"])

        outcomes = best_runs(
            make,
            data,
            settings,
            self.recipe.seeds,
            together=self.recipe.row.training == "multi-task",
            folder=self._folder,
            say=self._say,
            make_engine=lambda: engine(settings.precision, self._device),
            about={"recipe": self.recipe.as_dict()},
            tensorboard=False,
        )
        loaded: dict[Path, MultiTaskModel] = {}
        for name, outcome in outcomes.items():
            if outcome.folder not in loaded:
                loaded[outcome.folder] = make([entry.task for entry in data.values()])
                take_weights(loaded[outcome.folder], outcome)
            self._models[name] = loaded[outcome.folder].to(self._device)

    @property
    def _settings(self) -> Settings:
        assert self.recipe.settings is not None  # a frozen row is no NeuralSystem
        return self.recipe.settings


def task_data(task: Task, train: Sequence[Example], dev: Sequence[Example], corpus: Corpus) -> TaskData:
    """The examples as a trainer has them: its dev splits apart; without dev, a tenth of train in its place.

    A new dev split starts where the numbering of the examples starts again.
    """
    names = dev_splits(task)
    if not names:
        raise DataError([f"{task.name} has no dev split; a run is checked on it"])
    if not dev:
        kept, held = held_out(train)
        return TaskData(task, kept, dict.fromkeys(names, held))
    starts = [0, *(at for at in range(1, len(dev)) if dev[at].index <= dev[at - 1].index), len(dev)]
    if len(starts) - 1 != len(names):
        expected = f"expected {len(names)} ({', '.join(names)}), each numbered upwards"
        raise DataError([f"{task.name}: the dev examples are of {len(starts) - 1} splits; {expected}"])
    parts = [dev[start:end] for start, end in pairwise(starts)]
    return TaskData(task, train, dict(zip(names, parts, strict=True)))
