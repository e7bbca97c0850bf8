"""The hub's copy: Parquet files of one repository at one commit, each known by its sha256."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from gluebench.data.dataset import Origin
from gluebench.data.errors import DataError
from gluebench.data.sources.address import hub_address, hub_endpoint, mirrored
from gluebench.data.sources.fetch import Fetcher
from gluebench.data.sources.receive import Wanted
from gluebench.data.sources.release import HubFile, Release


def has(release: Release, task: str) -> bool:
    """Whether the hub has every split of the task."""
    splits = release.tasks[task].splits
    return release.hub is not None and all(split.hub is not None for split in splits.values())


def files(release: Release, task: str) -> list[HubFile]:
    """The hub's files of the task, in the order of its splits."""
    return [split.hub for split in release.tasks[task].splits.values() if split.hub is not None]


def wanted(release: Release, task: str, staging: Path, *, mirror: str = "") -> list[Wanted]:
    """The task's files as they are fetched, into the repository's own layout under `staging`."""
    hub = release.hub
    found = files(release, task)
    if hub is None or not found:
        raise DataError(["the hub has no files of it; try --source archives, or --from FOLDER"])
    endpoint = hub_endpoint(hub.endpoint)
    return [
        Wanted(
            name=file.path,
            address=mirrored(hub_address(endpoint, hub.repository, hub.revision, file.path), mirror),
            path=_inside(staging, file.path),
            bytes=file.bytes,
            sha256=file.sha256,
        )
        for file in found
    ]


def fetch(release: Release, wants: list[Wanted], fetcher: Fetcher) -> Origin:
    """Fetch the files, and say where they are from: the repository itself, whatever mirror was used."""
    hub = release.hub
    assert hub is not None  # `wanted` saw to it
    return Origin(
        kind="hub",
        location=location(release),
        files=tuple(fetcher.fetch(want) for want in wants),
        revision=hub.revision,
    )


def location(release: Release) -> str:
    """The address of the repository."""
    hub = release.hub
    return f"{hub.endpoint.rstrip('/')}/datasets/{hub.repository}" if hub is not None else ""


def _inside(staging: Path, path: str) -> Path:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/"):
        raise DataError([f"{path!r}: not a path within the hub's repository"])
    return staging.joinpath(*parts)
