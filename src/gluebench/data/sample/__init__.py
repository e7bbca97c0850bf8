"""The sample benchmark: GLUE's shape in text written for this project, made from a seed (docs/sample.md)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from random import Random

from gluebench.benchmark import Task, load_benchmark
from gluebench.data.sample import (
    acceptability,
    answering,
    coreference,
    entailment,
    inference,
    paraphrase,
    questions,
    sentiment,
    similarity,
)
from gluebench.data.sample.diagnostic import judgements
from gluebench.data.sample.folder import write_diagnostic, write_task
from gluebench.data.sample.rows import Generator, Splits
from gluebench.data.table import load_split

__all__ = ["SEED", "build", "generate", "load_split"]

SEED = 2018
"""The seed of the sample benchmark that documentation and leaderboard show."""
GENERATORS: Mapping[str, Generator] = {
    "CoLA": acceptability.generate,
    "SST-2": sentiment.generate,
    "MRPC": paraphrase.generate,
    "STS-B": similarity.generate,
    "QQP": questions.generate,
    "MNLI": inference.generate,
    "QNLI": answering.generate,
    "RTE": entailment.generate,
    "WNLI": coreference.generate,
}
_MARK = "sample.json"
"""The file by which a folder is known to be one that `build` wrote, and may replace."""


def generate(task: Task, *, seed: int = SEED) -> Splits:
    """The splits of one task, of the manifest's sizes; a task's text does not depend on the other tasks."""
    sizes = {name: split.size for name, split in task.splits.items()}
    return GENERATORS[task.name](Random(f"{seed}/{task.name}"), sizes)


def build(folder: str | os.PathLike[str], *, seed: int = SEED) -> None:
    """Write the sample benchmark: a folder for each task, `gold` and `gold-dev`.

    The same seed gives the same bytes. The folder appears whole or not at all, and replaces one that was
    built before. Raises FileExistsError if something else stands there.
    """
    target = Path(folder).absolute()
    if target.exists() and not (target / _MARK).is_file() and not _is_empty(target):
        raise FileExistsError(
            f"{target} is not a folder of the sample benchmark (it has no {_MARK}); "
            "name a new or empty folder, or remove it first"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
        made = Path(scratch, "new")
        _write(made, seed=seed)
        if target.exists():
            target.rename(Path(scratch, "old"))
        made.rename(target)


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _write(folder: Path, *, seed: int) -> None:
    benchmark = load_benchmark("sample")
    for task in benchmark.scored:
        write_task(folder, task, generate(task, seed=seed))
    for task in benchmark.diagnostics:
        write_diagnostic(folder, task, examples=judgements())
    mark = {"benchmark": benchmark.name, "seed": seed, "text": "written for gluebench", "licence": "CC0-1.0"}
    (folder / _MARK).write_text(json.dumps(mark, indent=2) + "\n", encoding="utf-8")
