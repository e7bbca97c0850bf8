"""Names inside an archive: which are refused, which belong to an operating system."""

from __future__ import annotations

import re

TEXT = (".tsv", ".csv", ".jsonl", ".json", ".txt")
"""Ends of the names of files that can hold predictions as text."""
NAME_LIMIT = 255
"""Bytes a whole name inside an archive may have."""

# C0 and C1 controls, line and paragraph separators, and the marks that reverse the reading direction:
# printed, each could make a name look like another one. Surrogates are undecodable bytes.
_CONTROL = re.compile("[\x01-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DRIVE = re.compile(r"(?:^|/)[A-Za-z]:")
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(?:\..*)?", re.IGNORECASE
)
_UP = re.compile(r"\.[. ]*\.[. ]*")
_SYSTEM_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini", "icon\r"})
_SYSTEM_FOLDERS = frozenset({"__macosx"})


def base_name(path: str) -> str:
    """The last part of a path inside an archive."""
    return path[path.rfind("/") + 1 :]


def name_fault(name: str) -> str | None:
    """The code of what is wrong with a name whose separators are slashes, or None."""
    if "\0" in name:
        return "nul-in-name"
    if _SURROGATE.search(name):
        return "undecodable-name"
    if _CONTROL.search(name) and base_name(name).lower() not in _SYSTEM_FILES:
        return "control-character"
    if name.startswith("/"):
        return "absolute-path"
    if _DRIVE.search(name):
        return "drive-letter"
    return _part_fault(name.split("/"))


def _part_fault(parts: list[str]) -> str | None:
    # Windows drops spaces and dots at the end of a part, so ".. " climbs there as ".." does everywhere.
    if any(_UP.fullmatch(part) for part in parts):
        return "path-traversal"
    if any(_DEVICE.fullmatch(part) for part in parts):
        return "device-name"
    return None if any(part not in ("", ".") for part in parts) else "empty-name"


def tidy(name: str) -> str:
    """A name without empty parts and single dots: "./run//MRPC.tsv" is "run/MRPC.tsv"."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_system_file(path: str) -> bool:
    """Whether an operating system put it there: __MACOSX/, ._*, .DS_Store, Thumbs.db, desktop.ini."""
    parts = path.casefold().split("/")
    return (
        parts[-1].startswith("._") or parts[-1] in _SYSTEM_FILES or not _SYSTEM_FOLDERS.isdisjoint(parts[:-1])
    )
