"""A trained system as one loads it: a folder that answers the tasks it was trained for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.benchmark import Task, UnknownNameError
from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError, Example
from gluebench.systems.training.outcome import CARD, Outcome, read_outcome
from gluebench.systems.training.spec import read_model

if TYPE_CHECKING:
    from gluebench.systems.neural.model import MultiTaskModel

FILE = "trained.json"
SCHEMA = "gluebench.trained/1"


def write_trained(folder: Path, chosen: Mapping[str, Outcome], *, title: str) -> None:
    """Note which run answers which task; the runs are folders below this one."""
    tasks = {name: outcome.folder.relative_to(folder).as_posix() for name, outcome in chosen.items()}
    write_json(folder / FILE, {"schema": SCHEMA, "title": title, "tasks": tasks})


class TrainedSystem:
    """Answers by the models in a folder that `gluebench train` wrote.

    `read` makes the model of a run's parent folder anew, for models that are no BiLSTM over word vectors.
    Raises DataError for a folder that is none.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        device: str = "cpu",
        batch_size: int = 128,
        read: Callable[[Path], MultiTaskModel] = read_model,
    ) -> None:
        self.folder = Path(folder)
        values = _values(self.folder / FILE)
        self.title: str = values["title"]
        self._runs: dict[str, str] = values["tasks"]
        self._device = device
        self._batch_size = batch_size
        self._read = read
        self._loaded: tuple[Path, MultiTaskModel] | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks it was trained for."""
        return tuple(self._runs)

    def runs(self) -> list[Path]:
        """Folders of the runs that answer, each once."""
        return [self.folder / run for run in dict.fromkeys(self._runs.values())]

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """One label word, or a score, for each example; a task that names another is answered by its model.

        Raises UnknownNameError for a task that it was not trained for.
        """
        from gluebench.systems.training.evaluation import predict

        name = task.name if task.name in self._runs else task.predict_with or task.name
        if name not in self._runs:
            raise UnknownNameError(name, list(self._runs), what=f"task that {self.title} was trained for")
        return predict(self._model(name), name, examples, batch_size=self._batch_size)

    def parameters(self) -> int:
        """Trained weights, over the models of all tasks."""
        cards = [_values(run / CARD, None) for run in self.runs()]
        return sum(card["model"]["trained_parameters"] for card in cards)

    def _model(self, task: str) -> MultiTaskModel:
        """The model of a task; the one that was used last is kept."""
        from gluebench.systems.training import checkpoint

        run = self.folder / self._runs[task]
        outcome = read_outcome(run)
        if outcome is None:
            raise DataError([f"{run}: no finished run; train it again"])
        file = run / outcome.tasks[task].weights
        if self._loaded is None or self._loaded[0] != file:
            model = self._read(run.parent)
            checkpoint.take_weights(model, outcome, task)
            self._loaded = file, model.to(self._device)
        return self._loaded[1]


def _values(path: Path, schema: str | None = SCHEMA) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError([f"{path}: {error.strerror}; expected a folder that gluebench train wrote"]) from None
    except ValueError as error:
        raise DataError([f"{path}: no JSON ({error}); expected what gluebench train wrote"]) from None
    if schema is not None and values.get("schema") != schema:
        raise DataError([f"{path}: schema {values.get('schema')!r}; expected {schema}"])
    return values
