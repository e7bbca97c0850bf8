"""The sample benchmark: GLUE's shape in text written for this project (docs/reference/sample.md).

The data are shipped as one file, which `python -m sample` makes from a seed in the project's repository.
"""

import os
import tarfile
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Role
from gluebench.data.home import replacing

SEED = 2018
"""The seed from which the shipped data were made; `sample.json` in the folder names it as well."""
GOLD: Mapping[Role, str] = {"test": "gold", "dev": "gold-dev"}
"""Gold folder of each split that can be graded."""
ARCHIVE = "sample.tar.xz"
MARK = "sample.json"
"""The file that marks a folder as one that `build` wrote, and may replace."""


def build(folder: str | os.PathLike[str]) -> None:
    """Write the sample benchmark: a folder for each task, `gold` and `gold-dev`.

    The folder appears only when complete, and replaces one built before. Raises FileExistsError if it has
    other content.
    """
    target = Path(folder).absolute()
    empty = target.is_dir() and not any(target.iterdir())
    if target.exists() and not (target / MARK).is_file() and not empty:
        raise FileExistsError(
            f"{target} is not a folder of the sample benchmark (it has no {MARK}); "
            "name a new or empty folder, or remove it first"
        )
    with (
        replacing(target) as made,
        files(__name__).joinpath(ARCHIVE).open("rb") as stream,
        tarfile.open(fileobj=stream, mode="r:xz") as archive,
    ):
        archive.extractall(made, filter="data")


class Pair(NamedTuple):
    """Two sentences as in AX, with labels in both directions: a row of `diagnostic.tsv`."""

    domain: str
    phenomena: tuple[str, ...]
    """Fine-grained phenomena, by the paper's names."""
    first: str
    second: str
    forward: str
    """Label with the first sentence as the premise."""
    backward: str
    """Label with the second sentence as the premise."""
    set: str
    """Name of the minimal set: pairs made from one source sentence share it."""


@cache
def pairs() -> tuple[Pair, ...]:
    """The pairs, in the order of the file."""
    text = files(__name__).joinpath("diagnostic.tsv").read_text("utf-8")
    sentence_pairs = []
    for line in text.splitlines()[1:]:
        domain, phenomena, *rest = line.split("\t")
        sentence_pairs.append(Pair(domain, tuple(phenomena.split("; ")), *rest))
    return tuple(sentence_pairs)
