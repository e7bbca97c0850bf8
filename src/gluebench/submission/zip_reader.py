"""Reads the accepted members of a zip held in memory. Why like this: docs/explanation/archives.md."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gluebench.submission.archive_problems import (
    NAME_LIMIT,
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
    ENCRYPTED,
    MASKED,
    PATCHED,
    STRONG,
    UTF_8,
    Entry,
    Span,
    find_directory,
    gaps,
    place,
    read_entries,
)

STORED, DEFLATED = 0, 8
_METHODS = {
    1: "shrink",
    6: "implode",
    9: "deflate64",
    12: "bzip2",
    14: "lzma",
    93: "zstd",
    95: "xz",
    98: "ppmd",
    99: "aes",
}
_RATIO_FREE = 1 << 20
_MIB = 1 << 20

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
"""How the content of an archive begins."""


class Limits(NamedTuple):
    """What a submission may be at most. A full GLUE submission is 1 MB, 3.9 MB unpacked, ratio 6.6."""

    upload: int = 16 * _MIB
    """Bytes of the zip."""
    total: int = 64 * _MIB
    """Bytes of all that is read, unpacked."""
    members: int = 64
    """Files that are read."""
    entries: int = 1024
    """Everything a zip lists, read or not."""
    ratio: int = 100
    """Unpacked by packed size of a member, for members over 1 MiB."""
    nested: bool = False
    """Whether what is read may be an archive itself."""


class Contents(NamedTuple):
    """What was read of a zip or a folder; `archive.Archive` is the same, frozen."""

    members: dict[str, bytes]
    ignored: list[str]
    problems: list[Problem]


class _Member(NamedTuple):
    path: str
    entry: Entry


def read_zip(data: bytes, accepts: Callable[[str], bool], limits: Limits) -> Contents:
    """The accepted members by their path; none when structure or a name is refused. Raises Refused."""
    directory = find_directory(data)
    if not directory.entries:
        raise Refused("empty-archive")
    if directory.entries > limits.entries:
        raise Refused("too-many-members", value=f"{directory.entries} (at most {limits.entries})")
    entries = read_entries(data, directory)
    names = [_Member(_path(entry), entry) for entry in entries]
    problems = _judge_names(names)
    spans = _judge_places(data, names, directory.start, problems)
    files = [member for member in names if not _is_folder(member.entry)]
    system = [member.path for member in files if is_system_file(member.path)]
    chosen, ignored = _choose([member for member in files if not is_system_file(member.path)], accepts)
    problems += _judge_contents(chosen, limits)
    if problems:
        return Contents({}, ignored, shortened(problems))
    return _read(
        data, chosen, spans, Contents({}, ignored, _notices(names, chosen, system)), nested=limits.nested
    )


def archive_kind(data: bytes) -> str | None:
    """The kind of archive that this content begins as, or None."""
    for mark, kind in ARCHIVE_MARKS.items():
        if data.startswith(mark):
            return kind
    return "tar" if data[257:262] == b"ustar" else None


def size_problems(sizes: Sequence[int], limits: Limits) -> list[Problem]:
    """The problems with reading so many files of these sizes in bytes."""
    problems = []
    if len(sizes) > limits.members:
        problems.append(refusal("too-many-members", value=f"{len(sizes)} (at most {limits.members})"))
    if sum(sizes) > limits.total:
        value = f"{sum(sizes)} bytes (at most {limits.total})"
        problems.append(refusal("too-large-unpacked", value=value))
    return problems


def repeated(paths: list[str]) -> list[Problem]:
    """A problem for every path that came before, letter case aside."""
    seen: dict[str, str] = {}
    problems = []
    for path in paths:
        first = seen.setdefault(path.casefold(), path)
        if first is not path:
            problems.append(refusal("duplicate-name", file=path, value=first))
    return problems


def wrapper_folders(paths: list[str]) -> list[str]:
    """The folders that these files lie in, in order."""
    return list(dict.fromkeys(path.rpartition("/")[0] for path in paths if "/" in path))


def _path(entry: Entry) -> str:
    """The name, with slashes; its undecodable bytes are kept as surrogates, which `name_fault` refuses."""
    name = entry.raw_name.decode("utf-8" if entry.flags & UTF_8 else "cp437", "surrogateescape")
    return name.replace("\\", "/")


def _judge_names(members: list[_Member]) -> list[Problem]:
    problems = []
    for path, entry in members:
        fault = "name-too-long" if len(entry.raw_name) > NAME_LIMIT else _fault(path, entry)
        if fault:
            problems.append(refusal(fault, file=path))
        if entry.disk:
            problems.append(refusal("multi-disk", file=path))
    return problems + repeated([tidy(member.path) or member.path for member in members])


def _fault(path: str, entry: Entry) -> str | None:
    kind = stat.S_IFMT(entry.mode)
    if kind == stat.S_IFLNK:
        return "symlink"
    if kind in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK):
        return "special-file"
    if kind == stat.S_IFDIR and not path.endswith("/"):
        return "special-file"
    fault = name_fault(path)
    return None if fault == "empty-name" and path.endswith("/") else fault


def _judge_places(
    data: bytes, members: list[_Member], limit: int, problems: list[Problem]
) -> dict[int, Span]:
    """The bytes of every member by the offset of its header; adds what is wrong to `problems`."""
    spans = []
    for path, entry in members:
        try:
            spans.append(place(data, entry, limit))
        except Refused as refused:
            problems.append(replace(refused.problem, file=printable(path)))
    if len(spans) == len(members):
        problems += gaps(data, [member.entry for member in members], spans, limit=limit)
    return {span.start: span for span in spans}


def _is_folder(entry: Entry) -> bool:
    return entry.raw_name.endswith((b"/", b"\\"))


def _choose(members: list[_Member], accepts: Callable[[str], bool]) -> tuple[list[_Member], list[str]]:
    """The members to read, their paths tidied, and the paths of the others."""
    chosen, ignored = [], []
    for path, entry in members:
        path = tidy(path)
        if accepts(base_name(path)):
            chosen.append(_Member(path, entry))
        else:
            ignored.append(printable(path))
    return chosen, ignored


def _judge_contents(chosen: list[_Member], limits: Limits) -> list[Problem]:
    """What the directory alone says against reading these members."""
    faults = [fault for path, entry in chosen if (fault := _content_fault(path, entry, limits))]
    return faults + size_problems([member.entry.size for member in chosen], limits)


def _content_fault(path: str, entry: Entry, limits: Limits) -> Problem | None:
    if entry.flags & (ENCRYPTED | STRONG | MASKED):
        return refusal("encrypted", file=path)
    if entry.method not in (STORED, DEFLATED) or entry.flags & PATCHED:
        return refusal(
            "unsupported-compression", file=path, value=_METHODS.get(entry.method, str(entry.method))
        )
    if path.count("/") > 1:
        return refusal("nested-folder", file=path)
    if entry.method == STORED and entry.packed != entry.size:
        return refusal("forged-size", file=path, value=f"{entry.size} stated, {entry.packed} stored")
    if entry.size > max(_RATIO_FREE, entry.packed * limits.ratio):
        return refusal("ratio-bomb", file=path, value=f"{entry.size} bytes from {entry.packed}")
    return None


def _notices(members: list[_Member], chosen: list[_Member], system: list[str]) -> list[Problem]:
    folders = wrapper_folders([member.path for member in chosen])
    backslashes = [member.path for member in members if b"\\" in member.entry.raw_name]
    by_code = (("wrapper-folder", folders), ("system-files", system), ("backslash-names", backslashes))
    return [notice(code, names) for code, names in by_code if names]


def _read(
    data: bytes, chosen: list[_Member], spans: dict[int, Span], contents: Contents, *, nested: bool
) -> Contents:
    """Inflate the chosen members; one that fails is a problem and not a member."""
    view = memoryview(data)
    for path, entry in chosen:
        span = spans[entry.offset]
        try:
            contents.members[path] = _content(view[span.data : span.end], entry, nested=nested)
        except Refused as refused:
            contents.problems.append(replace(refused.problem, file=printable(path)))
    return contents


def _content(packed: memoryview, entry: Entry, *, nested: bool) -> bytes:
    """The real bytes of one member, never more than stated. Raises Refused."""
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
        # One byte more than stated shows a forged size. In one call: each copies the rest of the input.
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
