"""The sample benchmark: GLUE's shape in text written for this project (docs/reference/sample.md).

The data are shipped as one file, which `python -m sample` makes from a seed in the project's repository.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from gluebench.benchmark import Role
from gluebench.data.table import load_split

__all__ = ["ARCHIVE", "GOLD", "MARK", "SEED", "build", "load_split"]

SEED = 2018
"""The seed from which the shipped data were made; `sample.json` in the folder names it as well."""
GOLD: Mapping[Role, str] = {"test": "gold", "dev": "gold-dev"}
"""Gold folder of each split that can be graded."""
ARCHIVE = "sample.tar.xz"
MARK = "sample.json"
"""The file that marks a folder as one that `build` wrote, and may replace."""


def build(folder: str | os.PathLike[str]) -> None:
    """Write the sample benchmark: a folder for each task, `gold` and `gold-dev`.

    The folder appears whole or not at all, and replaces one that was built before. Raises FileExistsError if
    something else stands there.
    """
    target = Path(folder).absolute()
    empty = target.is_dir() and not any(target.iterdir())
    if target.exists() and not (target / MARK).is_file() and not empty:
        raise FileExistsError(
            f"{target} is not a folder of the sample benchmark (it has no {MARK}); "
            "name a new or empty folder, or remove it first"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
        made = Path(scratch, "new")
        _unpack(made)
        if target.exists():
            target.rename(Path(scratch, "old"))
        made.rename(target)


def _unpack(folder: Path) -> None:
    with (
        files(__name__).joinpath(ARCHIVE).open("rb") as stream,
        tarfile.open(fileobj=stream, mode="r:xz") as archive,
    ):
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
