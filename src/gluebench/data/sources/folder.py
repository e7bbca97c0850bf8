"""Preparing a task's data from a folder on disk, in any of the known layouts."""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        suffix = MARK if MARK in path.name else path.suffix
        return f"{SUFFIXES.get(suffix, 'other')} files"

    @property
    def revision(self) -> str:
        """The commit, if the folder is a snapshot in the hub's cache; else ""."""
        if self.layout == "hub" and self.folder.parent.name == "snapshots":
            return self.folder.name
        return ""


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
        notes: list[str] = []
        if chosen.layout == "prepared":
            notes += read_dataset(chosen.folder).notes
        batches = {}
        for split, path in chosen.files.items():
            of_split = _batches(chosen, split, surveys[split], task=task, release=release, notes=notes)
            batches[split] = _require_labels(of_split, path, task, split)
        # Names are relative to the source, or to the archive that was unpacked.
        origin = _origin(chosen, source, Path(scratch), surveys, origin)
        try:
            return prepare(to, benchmark, task, batches, origin=origin, notes=notes)
        except DataError as error:
            problems = [line.replace(f"{scratch}/", "") for line in error.problems]
            raise DataError(problems, shown=None if keep_going else SHOWN) from None


def _require_labels(
    batches: Iterable[pa.RecordBatch], path: Path, task: Task, split: str
) -> Iterator[pa.RecordBatch]:
    """The same batches. Raises DataError for a split to train or develop on that has no labels."""
    needed = split.startswith(("train", "dev"))
    for batch in batches:
        if needed and LABEL not in batch.schema.names:
            others = [repr(name) for name in batch.schema.names if name not in (INDEX, *task.columns)]
            listed = "there is no other column"
            if others:
                listed = f"other columns are {', '.join(others)}"
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
    if origin is not None and origin.files:
        return origin
    files = []
    for split, path in chosen.files.items():
        top = scratch if scratch in path.parents else source
        files.append(surveys[split].source(path.relative_to(top).as_posix()))
    if origin is not None:
        return origin._replace(files=tuple(files))
    location = f"{source.resolve().name} ({chosen.kind})"
    return Origin("folder", location, tuple(files), revision=chosen.revision)


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

    here = list(_layouts(source, benchmark, task, release, scratch))
    if not any(source.name in known.folders for known in release.tasks.values()):
        here.append(_in_folder(source, task, release))  # the task's folder under any other name
    best = max(here, key=_number_of_files)
    if len(best.files) >= needed:
        return best

    below: list[TaskFiles] = []
    for folder in sorted(source.iterdir()):
        if folder.is_dir():
            below += _layouts(folder, benchmark, task, release, scratch)
    most = max(map(_number_of_files, below), default=0)
    fullest = [candidate for candidate in below if candidate.files and len(candidate.files) == most]
    if most >= needed:
        return _only(fullest, source, task)
    if best.files:
        raise _incomplete(best, task)
    if fullest:
        raise _incomplete(fullest[0], task)
    raise DataError(_nothing(source, task, release))


def _number_of_files(candidate: TaskFiles) -> int:
    return len(candidate.files)


def _incomplete(candidate: TaskFiles, task: Task) -> DataError:
    """The error for files of a task of which some are missing."""
    problems = []
    for split in task.splits:
        if split not in candidate.files:
            names = " or ".join(candidate.names[split]) or split
            problems.append(
                f"{candidate.folder}: no {names}, the {split} split of {task.name}; its other splits are "
                f"there as {candidate.kind}"
            )
    problems.append("--partial (partial=True) takes the splits that are there")
    return DataError(problems)


def _only(candidates: list[TaskFiles], source: Path, task: Task) -> TaskFiles:
    """The candidate of the preferred layout. Raises DataError if several sub-folders have that layout."""
    layouts = {candidate.layout for candidate in candidates}
    preferred_layout = next(layout for layout in NAMES if layout in layouts)
    preferred = [candidate for candidate in candidates if candidate.layout == preferred_layout]
    folders = [candidate.folder.relative_to(source) for candidate in preferred]
    if len({folder.parts[0] for folder in folders}) > 1:
        where = ", ".join(folder.as_posix() for folder in folders)
        raise DataError(f"{source}: {task.name} is in it more than once, in {where}; name one of these")
    return preferred[0]


def _layouts(
    base: Path, benchmark: Benchmark, task: Task, release: Release, scratch: Path | None
) -> Iterator[TaskFiles]:
    """Candidates of each layout in a folder; any of their files may be missing."""
    yield from _find_prepared(base, benchmark, task)
    yield from _hub(base, task, release)
    yield from _in_parts(base, task, release)
    known = release.tasks[task.name]
    if base.name in known.folders:
        yield _find_released(base, task, release)

    exact = [base / name for name in known.folders]
    for folder in exact:
        yield _find_released(folder, task, release)
    # Tools write the names of tasks in their own ways.
    normalized = {_normalize(name) for name in known.folders}
    similar = [path for path in sorted(base.iterdir()) if _normalize(path.stem) in normalized]
    for path in similar:
        if path.is_dir() and path not in exact:
            yield _find_released(path, task, release)
    for path in similar:
        if path.suffix == ".zip" and scratch is not None:
            yield _find_released(_unpack_once(path, scratch), task, release)


