"""Preparing a task's data from a folder on disk, in any of the known layouts."""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import pyarrow as pa

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import FILE, INDEX, LABEL, Dataset, Origin, read_dataset
from gluebench.data.errors import SHOWN, DataError, gathered
from gluebench.data.prepared import prepare
from gluebench.data.sources.files import Survey, read_earlier, read_hub, read_released, survey
from gluebench.data.sources.release import Hub, Release
from gluebench.data.sources.unpack import unpack
from gluebench.reading.columnar import STATE, shard_of
from gluebench.reading.tfrecord import MARK

Layout = Literal["prepared", "hub", "files"]
NAMES: Mapping[Layout, str] = {
    "prepared": "prepared before",
    "hub": "the hub's Parquet files",
    "files": "files of the splits",
}
"""Layouts in order of preference, as messages name them."""
SUFFIXES = {
    ".tsv": "TSV",
    ".txt": "TSV",
    ".jsonl": "JSON lines",
    ".json": "JSON",
    ".csv": "CSV",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    MARK: "TFRecord",
}
"""Endings of the files of splits, in order of preference, and what messages call such files."""
SPLIT_NAMES = {
    "train": ("train", "training"),
    "dev": ("dev", "validation", "val", "valid"),
    "test": ("test",),
}
"""What the files of a split are called elsewhere, by the first word of its name."""
DEEPEST = 3
"""How many folders without files of splits may lie between a task's folder and its files."""
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
    def kind(self) -> str:
        """What messages call the files."""
        if self.layout != "files" or not self.files:
            return NAMES[self.layout]
        path = next(iter(self.files.values()))
        if path.is_dir():
            return "a datasets folder"
        return f"{SUFFIXES.get(MARK if MARK in path.name else path.suffix, 'other')} files"

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

    Reads the first layout with all splits: prepared before, the hub's Parquet, files of the splits in any
    format, also in a zip (docs/reference/data.md). A missing split is an error unless `partial`. Raises
    DataError with what cannot be read, 20 lines of it or all if `keep_going`, and OSError; earlier data are
    then unchanged.
    """
    with tempfile.TemporaryDirectory() as scratch:
        chosen = find(source, benchmark, task, release, partial=partial, scratch=Path(scratch))
        surveys = gathered(lambda _, path: survey(path), chosen.files)
        notes = list(read_dataset(chosen.folder).notes) if chosen.layout == "prepared" else []
        batches = {
            split: _labeled(
                _batches(chosen, split, surveys[split], task=task, release=release, notes=notes),
                chosen.files[split],
                task,
                split,
            )
            for split in chosen.files
        }
        # Names are relative to the source, or to the archive that was unpacked.
        origin = _origin(chosen, source, Path(scratch), surveys, origin)
        try:
            return prepare(to, benchmark, task, batches, origin=origin, notes=notes)
        except DataError as error:
            problems = [line.replace(f"{scratch}/", "") for line in error.problems]
            raise DataError(problems, shown=None if keep_going else SHOWN) from None


def _labeled(
    batches: Iterable[pa.RecordBatch], path: Path, task: Task, split: str
) -> Iterator[pa.RecordBatch]:
    """The same batches. Raises DataError for a split to train or develop on that has no labels."""
    needed = split.startswith(("train", "dev"))
    for batch in batches:
        if needed and LABEL not in batch.schema.names:
            others = [name for name in batch.schema.names if name not in (INDEX, *task.columns)]
            listed = "there is no other column"
            if others:
                listed = f"other columns are {', '.join(map(repr, others))}"
            declared = f'[tasks."{task.name}"] columns = {{ NAME = "label" }}'
            raise DataError(
                f"{path}: the {split} split has no labels, or all are hidden; {listed}; if one has the "
                f"labels, declare it: {declared} in the release file (docs/how-to/describe-a-release.md)"
            )
        yield batch


def _batches(
    chosen: TaskFiles, split: str, known: Survey, *, task: Task, release: Release, notes: list[str]
) -> Iterator[pa.RecordBatch]:
    path = chosen.files[split]
    task_release = release.tasks[task.name]
    if chosen.layout == "prepared":
        record = read_dataset(chosen.folder).splits[split]
        return read_earlier(path, known, task=task, split=task.splits[split], record=record)
    if chosen.layout == "hub":
        return read_hub(path, known, task=task, split=task.splits[split], release=task_release, notes=notes)
    return read_released(path, known, task=task, split=task.splits[split], release=task_release, notes=notes)


def _origin(
    chosen: TaskFiles, source: Path, scratch: Path, surveys: dict[str, Survey], origin: Origin | None
) -> Origin:
    """Origin of the data: the caller's, that of data prepared before, or this folder."""
    if origin is None and chosen.layout == "prepared":
        return read_dataset(chosen.folder).origin
    files = tuple(
        surveys[split].source(path.relative_to(scratch if scratch in path.parents else source).as_posix())
        for split, path in chosen.files.items()
    )
    if origin is not None:
        return origin if origin.files else origin._replace(files=files)
    location = f"{source.resolve().name} ({chosen.kind})"
    return Origin("folder", location, files, revision=chosen.revision)


