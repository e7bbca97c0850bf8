"""Getting a benchmark's data: from the hub, the official archives, a folder, or the package itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Task, UnknownNameError
from gluebench.data.build import OptionError, build
from gluebench.data.dataset import Dataset, Origin, SourceFile, read_dataset
from gluebench.data.errors import SHOWN, DataError
from gluebench.data.published import intact
from gluebench.data.sources import archives, hub
from gluebench.data.sources.fetch import Fetcher, Patience
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.meter import Meter, Silent
from gluebench.data.sources.plan import Plan, SourceName, plan
from gluebench.data.sources.receive import enough_space
from gluebench.data.sources.release import Release
from gluebench.data.sources.staging import staging

MOST_AT_ONCE = 4
"""Tasks that are prepared side by side: each holds some row groups in memory."""


class Got(NamedTuple):
    """What became of one task."""

    task: Task
    place: Path
    """The folder of its files."""
    dataset: Dataset | None = None
    """None where it was not to be had; `problems` say why."""
    problems: tuple[str, ...] = ()
    there: bool = False
    """Whether it was there already, and was left as it is."""


class Wishes(NamedTuple):
    """How data are to be had."""

    source: SourceName | None = None
    """None for the hub, and the archives for what the hub has not."""
    mirror: str = ""
    """Stands for scheme and host of every address."""
    partial: bool = False
    """Take the splits that are to be had."""
    keep_going: bool = False
    """Tell of every row that cannot be read."""
    again: bool = False
    """Get anew what is already there."""
    patience: Patience = Patience()


class Getter:
    """Gets tasks of one benchmark into a data folder; one that fails keeps none of the others back."""

    def __init__(
        self,
        benchmark: Benchmark,
        release: Release,
        to: Path,
        *,
        wishes: Wishes | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._benchmark = benchmark
        self._release = release
        self._to = to
        self._wishes = wishes or Wishes()
        self._meter: Meter = meter or Silent()
        self._fetcher = Fetcher(self._meter, self._wishes.patience)

    def from_folder(self, tasks: Sequence[Task], source: Path, origin: Origin | None = None) -> list[Got]:
        """Prepare the tasks from files that are on disk already, as many at a time as there are processors.

        Hashing, cutting and writing are done outside the interpreter's lock, so that threads do.
        """
        with ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1)) as pool:
            work = [partial(self._prepared, task, source, origin) for task in tasks]
            return list(pool.map(self._tried, tasks, work))

    def download(self, tasks: Sequence[Task]) -> list[Got]:
        """Fetch and prepare the tasks; those that are there from the same files are left as they are.

        What is fetched lies in `<to>/.downloads` until it is prepared, so that a later run goes on where this
        one was stopped. Raises OSError where there is not room for all of it or the folder cannot be
        written, DataError where another command is getting data into it.
        """
        with staging(self._to) as scratch:
            planned = [self._planned(task, scratch / self._benchmark.name) for task in tasks]
            sizes = [each.bytes for each in planned if isinstance(each, Plan)]
            # Prepared data are about as large as the hub's, and a task's download goes when it is prepared.
            enough_space(self._to, sum(sizes) + max(sizes, default=0), what="getting these data")
            return [
                self._tried(each.task, partial(self._carried_out, each)) if isinstance(each, Plan) else each
                for each in planned
            ]

    def _planned(self, task: Task, scratch: Path) -> Plan | Got:
        """What to fetch for a task; what became of it where there is nothing to fetch."""
        wishes = self._wishes
        try:
            found = plan(self._release, task, wishes.source, scratch, mirror=wishes.mirror)
        except DataError as error:
            return Got(task, self._place(task), problems=tuple(error.problems))
        there = None if wishes.again else self._there(found)
        if there is None:
            return found
        self._meter.say(f"{task.name}: already there, from the same files; --again gets it anew")
        return Got(task, self._place(task), there, there=True)

    def _there(self, found: Plan) -> Dataset | None:
        """What is prepared from just these files, whole and unchanged."""
        place = self._place(found.task)
        try:
            dataset = read_dataset(place)
        except DataError:
            return None
        whole = self._wishes.partial or found.task.splits.keys() <= dataset.splits.keys()
        return (
            dataset if whole and found.made(dataset.origin) and intact(place, found.task, dataset) else None
        )

    def _carried_out(self, found: Plan) -> Dataset:
        self._fetcher.expect_answer(found.wants[0].address)
        self._meter.say(found.announcement())
        files = self._fetched(found)
        dataset = self._from_hub(found, files) if found.source == "hub" else self._from_archive(found, files)
        for want in found.wants:
            want.path.unlink()
        return dataset

    def _fetched(self, found: Plan) -> tuple[SourceFile, ...]:
        self._meter.start(found.task.name, found.bytes or None)
        try:
            return tuple(self._fetcher.fetch(want) for want in found.wants)
        finally:
            self._meter.stop()

    def _from_hub(self, found: Plan, files: tuple[SourceFile, ...]) -> Dataset:
        return self._prepared(found.task, found.folder, hub.origin(self._release, files))

    def _from_archive(self, found: Plan, files: tuple[SourceFile, ...]) -> Dataset:
        """No checksum vouches for an archive: one that does not hold the task is not kept for a later run."""
        (want,) = found.wants
        release = self._release.tasks[found.task.name]
        origin = Origin("archive", want.address, files)
        scratch = source = want.path.with_name("unpacked")
        shutil.rmtree(scratch, ignore_errors=True)  # what a killed run may have left
        try:
            source = archives.lay_out(release, found.task.name, want.path, scratch)
            if release.original:
                return build(source, self._to, self._benchmark, found.task, origin=origin)
            return self._prepared(found.task, source, origin)
        except DataError as error:
            want.path.unlink()
            inside = [each.replace(f"{source}{os.sep}", f"{want.name}: ") for each in error.problems]
            raise DataError(inside, shown=None if self._wishes.keep_going else SHOWN) from None
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _prepared(self, task: Task, source: Path, origin: Origin | None) -> Dataset:
        return prepare_from_folder(
            source,
            self._to,
            self._benchmark,
            task,
            self._release,
            origin=origin,
            partial=self._wishes.partial,
            keep_going=self._wishes.keep_going,
        )

    def _tried(self, task: Task, work: Callable[[], Dataset]) -> Got:
        """The outcome; what went wrong is the task's own."""
        place = self._place(task)
        try:
            return Got(task, place, work())
        except OSError as error:
            return Got(task, place, problems=(_told(error, place),))
        except (DataError, OptionError, UnknownNameError) as error:
            return Got(task, place, problems=tuple(str(error).splitlines()))

    def _place(self, task: Task) -> Path:
        return self._to / self._benchmark.name / task.name


def _told(error: OSError, place: Path) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename or place}: {reason[:1].lower()}{reason[1:]}"
