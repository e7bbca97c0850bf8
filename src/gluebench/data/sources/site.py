"""The files of a benchmark's Data page on a leaderboard, fetched into a data folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gluebench.data.errors import DataError, gather
from gluebench.data.sources.fetch import Fetcher, Meter, RemoteFile, check_space, checked, readable

MOST_BYTES = 64 * 1000**3
"""Of all files: a page that names more is refused."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def listed_files(page: str, files: object, folder: Path) -> list[RemoteFile]:
    """The files that the page of a benchmark lists, to be put into the folder. Raises DataError."""
    if not isinstance(files, list):
        raise DataError(f"{page}: lists no files; expected a leaderboard of this version of gluebench")
    remote, problems = gather(lambda file: _remote(page, file, folder), files)
    total = sum(file.bytes or 0 for file in remote)
    if total > MOST_BYTES:
        problems.append(f"{page}: {readable(total)} in all; expected at most {readable(MOST_BYTES)}")
    if len({str(file.path).casefold() for file in remote}) < len(remote):
        problems.append(f"{page}: two files of one name; expected different names")
    if problems:
        raise DataError(problems)
    return remote


def _remote(page: str, file: object, folder: Path) -> RemoteFile:
    values: Mapping[str, Any] = file if isinstance(file, dict) else {}
    path, number, digest = (values.get(key) for key in ("path", "size", "sha256"))
    if not isinstance(path, str) or not _NAME.fullmatch(path):
        raise DataError(f"{page}: a file is called {path!r}; expected NAME or TASK/NAME")
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise DataError(f"{page}: {path} has the size {number!r}; expected a number of bytes")
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise DataError(f"{page}: {path} has the SHA-256 {digest!r}; expected 64 hexadecimal digits")
    return RemoteFile(path, f"{page}/data/{quote(path)}", folder / path, number, digest)


def fetch_missing(files: Sequence[RemoteFile], fetcher: Fetcher, meter: Meter) -> list[RemoteFile]:
    """Fetch the files that are not there with these contents, and return them.

    Raises DataError at the first that fails.
    """
    missing = [file for file in files if not checked(file, file.path)]
    if missing:
        check_space(missing[0].path.parent, sum(file.bytes or 0 for file in missing), what="these data")
    for file in missing:
        meter.start(file.name, file.bytes)
        try:
            fetcher.fetch(file)
        finally:
            meter.stop()
    return missing
