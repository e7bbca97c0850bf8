"""Released TSV files as Arrow batches: a row a line, a field a tab, and every byte between them text.

Quotation marks are text like any other, but where the release says that fields are quoted as in CSV. Lines
end at LF; a CR before it belongs to the line end where every line has one, and is text elsewhere. No
library's CSV reader is used: each takes a lone CR, an unclosed quotation mark, an empty line or `NA` for
something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from gluebench.benchmark import Split, Task
from gluebench.data.arrays import integers
from gluebench.data.errors import DataError
from gluebench.data.sources.columns import Plan, Shaper, index_text, label_text, plan
from gluebench.data.sources.content import BLOCK, Survey
from gluebench.data.sources.release import TaskRelease

TAB, LF = b"\t\n"
BOM = b"\xef\xbb\xbf"
EXPORT = (
    "a file written with Hugging Face's datasets, with CSV quoting and numbers for labels; expected the file "
    "as released: use that, or the hub's Parquet"
)
LONGEST = 16 << 20
"""Bytes of a line beyond which a file is no table of sentences."""


def read_released(
    path: Path, survey: Survey, *, task: Task, split: Split, release: TaskRelease
) -> Iterator[pa.RecordBatch]:
    """The rows of one file. Raises DataError with every row that cannot be read, after the last of them."""
    if survey.sign:
        raise DataError(f"{path}: this is {survey.sign}; expected a TSV file; fetch it again")
    with open(path, "rb") as file:
        if file.read(len(BOM)) != BOM:
            file.seek(0)
        yield from _Table(path, survey, task=task, split=split, release=release).batches(file)


class _Table:
    """Reads one file."""

    def __init__(self, path: Path, survey: Survey, *, task: Task, split: Split, release: TaskRelease) -> None:
        self._path = path
        self._crlf = survey.crlf
        self._task = task
        self._release = release
        self._unnamed = release.splits[split.name].header
        self._problems: list[str] = []

    def batches(self, file: BinaryIO) -> Iterator[pa.RecordBatch]:
        blocks = _blocks(file, self._path)
        first = self._ended(next(blocks, b"\n"))
        line, _, rest = first.partition(b"\n")
        names, plan = self._header(line)
        number, first = (1, first) if names is self._unnamed else (2, rest)
        shaper = Shaper(
            plan,
            self._task,
            quoted=self._release.quoted,
            index=index_text,
            label=label_text(self._task),
            problems=self._problems,
        )
        for block in chain([first], map(self._ended, blocks)):
            fields, lines = self._read(block, number, len(names))
            if lines:
                where = partial(_line, self._path, lines)
                batch = shaper.batch(_columns(fields, len(names)), where)
                if not self._problems:
                    yield batch
            number += len(lines) if isinstance(lines, range) else block.count(b"\n")
        if self._problems:
            raise DataError(self._problems)

    def _ended(self, block: bytes) -> bytes:
        return block.replace(b"\r\n", b"\n") if self._crlf else block

    def _header(self, line: bytes) -> tuple[Sequence[str], Plan]:
        """Names of the columns: the file's first line, unless the release says that it has none."""
        try:
            names = line.decode().split("\t")
        except UnicodeDecodeError as error:
            raise DataError(f"{self._path}:1: {_not_text(line, error)}") from None
        if self._unnamed and not self._names_columns(names):
            return self._unnamed, plan(self._unnamed, self._task, self._release, where=str(self._path))
        if "idx" in names and "index" not in names:
            raise DataError(f"{self._path}:1: found the columns {' '.join(names)}: {EXPORT}")
        return names, plan(names, self._task, self._release, where=f"{self._path}:1")

    def _names_columns(self, names: Sequence[str]) -> bool:
        """Whether a first line is a header after all, as in the plain layout."""
        ours = {self._release.columns.get(name, name) for name in names}
        return ours >= set(self._task.columns)

    def _read(self, block: bytes, first: int, width: int) -> tuple[pa.Array, Sequence[int]]:
        """All fields of a block, and the line that each row is; a problem for each line that is no row."""
        fields = _fields(block, width)
        if fields is not None:
            return fields, range(first, first + len(fields) // width)
        kept: list[tuple[bytes, int]] = []
        for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), first):
            problem = self._problem(line, width)
            if problem:
                self._problems.append(f"{self._path}:{number}: {problem}")
            else:
                kept.append((line + b"\n", number))
        return _fields(b"".join(line for line, _ in kept), width), [number for _, number in kept]

    def _problem(self, line: bytes, width: int) -> str:
        """What is wrong with a line; empty if nothing is."""
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return _not_text(line, error)
        fields = line.count(b"\t") + 1
        if fields == width:
            return ""
        advice = self._release.faults or "fix the line, or fetch the file again"
        what = "an empty line" if not line else f"{fields} fields"
        return f"{what}; expected {width} fields, with a tab between them; {advice}"


def _line(path: Path, lines: Sequence[int], row: int) -> str:
    return f"{path}:{lines[row]}"


def _not_text(line: bytes, error: UnicodeDecodeError) -> str:
    return (
        f"byte {error.start + 1} of the line, {line[error.start]:#04x}, is not UTF-8; expected UTF-8 text; "
        "convert the file from the encoding it has"
    )


def _blocks(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines; the last line is given its line feed if it has none."""
    parts: list[bytes] = []
    while chunk := file.read(BLOCK):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield b"".join([*parts, chunk[:cut]])
            parts = []
        parts.append(chunk[cut:])
        if len(parts) > LONGEST // BLOCK:
            raise DataError(f"{path}: a line of more than {LONGEST:,} bytes; expected a table of sentences")
    rest = b"".join(parts)
    if rest:
        yield rest + b"\n"


def _fields(block: bytes, width: int) -> pa.Array | None:
    """All fields of a block, row by row; None unless it is UTF-8 and every line has that many."""
    codes = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(codes - TAB <= LF - TAB)  # below the tab, the difference wraps round
    rows, rest = divmod(len(ends), width)
    last = codes[ends] == LF
    if rest or np.count_nonzero(last) != rows or not last[width - 1 :: width].all():
        return None
    offsets = np.zeros(len(ends) + 1, np.int32)
    np.subtract(ends, np.arange(len(ends)), out=offsets[1:], casting="unsafe")
    text = block.translate(None, b"\t\n")
    fields = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(text))
    return fields if text.isascii() or _is_utf8(fields) else None


def _columns(fields: pa.Array, width: int) -> list[pa.Array]:
    return [fields.take(integers(np.arange(at, len(fields), width))) for at in range(width)]


def _is_utf8(fields: pa.Array) -> bool:
    try:
        fields.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
