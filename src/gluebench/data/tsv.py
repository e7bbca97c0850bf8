"""Reading examples from plain text: `<Task>/<split>.tsv`, columns index, inputs, label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gluebench.benchmark import Task
from gluebench.data.errors import DataError


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a task, as its file has it."""

    index: int
    """Unique within the split."""
    inputs: Mapping[str, str]
    """Input column to text, in the manifest's order."""
    label: str | float | None
    """A label word, or a number for a regression task; None where labels are hidden."""


def read_examples(path: Path, task: Task, *, expected: int) -> list[Example]:
    """The examples of one file, in file order; quotation marks are text like any other.

    Raises DataError if the file is missing, a row is wrong or there are not as many as expected.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise DataError(f"{path}: {reason}; expected examples of {task.name}") from None
    return _Reader(path, task, expected=expected).examples(data)


def text_lines(path: Path, data: bytes) -> list[str]:
    """Lines by line feeds alone: other separators of Unicode may stand within a sentence.

    Raises DataError with the line that is not UTF-8.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}:{line}: not UTF-8 text (byte {data[error.start]:#04x}); save the file as UTF-8"
        ) from None
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


class _Reader:
    """Reads one file and keeps every problem it meets."""

    def __init__(self, path: Path, task: Task, *, expected: int) -> None:
        self.path = path
        self.task = task
        self.expected = expected
        self.problems: list[str] = []

    def examples(self, data: bytes) -> list[Example]:
        lines = text_lines(self.path, data)
        labelled = self._labelled(lines[0] if lines else "")
        examples = list(self._rows(lines[1:], labelled))
        if not self.problems and len(examples) != self.expected:
            self._reject(
                len(lines), f"the file ends here with {len(examples)} examples, expected {self.expected}"
            )
        if self.problems:
            raise DataError(self.problems)
        return examples

    def _labelled(self, header: str) -> bool:
        names = ["index", *self.task.columns]
        if header.split("\t") == names:
            return False
        if header.split("\t") != [*names, "label"]:
            expected = " ".join(names)
            message = (
                f'the header is "{header}", expected the columns {expected}, and label unless it is hidden'
            )
            raise DataError(f"{self.path}:1: {message}")
        return True

    def _rows(self, lines: Sequence[str], labelled: bool) -> Iterator[Example]:
        width = 1 + len(self.task.columns) + labelled
        seen: set[int] = set()
        for number, line in enumerate(lines, 2):
            fields = line.split("\t")
            if len(fields) != width:
                self._reject(number, f"{len(fields)} columns, expected {width}")
                continue
            index = self._index(number, fields[0], seen)
            label = self._label(number, fields[-1]) if labelled else None
            yield Example(index, dict(zip(self.task.columns, fields[1:], strict=False)), label)

    def _index(self, line: int, text: str, seen: set[int]) -> int:
        index = int(text) if text.isascii() and text.isdigit() else -1
        if index < 0:
            self._reject(line, f'the index is "{text}", expected a whole number from 0')
        elif index in seen:
            self._reject(line, f"the index {index} stands there for the second time")
        seen.add(index)
        return index

    def _label(self, line: int, text: str) -> str | float:
        if self.task.labels:
            if text not in self.task.words:
                self._reject(line, f'the label is "{text}", expected one of {", ".join(self.task.words)}')
            return text
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self._reject(line, f'the label is "{text}", expected a number')
        return value

    def _reject(self, line: int, problem: str) -> None:
        self.problems.append(f"{self.path}:{line}: {problem}")
