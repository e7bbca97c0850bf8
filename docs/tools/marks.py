"""The marks of the published rows, by which `gluebench data verify` tells which rows of a split differ.

They are made from prepared data that have the fingerprints of the manifest:

python -m docs.tools.marks DATA [BENCHMARK] > src/gluebench/data/verify/glue.marks
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gluebench.benchmark import load_benchmark
from gluebench.data import load
from gluebench.data.fingerprint import fingerprint_of
from gluebench.data.verify.check import FORMAT, Marks, marks


def packed(splits: Mapping[tuple[str, str], Marks]) -> bytes:
    """Marks as a file: a line of JSON that lists the splits, then each split's texts, letters and labels."""
    listing = [[task, split, len(split_marks)] for (task, split), split_marks in splits.items()]
    parts = [json.dumps({"format": FORMAT, "splits": listing}).encode() + b"\n"]
    for split_marks in splits.values():
        parts += [np.array(split_marks.texts, "<u2").tobytes(), split_marks.letters, split_marks.labels]
    return b"".join(parts)


def published_marks(data: Path, name: str) -> dict[tuple[str, str], Marks]:
    """The marks of every split with a fingerprint in the manifest. Raises ValueError if the data differ."""
    benchmark = load_benchmark(name)
    splits = {}
    for task in benchmark.tasks:
        for split in (split for split in task.splits.values() if split.fingerprint):
            table = load(task.name, split.name, data, benchmark=benchmark)
            if fingerprint_of(task.columns, table.to_arrow().to_batches()).full != split.fingerprint:
                raise ValueError(f"{task.name}, {split.name}: not the published rows")
            splits[task.name, split.name] = marks(task, table)
    return splits


if __name__ == "__main__":
    sys.stdout.buffer.write(packed(published_marks(Path(sys.argv[1]), (sys.argv[2:] or ["glue"])[0])))
