"""Getting the sample benchmark into a data folder, as the text files that the package holds."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gluebench.benchmark import Split, Task
from gluebench.data.dataset import (
    FILE,
    LABEL,
    Dataset,
    Origin,
    Outcome,
    SplitRecord,
    source_file,
    write_dataset,
)
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import fingerprint
from gluebench.data.home import replacing
from gluebench.data.organize.write import KEY
from gluebench.data.sample import GOLD, SEED, build
from gluebench.data.table import load

SAMPLE = "sample"
"""The benchmark that is embedded in the package."""


def get_sample(tasks: Sequence[Task], to: Path) -> list[Outcome]:
    """Write tasks of the sample benchmark to `<to>/sample`, with the gold folders of all its tasks.

    Raises DataError if a folder to replace holds something else.
    """
    home = to / SAMPLE
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, SAMPLE)
        build(made)
        for task in tasks:
            dataset = _write_task(task, Path(scratch), home)
            outcomes.append(Outcome(task, home / task.name, dataset))
        for gold in GOLD.values():
            _copy(made / gold, home / gold)
    return outcomes


def _write_task(task: Task, scratch: Path, home: Path) -> Dataset:
    """Copy the files of a task from the scratch folder, with their record."""
    target = home / task.name
    if target.exists() and not (target / FILE).is_file() and any(target.iterdir()):
        raise DataError(f"{target}: not a folder of prepared data (it has no {FILE}); expected a new one")
    made = scratch / SAMPLE / task.name
    files = []
    splits = {}
    for split in task.splits.values():
        files.append(source_file(made / split.file, f"{task.name}/{split.file}"))
        splits[split.name] = _record(task, split, scratch)
    dataset = Dataset(
        benchmark=SAMPLE,
        task=task.name,
        version=task.version,
        columns=task.columns,
        license=task.source.license,
        citation=task.source.citation,
        url=task.source.url,
        origin=Origin("sample", f"gluebench.data.sample, seed {SEED}", tuple(files)),
        splits=splits,
    )
    with replacing(target) as new:
        for split in task.splits.values():
            shutil.copy(made / split.file, new)
        write_dataset(new, dataset)
    return dataset


def _record(task: Task, split: Split, scratch: Path) -> SplitRecord:
    table = load(task.name, split.name, scratch, benchmark=SAMPLE)
    texts = {name: table.column(name) for name in task.columns}
    labels = table.column(LABEL) if table.labeled else None
    counts = None
    if labels is not None and task.words:
        counts = {word: labels.count(word) for word in task.words}
    return SplitRecord(split.file, len(table), fingerprint(texts, labels), fingerprint(texts), counts)


def _copy(made: Path, place: Path) -> None:
    """Replace a folder by a copy of `made`, and keep the key that grading added to it.

    Raises DataError if it has other files that `made` lacks.
    """
    names = {file.name for file in made.iterdir()}
    there = {file.name for file in place.iterdir()} if place.exists() else set()
    if foreign := sorted(there - names - {KEY.name}):
        expected = "expected a folder of its own"
        raise DataError(f"{place}: holds {foreign[0]}, which is not the sample's; {expected}")
    with replacing(place) as new:
        for name in names:
            (new / name).write_bytes((made / name).read_bytes())
        if KEY.name in there:
            shutil.copy2(place / KEY.name, new)
