"""One row of BiLSTM models from data to a trained system: all that `gluebench train` does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gluebench.benchmark import Benchmark, Task
from gluebench.data import DataError, load_split
from gluebench.systems.training.log import Say
from gluebench.systems.training.settings import PAPER_SINGLE, PRESETS, SEEDS, Settings
from gluebench.systems.training.spec import (
    PLAIN_WIDTH,
    SIZES,
    BiLstmSpec,
    make,
    texts_of,
    vector_width,
    vocabulary,
    write_model,
)
from gluebench.systems.training.trained import TrainedSystem, write_trained

if TYPE_CHECKING:
    from gluebench.systems.neural.heads import MultiTaskModel
    from gluebench.systems.training.data import TaskData
    from gluebench.systems.training.outcome import Outcome
    from gluebench.systems.training.runs import MakeModel


@dataclass(frozen=True, slots=True)
class Row:
    """What is trained: one model for all tasks, or one for each."""

    spec: BiLstmSpec
    settings: Settings
    multi: bool = True
    seeds: tuple[int, ...] = SEEDS
    vectors: Path | None = None

    def title(self, tasks: int) -> str:
        """As a table names it, from the number of tasks."""
        kind = "Multi-task" if self.multi and tasks > 1 else "Single-task"
        return (
            f"{kind} BiLSTM{' + attention' if self.spec.attention else ''}, {self.spec.hidden} per direction"
        )


def preset(
    name: str,
    *,
    multi: bool,
    vectors: Path | None,
    seeds: Sequence[int] = (),
    spec: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Row:
    """The row of a preset ("tiny", "small", "paper") with some of its values changed.

    Raises ValueError for values that cannot be, DataError for vectors that cannot be read.
    """
    width = PLAIN_WIDTH if vectors is None else vector_width(vectors)
    sizes = {**SIZES[name], "width": width, **(spec or {})}
    base = PAPER_SINGLE if name == "paper" and not multi else PRESETS[name]
    chosen = tuple(seeds) or (SEEDS if name == "paper" else SEEDS[:1])
    return Row(BiLstmSpec(**sizes), replace(base, **(settings or {})), multi, chosen, vectors)


def train_row(
    row: Row,
    data: Mapping[str, TaskData],
    folder: Path,
    *,
    benchmark: Benchmark,
    data_folder: Path,
    device: str | None = None,
    say: Say | None = None,
) -> TrainedSystem:
    """Train, or go on training, and leave a system that `TrainedSystem` loads.

    Of several seeds the best on dev answers: of multi-task models the one of the best macro-average, of
    single-task ones for each task its own (section 5).
    """
    from gluebench.systems.training.engine import engine

    if not row.multi and (extra := [name for name, task_data in data.items() if task_data.auxiliary]):
        raise ValueError(f"{', '.join(extra)} can join multi-task training only, as a task of its own")
    tell = say or (lambda line: None)
    made = _Making(row, benchmark, data_folder, folder, tell)
    options: dict[str, Any] = {
        "settings": row.settings,
        "seeds": row.seeds,
        "folder": folder,
        "say": say,
        "make_engine": lambda: engine(row.settings.precision, device),
        "about": _about(row, benchmark, tasks=len(data)),
    }
    chosen = _chosen(row, data, made, options)
    write_trained(folder, chosen, title=row.title(len(data)))
    return TrainedSystem(folder, batch_size=row.settings.batch_size)


def _chosen(
    row: Row, data: Mapping[str, TaskData], make_model: MakeModel, options: dict[str, Any]
) -> dict[str, Outcome]:
    """The run that answers each task."""
    from gluebench.systems.training.runs import train_each, train_runs

    if row.multi:
        best = train_runs(make_model, data, **options).best
        return {name: best for name, task_data in data.items() if not task_data.auxiliary}
    by_task = train_each(make_model, data, **options)
    return {name: runs.best_of(name) for name, runs in by_task.items()}


class _Making:
    """Makes the models of a row: the words of the same tasks are counted once."""

    def __init__(self, row: Row, benchmark: Benchmark, data_folder: Path, folder: Path, say: Say) -> None:
        self._row = row
        self._benchmark = benchmark
        self._data_folder = data_folder
        self._folder = folder
        self._say = say
        self._words: dict[tuple[str, ...], Any] = {}

    def __call__(self, tasks: Sequence[Task]) -> MultiTaskModel:
        names = tuple(task.name for task in tasks)
        if names not in self._words:
            self._words[names] = vocabulary(self._row.spec, self._texts(tasks))
            place = self._folder if self._row.multi else self._folder / quote(names[0], safe="")
            write_model(place, self._row.spec, tasks, self._words[names])
        return make(self._row.spec, tasks, self._words[names], vectors=self._row.vectors)

    def _texts(self, tasks: Sequence[Task]) -> Iterator[str]:
        """Texts of all splits of the tasks, and of those that they answer too (AX), as in the original."""
        names = {task.name for task in tasks}
        answered = [task for task in self._benchmark.tasks if task.predict_with in names]
        for task in [*tasks, *answered]:
            for split in task.splits:
                try:
                    rows = load_split(self._data_folder, self._benchmark, task.name, split)
                except DataError:
                    self._say(f"{task.name} {split} is not there: words of it alone will be unknown")
                    continue
                yield from texts_of(rows)


def _about(row: Row, benchmark: Benchmark, *, tasks: int) -> dict[str, Any]:
    """What the card of each run says of its row."""
    return {
        "title": row.title(tasks),
        "benchmark": benchmark.name,
        "multi_task": row.multi,
        "body": asdict(row.spec),
        "vectors": None if row.vectors is None else _file(row.vectors),
    }


def _file(path: Path) -> dict[str, Any]:
    """The file by name and content."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}
