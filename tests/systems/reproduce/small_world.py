"""A few tasks of the sample benchmark, vectors for them, and a place to run rows in."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data.gold import gold_from_data
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.reproduce.rerun import Setup
from gluebench.systems.reproduce.row import Files

LONGEST = 300


def _cut(benchmark: Benchmark) -> Benchmark:
    """The benchmark with training splits of at most 300 examples."""
    tasks = []
    for task in benchmark.tasks:
        train = task.splits.get("train")
        cut = {"train": train._replace(size=min(train.size, LONGEST))} if train else {}
        tasks.append(task._replace(splits={**task.splits, **cut}))
    return benchmark._replace(tasks=tuple(tasks))


SAMPLE = _cut(load_benchmark("sample"))


def write_cut(source: Path, target: Path) -> Path:
    """The examples of that."""
    shutil.copytree(source, target)
    for path in target.glob("*/train.tsv"):
        path.write_text("".join(path.read_text().splitlines(keepends=True)[: LONGEST + 1]))
    return target


def write_vectors(path: Path, folder: Path, tasks: tuple[str, ...], *, width: int = 12) -> Path:
    """A vector drawn at random for every word of the training texts."""
    corpus = Corpus(SAMPLE, folder, [SAMPLE.task(task) for task in tasks])
    words = sorted({word for text in corpus.sentences() for word in text.lower().split()})
    rows = np.random.default_rng(0).normal(size=(len(words), width))
    path.write_text(
        "".join(
            f"{word} {' '.join(f'{x:.4f}' for x in row)}\n" for word, row in zip(words, rows, strict=True)
        )
    )
    return path


def place(folder: Path, out: Path, *, vectors: Path | None = None, weights: Path | None = None) -> Setup:
    labels = gold_from_data(folder, SAMPLE, role="dev", partial=True)
    return Setup(Corpus(SAMPLE, folder), Files(vectors, weights), out, labels)
