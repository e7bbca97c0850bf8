"""Look at the built wheel and source distribution: `python -m release.distribution dist/`.

It prints each with its size, and exits with 1 if one has a file too many or too few, is too large, or lacks
the license of something in it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/gluebench/"
LARGEST = {".whl": 4_000_000, ".gz": 8_000_000}
"""Bytes, by suffix; the wheel of 0.1.0 has 2.8 million, the source 5.1 million."""
FONTS = (".woff2", ".woff", ".ttf", ".otf")
FONT_LICENSE = "OFL-1.1"
AT_THE_TOP = ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "action.yml")
"""Files that the source distribution has in any case."""


class Contents(NamedTuple):
    """A distribution, read."""

    names: list[str]
    """Its files, without the folder that a source distribution has them in."""
    metadata: Message


def main() -> None:
    """Print the files of a folder, and what is wrong with them."""
    folder = Path(sys.argv[1])
    paths = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    problems = [] if len(paths) == 2 else [f"{folder}: expected one wheel and one source distribution"]
    for path in paths:
        print(f"{path.name}: {path.stat().st_size:,} bytes")
        problems += problems_of(path)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(bool(problems))


def problems_of(path: Path) -> list[str]:
    """What is wrong with a distribution of this tree, as sentences."""
    contents = read(path)
    size = path.stat().st_size
    problems = []
    if size > LARGEST[path.suffix]:
        problems.append(f"{path.name}: {size:,} bytes; expected at most {LARGEST[path.suffix]:,}")
    if path.suffix == ".whl":
        expected = {name.removeprefix("src/") for name in tracked(PACKAGE)}
        extra = {name for name in contents.names if not is_metadata(name)} - expected
        missing = expected - {*contents.names}
    else:
        known = tracked()
        extra = {*contents.names} - {*known, "PKG-INFO"}
        missing = {*AT_THE_TOP, *tracked(PACKAGE)} - {*contents.names}
    problems += [f"{path.name}: has {name}, which is not in the repository" for name in sorted(extra)]
    problems += [f"{path.name}: lacks {name}" for name in sorted(missing)]
    problems += [f"{path.name}: {problem}" for problem in license_problems(contents)]
    version = contents.metadata["Version"]
    if version not in path.name or version != this_version():
        problems.append(f"{path.name}: is of version {version}; expected {this_version()}")
    return problems


def license_problems(contents: Contents) -> list[str]:
    """The files whose license is not stated, and fonts whose license the metadata do not name."""
    licenses = contents.metadata.get_all("License-File") or []
    problems = [] if "LICENSE" in licenses else ["the metadata lack the file LICENSE"]
    listed = [PurePosixPath(name).name for name in licenses]
    fonts = [PurePosixPath(name) for name in contents.names if name.endswith(FONTS)]
    for font in fonts:
        if f"{font.stem}-LICENSE.txt" not in listed:
            problems.append(f"{font}: the metadata lack its license, {font.stem}-LICENSE.txt")
    if fonts and FONT_LICENSE not in contents.metadata["License-Expression"]:
        problems.append(f"has a font, and the license expression lacks {FONT_LICENSE}")
    return problems


def read(path: Path) -> Contents:
    """The names and the metadata of a distribution."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            (place,) = [name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            return Contents(names, Parser().parsestr(wheel.read(place).decode()))
    with tarfile.open(path) as source:
        files = {member.name.partition("/")[2]: member for member in source if member.isfile()}
        facts = source.extractfile(files["PKG-INFO"])
        assert facts is not None
        return Contents([*files], Parser().parsestr(facts.read().decode()))


def is_metadata(name: str) -> bool:
    """Whether a wheel's file is none of the package."""
    return name.partition("/")[0].endswith(".dist-info")


def tracked(folder: str = ".") -> list[str]:
    """The files in Git below a folder of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", folder], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    return [name for name in listed.split("\0") if name]


def this_version() -> str:
    """The version of the tree."""
    text = (ROOT / PACKAGE / "version.py").read_text()
    return text.partition('__version__ = "')[2].partition('"')[0]


if __name__ == "__main__":
    main()
