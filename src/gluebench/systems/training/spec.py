"""A BiLSTM model as plain values, kept beside its runs so that it can be made again; NAME=VALUE options."""

from __future__ import annotations

import gzip
import json
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from gluebench.benchmark import Label, Source, Task
from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError
from gluebench.systems.training.settings import Settings

if TYPE_CHECKING:
    from gluebench.systems.neural.model import MultiTaskModel
    from gluebench.systems.text.vocabulary import Vocabulary

FILE = "model.json"
SCHEMA = "gluebench.model/1"
PLAIN_WIDTH = 50
"""Width of random vectors, where there is no file of vectors."""


@dataclass(frozen=True, slots=True)
class BiLstmSpec:
    """Sizes and options of a BiLSTM over word vectors; the defaults are the paper's (section 5, B.1)."""

    hidden: int = 1500
    """Per direction."""
    layers: int = 2
    attention: bool = False
    dropout: float = 0.2
    classifier: int = 512
    """Width of a classifier's hidden layer."""
    width: int = 300
    """Of the word vectors."""
    most: int | None = 30_000
    """Words of the vocabulary, the most frequent ones; None: all."""
    oov: Literal["normal", "zero"] = "normal"
    """Vectors of words that the file lacks, and of unknown ones; the code drew them with deviation 1."""
    tokeniser: str = "ptb"
    longest: int = 40
    """Tokens that are kept of a sentence; 40 in the code."""
    pool_padding: bool = False
    lower: bool = False
    """Whether a word that the file of vectors lacks takes the vector of its small letters."""


SIZES: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"hidden": 100, "classifier": 128},
    "small": {"hidden": 300},
    "paper": {},
}
"""Preset to what it changes of the paper's sizes."""


def vocabulary(spec: BiLstmSpec, texts: Iterable[str]) -> Vocabulary:
    """The words of a model that is trained and used on these texts."""
    from gluebench.systems.text.ptb import tokeniser
    from gluebench.systems.text.vocabulary import most_frequent

    tokenise = tokeniser(spec.tokeniser)
    return most_frequent((tokenise(text)[: spec.longest] for text in texts), most=spec.most)


def make(
    spec: BiLstmSpec, tasks: Sequence[Task], words: Vocabulary, *, vectors: Path | None
) -> MultiTaskModel:
    """A new model, its weights and the vectors of unknown words drawn from PyTorch's generator."""
    import torch

    from gluebench.systems.text.embeddings import embedding_matrix

    table = embedding_matrix(
        words, vectors, dim=spec.width, oov=spec.oov, seed=torch.initial_seed(), lower=spec.lower
    )
    return _assembled(spec, tasks, words, table)


def _assembled(spec: BiLstmSpec, tasks: Sequence[Task], words: Vocabulary, table: Any) -> MultiTaskModel:
    from gluebench.systems.neural.bilstm import BiLstmBody
    from gluebench.systems.neural.model import MultiTaskModel
    from gluebench.systems.neural.token_vectors import TableVectors
    from gluebench.systems.text.ptb import tokeniser

    body = BiLstmBody(
        TableVectors(words, table, tokeniser(spec.tokeniser), longest=spec.longest),
        spec.hidden,
        layers=spec.layers,
        attention=spec.attention,
        dropout=spec.dropout,
        pool_padding=spec.pool_padding,
    )
    return MultiTaskModel(body, tasks, hidden=spec.classifier)


def write_model(folder: Path, spec: BiLstmSpec, tasks: Sequence[Task], words: Vocabulary) -> None:
    """Keep what a model is made of in a folder, beside its runs.

    Raises DataError where the folder has the runs of another model, which could not be read any more.
    """
    folder.mkdir(parents=True, exist_ok=True)
    values = {
        "schema": SCHEMA,
        "body": asdict(spec),
        "tasks": [_task_values(task) for task in tasks],
        "words": list(words.words),
    }
    path = folder / FILE
    if path.is_file():
        _same_model(path, values)
    else:
        write_json(path, values)


