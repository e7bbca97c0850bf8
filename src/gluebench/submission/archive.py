"""Read a submission from a zip, a folder or one file, without writing to disk or following links.

docs/explanation/archives.md gives the reasons for the checks.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from gluebench.submission.archive_problems import (
    NAME_LIMIT,
    READ,
    Refused,
    base_name,
    is_system_file,
    name_fault,
    notice,
    printable,
    refusal,
    shortened,
    tidy,
)
from gluebench.submission.problems import Problem
from gluebench.submission.zip_structure import (
    DESCRIPTOR_MARK,
    ENCRYPTED,
    END_MARK,
    END_REACH,
    MASKED,
    PATCHED,
    SPLIT_MARK,
    STRONG,
    Entry,
    Span,
    find_directory,
    gaps,
    place,
    read_entries,
)

SUFFIX = ".tsv"
STORED, DEFLATED = 0, 8
_METHODS = {1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma"}
_METHODS |= {93: "zstd", 95: "xz", 98: "ppmd", 99: "aes"}
RATIO_FREE = 1 << 20
"""Unpacked size of a member up to which its ratio does not matter."""
_MIB = 1 << 20
_MOST_LEVELS = 3
"""Levels of folders in which output of a training program is looked for."""

ARCHIVE_MARKS: dict[bytes, str] = {
    b"PK\3\4": "zip",
    b"PK\5\6": "zip",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
}
"""First bytes of an archive to its kind."""


class Limits(NamedTuple):
    """Upper limits of a submission. A full GLUE submission is 1 MB, 3.9 MB unpacked, ratio 6.6."""

    upload: int = 16 * _MIB
    """Bytes of the zip."""
    total: int = 64 * _MIB
    """Unpacked bytes of all files that are read."""
    members: int = 64
    """Files that are read."""
    entries: int = 1024
    """Entries of a zip, read or not."""
    ratio: int = 100
    """Unpacked by packed size of a member, for members over 1 MiB."""
    nested: bool = False
    """Whether a file that is read may be an archive."""
    trusted: bool = True
    """Whether the files are the user's own: of Parquet, a small file can hold any number of rows."""


_usual = Limits()


def limit_uploads(size: int) -> None:
    """Read submissions of up to `size` bytes in this process, and of four times as many unpacked."""
    global _usual
    _usual = Limits(upload=size, total=4 * size, trusted=False)


def is_trusted() -> bool:
    """Whether files are the user's own, and not those that strangers upload."""
    return _usual.trusted


class Archive(NamedTuple):
    """The files that could be read. With an error among `problems`, some members may be missing."""

    members: dict[str, bytes]
    """Path inside the archive to content, for the files that were accepted."""
    ignored: list[str]
    """Printable paths of the other files, without those that an operating system adds."""
    problems: list[Problem]
    comment: str = ""
    """Of a zip."""
    lineless: Collection[str] = ()
    """Members that were made from other files, so that their lines mean nothing to an author."""


def read_members(
    source: str | os.PathLike[str],
    accepts: Callable[[str], bool] | None = None,
    *,
    limits: Limits | None = None,
) -> Archive:
    """Read the files of a zip, a folder or a single .tsv file with an accepted base name (default: all .tsv).

    Every error becomes a problem of the result; nothing is raised. A zip is recognized by its content.
    """
    try:
        return _read(
            os.fspath(source), accepts or (lambda name: name.casefold().endswith(SUFFIX)), limits or _usual
        )
    except Refused as refused:
        return Archive({}, [], [refused.problem])


def read_nested(source: str | os.PathLike[str], name: str, accepts: Callable[[str], bool]) -> Archive:
    """Read the accepted files of the zip called `name` in a zip or folder; deeper archives are not read."""
    outer = read_members(source, name.__eq__, limits=_usual._replace(nested=True))
    try:
        inner = read_zip(next(iter(outer.members.values()), b""), accepts, _usual)
    except Refused as refused:
        inner = Archive({}, [], [refused.problem])
    return inner._replace(problems=outer.problems + inner.problems)


