"""From a row's name to a system that fits and predicts tasks: a BiLSTM, or an encoder with classifiers."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gluebench.benchmark import Task
from gluebench.data import DataError, Example
from gluebench.data.vectors import Vectors, vector_width
from gluebench.systems.devices import arithmetic
from gluebench.systems.encoders.cbow import CBoW, cbow
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.gensen import GenSenEncoder
from gluebench.systems.encoders.infersent import InferSentEncoder
from gluebench.systems.encoders.skip_thought import SkipThoughtEncoder
from gluebench.systems.encoders.trained_vectors import own_vectors
from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.token_vectors import CoveVectors, ElmoVectors, TableVectors, TokenVectors
from gluebench.systems.probe.store import encode_into, store_of
from gluebench.systems.probe.system import ProbedEncoder
from gluebench.systems.protocols import SentenceEncoder, TrainablePredictor
from gluebench.systems.reproduce.row import (
    DEFAULT,
    Files,
    MissingFilesError,
    Row,
    check_files,
    needed_files,
    row_called,
)
from gluebench.systems.run import Say, hold_out, quiet
from gluebench.systems.text.embeddings import embedding_matrix
from gluebench.systems.text.ptb import cached_tokenizer, tokenizer
from gluebench.systems.text.vocabulary import most_frequent
from gluebench.systems.training.checkpoint import take_weights
from gluebench.systems.training.data import TaskData, dev_splits, load_task_data, split_dev
from gluebench.systems.training.engine import engine
from gluebench.systems.training.evaluation import predict
from gluebench.systems.training.runs import Runs
from gluebench.systems.weights.elmo import Elmo
from gluebench.systems.weights.recurrent import Cove

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
    first seed. Raises UnknownNameError for a row, preset or precision, MissingFilesError for missing files.
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
    """The system of a row. Raises MissingFilesError for files that are not there, DataError or WeightsError.

    Runs and sentence vectors are kept in the folder; without one, for as long as the system is used.
    Published encoders encode all sentences of the corpus at once: word vectors are read in one pass, and
    vectors that depend on their batch ("zero" padding) do not depend on the order of the tasks.
    """
    check_files(row, files)
    place = folder or Path(tempfile.mkdtemp(prefix="gluebench-"))
    place.mkdir(parents=True, exist_ok=True)
    made: NeuralSystem | ProbedEncoder
    if row.probe is None:
        made = NeuralSystem(row, corpus, files, place, device, say)
    else:
        encoder = _encoder(row, files, corpus, device)
        path = place / "sentences.npy"
        if row.encoder["reader"] != "cbow":
            with arithmetic(row.precision):
                encode_into(store_of(path, encoder), encoder, list(corpus.there()))
        made = ProbedEncoder(encoder, row.probe.seeded(row.seeds[0]), vectors=path, device=device)
    if folder is None:
        weakref.finalize(made, shutil.rmtree, place, ignore_errors=True)
    return made


def _encoder(row: Row, files: Files, corpus: Corpus, device: str) -> SentenceEncoder:
    """CBoW, or a reader of published weights."""
    own = dict(row.encoder)
    reader = own.pop("reader")
    split = own.pop("tokenizer")
    longest = own.pop("longest")
    dim = own.pop("vectors_dim", None)
    case = own.pop("case", "either")
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
    names = own.pop("models")
    home = files.weight(f"{names[0]}.model").parent
    return GenSenEncoder(home, tokens, models=",".join(names), vectors=files.vectors, **own)


MakeVectors = Callable[[], TokenVectors]
"""Makes token vectors for a new model, with their trained parts newly initialized."""


def token_vectors(row: Row, files: Files, corpus: Corpus, tasks: Sequence[Task]) -> MakeVectors:
    """Return a function that makes token vectors for models of these tasks; read files once, now.

    Raises MissingFilesError, DataError or WeightsError for missing or invalid files.
    """
    model = row.model
    longest = int(model["longest"])
    texts = list(corpus.texts(tasks))
    tokenize = cached_tokenizer(texts, model["tokenizer"], longest)
    if model["words"] == "elmo":
        paths = [files.weight(name) for name in needed_files()["elmo"].files]
        elmo = Elmo.from_files(*paths, carry=model["elmo_carry"])

        def new_elmo() -> TokenVectors:
            elmo.forget()
            dropout = model["elmo_dropout"]
            carry = elmo.carry
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
        raise MissingFilesError([f"{files.vectors}: vectors of {width} numbers; CoVe takes {cove.inputs}"])
    return lambda: CoveVectors(TableVectors(vocabulary, table, tokenize, longest=longest), cove, dim=cove.dim)


@dataclass(eq=False)
class NeuralSystem:
    """The paper's BiLSTMs. A multi-task row trains at its first prediction, on all tasks fitted by then."""

    row: Row
    corpus: Corpus
    files: Files
    folder: Path
    """Of the runs, so that a killed one can continue."""
    device: str = "cpu"
    say: Say = quiet

    def __post_init__(self) -> None:
        assert self.row.settings is not None  # a frozen row is not a NeuralSystem
        self._settings = self.row.settings
        self._together = self.row.training == "multi-task"
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
        size = self._settings.batch_size
        precision = self._settings.precision
        return predict(model, task.name, examples, batch_size=size, precision=precision)

    def _auxiliary(self) -> dict[str, TaskData]:
        names = self.row.auxiliary
        benchmark = self.corpus.benchmark
        known = {task.name for task in benchmark.auxiliary}
        if not set(names) & known:  # the benchmark has no such auxiliary data
            return {}
        # loaded with one task, since an empty list of tasks would mean all
        loaded = load_task_data(self.corpus.folder, benchmark, [benchmark.scored[0].name], names)
        return {name: entry for name, entry in loaded.items() if entry.auxiliary}

    def _train(self, data: Mapping[str, TaskData]) -> None:
        tasks = [entry.task for entry in data.values()]
        vectors = token_vectors(self.row, self.files, self.corpus, tasks)
        model = self.row.model

        def make(tasks: Sequence[Task]) -> MultiTaskModel:
            sizes = {name: model[name] for name in ("layers", "attention", "dropout", "pool_padding")}
            body = BiLstmBody(vectors(), model["hidden"], **sizes)
            return MultiTaskModel(body, tasks, hidden=model["classifier"])

        runs = Runs(
            make,
            self._settings,
            self.row.seeds,
            make_engine=lambda: engine(self._settings.precision, self.device),
            about={"recipe": self.row.identity()},
        )
        outcomes = runs.best(data, self.folder, together=self._together, say=self.say)
        loaded: dict[Path, MultiTaskModel] = {}
        for name, outcome in outcomes.items():
            if outcome.folder not in loaded:
                loaded[outcome.folder] = make(tasks)
                take_weights(loaded[outcome.folder], outcome)
            self._models[name] = loaded[outcome.folder].to(self.device)


def task_data(task: Task, train: Sequence[Example], dev: Sequence[Example]) -> TaskData:
    """Convert examples to a trainer's data, split by split; without dev, use a tenth of train as dev."""
    names = dev_splits(task)
    if not names:
        raise DataError(f"{task.name} has no dev split; a run is checked on it")
    if dev:
        return TaskData(task, train, split_dev(task, dev))
    kept, tenth = hold_out(train)
    return TaskData(task, kept, dict.fromkeys(names, tenth))