def _same_model(path: Path, expected: dict[str, Any]) -> None:
    there = json.loads(path.read_text(encoding="utf-8"))
    body = there.get("body", {})
    changed = [
        f"{name} {json.dumps(body.get(name))}, not {json.dumps(value)}"
        for name, value in expected["body"].items()
        if body.get(name) != value
    ]
    changed += [f"other {name}" for name in ("tasks", "words") if there.get(name) != _plain(expected[name])]
    if changed:
        what = "; ".join(changed)
        raise DataError([f"{path}: the model there has {what}; name another folder, or remove that one"])


def _plain(values: Any) -> Any:
    return json.loads(json.dumps(values))


def read_model(folder: Path) -> MultiTaskModel:
    """The model kept in a folder, with vectors and weights still to be loaded. Raises DataError."""
    import numpy as np

    from gluebench.systems.text.vocabulary import Vocabulary

    path = folder / FILE
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["schema"] != SCHEMA:
            raise DataError([f"{path}: schema {values['schema']!r}; expected {SCHEMA}"])
        spec, words = BiLstmSpec(**values["body"]), Vocabulary(values["words"])
        tasks = [_task(record) for record in values["tasks"]]
    except OSError as error:
        raise DataError([f"{path}: {error.strerror}; expected the record of a trained model"]) from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError([f"{path}: not the record of a trained model ({error})"]) from None
    return _assembled(spec, tasks, words, np.zeros((len(words), spec.width), dtype=np.float32))


def vector_width(path: Path) -> int:
    """How many numbers a file of word vectors has for each word, by its first line."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            fields = file.readline().rstrip().split(b" ")
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError([f"{path}: {reason}; expected word vectors as text"]) from None
    width = int(fields[1]) if len(fields) == 2 and fields[1].isdigit() else len(fields) - 1
    if width < 1:
        raise DataError([f"{path}: line 1 has no numbers; expected a word and its vector on each line"])
    return width


def _task_values(task: Task) -> dict[str, Any]:
    """What a head needs of its task."""
    return {
        "name": task.name,
        "columns": list(task.columns),
        "words": list(task.words),
        "score_range": task.score_range,
    }


def _task(values: Mapping[str, Any]) -> Task:
    """A task with what a head needs, and nothing else."""
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


class Changes(NamedTuple):
    """Values to change, by name."""

    settings: dict[str, Any]
    body: dict[str, Any]


def parted(changes: Iterable[str]) -> Changes:
    """The values of "NAME=VALUE", each of its option's type. Raises ValueError for what is none."""
    settings, body = get_type_hints(Settings), get_type_hints(BiLstmSpec)
    parts = Changes({}, {})
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or name not in {**settings, **body}:
            known = sorted(field.name for kind in (Settings, BiLstmSpec) for field in fields(kind))
            raise ValueError(f"{change!r} is no NAME=VALUE; NAME is one of {', '.join(known)}")
        kind = settings.get(name) or body[name]
        (parts.settings if name in settings else parts.body)[name] = _value(name, text, kind)
    return parts


def _value(name: str, text: str, kind: Any) -> Any:
    kinds = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(None) in kinds and text == "none":
        return None
    chosen = next(option for option in kinds if option is not type(None))
    if get_origin(chosen) is Literal:
        if text not in get_args(chosen):
            raise ValueError(f"{name} is {text!r}; expected one of {', '.join(get_args(chosen))}")
        return text
    try:
        return {"yes": True, "no": False}[text] if chosen is bool else chosen(text)
    except (KeyError, ValueError):
        expected = {bool: "yes or no", int: "a whole number", float: "a number"}[chosen]
        also = ", or none" if type(None) in kinds else ""
        raise ValueError(f"{name} is {text!r}; expected {expected}{also}") from None
