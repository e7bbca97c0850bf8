"""A trained system loaded from its folder, which answers the tasks it was trained for, and its models."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np

from gluebench.benchmark import Label, Source, Task, UnknownNameError
from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError, Example
from gluebench.data.errors import differences, expect_schema, parsing
from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.token_vectors import TableVectors
from gluebench.systems.text.ptb import tokenizer
from gluebench.systems.text.vocabulary import Vocabulary
from gluebench.systems.training.checkpoint import Outcome, read_outcome, take_weights
from gluebench.systems.training.evaluation import predict
from gluebench.systems.training.settings import BiLstmSpec, Spec, TransformerSpec

MODEL = "model.json"
MODEL_SCHEMA = "gluebench.model/1"
ENCODER = "encoder"
"""Folder with the configuration and the tokenizer of a pre-trained encoder that is trained whole."""
BASE = "base"
"""Key of a model whose encoder is not saved: its name on the hub, or the way to its folder from this file."""
ADAPTER = "adapter_config.json"
"""peft's file of what an adapter is, written after its weights."""
FILE = "trained.json"
SCHEMA = "gluebench.trained/1"


def assemble(
    spec: BiLstmSpec,
    tasks: Sequence[Task],
    words: Vocabulary,
    table: Any,
    *,
    tokenize: Callable[[str], list[str]] | None = None,
) -> MultiTaskModel:
    """Make a new model over a table of word vectors, its weights drawn from PyTorch's generator."""
    body = BiLstmBody(
        TableVectors(words, table, tokenize or tokenizer(spec.tokenizer), longest=spec.longest),
        spec.hidden,
        layers=spec.layers,
        attention=spec.attention,
        dropout=spec.dropout,
        pool_padding=spec.pool_padding,
    )
    return MultiTaskModel(body, tasks, hidden=spec.classifier)


def spec_for_card(spec: Spec) -> dict[str, Any]:
    """A body's sizes and options ready for JSON; an encoder's folder by its name, never by its path."""
    values = asdict(spec)
    if isinstance(spec, TransformerSpec):
        values["encoder"] = spec.encoder_name
    return values


def _facts(task: Task) -> dict[str, Any]:
    """What a head needs of its task."""
    return {
        "name": task.name,
        "columns": task.columns,
        "words": task.words,
        "score_range": task.score_range,
    }


def write_model(folder: Path, spec: Spec, tasks: Sequence[Task], words: Vocabulary | None) -> None:
    """Save a model's sizes, its words, and what its heads need of their tasks in a folder, beside its runs.

    Raises DataError if the folder has the runs of another model, which could then no longer be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    values = {
        "schema": MODEL_SCHEMA,
        "body": spec_for_card(spec),
        "tasks": [_facts(task) for task in tasks],
    }
    if words is not None:
        values["words"] = words.words
    if isinstance(spec, TransformerSpec) and spec.tuning != "full":
        values[BASE] = spec.encoder
        if Path(spec.encoder).is_dir():
            values[BASE] = os.path.join(".", os.path.relpath(spec.encoder, folder))
    path = folder / MODEL
    if not path.is_file():
        write_json(path, values)
        return
    there = json.loads(path.read_text(encoding="utf-8"))
    expected = json.loads(json.dumps(values))
    changed = differences(there.get("body", {}), expected["body"])
    changed += [f"other {name}" for name in ("tasks", "words", BASE) if there.get(name) != expected.get(name)]
    if changed:
        what = "; ".join(changed)
        raise DataError(f"{path}: another model: {what}; name another folder, or remove that one")


def read_model(folder: Path) -> MultiTaskModel:
    """Rebuild the model saved in a folder, without vectors and trained weights.

    Raises DataError for a damaged file or if the encoder's folder is gone, ModelError for one that cannot be
    loaded.
    """
    values = _read_values(folder / MODEL, MODEL_SCHEMA)
    with parsing(folder / MODEL, "the record of a trained model", "train again"):
        tasks = [_task(record) for record in values["tasks"]]
        if "encoder" in values["body"]:
            spec = TransformerSpec(**values["body"])
        else:
            sizes = BiLstmSpec(**values["body"])
            words = Vocabulary(values["words"])
            table = np.zeros((len(words), sizes.width), dtype=np.float32)
            return assemble(sizes, tasks, words, table)
    from gluebench.systems.neural.transformer import pretrained_body, untrained_body

    if BASE in values:
        body = pretrained_body(_find_base(folder, values[BASE]), spec)
    else:
        body = untrained_body(folder / ENCODER, spec)
    return MultiTaskModel(body, tasks, hidden=spec.classifier)


def _find_base(folder: Path, base: str) -> str:
    """The hub's name of an encoder, or its folder. Raises DataError if the folder is gone."""
    if not base.startswith("."):
        return base
    path = Path(os.path.normpath(folder / base))
    if not path.is_dir():
        raise DataError(
            f"{path}: the encoder that these weights were trained on top of is not there; put it there, "
            f"or write where it is, seen from {folder / MODEL}, as {BASE!r} of that file"
        )
    return str(path)


