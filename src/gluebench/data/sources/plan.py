"""Plan which files to fetch: a task's from the hub, its archive or a mirror, or a leaderboard's."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from gluebench.benchmark import Task
from gluebench.data.dataset import Origin
from gluebench.data.errors import DataError, gather, refuse
from gluebench.data.sources.fetch import (
    DownloadProgress,
    Fetcher,
    RemoteFile,
    check_space,
    readable,
    verify_file,
)
from gluebench.data.sources.http import host
from gluebench.data.sources.release import Release

SourceName = Literal["hub", "archives"]
HUB_ENDPOINT = "HF_ENDPOINT"
"""The environment variable that points the hub's own tools to a mirror."""
PUBLIC_HUB = "https://huggingface.co"
MOST_BYTES = 64 * 1000**3
"""Maximum size of all files of a leaderboard's page; a page that lists more is refused."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class DownloadPlan(NamedTuple):
    """The files to fetch for a task."""

    task: Task
    source: SourceName
    folder: Path
    """Where to put them, in the source's own layout."""
    files: tuple[RemoteFile, ...]
    origin: Origin
    """Origin of the data that will be prepared; its files are not known yet."""

    @property
    def bytes(self) -> int:
        """Sum of the sizes known beforehand; an archive's is not."""
        return sum(file.bytes or 0 for file in self.files)

    def describes_origin(self, origin: Origin) -> bool:
        """Whether data of that origin were prepared from exactly these files."""
        if self.source == "archives":
            return (origin.kind, origin.location) == ("archive", self.origin.location)
        hashes = {file.sha256 for file in self.files}
        return origin.kind == "hub" and {file.sha256 for file in origin.files} == hashes

    def announcement(self) -> str:
        """The message before a download: what is fetched, and the license of the task's text."""
        number = len(self.files)
        what = f"{number} files, {readable(self.bytes)}," if number > 1 else self.files[0].name
        license = self.task.source.license or "none is named"
        return f"{self.task.name}: getting {what} from {host(self.files[0].address)}. License: {license}"


def plan(
    release: Release, task: Task, source: SourceName | None, scratch: Path, *, mirror: str = ""
) -> DownloadPlan:
    """The files of a task at a source; by default the hub if it has all of them, else the archive.

    Raises DataError for a task that the source does not have.
    """
    known = release.tasks[task.name]
    absent = [name for name, split in known.splits.items() if split.hub is None]
    on_hub = known.hub is not None and not absent
    if source == "archives" or (source is None and not on_hub):
        return _from_archive(release, task, scratch / "archives", mirror, on_hub=on_hub)
    if not on_hub:
        what = "files"
        if known.hub is not None and len(absent) < len(task.splits):
            what = ", ".join(absent)
        raise DataError(f"the hub has no {what} of it; try --source archives, or --from FOLDER")
    return _from_hub(release, task, scratch / "hub", mirror)


def _from_hub(release: Release, task: Task, scratch: Path, mirror: str) -> DownloadPlan:
    """Parquet files of one repository at one commit, each known by its sha256."""
    known = release.tasks[task.name]
    assert known.hub is not None
    where, repository, revision = known.hub
    endpoint = hub_endpoint(where)
    folder = scratch / revision
    remote = []
    for split in known.splits.values():
        file = split.hub
        if file is None:
            continue
        parts = PurePosixPath(file.path).parts
        if not parts or ".." in parts or parts[0] == "/":
            raise DataError(f"{file.path!r}: not a path within the hub's repository")
        address = mirror_address(hub_address(endpoint, repository, revision, file.path), mirror)
        remote.append(RemoteFile(file.path, address, folder / file.path, file.bytes, file.sha256))
    # The origin is the repository itself, even if a mirror serves the files.
    origin = Origin("hub", f"{where.rstrip('/')}/datasets/{repository}", revision=revision)
    return DownloadPlan(task, "hub", folder, tuple(remote), origin)


