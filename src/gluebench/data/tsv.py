"""Reading examples from plain text: `<Task>/<split>.tsv`, columns index, inputs, label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gluebench.benchmark import Split, Task
from gluebench.data.errors import DataError, refuse
from gluebench.reading.notation import NumberError, decimal


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a task, as in its file."""

    index: int
    """Unique within the split."""
    inputs: Mapping[str, str]
    """Input column to text, in the manifest's order."""
    label: str | float | None
    """A label word, a number for a regression task, the cell of another form; None if labels are hidden."""


def read_examples(path: Path, task: Task, split: Split) -> list[Example]:
    """The examples of one file, in file order; quotation marks are text like any other.

    Raises DataError if the file is missing, a row is wrong or there are not as many as the split has.
    """
    try:
        lines = text_lines(path, path.read_bytes())
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise DataError(f"{path}: {reason}; expected examples of {task.name}") from None
    names = ["id" if split.ids else "index"]
    names += task.columns
    index_of = {name: index for index, name in enumerate(split.ids)}
    header = lines[0].split("\t")
    if header not in (names, names + ["label"]):
        columns = f"expected the columns {' '.join(names)}, and label unless it is hidden"
        raise DataError(f'{path}:1: the header is "{lines[0]}", {columns}')
    examples: list[Example] = []
    problems: list[str] = []
    seen: set[int] = set()
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        wrong: list[str] = []
        if len(fields) != len(header):
            wrong.append(f"{len(fields)} columns, expected {len(header)}")
        else:
            if split.ids:
                fields[0] = str(index_of.get(fields[0], fields[0]))
            examples.append(_example(task, fields, seen, wrong))
        problems += [f"{path}:{number}: {problem}" for problem in wrong]
    if not problems and len(examples) != split.size:
        ending = f"the file ends here with {len(examples)} examples, expected {split.size}"
        problems.append(f"{path}:{len(lines)}: {ending}")
    refuse(problems)
    return examples


def text_lines(path: Path, data: bytes) -> list[str]:
    """Split at line feeds only: a sentence may contain other Unicode line separators.

    Raises DataError with the line that is not UTF-8.
    """
    return [line.removesuffix("\r") for line in decode_text(path, data).removesuffix("\n").split("\n")]


def decode_text(path: Path, data: bytes, *, encoding: str = "UTF-8", advice: str = "") -> str:
    """The text of a file, without a byte order mark. Raises DataError with the first line that is no text."""
    codec = "utf-8-sig" if encoding.casefold() == "utf-8" else encoding
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"not {encoding} text (byte {data[error.start]:#04x}); save the file as UTF-8{advice}"
        raise DataError(f"{path}:{line}: {problem}") from None


def _example(task: Task, fields: list[str], seen: set[int], wrong: list[str]) -> Example:
    """The example of a row; adds its index to `seen` and its problems to `wrong`."""
    index = -1
    if fields[0].isascii() and fields[0].isdigit():
        index = int(fields[0])
    if index < 0:
        wrong.append(f'the index is "{fields[0]}", expected a whole number from 0')
    elif index in seen:
        wrong.append(f"the index {index} stands there for the second time")
    seen.add(index)
    label = None
    if len(fields) > 1 + len(task.columns):
        label = _label(task, fields[-1], wrong)
    return Example(index, dict(zip(task.columns, fields[1:], strict=False)), label)


def _label(task: Task, text: str, wrong: list[str]) -> str | float:
    # Imported here, so that prepared data are read without the room of submissions.
    from gluebench.submission.forms import cell_form

    if task.labels:
        if text not in task.words:
            wrong.append(f'the label is "{text}", expected one of {", ".join(task.words)}')
        return text
    if task.form != "numbers":
        form = cell_form(task, gold=True)
        try:
            if form is not None:
                form.read(text)
            elif text not in task.vocabulary:  # the gold of probabilities
                raise ValueError(text)
        except ValueError:
            expected = form.expected if form else f"one of {', '.join(task.vocabulary)}"
            wrong.append(f'the label is "{text}", expected {expected}')
        return text
    try:
        return decimal(text)
    except NumberError:
        wrong.append(f'the label is "{text}", expected a number')
        return math.nan
