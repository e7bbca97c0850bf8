"""What a submission comes in: a zip, a folder or one file. Nothing is written, extracted or followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from gluebench.submission.archive_problems import (
    TEXT,
    Refused,
    base_name,
    is_system_file,
    name_fault,
    notice,
    printable,
    refusal,
    shortened,
)
from gluebench.submission.zip_reader import Archive, Limits, archive_kind, read_zip, repeated, size_problems
from gluebench.submission.zip_structure import DESCRIPTOR_MARK, END_MARK, END_REACH, SPLIT_MARK

__all__ = ["Archive", "Limits", "base_name", "read_members"]

SUFFIX = ".tsv"


def read_members(
    source: str | os.PathLike[str],
    accepts: Callable[[str], bool] | None = None,
    *,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Archive:
    """Read the files of a zip, a folder or a single .tsv file with an accepted base name (default: all .tsv).

    Everything that is wrong is a problem of the result; nothing is raised. A zip is known by its content.
    """
    try:
        return _read(os.fspath(source), accepts or (lambda name: name.casefold().endswith(SUFFIX)), limits)
    except Refused as refused:
        return Archive({}, [], [refused.problem])


def read_nested(source: str | os.PathLike[str], name: str, accepts: Callable[[str], bool]) -> Archive:
    """The accepted files of the zip of that base name that lies in a zip or a folder; none deeper is read."""
    outer = read_members(source, name.__eq__, limits=Limits(nested=True))
    try:
        inner = read_zip(next(iter(outer.members.values()), b""), accepts, Limits())
    except Refused as refused:
        inner = Archive({}, [], [refused.problem])
    return inner._replace(problems=outer.problems + inner.problems)


def _read(source: str, accepts: Callable[[str], bool], limits: Limits) -> Archive:
    try:
        try:
            kind = stat.S_IFMT(os.stat(source).st_mode)
        except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the path
            raise Refused("not-found", file=source) from None
        if kind not in (stat.S_IFDIR, stat.S_IFREG):
            raise Refused("not-a-file", file=source)
        return (_read_folder if kind == stat.S_IFDIR else _read_file)(source, accepts, limits)
    except OSError as error:
        raise Refused("unreadable", file=str(error.filename or source), value=error.strerror) from None


def _read_file(source: str, accepts: Callable[[str], bool], limits: Limits) -> Archive:
    """A zip, or a table that stands alone."""
    name = os.path.basename(source)
    is_table = name.casefold().endswith(TEXT)
    data = _load(source, limits.total if is_table else limits.upload)
    if data.startswith((b"PK\3\4", END_MARK, DESCRIPTOR_MARK, SPLIT_MARK)):
        if len(data) > limits.upload:
            raise _too_large(name, len(data), limits.upload)
        archive = read_zip(data, accepts, limits)
        if "xl/workbook.xml" in archive.ignored and not archive.members:
            raise Refused("spreadsheet", file=name)
        return archive
    if kind := archive_kind(data):
        raise Refused("wrong-archive", file=name, value=kind)
    if is_table:
        return Archive({name: data}, [], []) if accepts(name) else Archive({}, [printable(name)], [])
    if not data:
        raise Refused("empty-file", file=name)
    raise Refused("leading-data" if END_MARK in data[-END_REACH:] else "unknown-kind", file=name)


def _read_folder(source: str, accepts: Callable[[str], bool], limits: Limits) -> Archive:
    """The files of a folder, or of the one folder that is all it holds. Links are never followed."""
    entries, system = _listing(source)
    prefix = ""
    if len(entries) == 1 and entries[0].is_dir(follow_symlinks=False):
        prefix = entries[0].name + "/"
        entries, more = _listing(entries[0].path)
        system += [prefix + name for name in more]
    chosen = [entry for entry in entries if accepts(entry.name) and not entry.is_dir(follow_symlinks=False)]
    ignored = [
        printable(prefix + entry.name) + "/" * entry.is_dir(follow_symlinks=False)
        for entry in entries
        if entry not in chosen
    ]
    faults = {prefix + entry.name: _entry_fault(prefix, entry) for entry in chosen}
    problems = [refusal(fault, file=path) for path, fault in faults.items() if fault]
    problems += repeated([entry.name for entry in chosen])
    problems += size_problems([entry.stat(follow_symlinks=False).st_size for entry in chosen], limits)
    if problems:
        return Archive({}, ignored, shortened(problems))
    by_code = {"wrapper-folder": [prefix[:-1]] if prefix and chosen else [], "system-files": system}
    archive = Archive({}, ignored, [notice(code, names) for code, names in by_code.items() if names])
    for entry in chosen:
        path, data = prefix + entry.name, _load(entry.path, limits.total, flags=os.O_NOFOLLOW)
        kind = archive_kind(data)
        if kind and not limits.nested:
            archive.problems.append(refusal("nested-archive", file=path, value=kind))
        else:
            archive.members[path] = data
    return archive


def _listing(folder: str) -> tuple[list[os.DirEntry[str]], list[str]]:
    """What lies in a folder, by name, and apart the names that an operating system added."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    system = [entry for entry in entries if is_system_file(entry.name + ("/x" if entry.is_dir() else ""))]
    return [entry for entry in entries if entry not in system], [entry.name for entry in system]


def _entry_fault(prefix: str, entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        return "symlink"
    if not entry.is_file(follow_symlinks=False):
        return "special-file"
    return name_fault(prefix + entry.name)


def _load(path: str, most: int, *, flags: int = 0) -> bytes:
    """The bytes of a regular file. Raises Refused when it is larger than `most`; OSError."""
    # Not blocking: a pipe put in the file's place would otherwise hang the reader.
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    with open(opened, "rb") as file:
        size = os.fstat(opened).st_size
        if size > most:
            raise _too_large(os.path.basename(path), size, most)
        data = file.read(size)
    if len(data) != size:
        raise Refused("changed", file=os.path.basename(path))
    return data


def _too_large(name: str, size: int, most: int) -> Refused:
    return Refused("too-large", file=name, value=f"{size} bytes (at most {most})")
