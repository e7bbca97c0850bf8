"""A BiLSTM row as a system, and its token vectors: GloVe or own ones, ELMo, or GloVe with CoVe."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from gluebench.benchmark import Task
from gluebench.data import DataError, Example
from gluebench.data.vectors import Vectors
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.trained_vectors import own_vectors
from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.token_vectors import CoveVectors, ElmoVectors, TableVectors, TokenVectors
from gluebench.systems.reproduce.row import CannotBeHadError, Files, Row, needed_files
from gluebench.systems.run import Say, held_out, quiet
from gluebench.systems.text.embeddings import embedding_matrix, vector_width
from gluebench.systems.text.tokens import kept_tokenizer
from gluebench.systems.text.vocabulary import most_frequent
from gluebench.systems.training.checkpoint import take_weights
from gluebench.systems.training.data import TaskData, dev_splits, load_task_data
from gluebench.systems.training.engine import engine
from gluebench.systems.training.evaluation import predict
from gluebench.systems.training.runs import best_runs
from gluebench.systems.weights.cove import Cove
from gluebench.systems.weights.elmo import Elmo

MakeVectors = Callable[[], TokenVectors]
"""Makes token vectors for a new model, with their trained parts newly initialized."""


def token_vectors(row: Row, files: Files, corpus: Corpus, tasks: Sequence[Task]) -> MakeVectors:
    """Return a function that makes token vectors for models of these tasks; read files once, now.

    Raises CannotBeHadError, DataError or WeightsError for missing or invalid files.
    """
    model = row.model
    longest, texts = int(model["longest"]), list(corpus.texts(tasks))
    tokenize = kept_tokenizer(texts, model["tokenizer"], longest)
    if model["words"] == "elmo":
        paths = [files.weight(name) for name in needed_files()["elmo"].files]
        elmo = Elmo.from_files(*paths, carry=model["elmo_carry"])

        def new_elmo() -> TokenVectors:
            elmo.forget()
            dropout, carry = model["elmo_dropout"], elmo.carry
            return ElmoVectors(elmo, elmo.dim, tokenize, dropout=dropout, carry=carry, longest=longest)

        return new_elmo
    vocabulary = most_frequent(map(tokenize, texts), most=model["vocabulary"])
    vectors: Path | Vectors | None = files.vectors
    if files.vectors is None:
        own = own_vectors(corpus, model["tokenizer"], model["vectors_dim"])
        # standard deviation 1, as of the vectors drawn for unknown words
        vectors = Vectors(own.rows, own.matrix / own.matrix.std())
    width = own.matrix.shape[1] if files.vectors is None else vector_width(files.vectors)
    lower = model["case"] == "either"
    table = embedding_matrix(vocabulary, vectors, dim=width, oov=model["oov"], seed=row.seeds[0], lower=lower)
    if model["words"] == "glove":
        return lambda: TableVectors(vocabulary, table, tokenize, longest=longest)
    cove = Cove.from_file(files.weight(*needed_files()["cove"].files))
    if cove.inputs != width:
        raise CannotBeHadError([f"{files.vectors}: vectors of {width} numbers; CoVe takes {cove.inputs}"])
    return lambda: CoveVectors(TableVectors(vocabulary, table, tokenize, longest=longest), cove, dim=cove.dim)


class NeuralSystem:
    """The paper's BiLSTMs. A multi-task row trains at its first prediction, on all tasks fitted by then."""

    def __init__(
        self,
        row: Row,
        corpus: Corpus,
        files: Files,
        *,
        folder: Path | None = None,
        device: str = "cpu",
        say: Say = quiet,
    ) -> None:
        """Runs are saved in the folder, so that a killed one can continue; without one, none are kept."""
        assert row.settings is not None  # a frozen row is not a NeuralSystem
        self._row, self._settings, self._together = row, row.settings, row.training == "multi-task"
        self._corpus, self._files, self._device, self._say = corpus, files, device, say
        self._scratch = None if folder else tempfile.TemporaryDirectory(prefix="gluebench-")
        self._folder = folder or Path(self._scratch.name if self._scratch else "")
        self._waiting: dict[str, TaskData] = {}
        self._models: dict[str, MultiTaskModel] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Train the task's own model, or collect its data for the model of all tasks."""
        data = task_data(task, train, dev)
        if self._together:
            self._models.clear()
            self._waiting[task.name] = data
        else:
            self._train({task.name: data})

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """Predict with the task's best model, trained now if needed; raises errors of data and files."""
        if self._waiting:
            self._train(self._waiting | self._auxiliary())
            self._waiting = {}
        if not examples:
            return []
        model = self._models[task.name]
        size, precision = self._settings.batch_size, self._settings.precision
        return predict(model, task.name, examples, batch_size=size, precision=precision)

    def parameters(self) -> int:
        """Count the trained weights of all models."""
        models = {id(model): model for model in self._models.values()}.values()
        weights = [weight for model in models for weight in model.parameters() if weight.requires_grad]
        return sum(weight.numel() for weight in weights)

    def _auxiliary(self) -> dict[str, TaskData]:
        names = self._row.auxiliary
        benchmark = self._corpus.benchmark
        known = {task.name for task in benchmark.auxiliary}
        if not set(names) & known:  # the benchmark has no such auxiliary data
            return {}
        # loaded with one task, since an empty list of tasks would mean all
        loaded = load_task_data(self._corpus.folder, benchmark, [benchmark.scored[0].name], names)
        return {name: entry for name, entry in loaded.items() if entry.auxiliary}

    def _train(self, data: Mapping[str, TaskData]) -> None:
        tasks = [entry.task for entry in data.values()]
        vectors, model = token_vectors(self._row, self._files, self._corpus, tasks), self._row.model

        def make(tasks: Sequence[Task]) -> MultiTaskModel:
            sizes = {name: model[name] for name in ("layers", "attention", "dropout", "pool_padding")}
            body = BiLstmBody(vectors(), model["hidden"], **sizes)
            return MultiTaskModel(body, tasks, hidden=model["classifier"])

        outcomes = best_runs(
            make,
            data,
            self._settings,
            self._row.seeds,
            together=self._together,
            folder=self._folder,
            say=self._say,
            make_engine=lambda: engine(self._settings.precision, self._device),
            about={"recipe": self._row.identity()},
            tensorboard=False,
        )
        loaded: dict[Path, MultiTaskModel] = {}
        for name, outcome in outcomes.items():
            if outcome.folder not in loaded:
                loaded[outcome.folder] = make(tasks)
                take_weights(loaded[outcome.folder], outcome)
            self._models[name] = loaded[outcome.folder].to(self._device)


def task_data(task: Task, train: Sequence[Example], dev: Sequence[Example]) -> TaskData:
    """Convert examples to a trainer's data, split by split; without dev, use a tenth of train as dev.

    A new dev split starts where the numbering of the examples restarts.
    """
    names = dev_splits(task)
    if not names:
        raise DataError(f"{task.name} has no dev split; a run is checked on it")
    if not dev:
        kept, tenth = held_out(train)
        return TaskData(task, kept, dict.fromkeys(names, tenth))
    starts = [0, *(at for at in range(1, len(dev)) if dev[at].index <= dev[at - 1].index), len(dev)]
    if len(starts) - 1 != len(names):
        expected = f"expected {len(names)} ({', '.join(names)}), each numbered upwards"
        raise DataError(f"{task.name}: the dev examples are of {len(starts) - 1} splits; {expected}")
    parts = [dev[start:end] for start, end in pairwise(starts)]
    return TaskData(task, train, dict(zip(names, parts, strict=True)))
