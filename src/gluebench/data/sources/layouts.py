"""Which of the layouts that people have a folder is in, and where in it a task's files are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import FILE, read_dataset
from gluebench.data.errors import DataError
from gluebench.data.sources.release import Hub, Release

Layout = Literal["prepared", "hub", "tsv"]
NAMES: Mapping[Layout, str] = {
    "prepared": "prepared before",
    "hub": "the hub's Parquet files",
    "tsv": "TSV files",
}
"""In the order in which they are preferred."""
CACHES = ("", "hub", "huggingface/hub", ".cache/huggingface/hub")
"""Folders below one that was named in which the hub's client may keep its cache."""


class Found(NamedTuple):
    """A task's files in one layout below one folder."""

    layout: Layout
    folder: Path
    wanted: Mapping[str, tuple[str, ...]]
    """Split name to the names that its file may have there."""
    guessed: bool = False
    """Whether the folder is neither the one named nor known to belong to it: any folder in it."""

    @property
    def files(self) -> dict[str, Path]:
        """Split name to its file, for those that are there."""
        there = {
            split: [self.folder / name for name in names if (self.folder / name).is_file()]
            for split, names in self.wanted.items()
        }
        return {split: paths[0] for split, paths in there.items() if paths}

    @property
    def revision(self) -> str:
        """The commit of a snapshot in the hub's cache."""
        return self.folder.name if self.layout == "hub" and self.folder.parent.name == "snapshots" else ""


def find(source: Path, benchmark: Benchmark, task: Task, release: Release, *, partial: bool) -> Found:
    """Where the task's files are: the first layout that has all of them, or any of them if `partial`.

    Raises DataError with the files that were looked for, NotADirectoryError or FileNotFoundError.
    """
    if not source.is_dir():
        kind = NotADirectoryError if source.exists() else FileNotFoundError
        raise kind(0, f"not a folder; expected one with the files of {task.name}", str(source))
    candidates = [
        *_prepared(source, benchmark, task),
        *_hub(source, task, release),
        *_tsv(source, task, release),
    ]
    whole = [each for each in candidates if len(each.files) == len(task.splits)]
    some = sorted((each for each in candidates if each.files), key=lambda each: -len(each.files))
    if whole or (some and partial):
        return _only(whole or some, source, task)
    raise DataError(_parts(some[0], task) if some else _nothing(candidates, source, task))


def _only(found: list[Found], source: Path, task: Task) -> Found:
    """The first; folders that merely lie in the same one are not chosen between."""
    rivals = [each for each in found if each.guessed and each.layout == found[0].layout]
    if found[0].guessed and len(rivals) > 1:
        where = ", ".join(each.folder.relative_to(source).as_posix() for each in rivals)
        raise DataError(
            [f"{source}: {task.name} is in it more than once: {where}; name one of these folders"]
        )
    return found[0]


def _prepared(source: Path, benchmark: Benchmark, task: Task) -> Iterator[Found]:
    wanted = {split: (f"{split}.parquet",) for split in task.splits}
    for base, guessed in _bases(source):
        for folder in (base / benchmark.name / task.name, base / task.name, base):
            if _is_prepared(folder, benchmark, task):
                yield Found("prepared", folder, wanted, guessed)


def _is_prepared(folder: Path, benchmark: Benchmark, task: Task) -> bool:
    if not (folder / FILE).is_file():
        return False
    record = read_dataset(folder)
    return record.benchmark == benchmark.name and record.task == task.name


def _hub(source: Path, task: Task, release: Release) -> Iterator[Found]:
    splits = release.tasks[task.name].splits
    paths = {name: Path(split.hub.path) for name, split in splits.items() if split.hub is not None}
    if len(paths) < len(task.splits):
        return
    wanted = {name: (path.as_posix(),) for name, path in paths.items()}
    for folder in _snapshots(source, release.hub):
        yield Found("hub", folder, wanted)
    for base, guessed in _bases(source):
        yield Found("hub", base, wanted, guessed)
    if any(path.parent.name == source.name for path in paths.values()):
        yield Found("hub", source, {name: (path.name,) for name, path in paths.items()})


def _snapshots(source: Path, hub: Hub | None) -> Iterator[Path]:
    """Commits of the repository in a cache of the hub, the one that the release names first."""
    if hub is None:
        return
    name = f"datasets--{hub.repository.replace('/', '--')}"
    for snapshots in (*(source / cache / name / "snapshots" for cache in CACHES), source / "snapshots"):
        if snapshots.is_dir():
            yield from sorted(snapshots.iterdir(), key=lambda each: (each.name != hub.revision, each.name))


def _tsv(source: Path, task: Task, release: Release) -> Iterator[Found]:
    wanted = {name: split.files for name, split in release.tasks[task.name].splits.items()}
    folders = release.tasks[task.name].folders
    if source.name in folders:
        yield Found("tsv", source, wanted)
    for base, guessed in _bases(source):
        for folder in folders:
            yield Found("tsv", base / folder, wanted, guessed)
    if source.name not in {folder for each in release.tasks.values() for folder in each.folders}:
        yield Found("tsv", source, wanted)


def _bases(source: Path) -> Iterator[tuple[Path, bool]]:
    """The folder that was named, and every one in it, which is a guess."""
    yield source, False
    yield from ((each, True) for each in sorted(source.iterdir()) if each.is_dir())


def _parts(found: Found, task: Task) -> list[str]:
    """A line for each split that is missing beside others."""
    there = f"{task.name}, whose other splits are there as {NAMES[found.layout]}"
    return [
        f"{found.folder}: no {' or '.join(found.wanted[split])}; expected the {split} split of {there}"
        for split in task.splits
        if split not in found.files
    ]


def _nothing(candidates: Iterable[Found], source: Path, task: Task) -> list[str]:
    looked = [f"{task.name}/{FILE}"]
    exports: list[str] = []
    for each in candidates:
        exports += [str(path) for path in sorted(each.folder.glob("*.csv"))]
        if not each.guessed and each.folder.is_relative_to(source):
            names = [name for names in each.wanted.values() for name in names]
            looked += [(each.folder / name).relative_to(source).as_posix() for name in names]
    lines = [
        f"{source}: no files of {task.name} in it; looked there, and in its folders, for {', '.join(looked)}"
    ]
    if exports:
        lines.append(f"{exports[0]}: CSV files are not what was released; expected the TSV or Parquet files")
    return lines
