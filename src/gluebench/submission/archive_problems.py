"""What can be wrong with an archive or a folder: every code, what was expected, how to fix it."""

from __future__ import annotations

from typing import NamedTuple

from gluebench.submission.problems import SHOWN_PER_FILE, Problem

SHOWN_VALUE = 120
"""Characters of a name or value that a message repeats."""

SHOWN_NAMES = 10
"""Names that a notice spells out; the rest are counted."""

_REMAKE = "Make the zip again from the plain files with `zip submission.zip *.tsv`."
_RENAME = "Rename it, then make the zip again with `zip submission.zip *.tsv`."
_UPLOAD = "Copy or upload the file again, or make the zip again with `zip submission.zip *.tsv`."


class Advice(NamedTuple):
    """The half of a message that does not depend on the file."""

    expected: str
    fix: str


REFUSALS: dict[str, Advice] = {
    # The source itself.
    "not-found": Advice("expected an existing zip, folder or .tsv file", "Check the path."),
    "unreadable": Advice("expected a file or folder that may be read", "Check its permissions."),
    "not-a-file": Advice(
        "expected a zip, a folder or a .tsv file, not a pipe or a device",
        "Save it to a file and name that file.",
    ),
    "empty-file": Advice("expected a zip with files in it, but the file has 0 bytes", _UPLOAD),
    "wrong-archive": Advice(
        "expected a zip, but this is another kind of archive",
        "Unpack it, then make a zip with `zip submission.zip *.tsv`.",
    ),
    "unknown-kind": Advice(
        "expected a zip, a folder or a .tsv file, and the content is none of them", _REMAKE
    ),
    "spreadsheet": Advice(
        "expected text with tabs, and this is a spreadsheet",
        "Save each sheet as text with tabs between the columns, named as its test file.",
    ),
    "too-large": Advice(
        "the file is larger than a submission can be", "Leave out everything but the .tsv files."
    ),
    "symlink": Advice(
        "expected a file, but this is a symbolic link, which is never followed",
        "Put the file itself in its place.",
    ),
    "special-file": Advice("expected a regular file, not a device, pipe or socket", "Leave it out."),
    "changed": Advice("the file changed while it was read", "Wait until it is written, then try again."),
    # The structure of a zip.
    "truncated": Advice("the end of the zip is missing", _UPLOAD),
    "empty-archive": Advice("expected a zip with files in it, but it holds none", _REMAKE),
    "leading-data": Advice(
        "expected the zip to begin with its first file; there are other bytes before it", _REMAKE
    ),
    "trailing-data": Advice("expected nothing after the end of the zip", _REMAKE),
    "ambiguous-end": Advice(
        "expected one end-of-zip record; two tools could read two different zips here", _REMAKE
    ),
    "multi-disk": Advice(
        "expected a zip in one piece, but this is a part of a split zip", "Make one zip, not a split one."
    ),
    "zip64": Advice("the Zip64 records contradict the rest of the zip", _REMAKE),
    "directory-bounds": Advice("the list of files does not lie where the zip says", _REMAKE),
    "count-mismatch": Advice("the zip lists more or fewer files than it says", _REMAKE),
    "bad-directory": Advice("the list of files in the zip is damaged", _UPLOAD),
    "out-of-bounds": Advice("a file is said to lie outside the zip's data", _REMAKE),
    "overlap": Advice(
        "expected every file to have its own bytes, but this one shares some with another", _REMAKE
    ),
    "hidden-data": Advice(
        "expected nothing between the files of the zip; there are bytes that no file owns", _REMAKE
    ),
    "header-mismatch": Advice("the two headers of this file in the zip contradict each other", _REMAKE),
    "too-many-members": Advice(
        "the zip lists more files than a submission can have", "Leave out everything but the .tsv files."
    ),
    # Names.
    "path-traversal": Advice(
        "expected a name inside the zip, but this one points outside with '..'", _RENAME
    ),
    "absolute-path": Advice("expected a name inside the zip, but this one is an absolute path", _RENAME),
    "drive-letter": Advice("expected a name inside the zip, but this one names a drive", _RENAME),
    "nul-in-name": Advice("expected a name without a NUL character", _RENAME),
    "control-character": Advice("expected a name without control characters", _RENAME),
    "device-name": Advice("this name is reserved for a device on Windows", _RENAME),
    "name-too-long": Advice("expected a name of at most 255 bytes", _RENAME),
    "undecodable-name": Advice("expected a name in UTF-8", _RENAME),
    "empty-name": Advice("expected a file with a name", _RENAME),
    "duplicate-name": Advice(
        "expected each name once, letter case aside", "Keep one of the two and make the zip again."
    ),
    "nested-folder": Advice(
        "expected the files at the top of the zip or in one folder, not deeper",
        "Make the zip inside the folder that holds the files, with `zip submission.zip *.tsv`.",
    ),
    # The content of a member.
    "encrypted": Advice("expected a file without a password", "Make the zip again without a password."),
    "unsupported-compression": Advice(
        "expected plain zip compression (deflate) or none",
        "Make the zip again with standard compression, as `zip submission.zip *.tsv` does.",
    ),
    "nested-archive": Advice(
        "expected a .tsv file, but its content is an archive",
        "Unpack it and put the .tsv files straight into the zip.",
    ),
    "too-large-unpacked": Advice(
        "the files are larger, unpacked, than a submission can be", "Leave out everything but the .tsv files."
    ),
    "ratio-bomb": Advice(
        "the file unpacks to far more than predictions would",
        "Check that it holds predictions, one per line.",
    ),
    "forged-size": Advice("the size the zip gives for this file is not its real size", _REMAKE),
    "truncated-member": Advice("the compressed data of this file ends too early", _UPLOAD),
    "corrupt-data": Advice("the compressed data of this file is damaged", _UPLOAD),
    "bad-crc": Advice("the content of this file does not match its checksum", _UPLOAD),
    # Beyond the first SHOWN_PER_FILE.
    "more-problems": Advice(
        "there are more problems of these kinds, not listed", "Fix the ones listed first."
    ),
}