def read_tree(source: str | os.PathLike[str], accepts: Callable[[str], bool]) -> Archive:
    """Read the files with an accepted path of a folder and of the folders in it, as programs write them.

    Links are never followed; folders below `_MOST_LEVELS` are left out.
    """
    root, limits = os.fspath(source), _usual
    chosen: list[str] = []
    for folder, inner, names in os.walk(root):
        inner.sort()
        level = os.path.relpath(folder, root).count(os.sep) + (folder != root)
        if level >= _MOST_LEVELS:
            inner.clear()
        for name in sorted(names):
            full = os.path.join(folder, name)
            path = os.path.relpath(full, root).replace(os.sep, "/")
            if accepts(path) and os.path.isfile(full) and not os.path.islink(full):
                chosen.append(path)
    archive = Archive({}, [], [])
    try:
        sizes = [os.path.getsize(os.path.join(root, path)) for path in chosen]
        archive.problems.extend(size_problems(sizes, limits))
        if not archive.problems:
            for path in chosen:
                archive.members[path] = _load(os.path.join(root, path), limits.total, flags=os.O_NOFOLLOW)
    except Refused as refused:
        return Archive({}, [], [refused.problem])
    except OSError as error:
        problem = refusal("unreadable", file=str(error.filename or root), value=error.strerror)
        return Archive({}, [], [problem])
    return archive


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
    """Read a zip or a single table."""
    name = os.path.basename(source)
    is_table = name.casefold().endswith(READ)
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
    """Read the files of a folder, or of its only subfolder. Links are never followed."""
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
    """The entries of a folder, sorted by name, and the names of those that an operating system added."""
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
    """The bytes of a regular file. Raises Refused if it is larger than `most`, and OSError."""
    # O_NONBLOCK: opening a pipe that replaced the file would otherwise hang.
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


def read_zip(data: bytes, accepts: Callable[[str], bool], limits: Limits) -> Archive:
    """Read the accepted members; none if any name, size or structure is refused. Raises Refused."""
    directory = find_directory(data)
    if not directory.entries:
        raise Refused("empty-archive")
    if directory.entries > limits.entries:
        raise Refused("too-many-members", value=f"{directory.entries} (at most {limits.entries})")
    entries = read_entries(data, directory)
    problems = _name_problems(entries)
    spans = _judge_places(data, entries, directory.start, problems)
    files = [entry for entry in entries if not entry.raw_name.endswith((b"/", b"\\"))]
    system = [entry.path for entry in files if is_system_file(entry.path)]
    files = [entry._replace(path=tidy(entry.path)) for entry in files if not is_system_file(entry.path)]
    chosen = [entry for entry in files if accepts(base_name(entry.path))]
    paths = {entry.path for entry in chosen}
    ignored = [printable(entry.path) for entry in files if entry.path not in paths]
    problems += [fault for entry in chosen if (fault := _content_fault(entry, limits))]
    problems += size_problems([entry.size for entry in chosen], limits)
    if problems:
        return Archive({}, ignored, shortened(problems))
    by_code = {
        "wrapper-folder": list(
            dict.fromkeys(entry.path.rpartition("/")[0] for entry in chosen if "/" in entry.path)
        ),
        "system-files": system,
        "backslash-names": [entry.path for entry in entries if b"\\" in entry.raw_name],
    }
    notices = [notice(code, names) for code, names in by_code.items() if names]
    archive = Archive({}, ignored, notices, directory.comment.decode("utf-8", "replace"))
    view = memoryview(data)
    for entry in chosen:
        span = spans[entry.offset]
        try:
            archive.members[entry.path] = _content(view[span.data : span.end], entry, nested=limits.nested)
        except Refused as refused:
            archive.problems.append(replace(refused.problem, file=printable(entry.path)))
    return archive


def archive_kind(data: bytes) -> str | None:
    """The kind of archive by the first bytes of its content; None if it is not an archive."""
    for mark, kind in ARCHIVE_MARKS.items():
        if data.startswith(mark):
            return kind
    return "tar" if data[257:262] == b"ustar" else None


