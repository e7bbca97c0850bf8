"""The rows of the sample's folder, with the labels of its gold where the split has none of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data import Example, load_split


class Labeled(NamedTuple):
    """One example."""

    inputs: tuple[str, ...]
    label: str


@cache
def examples(folder: Path, task: str, split: str) -> tuple[Example, ...]:
    """The examples of a split, read once."""
    return tuple(load_split(folder, load_benchmark("sample"), task, split))


def rows_of(folder: Path, benchmark: Benchmark, task: str) -> dict[str, list[Labeled]]:
    """Split name to rows."""
    assert benchmark.name == "sample"
    return _rows(folder, task)


@cache
def _rows(folder: Path, task: str) -> dict[str, list[Labeled]]:
    record = load_benchmark("sample").task(task)
    gold = {
        file.splits[role].name: file.name for file in record.files for role in file.splits if role == "test"
    }
    found = {}
    for split in record.splits:
        read = examples(folder, task, split)
        if split in gold:
            lines = (folder / "gold" / f"{gold[split]}.tsv").read_text("utf-8").splitlines()[1:]
            labels = [line.split("\t")[1] for line in lines]
        else:
            labels = [str(example.label) for example in read]
        found[split] = [
            Labeled(tuple(example.inputs.values()), label)
            for example, label in zip(read, labels, strict=True)
        ]
    return found
