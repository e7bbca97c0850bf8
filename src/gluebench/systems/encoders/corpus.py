"""The sentences of a benchmark, as encoders and their stores are given them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Benchmark
from gluebench.data import DataError, load_split

TRAIN = "train"


class Corpus(NamedTuple):
    """A benchmark, or some tasks of one, with the folder that its data are in."""

    benchmark: Benchmark
    folder: Path

    def sentences(self, split: str | None = None) -> Iterator[str]:
        """Every distinct text of a split of the tasks, or of all splits, in the order of the files.

        Raises DataError for what is missing or wrong, all of it, when the rest has been given.
        """
        seen: set[str] = set()
        problems: list[str] = []
        for task in self.benchmark.tasks:
            for name in task.splits:
                if split not in (None, name):
                    continue
                try:
                    examples = load_split(self.folder, self.benchmark, task.name, name)
                except DataError as error:
                    problems += error.problems
                    continue
                texts = dict.fromkeys(text for example in examples for text in example.inputs.values())
                yield from (text for text in texts if text not in seen)
                seen.update(texts)
        if problems:
            raise DataError(list(dict.fromkeys(problems)))