def find(
    source: Path,
    benchmark: Benchmark,
    task: Task,
    release: Release,
    *,
    partial: bool,
    scratch: Path | None = None,
) -> TaskFiles:
    """Find the task's files: in the folder itself, or else in one of its sub-folders.

    Takes the first layout with all files, or with any if `partial`; zips are unpacked into `scratch`. Raises
    DataError with the files that are expected, NotADirectoryError or FileNotFoundError.
    """
    if scratch is not None and source.is_file() and source.suffix == ".zip":
        source = unpack(source, scratch / source.stem)
    if not source.is_dir():
        kind = NotADirectoryError if source.exists() else FileNotFoundError
        raise kind(0, f"not a folder; expected one with the files of {task.name}", str(source))
    needed = 1 if partial else len(task.splits)
    here = [*_layouts(source, benchmark, task, release, scratch)]
    if source.name not in {name for known in release.tasks.values() for name in known.folders}:
        here.append(_in_folder(source, task, release))  # the task's folder under any other name
    best = max(here, key=lambda candidate: len(candidate.files))
    if len(best.files) >= needed:
        return best
    folders = sorted(path for path in source.iterdir() if path.is_dir())
    below = [files for folder in folders for files in _layouts(folder, benchmark, task, release, scratch)]
    most = max((len(candidate.files) for candidate in below), default=0)
    top = [candidate for candidate in below if most and len(candidate.files) == most]
    if most >= needed:
        return _only(top, source, task)
    incomplete = best if best.files else next(iter(top), None)
    if incomplete is None:
        raise DataError(_nothing(source, task, release))
    there = f"{task.name}; its other splits are there as {incomplete.kind}"
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


def _layouts(
    base: Path, benchmark: Benchmark, task: Task, release: Release, scratch: Path | None
) -> Iterator[TaskFiles]:
    """Candidates of each layout in a folder; any of their files may be missing."""
    for folder in (*(base / name / task.name for name in benchmark.lineage), base / task.name, base):
        record = read_dataset(folder) if (folder / FILE).is_file() else None
        if record is None or record.origin.kind == "sample":  # whose files are text
            continue
        if record.benchmark in benchmark.lineage and record.task == task.name:
            splits = record.splits
            names = {name: (splits[name].file,) if name in splits else () for name in task.splits}
            yield _look("prepared", folder, names)
    yield from _hub(base, task, release)
    yield from _in_parts(base, task, release)
    known = release.tasks[task.name]
    if base.name in known.folders:
        yield _released(base, task, release)
    folded = {_folded(name) for name in known.folders}
    exact = [base / name for name in known.folders]
    others = [path for path in sorted(base.iterdir()) if path not in exact and _folded(path.stem) in folded]
    for folder in exact:
        yield _released(folder, task, release)
    for path in others:
        if path.is_dir():
            yield _released(path, task, release)
    for path in (path for path in sorted(base.glob("*.zip")) if _folded(path.stem) in folded):
        if scratch is not None:
            yield _released(_unpacked(path, scratch), task, release)


