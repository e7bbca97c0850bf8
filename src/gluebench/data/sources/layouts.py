"""Which of the layouts that people have a folder is in, and where in it a task's files are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

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


Wanted: TypeAlias = Mapping[str, tuple[str, ...]]
"""Split name to the names that its file may have in a folder."""


class Found(NamedTuple):
    """A task's files in one layout in one folder."""

    layout: Layout
    folder: Path
    wanted: Wanted
    files: Mapping[str, Path]
    """Split name to its file, for those that are there."""

    @property
    def revision(self) -> str:
        """The commit of a snapshot in the hub's cache."""
        return self.folder.name if self.layout == "hub" and self.folder.parent.name == "snapshots" else ""


def find(source: Path, benchmark: Benchmark, task: Task, release: Release, *, partial: bool) -> Found:
    """Where the task's files are: in the folder itself, or else in one of the folders in it.

    There, in the first layout that has all of them, or any of them if `partial`. Raises DataError with the
    files that were looked for, NotADirectoryError or FileNotFoundError.
    """
    if not source.is_dir():
        kind = NotADirectoryError if source.exists() else FileNotFoundError
        raise kind(0, f"not a folder; expected one with the files of {task.name}", str(source))
    seen: list[Found] = []
    for each in (*_in(source, benchmark, task, release), *_alone(source, task, release)):
        if len(each.files) == len(task.splits):
            return each
        seen.append(each)
    inner = sorted(each for each in source.iterdir() if each.is_dir())
    known = sorted((each for each in seen if each.files), key=lambda each: -len(each.files))
    if known and partial:
        return known[0]
    guesses = [each for folder in inner for each in _in(folder, benchmark, task, release)]
    most = max((len(each.files) for each in guesses), default=0)
    if most == len(task.splits) or (most and partial):
        return _only([each for each in guesses if len(each.files) == most], source, task)
    found = known or [each for each in guesses if most and len(each.files) == most]
    raise DataError(_parts(found[0], task) if found else _nothing(seen, source, task))


def _only(found: list[Found], source: Path, task: Task) -> Found:
    """The preferred layout; but sibling folders that have the same one are not chosen between."""
    layout = next(layout for layout in NAMES if any(each.layout == layout for each in found))
    folders = [each.folder.relative_to(source) for each in found if each.layout == layout]
    if len({folder.parts[0] for folder in folders}) > 1:
        where = ", ".join(folder.as_posix() for folder in folders)
        raise DataError([f"{source}: {task.name} is in it more than once, in {where}; name one of these"])
    return next(each for each in found if each.layout == layout)


def _in(folder: Path, benchmark: Benchmark, task: Task, release: Release) -> Iterator[Found]:
    """What the folder has in each layout."""
    yield from _prepared(folder, benchmark, task)
    yield from _hub(folder, task, release)
    yield from _tsv(folder, task, release)


def _look(layout: Layout, folder: Path, wanted: Wanted) -> Found:
    files: dict[str, Path] = {}
    for split, names in wanted.items() if folder.is_dir() else ():
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path is not None:
            files[split] = path
    return Found(layout, folder, wanted, files)


def _prepared(base: Path, benchmark: Benchmark, task: Task) -> Iterator[Found]:
    for folder in (base / benchmark.name / task.name, base / task.name, base):
        record = read_dataset(folder) if (folder / FILE).is_file() else None
        if record is not None and (record.benchmark, record.task) == (benchmark.name, task.name):
            names = {split: each.file for split, each in record.splits.items()}
            yield _look(
                "prepared", folder, {split: tuple(filter(None, [names.get(split)])) for split in task.splits}
            )


def _hub(base: Path, task: Task, release: Release) -> Iterator[Found]:
    splits = release.tasks[task.name].splits
    paths = {name: Path(split.hub.path) for name, split in splits.items() if split.hub is not None}
    if len(paths) < len(task.splits):
        return
    for folder in (*_snapshots(base, release.hub), base):
        yield _look("hub", folder, {name: (path.as_posix(),) for name, path in paths.items()})
    if any(path.parent.name == base.name for path in paths.values()):
        yield _look("hub", base, {name: (path.name,) for name, path in paths.items()})


def _snapshots(base: Path, hub: Hub | None) -> Iterator[Path]:
    """Commits of the repository in a cache of the hub, the one that the release names first."""
    if hub is None:
        return
    name = f"datasets--{hub.repository.replace('/', '--')}"
    for snapshots in (*(base / cache / name / "snapshots" for cache in CACHES), base / "snapshots"):
        if snapshots.is_dir():
            yield from sorted(snapshots.iterdir(), key=lambda each: (each.name != hub.revision, each.name))


def _tsv(base: Path, task: Task, release: Release) -> Iterator[Found]:
    known = release.tasks[task.name]
    wanted = {name: split.files for name, split in known.splits.items()}
    if base.name in known.folders:
        yield _look("tsv", base, wanted)
    for folder in known.folders:
        yield _look("tsv", base / folder, wanted)


def _alone(folder: Path, task: Task, release: Release) -> Iterator[Found]:
    """The folder as the task's own, whatever it is called, unless as another task's."""
    if folder.name not in {name for each in release.tasks.values() for name in each.folders}:
        yield _look(
            "tsv", folder, {name: each.files for name, each in release.tasks[task.name].splits.items()}
        )


def _parts(found: Found, task: Task) -> list[str]:
    """A line for each split that is missing beside others."""
    there = f"{task.name}; its other splits are there as {NAMES[found.layout]}"
    return [
        f"{found.folder}: no {' or '.join(found.wanted[split]) or split}, the {split} split of {there}"
        for split in task.splits
        if split not in found.files
    ]


def _nothing(seen: Iterable[Found], source: Path, task: Task) -> list[str]:
    looked = [f"{task.name}/{FILE}"]
    exports: list[str] = []
    for each in seen:
        exports += [str(path) for path in sorted(each.folder.glob("*.csv"))]
        names = [each.folder / name for names in each.wanted.values() for name in names]
        looked += [path.relative_to(source).as_posix() for path in names]
    where = f"looked there and in each folder in it for {', '.join(looked)}"
    lines = [f"{source}: no files of {task.name} are there; {where}"]
    if exports:
        lines.append(f"{exports[0]}: CSV files are not what was released; expected the TSV or Parquet files")
    return lines