NOTICES: dict[str, Advice] = {
    "wrapper-folder": Advice("the files lie in a folder, which is fine", "Nothing to do."),
    "system-files": Advice("files that an operating system adds are ignored", "Nothing to do."),
    "backslash-names": Advice("backslashes in names are read as folder separators", "Nothing to do."),
}


class Refused(Exception):  # noqa: N818 - it says what happened to the file; it never leaves this room
    """Reading cannot go on; carries the one problem that says why."""

    def __init__(self, code: str, *, file: str = "", value: str | None = None) -> None:
        super().__init__(code)
        self.problem = refusal(code, file=file, value=value)


def refusal(code: str, *, file: str = "", value: str | None = None) -> Problem:
    """The error of this code. `file` is a name from outside and is made printable here."""
    advice = REFUSALS[code]
    shown = None if value is None else printable(value)
    return Problem(code, "error", printable(file), advice.expected, advice.fix, value=shown)


def notice(code: str, names: list[str]) -> Problem:
    """The notice of this code about these names."""
    advice = NOTICES[code]
    rest = len(names) - SHOWN_NAMES
    listed = ", ".join(printable(name) for name in names[:SHOWN_NAMES])
    value = f"{listed} and {rest} more" if rest > 0 else listed
    return Problem(code, "notice", "", advice.expected, advice.fix, value=value)


def printable(name: str) -> str:
    """A name safe to print and to encode: escapes for what is not printable, shortened when long."""
    if not name.isprintable():
        name = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)
    return name if len(name) <= SHOWN_VALUE else name[: SHOWN_VALUE - 1] + "…"


def shortened(problems: list[Problem]) -> list[Problem]:
    """The first SHOWN_PER_FILE problems, and one that counts the others."""
    rest = len(problems) - SHOWN_PER_FILE
    if rest <= 0:
        return problems
    return [*problems[:SHOWN_PER_FILE], refusal("more-problems", value=str(rest))]
