"""What can be wrong with an archive, a folder or a name in it: codes, what was expected, how to fix it."""

from __future__ import annotations

import re

from gluebench.submission.problems import SHOWN_PER_FILE, Problem, sentences

SHOWN_VALUE = 120
"""Characters of a name or value that a message repeats."""

SHOWN_NAMES = 10
"""Names that a notice spells out; the rest are counted."""

READ = (".tsv", ".csv", ".jsonl", ".json", ".txt", ".conll", ".parquet")
"""Ends of the names of files that can hold predictions."""
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
_UP = re.compile(r"\. *\.[. ]*")
_SYSTEM_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini", "icon\r"})
_SYSTEM_FOLDERS = frozenset({"__macosx"})

REFUSALS = sentences(__file__)
NOTICES = {
    "wrapper-folder": "the files are inside a folder; that is fine",
    "system-files": "files that an operating system adds are ignored",
    "backslash-names": "backslashes in names are read as folder separators",
}
"""What was found; there is nothing to do about it."""


class Refused(Exception):  # noqa: N818 - it says what happened to the file; it never leaves this room
    """Reading cannot go on; carries the one problem that says why."""

    def __init__(self, code: str, *, file: str = "", value: str | None = None) -> None:
        super().__init__(code)
        self.problem = refusal(code, file=file, value=value)


def refusal(code: str, *, file: str = "", value: str | None = None) -> Problem:
    """The error of this code. `file` is a name from outside and is made printable here."""
    words = REFUSALS[code]
    if value is not None:
        value = printable(value)
    return Problem(code, "error", printable(file), words.expected, words.fix, value=value)


def notice(code: str, names: list[str]) -> Problem:
    """The notice of this code about these names."""
    return Problem(code, "notice", "", NOTICES[code], "Nothing to do.", value=some(names))


def some(names: list[str]) -> str:
    """The first names in a printable form, and the number of the others."""
    text = ", ".join(map(printable, names[:SHOWN_NAMES]))
    if len(names) > SHOWN_NAMES:
        text += f" and {len(names) - SHOWN_NAMES} more"
    return text


def printable(name: str) -> str:
    """A name safe to print and to encode: escapes for what is not printable, shortened when long."""
    if not name.isprintable():
        name = "".join(map(_printable_character, name))
    if len(name) > SHOWN_VALUE:
        name = name[: SHOWN_VALUE - 1] + "…"
    return name


def _printable_character(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def shortened(problems: list[Problem]) -> list[Problem]:
    """The first SHOWN_PER_FILE problems, and one that counts the others."""
    rest = len(problems) - SHOWN_PER_FILE
    if rest <= 0:
        return problems
    return problems[:SHOWN_PER_FILE] + [refusal("more-problems", value=str(rest))]


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
    """The code of what is wrong with a name of these parts, or None."""
    # Windows drops spaces and dots at the end of a part, so ".. " climbs there as ".." does everywhere.
    if any(_UP.fullmatch(part) for part in parts):
        return "path-traversal"
    if any(_DEVICE.fullmatch(part) for part in parts):
        return "device-name"
    if all(part in ("", ".") for part in parts):
        return "empty-name"
    return None


def tidy(name: str) -> str:
    """A name without empty parts and single dots: "./run//MRPC.tsv" is "run/MRPC.tsv"."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_system_file(path: str) -> bool:
    """Whether an operating system put it there: __MACOSX/, ._*, .DS_Store, Thumbs.db, desktop.ini."""
    folder, _, name = path.casefold().rpartition("/")
    if not _SYSTEM_FOLDERS.isdisjoint(folder.split("/")):
        return True
    return name.startswith("._") or name in _SYSTEM_FILES
