"""A checkpoint that is fine-tuned on each task, with models and states kept in a folder."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

import torch
from torch import Tensor, nn

from gluebench.benchmark import Task
from gluebench.benchmark.atomic import write_json
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters import ModelError, files_digest
from gluebench.systems.adapters.fine_tuner import Examples, Loop
from gluebench.systems.adapters.fine_tuning import FineTuning, Recipe
from gluebench.systems.adapters.huggingface import Checkpoint, Encoding, muted
from gluebench.systems.protocols import Advance, Counting, silent
from gluebench.systems.run import quiet
from gluebench.systems.training.engine import engine
from gluebench.systems.training.evaluation import cut_message, texts

T = TypeVar("T")
TaskData = tuple[Task, Sequence[Example], Sequence[Example]]
"""A task, its training examples and those of its dev splits."""
STATE = "state.pt"
"""File of a task's folder while its model is trained."""
RECORD = "training.json"
"""File of a task's folder once its model is complete."""


class FineTunedHere(Checkpoint):
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
        data: Callable[[str], TaskData] | None = None,
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
        self._recipe, self._keep, self._data = recipe or Recipe(), keep, data
        self._seed, self._bf16, self._say = seed, precision == "bf16", say
        self._scratch = None if folder else tempfile.TemporaryDirectory(prefix="gluebench-")
        self._folder = self.agreed(folder or Path(self._scratch.name if self._scratch else ""))
        self._models: dict[str, nn.Module] = {}
        self._begun_with: set[str] = set()

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Fine-tune a new copy on train; dev chooses the epoch if the recipe says so.

        A model that is already in the folder, trained on the same data with the same settings, is loaded;
        training that was interrupted goes on. Raises ModelError.
        """
        settings = self._recipe.of(task.name)
        start = self._start(settings.begin_with) if settings.begin_with else self._name
        if task.labels:
            values = torch.tensor(targets.codes(task, train))
        else:
            values = torch.tensor(targets.numbers(task, train), dtype=torch.float32)
        encodings = self._encodings(task, train, settings.max_length)
        self._tell_cut(task, train, encodings, settings)
        home = self.home(task.name)
        checked = dev if settings.best_on_dev else ()
        fingerprint = _fingerprint(self._name, settings, self._seed, self._bf16, encodings, values, checked)
        if self.agreed(_finished(home) == fingerprint):
            self._models[task.name] = self._model(str(home))
            return
        device = self._engine.device
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(self._seed)
            model = self._new(start, task, settings)
            examples = Examples(
                [len(fields["input_ids"]) for fields in encodings],
                lambda rows: self._batch([encodings[row] for row in rows]),
                values,
            )
            loop = Loop(
                model,
                examples,
                settings,
                name=f"hf:{self._name}, {task.name}",
                seed=self._seed,
                engine=self._engine,
                state=home / STATE,
                fingerprint=fingerprint,
            )

            def score() -> float:
                return targets.score(task, dev, self._answers(model, task, dev, silent("", "")))

            advance = self._counting(f"{task.name}: trained", "steps")
            outcome = loop.run(score if checked else None, advance)
        if settings.lora_rank:
            model = cast(Any, model).merge_and_unload()
        self._models[task.name] = model
        if self._engine.rank == 0:
            record = {"fingerprint": fingerprint, "processes": self._engine.world}
            self._write(model, home, {**record, **settings._asdict(), **outcome._asdict()})
        self.agreed(None)  # no process reads the folder before it is complete

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable word, or the score cut to the task's range."""
        return self._answers(self._models[task.name], task, examples, self._counting("predicted", "examples"))

    def forget(self, task: Task) -> None:
        """Drop the task's model once all its files are answered."""
        self._models.pop(task.name, None)
        if not self._keep and task.name not in self._begun_with and self._engine.rank == 0:
            shutil.rmtree(self.home(task.name), ignore_errors=True)

    def effort(self, task: Task) -> float:
        """How many predictions take as long as learning from one example: three for each epoch."""
        return 3.0 * self._recipe.of(task.name).epochs

    def agreed(self, value: T) -> T:
        """The leading process's value; every process waits here for the others."""
        return cast(T, self._engine.gathered(value)[0])

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
        from peft import LoraConfig, TaskType, get_peft_model

        config = LoraConfig(
            task_type=TaskType.SEQ_CLS,
            r=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules="all-linear",
        )
        return cast(nn.Module, get_peft_model(cast(Any, model), config))

    def _answers(
        self, model: nn.Module, task: Task, examples: Sequence[Example], advance: Advance
    ) -> list[str | float]:
        if not examples:
            return []
        settings = self._recipe.of(task.name)
        encodings = self._encodings(task, examples, settings.max_length)
        logits = self._logits(model, encodings, 2 * settings.batch_size, advance)
        return targets.answers(task, logits.double().numpy())

    def _tell_cut(
        self, task: Task, train: Sequence[Example], encodings: Sequence[Encoding], settings: FineTuning
    ) -> None:
        cut = self._tokenizer.count_cut(texts(train), encodings)
        if cut:
            self._say(cut_message(task, cut, len(train), settings.max_length, "--max-length"))

    def _write(self, model: nn.Module, home: Path, values: Mapping[str, Any]) -> None:
        """Save the model and its tokenizer, then the record that it is complete; remove the state."""
        home.mkdir(parents=True, exist_ok=True)
        with muted():
            cast(Any, model).save_pretrained(home)
            self._tokenizer.save(home)
        write_json(home / RECORD, {"seed": self._seed, **values})
        (home / STATE).unlink(missing_ok=True)


def _finished(home: Path) -> str | None:
    """The fingerprint of the model that is complete in a folder."""
    try:
        values: dict[str, Any] = json.loads((home / RECORD).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return values.get("fingerprint")


def _fingerprint(name: str, *parts: Any) -> str:
    """A digest of everything that training depends on."""
    digest = hashlib.sha256(f"{name} {files_digest(name)}".encode())
    for part in parts:
        values = part.tolist() if isinstance(part, Tensor) else part
        digest.update(repr(values).encode())
    return digest.hexdigest()[:32]