def size_problems(sizes: Sequence[int], limits: Limits) -> list[Problem]:
    """The limits that files of these sizes (in bytes) exceed, as problems."""
    problems = []
    if len(sizes) > limits.members:
        problems.append(refusal("too-many-members", value=f"{len(sizes)} (at most {limits.members})"))
    if sum(sizes) > limits.total:
        value = f"{sum(sizes)} bytes (at most {limits.total})"
        problems.append(refusal("too-large-unpacked", value=value))
    return problems


def repeated(paths: list[str]) -> list[Problem]:
    """A problem for every path that repeats an earlier one, ignoring letter case."""
    seen: dict[str, str] = {}
    problems = []
    for path in paths:
        first = seen.setdefault(path.casefold(), path)
        if first is not path:
            problems.append(refusal("duplicate-name", file=path, value=first))
    return problems


def _name_problems(entries: list[Entry]) -> list[Problem]:
    problems = []
    for entry in entries:
        fault = "name-too-long" if len(entry.raw_name) > NAME_LIMIT else _name_fault(entry)
        if fault:
            problems.append(refusal(fault, file=entry.path))
        if entry.disk:
            problems.append(refusal("multi-disk", file=entry.path))
    return problems + repeated([tidy(entry.path) or entry.path for entry in entries])


def _name_fault(entry: Entry) -> str | None:
    kind, is_folder = stat.S_IFMT(entry.mode), entry.path.endswith("/")
    if kind == stat.S_IFLNK:
        return "symlink"
    if kind in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK):
        return "special-file"
    if kind == stat.S_IFDIR and not is_folder:
        return "special-file"
    fault = name_fault(entry.path)
    return None if fault == "empty-name" and is_folder else fault


def _judge_places(data: bytes, entries: list[Entry], limit: int, problems: list[Problem]) -> dict[int, Span]:
    """Map the offset of each member's header to its span of bytes; append errors to `problems`."""
    spans = []
    for entry in entries:
        try:
            spans.append(place(data, entry, limit))
        except Refused as refused:
            problems.append(replace(refused.problem, file=printable(entry.path)))
    if len(spans) == len(entries):
        problems += gaps(data, entries, spans, limit=limit)
    return {span.start: span for span in spans}


def _content_fault(entry: Entry, limits: Limits) -> Problem | None:
    """A reason not to read this member, from its directory entry alone; None if there is none."""
    path, method = entry.path, entry.method
    if entry.flags & (ENCRYPTED | STRONG | MASKED):
        return refusal("encrypted", file=path)
    if method not in (STORED, DEFLATED) or entry.flags & PATCHED:
        return refusal("unsupported-compression", file=path, value=_METHODS.get(method, str(method)))
    if path.count("/") > 1:
        return refusal("nested-folder", file=path)
    if method == STORED and entry.packed != entry.size:
        return refusal("forged-size", file=path, value=f"{entry.size} stated, {entry.packed} stored")
    if entry.size > max(RATIO_FREE, entry.packed * limits.ratio):
        return refusal("ratio-bomb", file=path, value=f"{entry.size} bytes from {entry.packed}")
    return None


def _content(packed: memoryview, entry: Entry, *, nested: bool) -> bytes:
    """The unpacked bytes of one member, at most the stated size. Raises Refused."""
    content = bytes(packed) if entry.method == STORED else _inflate(packed, entry.size)
    if zlib.crc32(content) != entry.crc:
        raise Refused("bad-crc")
    kind = archive_kind(content)
    if kind and not nested:
        raise Refused("nested-archive", value=kind)
    return content


def _inflate(packed: memoryview, size: int) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        # One byte more than stated reveals a forged size. One call only: each call copies the unread input.
        content = inflater.decompress(packed, size + 1)
    except zlib.error:
        raise Refused("corrupt-data") from None
    if len(content) > size or inflater.unused_data:
        raise Refused("forged-size", value=f"{size} stated")
    if not inflater.eof:
        raise Refused("truncated-member")
    if len(content) < size:
        raise Refused("forged-size", value=f"{size} stated, {len(content)} real")
    return content
