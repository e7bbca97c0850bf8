"""The official archives: a zip or a single file per task, with no published checksum."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from gluebench.data.dataset import Origin
from gluebench.data.errors import DataError
from gluebench.data.sources.address import mirrored
from gluebench.data.sources.content import beginning
from gluebench.data.sources.fetch import Fetcher
from gluebench.data.sources.receive import Wanted
from gluebench.data.sources.release import TaskRelease
from gluebench.data.sources.unpack import unpack

ZIP = (b"PK\3\4", b"PK\5\6")


def wanted(release: TaskRelease, task: str, staging: Path, *, mirror: str = "") -> Wanted:
    """The task's archive as it is fetched. Raises DataError where it can only be fetched by hand."""
    if release.manual:
        raise DataError([release.manual])
    if not release.archive:
        raise DataError(["it has no official archive; try --source hub, or --from FOLDER"])
    name = unquote(PurePosixPath(urlsplit(release.archive).path).name) or task
    address = mirrored(release.archive, mirror)
    return Wanted(name=name, address=address, path=staging / task / name)


def fetch(release: TaskRelease, want: Wanted, fetcher: Fetcher) -> Origin:
    """Fetch the archive, and say where it is from: the very address, since nothing else vouches for it."""
    return Origin(kind="archive", location=want.address, files=(fetcher.fetch(want),))


def lay_out(release: TaskRelease, task: str, archive: Path, to: Path) -> Path:
    """Put what the archive holds under `to` as a released folder has it; the folder that holds the task's.

    For an original corpus, all of it, and the folder returned is the corpus.
    """
    names = {name for split in release.splits.values() for name in split.files}
    with open(archive, "rb") as file:
        head = file.read(64)
    if head.startswith(ZIP):
        return unpack(archive, to / task) if release.original else _files(release, task, archive, to, names)
    if archive.name in names:
        (to / task).mkdir(parents=True)
        (to / task / archive.name).hardlink_to(archive)
        return to
    raise DataError([f"{archive.name}: not a zip; it begins with {beginning(head)}"])


def _files(release: TaskRelease, task: str, archive: Path, to: Path, names: set[str]) -> Path:
    unpack(archive, to / task, only=names, folders=release.folders)
    return to
