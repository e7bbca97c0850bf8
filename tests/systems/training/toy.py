"""A small body and small tasks: sentences whose label a mean of word vectors can tell."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file
from systems.weights import files
from torch import Tensor, nn

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data import Example
from gluebench.systems.neural.bilstm import BiLstmBody, pair_features
from gluebench.systems.neural.model import Body, MultiTaskModel
from gluebench.systems.neural.token_vectors import CoveVectors, ElmoVectors, TableVectors, TokenVectors
from gluebench.systems.text.vocabulary import Vocabulary
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.settings import Settings
from gluebench.systems.weights.elmo import Elmo, read_options
from gluebench.systems.weights.recurrent import Cove

WORDS = 40
TOY = Settings(
    learning_rate=1e-2,
    minimum_learning_rate=1e-5,
    batch_size=8,
    check_every=12,
    max_checks=4,
    drawn_at_once=10,
    stop_rule="none",
)


class Batch(NamedTuple):
    ids: tuple[Tensor, ...]


class ToyBody(Body):
    """The mean of word vectors; dropout stands in for all that draws from PyTorch's generator."""

    def __init__(self, dim: int = 8, dropout: float = 0.1) -> None:
        super().__init__()
        self.dims = {1: dim, 2: 4 * dim}
        self.table = nn.Embedding(WORDS + 1, dim, padding_idx=0)
        self.dropout = nn.Dropout(dropout)

    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        return [
            tuple([1 + int(word[1:]) % WORDS for word in text.split()] for text in texts) for texts in inputs
        ]

    def collate(self, items: Sequence[Any]) -> Batch:
        sides = []
        for side in zip(*items, strict=True):
            longest = max(map(len, side))
            sides.append(torch.tensor([[*ids, *[0] * (longest - len(ids))] for ids in side]))
        return Batch(tuple(sides))

    def lengths(self, item: Any) -> tuple[int, ...]:
        return tuple(map(len, item))

    def forward(self, batch: Batch) -> Tensor:
        means = [
            self.dropout(self.table(ids).sum(1) / (ids > 0).sum(1, keepdim=True).clamp(min=1))
            for ids in batch.ids
        ]
        return means[0] if len(means) == 1 else pair_features(*means)


def toy_model(
    tasks: Sequence[Any], *, seed: int = 0, dropout: float = 0.1, body: str = "toy"
) -> MultiTaskModel:
    """Over the body above, or a small one of the paper's: "elmo" (with carried state), "cove", "glove".

    "full" and "lora" are a tiny BERT of random weights, trained so.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made: Body
        if body == "toy":
            made = ToyBody(dropout=dropout)
        elif body in ("full", "lora"):
            made = tiny_bert(body, dropout)
        else:
            made = paper_body(body, dropout)
        return MultiTaskModel(made, tasks, hidden=6)


def tiny_bert(tuning: Any, dropout: float) -> Body:
    from systems.adapters import tiny

    from gluebench.systems.neural.transformer import pretrained_body
    from gluebench.systems.training.settings import TransformerSpec

    with TemporaryDirectory() as folder:
        words = " ".join(f"w{at}" for at in range(WORDS))
        name = str(tiny.body(Path(folder), words=words))
        return pretrained_body(name, TransformerSpec(name, tuning, dropout=dropout, lora_dropout=dropout))


def paper_body(kind: str, dropout: float) -> BiLstmBody:
    vectors: TokenVectors
    if kind == "elmo":
        elmo = small_elmo(carry=True)
        vectors = ElmoVectors(elmo, elmo.dim, str.split, dropout=dropout, carry=True)
    else:
        words = Vocabulary([f"w{at}" for at in range(WORDS)])
        table = np.random.default_rng(0).normal(size=(len(words), 6)).astype(np.float32)
        vectors = TableVectors(words, table, str.split)
        if kind == "cove":
            vectors = CoveVectors(
                vectors, Cove(nn.LSTM(6, 4, 2, bidirectional=True, batch_first=True)), dim=8
            )
    return BiLstmBody(vectors, 5, dropout=dropout, attention=True)


def small_elmo(*, carry: bool = False, **changes: Any) -> Elmo:
    """Random weights; `changes` are of the options of `files.elmo_options`."""
    options = files.elmo_options(**changes)
    weights = {name: torch.from_numpy(values) for name, values in files.elmo_arrays(options).items()}
    with TemporaryDirectory() as folder:
        path = Path(folder, "options.json")
        path.write_text(json.dumps(options))
        return Elmo(read_options(path), weights, carry=carry)


def sentence(rng: random.Random) -> str:
    return " ".join(f"w{rng.randrange(WORDS)}" for _ in range(rng.randint(2, 9)))


def examples(task: Any, count: int, *, seed: int) -> list[Example]:
    """Labels by whether a text has more low words than high ones; scores by the share of low words."""
    rng = random.Random(f"{seed}/{task.name}")
    found = []
    for index in range(count):
        texts = [sentence(rng) for _ in task.columns]
        ids = [int(word[1:]) for text in texts for word in text.split()]
        low = sum(each < WORDS // 2 for each in ids) / len(ids)
        label = task.words[min(len(task.words) - 1, int(low * len(task.words)))] if task.labels else 5.0 * low
        found.append(Example(index, dict(zip(task.columns, texts, strict=True)), label))
    return found


def toy_data(*names: str, sizes: Sequence[int] = (60, 30, 20), auxiliary: str = "") -> dict[str, TaskData]:
    suite: Benchmark = load_benchmark("glue")
    found = {}
    for name, size in zip(names, sizes, strict=False):
        task = suite.dataset(name)
        splits = [split for split in task.splits if split.startswith("dev")]
        dev = {split: examples(task, 20, seed=place + 1) for place, split in enumerate(splits)}
        found[name] = TaskData(task, examples(task, size, seed=0), dev, name == auxiliary)
    return found


def best_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of a run's best check."""
    (file,) = folder.glob("best-*.safetensors")
    return load_file(file)
