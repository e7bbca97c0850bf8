"""Safe unpacking of downloaded archives: no paths outside the folder, no excessive sizes."""

import shutil
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from gluebench.data.errors import DataError, refuse
from gluebench.data.sources.fetch import check_space
from gluebench.data.sources.release import TaskRelease

RATIO = 200
"""Largest ratio of unpacked to packed bytes of an archive; 3 to 10 is usual for text."""
FREE = 1 << 26
"""Unpacked bytes that are accepted at any ratio."""
_ZIP = (b"PK\3\4", b"PK\5\6")
_NOISE = ("__MACOSX", ".DS_Store")


def lay_out(release: TaskRelease, task: str, archive: Path, to: Path) -> Path:
    """Put what the archive holds under `to`, and return the folder to read.

    The files of the splits as a released folder has them, in `<to>/<task>`; of an original corpus, all.
    """
    names = {name for split in release.splits.values() for name in split.files}
    with open(archive, "rb") as file:
        head = file.read(16)
    if head.startswith(_ZIP):
        if release.original:
            return unpack(archive, to / task)
        unpack(archive, to / task, only=names, folders=release.folders)
        return to
    if archive.name not in names:
        raise DataError(f"{archive.name}: not a zip; it begins with {ascii(head)[1:]}")
    (to / task).mkdir(parents=True)
    (to / task / archive.name).hardlink_to(archive)
    return to


def unpack(archive: Path, to: Path, *, only: Collection[str] = (), folders: Collection[str] = ()) -> Path:
    """Unpack a zip into a new folder; the folder of its content, within the one that is all it holds.

    With `only`, files of these names alone, flat: those in one of `folders` if there are any, and of two of
    one name the less deeply nested. Raises DataError for an archive that is damaged or not to be trusted.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = _check_members(opened, archive)
            if only:
                places = _choose_members(members, only, folders)
            else:
                places = {member: member.filename for member in members}
            if not places:
                content = ", ".join(member.filename for member in members[:8]) or "nothing"
                if len(members) > 8:
                    content += f" and {len(members) - 8} more"
                names = ", ".join(sorted(only)) or "its files"
                raise DataError(f"{archive.name}: holds none of {names}; it has {content}")
            size = sum(member.file_size for member in places)
            if size > max(FREE, RATIO * archive.stat().st_size):
                raise DataError(f"{archive.name}: would unpack to {size:,} bytes, far more than text can")
            check_space(to.parent, size, what=f"unpacking {archive.name}")
            for member, place in places.items():
                (to / place).parent.mkdir(parents=True, exist_ok=True)
                with opened.open(member) as source, open(to / place, "wb") as target:
                    shutil.copyfileobj(source, target, 1 << 18)
    # NotImplementedError is zipfile's for a method of compression that it lacks.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        reason = str(error) or type(error).__name__
        raise DataError(f"{archive.name}: not a whole zip ({reason[:1].lower()}{reason[1:]})") from error
    inside = list(to.iterdir())
    if not only and len(inside) == 1 and inside[0].is_dir():
        return inside[0]
    return to


def _check_members(opened: zipfile.ZipFile, archive: Path) -> list[zipfile.ZipInfo]:
    """The files of the zip. Raises DataError for paths outside the folder, links and encrypted files."""
    members = []
    problems = []
    for member in opened.infolist():
        if member.is_dir() or not set(_NOISE).isdisjoint(PurePosixPath(member.filename).parts):
            continue
        members.append(member)
        fault = _fault(member)
        if fault:
            problems.append(f"{archive.name}: {member.filename!r} {fault}; nothing was unpacked")
    refuse(problems)
    return members


def _fault(member: zipfile.ZipInfo) -> str:
    """Why a file of a zip is not unpacked; empty if it can be."""
    path = PurePosixPath(member.filename)
    outside = not path.parts or path.is_absolute() or ".." in path.parts or "\\" in member.filename
    if outside or ":" in path.parts[0]:  # a drive of Windows
        return "leads out of the archive's folder"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link"
    if member.flag_bits & 1:
        return "is encrypted"
    return ""


def _choose_members(
    members: Iterable[zipfile.ZipInfo], only: Collection[str], folders: Collection[str]
) -> dict[zipfile.ZipInfo, str]:
    """The members to unpack, and the name of each."""
    paths = {member: PurePosixPath(member.filename) for member in members}
    fitting = [member for member, path in paths.items() if path.name in only]
    in_folders = [member for member in fitting if paths[member].parent.name in folders]
    chosen: dict[str, zipfile.ZipInfo] = {}
    for member in sorted(in_folders or fitting, key=_nesting):
        chosen.setdefault(paths[member].name, member)
    return {member: name for name, member in chosen.items()}


def _nesting(member: zipfile.ZipInfo) -> tuple[int, str]:
    """How deep a member is nested, and its name."""
    return member.filename.count("/"), member.filename
