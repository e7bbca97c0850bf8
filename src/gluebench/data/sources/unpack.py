"""Unpacking a downloaded zip: nothing outside its folder, nothing larger than it says, no room it has not."""

from __future__ import annotations

import shutil
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from gluebench.data.errors import DataError
from gluebench.data.sources.receive import enough_space

RATIO = 200
"""Unpacked by packed bytes of a whole archive; text packs three to ten times smaller."""
FREE = 1 << 26
"""Bytes that an archive may unpack to whatever its own size."""
_NOISE = ("__MACOSX", ".DS_Store")


def unpack(archive: Path, to: Path, *, only: Collection[str] = (), folders: Collection[str] = ()) -> Path:
    """Unpack a zip into a new folder; the folder of its content, within the one that is all it holds.

    With `only`, files of these names alone, flat: those in one of `folders` if there are any, and of two of
    one name the less deeply nested. Raises DataError for an archive that is damaged or not to be trusted.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = _trusted(opened, archive)
            places = _chosen(members, only, folders) if only else {each: each.filename for each in members}
            if not places:
                raise DataError([_nothing(archive, members, only)])
            _bounded(archive, places)
            enough_space(to.parent, sum(each.file_size for each in places), what=f"unpacking {archive.name}")
            for member, place in places.items():
                _write(opened, member, to / place)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        reason = str(error) or type(error).__name__
        raise DataError([f"{archive.name}: not a whole zip ({reason[:1].lower()}{reason[1:]})"]) from error
    inside = list(to.iterdir())
    return inside[0] if not only and len(inside) == 1 and inside[0].is_dir() else to


def _trusted(opened: zipfile.ZipFile, archive: Path) -> list[zipfile.ZipInfo]:
    """The files of the zip. Raises DataError with every name that leads elsewhere."""
    members = [each for each in opened.infolist() if not each.is_dir() and not _is_noise(each.filename)]
    problems = [
        f"{archive.name}: {each.filename!r} {fault}; nothing was unpacked"
        for each in members
        if (fault := _fault(each))
    ]
    if problems:
        raise DataError(problems)
    return members


def _fault(member: zipfile.ZipInfo) -> str:
    path = PurePosixPath(member.filename)
    if (
        not path.parts
        or path.is_absolute()
        or ".." in path.parts
        or "\\" in member.filename
        or ":" in path.parts[0]
    ):
        return "leads out of the archive's folder"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link"
    return "is encrypted" if member.flag_bits & 1 else ""


def _is_noise(name: str) -> bool:
    return any(part in _NOISE for part in PurePosixPath(name).parts)


def _chosen(
    members: Iterable[zipfile.ZipInfo], only: Collection[str], folders: Collection[str]
) -> dict[zipfile.ZipInfo, str]:
    """The members wanted, and the name of each."""
    fitting = [each for each in members if PurePosixPath(each.filename).name in only]
    named = [each for each in fitting if PurePosixPath(each.filename).parent.name in folders]
    found: dict[str, zipfile.ZipInfo] = {}
    for member in sorted(named or fitting, key=lambda each: (each.filename.count("/"), each.filename)):
        found.setdefault(PurePosixPath(member.filename).name, member)
    return {member: name for name, member in found.items()}


def _nothing(archive: Path, members: list[zipfile.ZipInfo], only: Collection[str]) -> str:
    held = ", ".join(each.filename for each in members[:8]) or "nothing"
    more = f" and {len(members) - 8} more" if len(members) > 8 else ""
    return f"{archive.name}: holds none of {', '.join(sorted(only)) or 'its files'}; it has {held}{more}"


def _bounded(archive: Path, members: Iterable[zipfile.ZipInfo]) -> None:
    unpacked = sum(each.file_size for each in members)
    if unpacked > max(FREE, RATIO * archive.stat().st_size):
        raise DataError([f"{archive.name}: would unpack to {unpacked:,} bytes, far more than text can"])


def _write(opened: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with opened.open(member) as source, open(place, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 18)