def _in_parts(base: Path, task: Task, release: Release) -> Iterator[TaskFiles]:
    """The files of a task with a folder for each part, as the hub has mnli_matched beside mnli."""
    homes = {_folded(path.name): path for path in sorted(base.iterdir()) if path.is_dir()}
    files: dict[str, Path] = {}
    parts = False
    for name, split in task.splits.items():
        kind, _, part = split.name.partition("_")
        for folder in release.tasks[task.name].folders:
            home = homes.get(_folded(folder + part))
            path = None if home is None else _usual_file_below(home, kind)
            if path is not None and name not in files:
                files[name] = path
                parts = parts or bool(part)
    if parts:
        yield TaskFiles("files", base, dict.fromkeys(task.splits, ()), files)


def _folded(name: str) -> str:
    """A name of a task or folder without what differs between tools: stsb for STS-B, sst2 for SST_2."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _unpacked(archive: Path, scratch: Path) -> Path:
    """The folder with the content of a zip. Raises DataError for an archive that is not to be trusted."""
    place = scratch / archive.stem
    return place if place.is_dir() else unpack(archive, place)


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
    for folder in (*_snapshots(base, release.tasks[task.name].hub), base):
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


def _released(folder: Path, task: Task, release: Release) -> TaskFiles:
    """The files of the splits in a folder, by their released names or by the usual ones of any format."""
    for _ in range(DEEPEST):
        files = _in_folder(folder, task, release)
        # A cache of datasets has the version and a hash between the task's folder and its files.
        inner = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
        if files.files or len(inner) != 1:
            break
        folder = inner[0]
    return files


def _in_folder(folder: Path, task: Task, release: Release) -> TaskFiles:
    splits = release.tasks[task.name].splits
    # A Parquet file beside a record is prepared data, which is read by that record only.
    ours = (folder / FILE).is_file()
    parquet = {name: () if ours else (f"{name}.parquet",) for name in splits}
    files = _look("files", folder, {name: split.files + parquet[name] for name, split in splits.items()})
    if ours or not folder.is_dir():
        return files
    entries = sorted(folder.iterdir())
    usual = {name: _usual_file(entries, task.splits[name].name) for name in splits if name not in files.files}
    every = {**files.files, **{name: path for name, path in usual.items() if path is not None}}
    return files._replace(files={name: every[name] for name in splits if name in every})


def _usual_file_below(folder: Path, split: str) -> Path | None:
    """The file of a split in a folder, or in the only folder in it, as in a cache of datasets."""
    for _ in range(DEEPEST):
        entries = sorted(folder.iterdir())
        path = _usual_file(entries, split)
        inner = [entry for entry in entries if entry.is_dir()]
        if path is not None or len(inner) != 1:
            return path
        folder = inner[0]
    return None


def _usual_file(entries: Iterable[Path], split: str) -> Path | None:
    """The file or `datasets` folder of a split: validation.csv, glue-validation.arrow, val.jsonl."""
    first, _, rest = split.partition("_")
    names = [f"{name}_{rest}".rstrip("_") for name in SPLIT_NAMES.get(first, (first,))]
    candidates: list[tuple[int, str, Path]] = []
    order = list(SUFFIXES)
    for path in entries:
        if path.is_dir():
            rank = len(order) if path.name in names and (path / STATE).is_file() else -1
        else:
            shard = shard_of(path.name)
            whole = Path(shard.stem + shard.end)
            stem = whole.stem
            if whole.suffix in (".arrow", ".parquet", MARK):
                stem = stem.rpartition("-")[2]  # the name of the data set comes before
            known = stem in names and whole.suffix in SUFFIXES and shard.number == 0
            rank = order.index(whole.suffix) if known else -1
        if rank >= 0:
            candidates.append((rank, path.name, path))
    return min(candidates)[2] if candidates else None


def _nothing(source: Path, task: Task, release: Release) -> list[str]:
    """What is missing of a task, and what else is read; the second line is the same for all tasks."""
    known = release.tasks[task.name]
    files = ", ".join(known.splits[name].files[0] for name in task.splits)
    folders = " or ".join(dict.fromkeys(known.folders))
    formats = ", ".join(dict.fromkeys(SUFFIXES.values()))
    return [
        f"{source}: no files of {task.name}; expected a folder {folders} in it, with {files}",
        f"{source}: zips of such folders and the hub's files are read too, and a folder of the task's name "
        f"with train, dev (or validation, val) and test as {formats} or datasets' save_to_disk",
    ]
