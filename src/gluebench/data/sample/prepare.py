"""Getting the sample benchmark into a data folder, as the text files that the package holds."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gluebench.benchmark import Split, Task
from gluebench.data.dataset import FILE, Dataset, Origin, Outcome, SplitRecord, source_file, write_dataset
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import fingerprint
from gluebench.data.home import replacing
from gluebench.data.organize.write import KEY
from gluebench.data.sample import GOLD, SEED, build
from gluebench.data.tsv import read_examples

SAMPLE = "sample"
"""The benchmark that is embedded in the package."""


def get_sample(tasks: Sequence[Task], to: Path) -> list[Outcome]:
    """Write tasks of the sample benchmark to `<to>/sample`, with the gold folders of all its tasks.

    Raises DataError if a folder to replace holds something else.
    """
    home = to / SAMPLE
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, SAMPLE)
        build(made)
        outcomes = [Outcome(task, home / task.name, _write_task(task, made, home)) for task in tasks]
        for gold in GOLD.values():
            _copy(made / gold, home / gold)
    return outcomes


def _write_task(task: Task, made: Path, home: Path) -> Dataset:
    """Copy the files of a task, with their record."""
    target = home / task.name
    if target.exists() and not (target / FILE).is_file() and any(target.iterdir()):
        raise DataError(f"{target}: not a folder of prepared data (it has no {FILE}); expected a new one")
    paths = {split.name: made / task.name / split.file for split in task.splits.values()}
    files = tuple(source_file(path, f"{task.name}/{path.name}") for path in paths.values())
    origin = Origin("sample", f"gluebench.data.sample, seed {SEED}", files)
    splits = {name: _record(task, task.splits[name], path) for name, path in paths.items()}
    names = (SAMPLE, task.name, task.version, task.columns)
    terms = (task.source.license, task.source.citation, task.source.url)
    dataset = Dataset(*names, *terms, origin, splits)
    with replacing(target) as new:
        for path in paths.values():
            shutil.copy(path, new)
        write_dataset(new, dataset)
    return dataset


def _record(task: Task, split: Split, path: Path) -> SplitRecord:
    examples = read_examples(path, task, split)
    texts = {name: [example.inputs[name] for example in examples] for name in task.columns}
    text_fingerprint = fingerprint(texts)
    labels = [example.label for example in examples if example.label is not None]
    if not labels:
        return SplitRecord(path.name, len(examples), text_fingerprint, text_fingerprint)
    counts = Counter(labels)
    by_word = {word: counts[word] for word in task.words} if task.words else None
    return SplitRecord(path.name, len(examples), fingerprint(texts, labels), text_fingerprint, by_word)


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
