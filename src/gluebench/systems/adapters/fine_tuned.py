"""A checkpoint that is fine-tuned on each task, with models and states kept in a folder."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

from torch import nn

from gluebench.benchmark import Task
from gluebench.benchmark.atomic import write_json
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters import ModelError, files_digest
from gluebench.systems.adapters.fine_tuning import FineTuning, Recipe
from gluebench.systems.adapters.huggingface import Checkpoint, expect_answerable, quiet_transformers
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.transformer import ClassifierBody, with_adapters
from gluebench.systems.protocols import Counting, silent
from gluebench.systems.run import quiet
from gluebench.systems.training.checkpoint import Outcome
from gluebench.systems.training.data import TaskData, split_dev
from gluebench.systems.training.engine import engine, seeded
from gluebench.systems.training.progress import WEIGHTS
from gluebench.systems.training.trainer import Trainer

T = TypeVar("T")
Splits = tuple[Task, Sequence[Example], Sequence[Example]]
"""A task, its training examples and those of its dev splits."""
RUNS = "runs"
"""Folder, in that of a task, with one run of the trainer for each fingerprint."""
RECORD = "training.json"
"""File of a task's folder once its model is complete."""


class CheckpointPerTask(Checkpoint):
    """A checkpoint of which one copy is fine-tuned on each task.

    Several processes started by a launcher do so together, each on its device: all make the same calls, each
    computes its share, and only the leading one writes into the folder.
    """

    def __init__(
        self,
        name: str,
        recipe: Recipe | None = None,
        *,
        folder: Path | None = None,
        keep: bool = False,
        data: Callable[[str], Splits] | None = None,
        seed: int = 0,
        device: str = "cpu",
        precision: str = "fp32",
        counting: Counting = silent,
        say: Callable[[str], None] = quiet,
    ) -> None:
        """`folder` gets the models, and the states to resume from; `keep` leaves the models there at the end.

        `data` gives a task by its name, with its splits, for recipes that begin with one. Raises ModelError
        for a checkpoint that cannot be loaded.
        """
        super().__init__(name, engine=engine(precision, device), counting=counting)
        self._recipe = recipe or Recipe()
        self._keep = keep
        self._data = data
        self._seed = seed
        self._precision = precision
        self._say = say
        self._scratch = None if folder else tempfile.TemporaryDirectory(prefix="gluebench-")
        self._folder = self.broadcast(folder or Path(self._scratch.name if self._scratch else ""))
        self._models: dict[str, nn.Module] = {}
        self._begun_with: set[str] = set()

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Fine-tune a new copy on train, by `Trainer`; dev chooses the epoch if the recipe says so.

        A model that is already in the folder, trained on the same data with the same settings, is loaded;
        training that was interrupted goes on. Raises ModelError.
        """
        expect_answerable(task)
        recipe = self._recipe.of(task.name)
        start = self._start(recipe.begin_with) if recipe.begin_with else self._name
        labeled = [] if any(example.label is None for example in dev) else dev
        data = TaskData(task, train, split_dev(task, labeled))
        home = self.home(task.name)
        fingerprint = self._fingerprint(start, recipe, data)
        if self.broadcast(_fingerprint_of_finished(home) == fingerprint):
            self._models[task.name] = self._model(str(home))
            return
        with seeded(self._seed):
            classifier = self._new(start, task, recipe)
        body = ClassifierBody(classifier, self._tokenizer, longest=recipe.max_length)
        named_start = {"begin_with": Path(recipe.begin_with).name}  # a card names no folder of this machine
        trainer = Trainer(
            MultiTaskModel(body, [task], hidden=None),
            {task.name: data},
            recipe.training(seed=self._seed, precision=self._precision, has_dev=bool(data.dev)),
            home / RUNS / fingerprint,
            say=self._say,
            engine=self._engine,
            about={
                "title": f"{Path(self._name).name}, fine-tuned on {task.name}",
                "recipe": {**recipe._asdict(), **named_start},
            },
        )
        try:
            outcome = trainer.train()
        except FloatingPointError as error:
            raise ModelError(f"hf:{self._name}: {error}") from None
        if recipe.lora_rank:
            classifier = cast(Any, classifier).merge_and_unload()
        self._models[task.name] = classifier
        if self._engine.rank == 0:
            self._write(classifier, task, outcome, recipe, fingerprint)
        self.broadcast(None)  # no process reads the folder before it is complete

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable word, or the score cut to the task's range."""
        model = self._models[task.name]
        settings = self._recipe.of(task.name)
        if not examples:
            return []
        encodings = self._encodings(task, examples, settings.max_length)
        advance = self._counting("predicted", "examples")
        logits = self._logits(model, encodings, 2 * settings.batch_size, advance)
        return targets.answers(task, logits.double().numpy())

    def forget(self, task: Task) -> None:
        """Drop the task's model once all its files are answered."""
        self._models.pop(task.name, None)
        if not self._keep and task.name not in self._begun_with and self._engine.rank == 0:
            shutil.rmtree(self.home(task.name), ignore_errors=True)

    def effort(self, task: Task) -> float:
        """How many predictions take as long as learning from one example: three for each epoch."""
        return 3.0 * self._recipe.of(task.name).epochs

    def broadcast(self, value: T) -> T:
        """The leading process's value; every process waits here for the others."""
        return cast(T, self._engine.gather(value)[0])

    def home(self, task: str) -> Path:
        """The folder of a task's model."""
        return self._folder / quote(task, safe="")

    def _start(self, begin_with: str) -> str:
        """The folder of the checkpoint to begin with; a task's model is trained if there is none yet."""
        if Path(begin_with).is_dir():
            return begin_with
        self._begun_with.add(begin_with)
        if begin_with not in self._models:
            if self._data is None:
                raise ModelError(f"there are no data of {begin_with}, with which the recipe begins")
            self._say(f"begins with {begin_with}")
            self.fit(*self._data(begin_with))
            self._models.pop(begin_with)
        return str(self.home(begin_with))

    def _new(self, start: str, task: Task, settings: FineTuning) -> nn.Module:
        """A copy of the checkpoint with a head for the task, and adapters if the settings say so."""
        words = dict(enumerate(task.words))
        names = {"id2label": words, "label2id": {word: code for code, word in words.items()}} if words else {}
        model = self._model(start, num_labels=len(words) or 1, ignore_mismatched_sizes=True, **names)
        if not settings.lora_rank:
            return model
        return with_adapters(
            model,
            rank=settings.lora_rank,
            alpha=settings.lora_alpha,
            dropout=settings.lora_dropout,
            kind="SEQ_CLS",
        )

    def _fingerprint(self, start: str, recipe: FineTuning, data: TaskData) -> str:
        """A digest of everything that training depends on but the number of processes."""
        checkpoint = _fingerprint_of_finished(Path(start)) or files_digest(start) or start
        settings = {**recipe._asdict(), "seed": self._seed, "precision": self._precision}
        parts = [checkpoint, settings, data.fingerprints()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def _write(
        self, model: nn.Module, task: Task, outcome: Outcome, recipe: FineTuning, fingerprint: str
    ) -> None:
        """Save the model and its tokenizer, then the record that it is complete.

        Of the run its log and card are left, of runs with other settings nothing.
        """
        home = self.home(task.name)
        with quiet_transformers():
            cast(Any, model).save_pretrained(home)
            self._tokenizer.save(home)
        record = {
            "seed": self._seed,
            "fingerprint": fingerprint,
            "processes": self._engine.world,
            **recipe._asdict(),
            "epoch": outcome.tasks[task.name].check,
            "steps": outcome.updates,
            "seconds": outcome.seconds,
        }
        write_json(home / RECORD, record)
        for run in (home / RUNS).iterdir():
            if run != outcome.folder:
                shutil.rmtree(run)
        for path in outcome.folder.glob(f"{WEIGHTS}*"):
            path.unlink()


def _fingerprint_of_finished(home: Path) -> str | None:
    """The fingerprint of the model that is complete in a folder."""
    try:
        values: dict[str, Any] = json.loads((home / RECORD).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return values.get("fingerprint")
