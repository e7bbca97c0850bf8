"""Getting a benchmark's data: from the hub, the archives or a folder, or built by a recipe."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from gluebench.benchmark import Benchmark, Split, Task, UnknownNameError
from gluebench.data.dataset import (
    INDEX,
    LABEL,
    Dataset,
    Origin,
    Outcome,
    SourceFile,
    read_dataset,
    source_file,
)
from gluebench.data.errors import SHOWN, DataError
from gluebench.data.home import hold_lock
from gluebench.data.prepared import ROW_GROUP, intact, prepare
from gluebench.data.recipes import Columns, OptionError, RecipeResult, recipe_of, values_of
from gluebench.data.sources.fetch import DownloadProgress, Fetcher, RetrySettings, check_space, os_problem
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.plan import DownloadPlan, SourceName, plan
from gluebench.data.sources.release import Release
from gluebench.data.sources.unpack import lay_out

PARALLEL_TASKS = 4
"""Tasks prepared in parallel; limited, since each keeps some row groups in memory."""
STAGING = ".downloads"
"""Folder in the data folder that keeps downloads until they are prepared."""


def build(
    corpus: Path,
    to: Path,
    benchmark: Benchmark,
    task: Task,
    options: Mapping[str, str] | None = None,
    *,
    named: str | None = None,
    origin: Origin | None = None,
) -> Dataset:
    """Build a task from the folder of its original corpus, as `<to>/<benchmark>/<Task>`.

    `options` are the recipe's, as text; `named` is a recipe other than the manifest's. A split whose size is
    not the manifest's is written too, with a note, since corpora may differ from those of the release.
    Raises DataError, OptionError, UnknownNameError.
    """
    chosen = recipe_of(task, named)
    if not corpus.is_dir():
        raise DataError(f"{corpus}: no such folder; expected {chosen.corpus}")
    values = values_of(f"the recipe {chosen.name}", chosen.options, options or {}, dashes="--")
    built = chosen.build(corpus, task, values)
    unknown = built.splits.keys() - task.splits.keys()
    if unknown:
        raise UnknownNameError(min(unknown), list(task.splits), what=f"split of {task.name}")
    if not built.splits:
        raise DataError(f"{corpus}: nothing to build {task.name} from; expected {chosen.corpus}")

    origin = origin or Origin("recipe", corpus.resolve().name)
    files = origin.files or tuple(_record(path, corpus) for path in built.files)
    batches = {name: _batches(task, task.splits[name], columns) for name, columns in built.splits.items()}
    origin = origin._replace(files=files, recipe=chosen.name, options=built.options)
    notes = list(built.notes) + _size_notes(task, built)
    return prepare(to, benchmark, task, batches, origin=origin, notes=notes, sized=False)


def _record(path: Path, corpus: Path) -> SourceFile:
    """The record of a file that a recipe read, which may lie outside the corpus."""
    if path.is_relative_to(corpus):
        return source_file(path, str(path.relative_to(corpus)))
    return source_file(path, path.name)


def _size_notes(task: Task, built: RecipeResult) -> list[str]:
    """Notes on splits of another size than the released ones, and on those that were not built."""
    notes = []
    for name, columns in built.splits.items():
        size = task.splits[name].size
        rows = len(columns[task.columns[0]])
        if rows != size:
            notes.append(f"{name}: {rows:,} examples were built; the released split has {size:,}")
    for name in task.splits:
        if name not in built.splits:
            notes.append(f"{name}: not built")
    return notes


def _batches(task: Task, split: Split, columns: Columns) -> Iterator[pa.RecordBatch]:
    """A recipe's columns as Arrow: index first, then inputs, label and the rest. Raises DataError."""
    rows = len(columns[task.columns[0]])
    uneven = [name for name, values in columns.items() if len(values) != rows]
    if uneven:
        problem = f"the columns {', '.join(uneven)} have not the {rows:,} rows of the others"
        raise DataError(f"{task.name}, {split.name}: {problem}")
    types = dict.fromkeys(task.columns, pa.string())
    types[LABEL] = pa.float64() if task.form == "numbers" else pa.string()
    ordered = {INDEX: pa.array(range(rows), pa.int64())}
    for name, kind in types.items():
        if name in columns:
            ordered[name] = pa.array(columns[name], kind)
    for name, values in columns.items():
        if name not in types:
            ordered[name] = pa.array(values)
    yield from pa.table(ordered).to_batches(max_chunksize=ROW_GROUP)


class Options(NamedTuple):
    """How to get data."""

    source: SourceName | None = None
    """None for the hub, and the archives for tasks that the hub does not have."""
    mirror: str = ""
    """Replaces scheme and host of every address."""
    partial: bool = False
    """Accept a task of which some splits are missing."""
    keep_going: bool = False
    """List every row that cannot be read, not only the first ones."""
    again: bool = False
    """Get again what is already there."""
    retry: RetrySettings = RetrySettings()


