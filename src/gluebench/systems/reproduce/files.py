"""Published vectors and weights that rows need: where they are looked for, and the error without them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from gluebench.systems.reproduce.presets import Recipe


class CannotBeHadError(ValueError):
    """A row cannot be run here, for the `reasons` given."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = tuple(reasons)


class NeededFiles(NamedTuple):
    """Published files that go together."""

    title: str
    files: tuple[str, ...]
    address: str
    licence: str
    option: str
    """How the user names them."""

    def absent(self, names: Sequence[str]) -> str:
        """The message for those that are missing."""
        return (
            f"needs {', '.join(names)} ({self.title}) from {self.address} "
            f"under {self.licence}; give {self.option}"
        )


class Files(NamedTuple):
    """What the user has of such files."""

    vectors: Path | None = None
    """A file of word vectors, GloVe's or one in its format."""
    weights: Path | None = None
    """A folder with files under their published names."""

    def weight(self, name: str) -> Path:
        """The path of a file of weights. Raises CannotBeHadError."""
        if self.weights is None:
            raise CannotBeHadError([f"{name} is needed; give --weights DIR"])
        return self.weights / name

    def sizes(self, needs: Sequence[str]) -> dict[str, int]:
        """Name to size of the files that a row reads; they identify the files in any folder."""
        named = [name for need in needs if need != "glove" for name in needed_files()[need].files]
        paths = [self.weight(name) for name in named]
        if "glove" in needs and self.vectors is not None:
            paths.append(self.vectors)
        return {path.name: path.stat().st_size for path in paths}


@cache
def needed_files() -> Mapping[str, NeededFiles]:
    """By the names that rows have in `needs`."""
    file = resources.files("gluebench.systems.reproduce") / "files.toml"
    return {
        name: NeededFiles(**values | {"files": tuple(values["files"])})
        for name, values in tomllib.loads(file.read_text("utf-8")).items()
    }


def check_files(recipe: Recipe, files: Files) -> None:
    """See that everything a recipe reads is there. Raises CannotBeHadError with a line for what is not."""
    reasons = []
    for name in recipe.row.needs:
        needed = needed_files()[name]
        if name == "glove":
            absent = needed.files if files.vectors is None and not recipe.own_vectors else ()
        else:
            absent = tuple(
                file for file in needed.files if not (files.weights and (files.weights / file).is_file())
            )
        if absent:
            reasons.append(needed.absent(absent))
    if reasons:
        raise CannotBeHadError(reasons)
