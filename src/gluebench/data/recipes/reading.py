"""Reading the files of a corpus exactly: text byte for byte, and every bad row named with its line."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError
from gluebench.data.recipes.recipe import Option

TEST_LABELS = Option(
    "test-labels",
    str,
    "no",
    "Whether test keeps its labels (yes or no), which the original publishes and GLUE hides.",
)
SEED = Option("seed", int, 0, "Seed of the draw of dev rows.")


class Reader:
    """Reads the files of one corpus, keeping every problem until `check` raises them together."""

    def __init__(self, corpus: Path) -> None:
        self.corpus = corpus
        self.files: list[Path] = []
        self.problems: list[str] = []

    def find(self, *names: str) -> Path | None:
        """The file of the first of these names, in the folder or up to two folders below; None without one.

        Raises DataError if a name stands in several of its folders.
        """
        for name in names:
            for pattern in (name, f"*/{name}", f"*/*/{name}"):
                found = sorted(path for path in self.corpus.glob(pattern) if path.is_file())
                if len(found) > 1:
                    several = " and ".join(str(path) for path in found)
                    raise DataError([f"{several}: several files of one name; point at the folder of one"])
                if found:
                    return found[0]
        return None

    def need(self, *names: str) -> Path:
        """As `find`. Raises DataError, naming what is expected, if there is no such file."""
        found = self.find(*names)
        if found is None:
            raise DataError([f"{self.corpus}: no {' nor '.join(names)} in this folder"])
        return found

    def read(self, path: Path) -> bytes:
        """The bytes of a file, noted as read. Raises DataError if there are none, or a web page."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError([f"{path}: {error.strerror or 'cannot be read'}"]) from None
        self.files.append(path)
        if not data.strip():
            raise DataError([f"{path}: the file is empty"])
        if data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")):
            raise DataError([f"{path}: a web page, not the data; download the file again"])
        return data

    def lines(self, path: Path) -> list[str]:
        """The lines of a text file."""
        return self.split(path, self.read(path))

    def split(self, path: Path | str, data: bytes) -> list[str]:
        r"""Lines by \n alone, without one \r at their end; an empty one, and a problem, for bad UTF-8."""
        raw = data.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").split(b"\n")
        return [self._decoded(path, number, line.removesuffix(b"\r")) for number, line in enumerate(raw, 1)]

    def rows(
        self,
        path: Path | str,
        lines: Sequence[str],
        *,
        widths: Collection[int],
        first: int = 1,
        sep: str = "\t",
    ) -> Iterator[tuple[int, list[str]]]:
        """Line number and fields of each line from `first` on; a line of another width is a problem."""
        for number, line in enumerate(lines[first - 1 :], first):
            fields = line.split(sep)
            if len(fields) in widths:
                yield number, fields
            else:
                self.reject(path, number, f"{_columns(len(fields))}, expected {_either(widths)}")

    def header(self, path: Path, lines: Sequence[str], expected: Sequence[str]) -> None:
        """Raises DataError unless the first line has these columns."""
        found = lines[0].split("\t")
        if found != list(expected):
            shown = " ".join(found)[:200]
            raise DataError([f'{path}:1: the header is "{shown}", expected {" ".join(expected)}'])

    def reject(self, path: Path | str, line: int, problem: str) -> None:
        """Keep a problem."""
        self.problems.append(f"{path}:{line}: {problem}")

    def check(self) -> None:
        """Raises DataError with every problem met so far."""
        if self.problems:
            raise DataError(self.problems)

    def _decoded(self, path: Path | str, number: int, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            self.reject(path, number, f"not UTF-8 text (byte {line[error.start]:#04x})")
            return ""


def classes(task: Task, number: int) -> tuple[str, ...]:
    """The task's label words, to which the corpus's classes go in order. Raises DataError if not as many."""
    if len(task.words) != number:
        raise DataError([f"{task.name}: {len(task.words)} labels, but this corpus has {number} classes"])
    return task.words


def inputs(task: Task, number: int) -> tuple[str, ...]:
    """The task's input columns, which the corpus's texts fill in order. Raises DataError if not as many."""
    if len(task.columns) != number:
        raise DataError(
            [f"{task.name}: {len(task.columns)} columns, but this corpus has {number} texts a row"]
        )
    return task.columns


def switch(options: Mapping[str, Any], name: str) -> bool:
    """Whether an option of yes or no is yes. Raises DataError for another value."""
    value = options[name]
    if value not in ("yes", "no"):
        raise DataError([f'{name}: "{value}", expected yes or no'])
    return bool(value == "yes")


def held_out(rows: int, count: int, seed: int) -> set[int]:
    """Row numbers drawn for dev without replacement. Raises DataError unless some rows remain for train."""
    if not 0 <= count < rows:
        raise DataError([f"dev: {count} rows, expected fewer than the {rows} there are, and none below 0"])
    return set(random.Random(seed).sample(range(rows), count))


def select(columns: Mapping[str, list[Any]], rows: Collection[int]) -> dict[str, list[Any]]:
    """Those rows of every column, in the order given."""
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def _columns(count: int) -> str:
    return f"{count} column" if count == 1 else f"{count} columns"


def _either(widths: Collection[int]) -> str:
    return " or ".join(str(width) for width in sorted(widths))
