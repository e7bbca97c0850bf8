"""The official archives: a zip or a single file per task, with no published checksum."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from gluebench.data.errors import DataError
from gluebench.data.sources.address import mirrored
from gluebench.data.sources.content import beginning
from gluebench.data.sources.receive import Wanted
from gluebench.data.sources.release import TaskRelease
from gluebench.data.sources.unpack import unpack

ZIP = (b"PK\3\4", b"PK\5\6")


def wanted(release: TaskRelease, task: str, folder: Path, *, mirror: str) -> Wanted:
    """The task's archive as it is fetched. Raises DataError where it can only be fetched by hand."""
    if release.manual:
        raise DataError([release.manual])
    if not release.archive:
        raise DataError(["no address is known of an archive of it; try --source hub, or --from FOLDER"])
    name = PurePosixPath(unquote(urlsplit(release.archive).path)).name or task
    return Wanted(name=name, address=mirrored(release.archive, mirror), path=folder / task / name)


def lay_out(release: TaskRelease, task: str, archive: Path, to: Path) -> Path:
    """Put what the archive holds under `to`, and say which folder to read.

    The files of the splits as a released folder has them, in `<to>/<task>`; of an original corpus, all.
    """
    names = {name for split in release.splits.values() for name in split.files}
    with open(archive, "rb") as file:
        head = file.read(64)
    if head.startswith(ZIP):
        if release.original:
            return unpack(archive, to / task)
        unpack(archive, to / task, only=names, folders=release.folders)
        return to
    if archive.name not in names:
        raise DataError([f"{archive.name}: not a zip; it begins with {beginning(head)}"])
    (to / task).mkdir(parents=True)
    (to / task / archive.name).hardlink_to(archive)
    return to
