"""Preparing a task's data from a folder on disk, in any of the known layouts."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import pyarrow as pa

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import FILE, Dataset, Origin, read_dataset
from gluebench.data.errors import DataError, gathered
from gluebench.data.prepared import prepare
from gluebench.data.sources.files import Survey, read_earlier, read_hub, read_released, survey
from gluebench.data.sources.release import Hub, Release

Layout = Literal["prepared", "hub", "tsv"]
NAMES: Mapping[Layout, str] = {
    "prepared": "prepared before",
    "hub": "the hub's Parquet files",
    "tsv": "TSV files",  # or JSON lines or Parquet of the same names
}
"""Layouts in order of preference, as messages name them."""
CACHES = ("", "hub", "huggingface/hub", ".cache/huggingface/hub")
"""Paths of the hub client's cache below a folder that the user names."""


FileNames: TypeAlias = Mapping[str, tuple[str, ...]]
"""Split name to the possible names of its file in a folder."""


class TaskFiles(NamedTuple):
    """A task's files in one layout in one folder."""

    layout: Layout
    folder: Path
    names: FileNames
    files: Mapping[str, Path]
    """Split name to its file, if the file exists."""

    @property
    def revision(self) -> str:
        """The commit, if the folder is a snapshot in the hub's cache; else ""."""
        return self.folder.name if self.layout == "hub" and self.folder.parent.name == "snapshots" else ""


def prepare_from_folder(
    source: Path,
    to: Path,
    benchmark: Benchmark,
    task: Task,
    release: Release,
    *,
    origin: Origin | None = None,
    partial: bool = False,
    keep_going: bool = False,
) -> Dataset:
    """Prepare the task's files below `source` in `<to>/<benchmark>/<Task>`, and replace earlier data there.

    Reads the first layout with all splits: prepared before, the hub's Parquet, TSV
    (docs/reference/data.md). A missing split is an error unless `partial`. Raises DataError with what cannot
    be read, 20 lines of it or all if `keep_going`, and OSError; earlier data are then unchanged.
    """
    chosen = find(source, benchmark, task, release, partial=partial)
    surveys = gathered(lambda _, path: survey(path), chosen.files)
    notes = list(read_dataset(chosen.folder).notes) if chosen.layout == "prepared" else []
    batches = {
        split: _batches(chosen, split, surveys[split], task=task, release=release, notes=notes)
        for split in chosen.files
    }
    try:
        return prepare(
            to, benchmark, task, batches, origin=_origin(chosen, source, surveys, origin), notes=notes
        )
    except DataError as error:
        if keep_going:
            raise DataError(error.problems, shown=None) from None
        raise


def _batches(
    chosen: TaskFiles, split: str, known: Survey, *, task: Task, release: Release, notes: list[str]
) -> Iterator[pa.RecordBatch]:
    path, task_release = chosen.files[split], release.tasks[task.name]
    if chosen.layout == "prepared":
        record = read_dataset(chosen.folder).splits[split]
        return read_earlier(path, known, task=task, split=task.splits[split], record=record)
    if chosen.layout == "hub":
        return read_hub(path, known, task=task, split=task.splits[split], release=task_release)
    return read_released(path, known, task=task, split=task.splits[split], release=task_release, notes=notes)


def _origin(chosen: TaskFiles, source: Path, surveys: dict[str, Survey], origin: Origin | None) -> Origin:
    """Origin of the data: the caller's, that of data prepared before, or this folder."""
    if origin is None and chosen.layout == "prepared":
        return read_dataset(chosen.folder).origin
    files = tuple(
        surveys[split].source(path.relative_to(source).as_posix()) for split, path in chosen.files.items()
    )
    if origin is not None:
        return origin if origin.files else origin._replace(files=files)
    location = f"{source.resolve().name} ({NAMES[chosen.layout]})"
    return Origin("folder", location, files, revision=chosen.revision)


