"""STS-B from the STS Benchmark; recipes.toml has the procedure."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError
from gluebench.data.recipes import RecipeResult
from gluebench.data.recipes.reading import Reader, table

EXTRAS = ("genre", "filename", "year", "old_index", "source1", "source2")


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The three splits as published."""
    if task.score_range is None:
        raise DataError(
            f"{task.name}: this task has label words, but the corpus has scores; "
            "choose a task with a score_range"
        )
    reader = Reader(corpus, task, options)
    names = reader.inputs(2) + ("label",) + EXTRAS
    splits = {split: table(names, _read_rows(reader, split)) for split in ("train", "dev", "test")}
    reader.check()
    return reader.built(splits, reader.hide_labels(splits))


def _read_rows(reader: Reader, split: str) -> Iterator[tuple[Any, ...]]:
    low, high = reader.task.score_range or (-math.inf, math.inf)
    path = reader.need(f"sts-{split}.csv", f"sts-{split}.tsv")
    for number, fields in reader.rows(path, reader.lines(path), widths=(7, 9)):
        genre, filename, year, index, text, first, second, *sources = fields
        try:
            score = float(text)
        except ValueError:
            score = math.nan
        if not low <= score <= high:
            reader.reject(path, number, f'the score is "{text}", expected a number from {low:g} to {high:g}')
        source1, source2 = sources or ("none", "none")
        yield first.strip(" "), second.strip(" "), score, genre, filename, year, index, source1, source2