@dataclass
class Downloader:
    """Gets tasks of one benchmark into a data folder; a failed task does not stop the others."""

    benchmark: Benchmark
    release: Release
    to: Path
    options: Options = field(default_factory=Options)
    meter: DownloadProgress = field(default_factory=DownloadProgress)

    def __post_init__(self) -> None:
        self._fetcher = Fetcher(self.meter, self.options.retry)

    def from_folder(self, tasks: Sequence[Task], source: Path, origin: Origin | None = None) -> list[Outcome]:
        """Prepare the tasks from files on disk, in parallel threads.

        Threads suffice: hashing, splitting and writing release the interpreter lock.
        """
        with ThreadPoolExecutor(min(PARALLEL_TASKS, os.cpu_count() or 1)) as pool:
            work = [partial(self._prepare, task, source, origin) for task in tasks]
            return list(pool.map(self._outcome, tasks, work))

    def download(self, tasks: Sequence[Task]) -> list[Outcome]:
        """Fetch and prepare the tasks; those already prepared from the same files are not changed.

        Downloads stay in `<to>/.downloads` until they are prepared, so that a later run resumes them. Raises
        OSError if the disk has too little space or the folder cannot be written, DataError while another
        command downloads into it.
        """
        with _staging(self.to) as scratch:
            plans = [self._plan(task, scratch / self.benchmark.name) for task in tasks]
            sizes = [plan.bytes for plan in plans if isinstance(plan, DownloadPlan)]
            # Prepared data are about as large as downloads, and each download is deleted once prepared.
            check_space(self.to, sum(sizes) + max(sizes, default=0), what="getting these data")
            outcomes = []
            for plan in plans:
                if isinstance(plan, DownloadPlan):
                    plan = self._outcome(plan.task, partial(self._carry_out, plan))
                outcomes.append(plan)
            return outcomes

    def _plan(self, task: Task, scratch: Path) -> DownloadPlan | Outcome:
        """What to fetch for a task; its outcome if there is nothing to fetch."""
        options = self.options
        place = self._task_folder(task)
        try:
            planned = plan(self.release, task, options.source, scratch, mirror=options.mirror)
        except DataError as error:
            return Outcome(task, place, problems=tuple(error.problems))
        if options.again:
            return planned
        dataset = self._present(planned)
        if dataset is None:
            return planned
        self.meter.say(f"{task.name}: already there, from the same files; --again gets it anew")
        return Outcome(task, place, dataset, unchanged=True)

    def _present(self, plan: DownloadPlan) -> Dataset | None:
        """The dataset prepared earlier from the same files, if it is complete and unchanged; else None."""
        place = self._task_folder(plan.task)
        try:
            dataset = read_dataset(place)
        except DataError:
            return None
        complete = self.options.partial or plan.task.splits.keys() <= dataset.splits.keys()
        if complete and plan.describes_origin(dataset.origin) and intact(place, plan.task, dataset):
            return dataset
        return None

    def _carry_out(self, plan: DownloadPlan) -> Dataset:
        self._fetcher.check_reachable(plan.files[0].address)
        self.meter.say(plan.announcement())
        self.meter.start(plan.task.name, plan.bytes or None)
        try:
            origin = plan.origin._replace(files=tuple(map(self._fetcher.fetch, plan.files)))
        finally:
            self.meter.stop()
        if plan.source == "hub":
            dataset = self._prepare(plan.task, plan.folder, origin)
        else:
            dataset = self._from_archive(plan, origin)
        for file in plan.files:
            file.path.unlink()
        return dataset

    def _from_archive(self, plan: DownloadPlan, origin: Origin) -> Dataset:
        """Prepare from an archive; delete one without the task, since archives have no checksum to verify."""
        archive = plan.files[0].path
        release = self.release.tasks[plan.task.name]
        scratch = source = archive.with_name("unpacked")
        shutil.rmtree(scratch, ignore_errors=True)  # left over if an earlier run was killed
        try:
            source = lay_out(release, plan.task.name, archive, scratch)
            if release.original:
                return build(source, self.to, self.benchmark, plan.task, origin=origin)
            return self._prepare(plan.task, source, origin)
        except DataError as error:
            archive.unlink()
            inside = [line.replace(f"{source}{os.sep}", f"{archive.name}: ") for line in error.problems]
            raise DataError(inside, shown=None if self.options.keep_going else SHOWN) from None
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _prepare(self, task: Task, source: Path, origin: Origin | None) -> Dataset:
        return prepare_from_folder(
            source,
            self.to,
            self.benchmark,
            task,
            self.release,
            origin=origin,
            partial=self.options.partial,
            keep_going=self.options.keep_going,
        )

    def _outcome(self, task: Task, work: Callable[[], Dataset]) -> Outcome:
        """Do the work; an error becomes a problem of this task."""
        place = self._task_folder(task)
        try:
            return Outcome(task, place, work())
        except OSError as error:
            return Outcome(task, place, problems=(os_problem(error, place),))
        except (DataError, OptionError, UnknownNameError) as error:
            return Outcome(task, place, problems=tuple(str(error).splitlines()))

    def _task_folder(self, task: Task) -> Path:
        return self.to / self.benchmark.name / task.name


@contextmanager
def _staging(data: Path) -> Iterator[Path]:
    """The folder for downloads, locked; empty folders are removed at the end. Raises DataError if in use."""
    folder = data / STAGING
    folder.mkdir(parents=True, exist_ok=True)
    busy = f"{folder}: another command is getting data into this folder; wait for it to end"
    with hold_lock(folder, busy):
        try:
            yield folder
        finally:
            for parent, _, _ in os.walk(folder, topdown=False):
                if not os.listdir(parent):
                    os.rmdir(parent)
