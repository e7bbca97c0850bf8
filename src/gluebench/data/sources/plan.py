"""What is to be fetched for one task, and whether what is prepared was made of just that."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from gluebench.benchmark import Task
from gluebench.data.dataset import Origin
from gluebench.data.errors import DataError
from gluebench.data.sources import archives, hub
from gluebench.data.sources.address import host
from gluebench.data.sources.meter import size
from gluebench.data.sources.receive import Wanted
from gluebench.data.sources.release import Release

SourceName = Literal["hub", "archives"]


class Plan(NamedTuple):
    """The files to fetch for a task."""

    task: Task
    source: SourceName
    folder: Path
    """Where they lie in the source's own layout."""
    wants: tuple[Wanted, ...]

    @property
    def bytes(self) -> int:
        """What is known of their size beforehand: nothing of archives."""
        return sum(want.bytes or 0 for want in self.wants)

    def made(self, origin: Origin) -> bool:
        """Whether data of that origin were prepared from just these files."""
        if self.source == "archives":
            return origin.kind == "archive" and origin.location == self.wants[0].address
        return origin.kind == "hub" and {each.sha256 for each in origin.files} == {
            want.sha256 for want in self.wants
        }

    def announcement(self) -> str:
        """What is about to be fetched, and on what terms the task's text is to be had."""
        number = len(self.wants)
        what = f"{number} files, {size(self.bytes)}," if number > 1 else self.wants[0].name
        where = host(self.wants[0].address)
        licence = self.task.source.licence or "none is named"
        return f"{self.task.name}: getting {what} from {where}. Licence: {licence}"


def plan(
    release: Release,
    task: Task,
    source: SourceName | None,
    scratch: Path,
    *,
    mirror: str = "",
) -> Plan:
    """The files of a task at a source; without one named, at the hub if that has them, else the archive.

    Raises DataError for a task that the source has not.
    """
    source = source or ("hub" if hub.has(release, task.name) else "archives")
    folder = scratch / source
    if source == "hub":
        folder = folder / (release.hub.revision if release.hub else "")
        wants = hub.wanted(release, task.name, folder, mirror=mirror)
        return Plan(task, source, folder, tuple(wants))
    try:
        want = archives.wanted(release.tasks[task.name], task.name, folder, mirror=mirror)
    except DataError as error:
        if not hub.has(release, task.name):
            raise
        raise DataError([f"{error}; the hub has a copy: --task {task.name} --source hub"]) from None
    return Plan(task, source, folder, (want,))
