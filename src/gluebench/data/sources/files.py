"""Files of examples as Arrow batches: released TSV, typed columns, other tables, and data prepared earlier.

In a released TSV, each line is a row, tabs separate fields, and all other bytes are text. Quotation marks are
text too, unless the release says that fields are quoted as in CSV. Lines end at LF; a CR before LF belongs to
the line end if every line has one, and is text otherwise. No library's CSV reader is used, since each
misreads a lone CR, an unclosed quotation mark, an empty line or `NA`.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluebench.benchmark import Split, Task
from gluebench.data.arrays import constant, integers, numbers, strings
from gluebench.data.dataset import INDEX, LABEL, SourceFile, SplitRecord
from gluebench.data.errors import DataError, refuse
from gluebench.data.fingerprint import Fingerprint, fingerprint_of
from gluebench.data.prepared import ROW_GROUP
from gluebench.data.sources.columns import (
    HIDDEN_NUMBER,
    HUB_INDEX,
    BatchConverter,
    ColumnRoles,
    column_roles,
    index_number,
    index_text,
    is_list,
    label_text,
    label_typed,
    list_cells,
    note_classes,
)
from gluebench.data.sources.http import GIT_LFS
from gluebench.data.sources.records import (
    is_quoted,
    join_tokens,
    label_check,
    needs_records,
    note_unlabeled,
    read_table,
)
from gluebench.data.sources.release import SplitRelease, TaskRelease
from gluebench.reading.columnar import ColumnarFile, columnar_format, shards_of
from gluebench.reading.records import ReadingError

BLOCK = 1 << 19
SIGNS = {
    b"<!doctype": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "an XML document",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    GIT_LFS: "a Git LFS pointer, not the file it stands for",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
"""First bytes of formats that are often saved under another format's name."""


class Survey(NamedTuple):
    """Properties of a file, from one pass over it."""

    bytes: int
    sha256: str
    crlf: bool
    """Whether every line feed has a carriage return before it."""
    sign: str
    """The format that its first bytes show, from SIGNS; empty if none matches."""

    def source(self, name: str) -> SourceFile:
        """The entry of `dataset.json`."""
        return SourceFile(name, self.bytes, self.sha256)


def survey(path: Path) -> Survey:
    """Read a file, or all files of a split, once. Raises DataError if it is empty, and OSError."""
    digest = hashlib.sha256()
    size = 0
    head = tail = b""
    crlf = True
    try:
        paths = shards_of(path)
    except ReadingError as error:
        raise DataError(f"{path}: {error.expected}; {error.fix}") from None
    for part in paths:
        with open(part, "rb") as file:
            while block := file.read(BLOCK):
                head = head or block[:64]
                size += len(block)
                digest.update(block)
                text = tail + block
                crlf = crlf and text.count(b"\n") == (text.count(b"\r\n") if b"\r" in text else 0)
                tail = b"\r" if block.endswith(b"\r") else b""
    if not size:
        raise DataError(f"{path}: the file is empty; fetch it again")
    return Survey(size, digest.hexdigest(), crlf, _sign(head))


def _sign(head: bytes) -> str:
    """The format that the first bytes of a file show; empty for any other."""
    start = head.lstrip()
    if start.startswith(b"<"):
        head = start.lower()  # markup may begin with white space and be in capitals
    for beginning, meaning in SIGNS.items():
        if head.startswith(beginning):
            return meaning
    return ""


TAB = ord("\t")
LF = ord("\n")
BOM = b"\xef\xbb\xbf"
LONGEST = 16 << 20
"""Largest number of bytes in a line; a file with a longer one is rejected."""