def find(source: Path, benchmark: Benchmark, task: Task, release: Release, *, partial: bool) -> TaskFiles:
    """Find the task's files: in the folder itself, or else in one of its sub-folders.

    Takes the first layout with all files, or with any if `partial`. Raises DataError with the files that are
    expected, NotADirectoryError or FileNotFoundError.
    """
    if not source.is_dir():
        kind = NotADirectoryError if source.exists() else FileNotFoundError
        raise kind(0, f"not a folder; expected one with the files of {task.name}", str(source))
    needed = 1 if partial else len(task.splits)
    here = [*_layouts(source, benchmark, task, release)]
    if source.name not in {name for known in release.tasks.values() for name in known.folders}:
        here.append(_tsv(source, task, release))  # the task's folder under any other name
    best = max(here, key=lambda candidate: len(candidate.files))
    if len(best.files) >= needed:
        return best
    folders = sorted(path for path in source.iterdir() if path.is_dir())
    below = [files for folder in folders for files in _layouts(folder, benchmark, task, release)]
    most = max((len(candidate.files) for candidate in below), default=0)
    top = [candidate for candidate in below if most and len(candidate.files) == most]
    if most >= needed:
        return _only(top, source, task)
    incomplete = best if best.files else next(iter(top), None)
    if incomplete is None:
        raise DataError(_nothing(here, source, task))
    there = f"{task.name}; its other splits are there as {NAMES[incomplete.layout]}"
    missing = {name: incomplete.names[name] for name in task.splits if name not in incomplete.files}
    problems = [
        f"{incomplete.folder}: no {' or '.join(names) or split}, the {split} split of {there}"
        for split, names in missing.items()
    ]
    raise DataError([*problems, "--partial (partial=True) takes the splits that are there"])


def _only(candidates: list[TaskFiles], source: Path, task: Task) -> TaskFiles:
    """The candidate of the preferred layout. Raises DataError if several sub-folders have that layout."""
    layout = next(layout for layout in NAMES if any(files.layout == layout for files in candidates))
    preferred = [files for files in candidates if files.layout == layout]
    folders = [files.folder.relative_to(source) for files in preferred]
    if len({folder.parts[0] for folder in folders}) > 1:
        where = ", ".join(folder.as_posix() for folder in folders)
        raise DataError(f"{source}: {task.name} is in it more than once, in {where}; name one of these")
    return preferred[0]


def _layouts(base: Path, benchmark: Benchmark, task: Task, release: Release) -> Iterator[TaskFiles]:
    """Candidates of each layout in a folder; any of their files may be missing."""
    for folder in (base / benchmark.name / task.name, base / task.name, base):
        record = read_dataset(folder) if (folder / FILE).is_file() else None
        if record is None or record.origin.kind == "sample":  # whose files are text
            continue
        if (record.benchmark, record.task) == (benchmark.name, task.name):
            splits = record.splits
            names = {name: (splits[name].file,) if name in splits else () for name in task.splits}
            yield _look("prepared", folder, names)
    yield from _hub(base, task, release)
    known = release.tasks[task.name]
    for folder in (*([base] if base.name in known.folders else []), *(base / name for name in known.folders)):
        yield _tsv(folder, task, release)


def _look(layout: Layout, folder: Path, names: FileNames) -> TaskFiles:
    files: dict[str, Path] = {}
    for split, alternatives in names.items():
        path = next((folder / name for name in alternatives if (folder / name).is_file()), None)
        if path is not None:
            files[split] = path
    return TaskFiles(layout, folder, names, files)


def _hub(base: Path, task: Task, release: Release) -> Iterator[TaskFiles]:
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
            yield from sorted(snapshots.iterdir(), key=lambda path: (path.name != hub.revision, path.name))


def _tsv(folder: Path, task: Task, release: Release) -> TaskFiles:
    splits = release.tasks[task.name].splits
    # A Parquet file beside a record is prepared data, which is read by that record only.
    ours = (folder / FILE).is_file()
    parquet = {name: () if ours else (f"{name}.parquet",) for name in splits}
    return _look("tsv", folder, {name: split.files + parquet[name] for name, split in splits.items()})


def _nothing(candidates: Iterable[TaskFiles], source: Path, task: Task) -> list[str]:
    looked = [f"{task.name}/{FILE}"]
    exports: list[str] = []
    for candidate in candidates:
        exports += map(str, sorted(candidate.folder.glob("*.csv")))
        paths = [candidate.folder / name for names in candidate.names.values() for name in names]
        looked += [path.relative_to(source).as_posix() for path in paths]
    where = f"looked there and in each folder in it for {', '.join(looked)}"
    lines = [f"{source}: no files of {task.name} are there; {where}"]
    if exports:
        lines.append(f"{exports[0]}: CSV files are not what was released; expected the TSV or Parquet files")
    return lines
