"""The files of a benchmark's Data page on a leaderboard, fetched into a data folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from gluebench.data.errors import DataError
from gluebench.data.sources.fetch import Fetcher, checked
from gluebench.data.sources.meter import Meter, size
from gluebench.data.sources.receive import Wanted, enough_space

MOST_BYTES = 64 * 1000**3
"""Of all files: a page that names more is refused."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Fetched(NamedTuple):
    """What became of one file."""

    wanted: Wanted
    there: bool
    """Whether it was there already."""


def wanted_files(page: str, files: object, folder: Path) -> list[Wanted]:
    """The files that the page of a benchmark lists, to be put into the folder. Raises DataError."""
    if not isinstance(files, list):
        raise DataError([f"{page}: lists no files; expected a leaderboard of this version of gluebench"])
    found, problems = [], []
    for each in files:
        try:
            found.append(_wanted(page, each, folder))
        except DataError as error:
            problems += error.problems
    total = sum(each.bytes or 0 for each in found)
    if total > MOST_BYTES:
        problems.append(f"{page}: {size(total)} in all; expected at most {size(MOST_BYTES)}")
    if len({str(each.path).casefold() for each in found}) < len(found):
        problems.append(f"{page}: two files of one name; expected different names")
    if problems:
        raise DataError(problems)
    return found


def _wanted(page: str, file: object, folder: Path) -> Wanted:
    values: Mapping[str, Any] = file if isinstance(file, dict) else {}
    path, number, digest = (values.get(key) for key in ("path", "size", "sha256"))
    if not isinstance(path, str) or not _NAME.fullmatch(path):
        raise DataError([f"{page}: a file is called {path!r}; expected NAME or TASK/NAME"])
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise DataError([f"{page}: {path} has the size {number!r}; expected a number of bytes"])
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise DataError([f"{page}: {path} has the SHA-256 {digest!r}; expected 64 hexadecimal digits"])
    return Wanted(path, f"{page}/data/{quote(path)}", folder / path, number, digest)


def fetch_files(wanted: Sequence[Wanted], fetcher: Fetcher, meter: Meter) -> list[Fetched]:
    """Fetch the files that are not there with these contents. Raises DataError at the first that fails."""
    missing = [each for each in wanted if not (each.path.is_file() and checked(each, each.path))]
    if missing:
        enough_space(missing[0].path.parent, sum(each.bytes or 0 for each in missing), what="these data")
    for each in missing:
        meter.start(each.name, each.bytes)
        try:
            fetcher.fetch(each)
        finally:
            meter.stop()
    return [Fetched(each, each not in missing) for each in wanted]