def _find_prepared(base: Path, benchmark: Benchmark, task: Task) -> Iterator[TaskFiles]:
    """The files that were prepared before, of this benchmark or one that it extends."""
    folders = [base / name / task.name for name in benchmark.lineage]
    folders += [base / task.name, base]
    for folder in folders:
        if not (folder / FILE).is_file():
            continue
        record = read_dataset(folder)
        if record.origin.kind == "sample":  # whose files are text
            continue
        if record.benchmark in benchmark.lineage and record.task == task.name:
            names = {}
            for split in task.splits:
                names[split] = (record.splits[split].file,) if split in record.splits else ()
            yield _existing_files("prepared", folder, names)


def _in_parts(base: Path, task: Task, release: Release) -> Iterator[TaskFiles]:
    """The files of a task with a folder for each part, as the hub has mnli_matched beside mnli."""
    homes = {_normalize(path.name): path for path in sorted(base.iterdir()) if path.is_dir()}
    files: dict[str, Path] = {}
    has_parts = False
    for name, split in task.splits.items():
        role, _, part = split.name.partition("_")
        for folder in release.tasks[task.name].folders:
            home = homes.get(_normalize(folder + part))
            if home is None or name in files:
                continue
            path = _usual_file_below(home, role)
            if path is not None:
                files[name] = path
                has_parts = has_parts or bool(part)
    if has_parts:
        yield TaskFiles("files", base, dict.fromkeys(task.splits, ()), files)


def _normalize(name: str) -> str:
    """A name of a task or folder without what differs between tools: stsb for STS-B, sst2 for SST_2."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _unpack_once(archive: Path, scratch: Path) -> Path:
    """The folder with the content of a zip. Raises DataError for an archive that is not to be trusted."""
    folder = scratch / archive.stem
    return folder if folder.is_dir() else unpack(archive, folder)


def _existing_files(layout: Layout, folder: Path, names: FileNames) -> TaskFiles:
    """The files that exist in a folder: of each split the first of its names."""
    files: dict[str, Path] = {}
    for split, alternatives in names.items():
        for name in alternatives:
            path = folder / name
            if split not in files and path.is_file():
                files[split] = path
    return TaskFiles(layout, folder, names, files)


def _hub(base: Path, task: Task, release: Release) -> Iterator[TaskFiles]:
    paths: dict[str, tuple[str, ...]] = {}
    names: dict[str, tuple[str, ...]] = {}
    folders = set()
    for split, files in release.tasks[task.name].splits.items():
        if files.hub is not None:
            path = Path(files.hub.path)
            paths[split] = (path.as_posix(),)
            names[split] = (path.name,)
            folders.add(path.parent.name)
    if len(paths) < len(task.splits):
        return
    for snapshot in _snapshots(base, release.tasks[task.name].hub):
        yield _existing_files("hub", snapshot, paths)
    yield _existing_files("hub", base, paths)
    if base.name in folders:
        yield _existing_files("hub", base, names)


def _snapshots(base: Path, hub: Hub | None) -> Iterator[Path]:
    """Commits of the repository in a cache of the hub, the one that the release names first."""
    if hub is None:
        return
    repository = f"datasets--{hub.repository.replace('/', '--')}"
    folders = [base / cache / repository / "snapshots" for cache in CACHES]
    folders.append(base / "snapshots")
    for folder in folders:
        if folder.is_dir():
            yield from sorted(folder.iterdir(), key=lambda path: (path.name != hub.revision, path.name))


def _find_released(folder: Path, task: Task, release: Release) -> TaskFiles:
    """The files of the splits in a folder, by their released names or by the usual ones of any format."""
    for _ in range(DEEPEST):
        candidate = _in_folder(folder, task, release)
        if candidate.files or not folder.is_dir():
            break
        # A cache of datasets has the version and a hash between the task's folder and its files.
        inner = [path for path in folder.iterdir() if path.is_dir()]
        if len(inner) != 1:
            break
        folder = inner[0]
    return candidate


def _in_folder(folder: Path, task: Task, release: Release) -> TaskFiles:
    splits = release.tasks[task.name].splits
    # A Parquet file beside a record is prepared data, which is read by that record only.
    ours = (folder / FILE).is_file()
    names = {}
    for split, known in splits.items():
        names[split] = known.files if ours else (*known.files, f"{split}.parquet")
    candidate = _existing_files("files", folder, names)
    if ours or not folder.is_dir():
        return candidate
    entries = sorted(folder.iterdir())
    files = {}
    for split in splits:
        path = candidate.files.get(split) or _usual_file(entries, task.splits[split].name)
        if path is not None:
            files[split] = path
    return candidate._replace(files=files)


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
    role, _, part = split.partition("_")
    names = [f"{name}_{part}".rstrip("_") for name in SPLIT_NAMES.get(role, (role,))]
    candidates = []
    for path in entries:
        rank = _preference(path, names)
        if rank is not None:
            candidates.append((rank, path.name, path))
    return min(candidates)[2] if candidates else None


def _preference(path: Path, names: Sequence[str]) -> int | None:
    """The place of a split's file in the order of preference; None for another file."""
    if path.is_dir():
        if path.name in names and (path / STATE).is_file():
            return len(SUFFIXES)
        return None
    shard = shard_of(path.name)
    whole = Path(shard.stem + shard.end)
    stem = whole.stem
    if whole.suffix in (".arrow", ".parquet", MARK):
        stem = stem.rpartition("-")[2]  # the name of the data set comes before
    if stem in names and whole.suffix in SUFFIXES and shard.number == 0:
        return list(SUFFIXES).index(whole.suffix)
    return None


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
