"""The rows of the sample's folder, with the labels of its gold where the split has none of its own."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Benchmark
from gluebench.data import load_split


class Labeled(NamedTuple):
    """One example."""

    inputs: tuple[str, ...]
    label: str


def rows_of(folder: Path, benchmark: Benchmark, task: str) -> dict[str, list[Labeled]]:
    """Split name to rows."""
    record = benchmark.task(task)
    gold = {
        file.splits[role].name: file.name for file in record.files for role in file.splits if role == "test"
    }
    found = {}
    for split in record.splits:
        examples = load_split(folder, benchmark, task, split)
        if split in gold:
            lines = (folder / "gold" / f"{gold[split]}.tsv").read_text("utf-8").splitlines()[1:]
            labels = [line.split("\t")[1] for line in lines]
        else:
            labels = [str(example.label) for example in examples]
        found[split] = [
            Labeled(tuple(example.inputs.values()), label)
            for example, label in zip(examples, labels, strict=True)
        ]
    return found
