"""The hub's copy: Parquet files of one repository at one commit, each known by its sha256."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from gluebench.data.dataset import Origin, SourceFile
from gluebench.data.errors import DataError
from gluebench.data.sources.address import hub_address, hub_endpoint, mirrored
from gluebench.data.sources.receive import Wanted
from gluebench.data.sources.release import Release


def has(release: Release, task: str) -> bool:
    """Whether the hub has every split of the task."""
    splits = release.tasks[task].splits
    return release.hub is not None and all(split.hub is not None for split in splits.values())


def wanted(release: Release, task: str, folder: Path, *, mirror: str) -> list[Wanted]:
    """The task's files as they are fetched, into the repository's own layout under `folder`.

    Raises DataError where the release does not name one for every split.
    """
    splits = release.tasks[task].splits
    absent = [name for name, split in splits.items() if split.hub is None or release.hub is None]
    if release.hub is None or len(absent) == len(splits):
        raise DataError(["the hub has no files of it; try --source archives, or --from FOLDER"])
    if absent:
        raise DataError(
            [f"the hub has no {', '.join(absent)} of it; try --source archives, or --from FOLDER"]
        )
    where, repository, revision = release.hub
    endpoint = hub_endpoint(where)
    return [
        Wanted(
            name=file.path,
            address=mirrored(hub_address(endpoint, repository, revision, file.path), mirror),
            path=_inside(folder, file.path),
            bytes=file.bytes,
            sha256=file.sha256,
        )
        for split in splits.values()
        if (file := split.hub) is not None
    ]


def origin(release: Release, files: Sequence[SourceFile]) -> Origin:
    """Where the files are from: the repository itself, whatever mirror handed them over."""
    assert release.hub is not None  # or there were no files
    where, repository, revision = release.hub
    return Origin("hub", f"{where.rstrip('/')}/datasets/{repository}", tuple(files), revision)


def _inside(folder: Path, path: str) -> Path:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/"):
        raise DataError([f"{path!r}: not a path within the hub's repository"])
    return folder.joinpath(*parts)