def read_released(
    path: Path,
    survey: Survey,
    *,
    task: Task,
    split: Split,
    release: TaskRelease,
    notes: list[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of one file of any kind: what it is shows in its content.

    Adds to `notes` what was assumed or left out. Raises DataError at the end, listing every row that cannot
    be read.
    """
    notes = [] if notes is None else notes
    if path.suffix == ".parquet" or columnar_format(path):
        yield from _read_typed(path, survey, task=task, split=split, release=release, notes=notes)
        return
    if survey.sign:
        raise DataError(f"{path}: this is {survey.sign}; expected a TSV file; fetch it again")
    with open(path, "rb") as file:
        head = file.read(BLOCK)
    quoted = not release.quoted and not release.shape and path.suffix == ".tsv" and is_quoted(path)
    if quoted or release.shape or needs_records(head, path):
        yield read_table(path, task, split, release, notes, quoted=quoted or None)
        return
    with open(path, "rb") as file:
        if file.read(len(BOM)) != BOM:
            file.seek(0)
        table = _Table(path, survey.crlf, task, release, split, notes)
        yield from table.batches(file)
    note_unlabeled(table.converter, split, notes)
    if table.incomplete:
        lines = f"{split.name}: {len(table.incomplete)} lines that lack a column are left out"
        notes.append(f"{lines}: {path.name}, line {', '.join(map(str, table.incomplete))}")


@dataclass(eq=False)
class _Table:
    _path: Path
    _crlf: bool
    _task: Task
    _release: TaskRelease
    _split: Split
    _notes: list[str]
    _problems: list[str] = field(default_factory=list)
    incomplete: list[int] = field(default_factory=list)
    """Lines that are left out, since they lack a column."""
    converter: BatchConverter = field(init=False)

    def batches(self, file: BinaryIO) -> Iterator[pa.RecordBatch]:
        blocks = _blocks(file, self._path)
        first = self._normalize_ends(next(blocks, b"\n"))
        line, _, rest = first.partition(b"\n")
        names, roles = self._header(line)
        number = 1
        if names is not self._split_release.header:
            number = 2
            first = rest
        check_label = label_text(self._task)
        self.converter = BatchConverter(
            roles, self._task, self._release, index_text, check_label, self._problems
        )
        for block in chain([first], map(self._normalize_ends, blocks)):
            fields, lines = self._read(block, number, len(names))
            if lines:
                columns = _by_column(fields, len(names))
                if block is first and roles.label_at is not None:
                    labels = columns[roles.label_at]
                    self.converter.label = label_check(
                        labels, self._task, self._split, self._release, self._notes
                    )
                batch = self.converter.convert(columns, f"{self._path}:", lines)
                if not self._problems:
                    yield batch
            # A range is of all lines of the block; a list is of those that could be read.
            number += len(lines) if isinstance(lines, range) else block.count(b"\n")
        if self._problems:
            raise DataError(self._problems)

    @property
    def _split_release(self) -> SplitRelease:
        return self._release.splits[self._split.name]

    def _normalize_ends(self, block: bytes) -> bytes:
        return block.replace(b"\r\n", b"\n") if self._crlf else block

    def _header(self, line: bytes) -> tuple[Sequence[str], ColumnRoles]:
        """Column names and roles: from the first line, unless the release says that it is not a header."""
        try:
            names = line.decode().split("\t")
        except UnicodeDecodeError as error:
            raise DataError(f"{self._path}:1: {_not_text(line, error)}") from None
        ours = {self._release.columns.get(name, name) for name in names}
        # The file may have a header all the same, as in the plain layout.
        unnamed = self._split_release.header
        if unnamed and not ours >= set(self._task.columns):
            return unnamed, column_roles(unnamed, self._task, self._release, where=str(self._path))
        return names, column_roles(names, self._task, self._release, where=f"{self._path}:1")

    def _read(self, block: bytes, first: int, width: int) -> tuple[pa.Array, Sequence[int]]:
        """All fields of a block and the line number of each row; other lines become problems."""
        fields = _fields(block, width)
        if fields is not None:
            return fields, range(first, first + len(fields) // width)
        kept: list[bytes] = []
        numbers_of_kept: list[int] = []
        advice = self._release.faults or "fix the line, or fetch the file again"
        for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), first):
            problem = ""
            count = line.count(b"\t") + 1
            if line and count < width and len(self.incomplete) < self._split_release.incomplete:
                self.incomplete.append(number)
                continue
            if count != width:
                what = "an empty line" if not line else f"{count} fields"
                problem = f"{what}; expected {width} fields, with a tab between them; {advice}"
            try:
                line.decode()
            except UnicodeDecodeError as error:
                problem = _not_text(line, error)
            if problem:
                self._problems.append(f"{self._path}:{number}: {problem}")
            else:
                kept.append(line + b"\n")
                numbers_of_kept.append(number)
        return _fields(b"".join(kept), width), numbers_of_kept


def _not_text(line: bytes, error: UnicodeDecodeError) -> str:
    return (
        f"byte {error.start + 1} of the line, {line[error.start]:#04x}, is not UTF-8; expected UTF-8 text; "
        "convert the file from the encoding it has"
    )


def _blocks(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines; adds a missing line feed at the end."""
    parts: list[bytes] = []
    while chunk := file.read(BLOCK):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            parts.append(chunk[:cut])
            yield b"".join(parts)
            parts = []
        parts.append(chunk[cut:])
        if len(parts) > LONGEST // BLOCK:
            raise DataError(
                f"{path}: a line of more than {LONGEST:,} bytes; expected a table with one example on each "
                "line; check that this is the file of the task"
            )
    rest = b"".join(parts)
    if rest:
        yield rest + b"\n"


def _fields(block: bytes, width: int) -> pa.Array | None:
    """All fields of a block, row by row; None unless it is UTF-8 and every line has `width` fields."""
    codes = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(codes - TAB <= LF - TAB)  # uint8: bytes below the tab wrap around to large values
    rows, rest = divmod(len(ends), width)
    is_lf = codes[ends] == LF
    if rest or np.count_nonzero(is_lf) != rows or not is_lf[width - 1 :: width].all():
        return None
    offsets = np.zeros(len(ends) + 1, np.int32)
    np.subtract(ends, np.arange(len(ends)), out=offsets[1:], casting="unsafe")
    text = block.translate(None, b"\t\n")
    fields = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(text))
    try:
        if not text.isascii():
            fields.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return fields


def _by_column(fields: pa.Array, width: int) -> list[pa.Array]:
    return [fields.take(integers(np.arange(at, len(fields), width))) for at in range(width)]


def read_hub(
    path: Path, survey: Survey, *, task: Task, split: Split, release: TaskRelease, notes: list[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of one file, which must be the published one. Raises DataError.

    A file with another hash is accepted only if the fingerprint of its rows is the one in the manifest or in
    the release, so that the rows are the published ones.
    """

    def batches(notes: list[str]) -> Iterator[pa.RecordBatch]:
        return _read_typed(path, survey, task=task, split=split, release=release, notes=notes)

    known = release.splits[split.name].hub
    if known is not None and known.sha256 != survey.sha256:
        rows = fingerprint_of(task.columns, batches([]))
        if rows.full not in {split.fingerprint, known.fingerprint} - {""}:
            raise DataError(
                f"{path}: not the published file: {survey.bytes:,} bytes, sha256 {survey.sha256}; "
                f"expected {known.bytes:,} bytes, sha256 {known.sha256}; download it again"
            )
    yield from batches(notes)


def _open(path: Path, survey: Survey) -> ColumnarFile:
    """The typed columns of a file. Raises DataError if it is of another format, or incomplete."""
    try:
        return ColumnarFile(path)
    except ReadingError as error:
        what = survey.sign or "another file"
        if survey.sign in ("a Parquet file", "an Arrow file") or columnar_format(path):
            what = "a file cut short or damaged"
        kind = error.expected.partition(",")[0]
        raise DataError(f"{path}: this is {what} ({survey.bytes:,} bytes); {kind}; fetch it again") from None


def _batches(file: ColumnarFile) -> Iterator[pa.RecordBatch]:
    """The batches of a file of typed columns. Raises DataError if its data are damaged."""
    try:
        yield from file.batches(ROW_GROUP)
    except ReadingError as error:
        raise DataError(f"{file.path}: damaged ({error.expected}); fetch it again") from None


def _read_typed(
    path: Path, survey: Survey, *, task: Task, split: Split, release: TaskRelease, notes: list[str]
) -> Iterator[pa.RecordBatch]:
    file = _open(path, survey)
    schema = _simplify(file.schema)
    roles = column_roles(schema.names, task, release, where=str(path), index=HUB_INDEX)
    texts = roles.inputs + tuple(roles.tags)
    problems = _type_problems(path, [schema.field(at) for at in texts], task)
    refuse(problems)

    label_at = roles.label_at
    classes: Sequence[str] | None = None
    label = label_text(task)
    if label_at is not None:
        column = schema.field(label_at)
        classes = file.class_names.get(column.name)
        label = label_typed(task, release, column, classes, where=str(path))
    converter = BatchConverter(roles, task, release, index_number, label, problems)
    row = 0
    for rows in _batches(file):
        numbered = range(row, row + rows.num_rows)
        arrays = [rows.column(field.name).cast(field.type) for field in schema]
        for at in roles.inputs:
            arrays[at] = _texts_of(arrays[at])
        if label_at is not None:
            labels = arrays[label_at]
            if is_list(schema.field(label_at), task):
                cells = list_cells(labels.to_pylist(), task, split.name, notes, classes or ())
                arrays[label_at] = strings(cells)
            elif row == 0 and labels.type == pa.string():
                converter.label = label_check(labels, task, split, release, notes)
            elif row == 0 and not (classes or release.classes):
                _note_numbers(labels, task, split, notes)
        for at in texts:
            missing = np.flatnonzero(numbers(arrays[at].is_null())).tolist()
            fault = f"no {schema.names[at]} is there; expected text"
            problems += [f"{path}, row {numbered[place]}: {fault}" for place in missing]
            arrays[at] = arrays[at].fill_null(constant(""))
        batch = converter.convert(arrays, f"{path}, row ", numbered)
        row += rows.num_rows
        if not problems:
            yield batch
    refuse(problems)
    note_unlabeled(converter, split, notes)


def _type_problems(path: Path, columns: Sequence[pa.Field], task: Task) -> list[str]:
    """A message for each column of texts or tags that has values of another type."""
    problems = []
    for column in columns:
        of_tokens = task.form == "tokens" and is_list(column, task)
        if column.type != pa.string() and not of_tokens:
            problems.append(f"{path}: the column {column.name} is of type {column.type}; expected text")
    return problems


def _texts_of(values: pa.Array) -> pa.Array:
    """A column of texts; of lists of tokens, these with blanks between them."""
    if values.type == pa.string():
        return values
    texts = [None if value is None else join_tokens(value) for value in values.to_pylist()]
    return pa.array(texts, pa.string())


def _note_numbers(labels: pa.Array, task: Task, split: Split, notes: list[str]) -> None:
    """Say which labels class numbers are taken for, unless they are hidden."""
    if task.labels and pc.max(labels).as_py() not in (None, HIDDEN_NUMBER):
        note_classes(split.name, task.words, notes)


def _simplify(schema: pa.Schema) -> pa.Schema:
    """The schema without pandas's index, and with every kind of text (large, dictionary) as string."""
    columns = []
    for column in schema:
        if re.fullmatch(r"__index_level_\d+__", column.name):
            continue
        kind = column.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if kind in (pa.large_string(), pa.string_view()):
            kind = pa.string()
        columns.append(column.with_type(kind))
    return pa.schema(columns, schema.metadata)


def read_earlier(
    path: Path, survey: Survey, *, task: Task, split: Split, record: SplitRecord
) -> Iterator[pa.RecordBatch]:
    """The rows of one prepared split. Raises DataError if their fingerprint differs from `dataset.json`."""
    running = Fingerprint(task.columns)
    file = _open(path, survey)
    missing = [name for name in (INDEX, *task.columns) if name not in file.schema.names]
    if missing:
        expected = f"expected a prepared {split.name} split; prepare it again"
        raise DataError(f"{path}: no column {', '.join(missing)}; {expected}")
    label = file.schema.get_field_index(LABEL)
    coded = label >= 0 and pa.types.is_dictionary(file.schema.types[label])
    for batch in _batches(file):
        if coded:  # labels as strings, as other sources give them
            batch = batch.set_column(label, LABEL, batch.column(label).dictionary_decode())
        running.update(batch)
        yield batch
    if running.full != record.fingerprint:
        hashes = f"fingerprint {running.full}, expected {record.fingerprint}"
        again = "prepare it again from its source"
        raise DataError(f"{path}: the rows have changed since the file was prepared ({hashes}); {again}")