def _from_archive(release: Release, task: Task, folder: Path, mirror: str, *, on_hub: bool) -> DownloadPlan:
    """A zip or a single file, with no published checksum. Raises DataError if it must be fetched by hand."""
    known = release.tasks[task.name]
    if known.manual or not known.archive:
        problem = "no address is known; name the folder that has its files: --from FOLDER"
        if known.manual:
            problem = known.manual
        elif known.hub is not None:
            problem = "no address is known of an archive of it; try --source hub, or --from FOLDER"
        if on_hub:
            problem += f"; the hub has a copy: --task {task.name} --source hub"
        raise DataError(problem)
    name = PurePosixPath(unquote(urlsplit(known.archive).path)).name or task.name
    file = RemoteFile(name, mirror_address(known.archive, mirror), folder / task.name / name)
    return DownloadPlan(task, "archives", folder, (file,), Origin("archive", file.address))


def mirror_address(address: str, mirror: str) -> str:
    """The address at the mirror: its scheme, host and path before the address's own path; "" for none.

    >>> mirror_address("https://example.org/glue/CoLA.zip", "http://files.lab/copies")
    'http://files.lab/copies/glue/CoLA.zip'
    """
    if not mirror:
        return address
    _, _, path, query, _ = urlsplit(address)
    return _base(mirror, what="mirror") + urlunsplit(("", "", path, query, ""))


def hub_endpoint(endpoint: str, environment: Mapping[str, str] = os.environ) -> str:
    """The hub's address; for the public hub, HF_ENDPOINT of the environment takes precedence."""
    override = environment.get(HUB_ENDPOINT, "")
    if override and endpoint.rstrip("/") == PUBLIC_HUB:
        return _base(override, what=HUB_ENDPOINT)
    return endpoint.rstrip("/")


def hub_address(endpoint: str, repository: str, revision: str, path: str) -> str:
    """The address of one file of a data set's repository, at one commit."""
    return f"{endpoint}/datasets/{quote(repository)}/resolve/{quote(revision)}/{quote(path)}"


def _base(address: str, *, what: str) -> str:
    """A valid base address, without a slash at its end. Raises DataError."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise DataError(f"{what}: {address!r}; expected http://HOST or https://HOST, with a path if need be")
    if "@" in parts.netloc:
        raise DataError(f"{what}: names and passwords in an address are not supported; leave them out")
    return address.rstrip("/")


def read_listed_files(page: str, files: object, folder: Path) -> list[RemoteFile]:
    """The files that the page of a benchmark lists, to be put into the folder. Raises DataError."""
    if not isinstance(files, list):
        raise DataError(f"{page}: lists no files; expected a leaderboard of this version of gluebench")
    remote, problems = gather(lambda file: _remote(page, file, folder), files)
    total = sum(file.bytes or 0 for file in remote)
    if total > MOST_BYTES:
        problems.append(f"{page}: {readable(total)} in all; expected at most {readable(MOST_BYTES)}")
    if len({str(file.path).casefold() for file in remote}) < len(remote):
        problems.append(f"{page}: two files of one name; expected different names")
    refuse(problems)
    return remote


def _remote(page: str, file: object, folder: Path) -> RemoteFile:
    values: Mapping[str, Any] = file if isinstance(file, dict) else {}
    path = values.get("path")
    number = values.get("size")
    digest = values.get("sha256")
    if not isinstance(path, str) or not _NAME.fullmatch(path):
        raise DataError(f"{page}: a file is called {path!r}; expected NAME or TASK/NAME")
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise DataError(f"{page}: {path} has the size {number!r}; expected a number of bytes")
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise DataError(f"{page}: {path} has the SHA-256 {digest!r}; expected 64 hexadecimal digits")
    return RemoteFile(path, f"{page}/data/{quote(path)}", folder / path, number, digest)


def fetch_missing(files: Sequence[RemoteFile], fetcher: Fetcher, meter: DownloadProgress) -> list[RemoteFile]:
    """Fetch the files that are missing or have other contents, and return them.

    Raises DataError at the first that fails.
    """
    missing = [file for file in files if not verify_file(file, file.path)]
    if missing:
        check_space(missing[0].path.parent, sum(file.bytes or 0 for file in missing), what="these data")
    for file in missing:
        meter.start(file.name, file.bytes)
        try:
            fetcher.fetch(file)
        finally:
            meter.stop()
    return missing