def _task(values: Mapping[str, Any]) -> Task:
    """Make a task with only what a head needs."""
    return Task(
        name=values["name"],
        title=values["name"],
        summary="",
        section="",
        domain="",
        columns=tuple(values["columns"]),
        labels=tuple(Label(word, "") for word in values["words"]),
        score_range=tuple(values["score_range"]) if values["score_range"] else None,
        metrics=(),
        splits={},
        files=(),
        source=Source("", "", ""),
    )


def write_trained(folder: Path, chosen: Mapping[str, Outcome], *, title: str) -> None:
    """Write which run answers which task; the runs are folders below this one."""
    tasks = {name: outcome.folder.relative_to(folder).as_posix() for name, outcome in chosen.items()}
    write_json(folder / FILE, {"schema": SCHEMA, "title": title, "tasks": tasks})


class TrainedSystem:
    """A system of the models in a folder that `gluebench train` wrote.

    Raises DataError for another folder.
    """

    def __init__(self, folder: str | os.PathLike[str], *, device: str = "cpu", batch_size: int = 128) -> None:
        self.folder = Path(folder)
        values = _read_values(self.folder / FILE)
        self.title: str = values["title"]
        self._runs: dict[str, str] = values["tasks"]
        self._device = device
        self._batch_size = batch_size
        self._loaded: tuple[Path, MultiTaskModel] | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks it was trained for."""
        return tuple(self._runs)

    def runs(self) -> list[Path]:
        """List the distinct folders of the runs that answer."""
        return [self.folder / run for run in dict.fromkeys(self._runs.values())]

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """Predict a label or score for each example; `predict_with` tasks use the model of that task.

        Raises UnknownNameError for a task that it was not trained for.
        """
        name = task.name if task.name in self._runs else task.predict_with or task.name
        if name not in self._runs:
            raise UnknownNameError(name, list(self._runs), what=f"task that {self.title} was trained for")
        return predict(self._model(name), name, examples, batch_size=self._batch_size)

    def write_adapters(self) -> None:
        """Write the adapter of each LoRA model as peft reads it, into a folder named like its weights."""
        from gluebench.systems.neural.transformer import TransformerBody, save_adapter

        for task in self._runs:
            folder = self._weights(task).with_suffix("")
            if not (folder / ADAPTER).is_file():
                save_adapter(cast(TransformerBody, self._model(task).body), folder)

    def _model(self, task: str) -> MultiTaskModel:
        """Load the model of a task; only the last one stays in memory."""
        file = self._weights(task)
        if self._loaded is None or self._loaded[0] != file:
            outcome = self._outcome(task)
            model = read_model(outcome.folder.parent)
            take_weights(model, outcome, task)
            self._loaded = file, model.to(self._device)
        return self._loaded[1]

    def _weights(self, task: str) -> Path:
        """The file with the weights that answer a task."""
        outcome = self._outcome(task)
        return outcome.folder / outcome.tasks[task].weights

    def _outcome(self, task: str) -> Outcome:
        run = self.folder / self._runs[task]
        outcome = read_outcome(run)
        if outcome is None:
            raise DataError(f"{run}: no finished run; train it again")
        return outcome


def _read_values(path: Path, schema: str = SCHEMA) -> dict[str, Any]:
    try:
        with parsing(path, "a file of gluebench train", "train again"):
            values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            expect_schema(values, schema)
            return values
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; expected a folder that gluebench train wrote") from None
