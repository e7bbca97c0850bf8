"""Parquet and Arrow files and folders of Hugging Face's `datasets`, as batches of typed columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.reading.records import ReadingError, Records

if TYPE_CHECKING:
    import pyarrow as pa

STATE = "state.json"
"""The file in a folder written by `save_to_disk` that lists the Arrow files of the split."""
INFO = "dataset_info.json"
PARQUET = b"PAR1"
ARROW_FILE = b"ARROW1"
ARROW_STREAM = b"\xff\xff\xff\xff"
FETCH_AGAIN = "Fetch it again."
_AT_ONCE = 1 << 14
"""Rows of a batch."""
_DIGITS = 5
"""Digits of the number of a shard, and of their count, as in "train-00000-of-00002.parquet"."""


def columnar_format(path: Path) -> str:
    """ "Parquet" or "Arrow" by a file's first bytes or a folder's state.json; "" for anything else."""
    if path.is_dir():
        return "Arrow" if (path / STATE).is_file() else ""
    with open(path, "rb") as file:
        head = file.read(8)
    if head.startswith(PARQUET):
        return "Parquet"
    return "Arrow" if head.startswith((ARROW_FILE, ARROW_STREAM)) else ""


class Shard(NamedTuple):
    """Which part of a file a name says, as "train-00001-of-00002.parquet" the second of two."""

    stem: str
    number: int
    total: int
    """0 if the name is that of a whole file."""
    end: str


def shard_of(name: str) -> Shard:
    """The part that a file's name says."""
    before, _, after = name.rpartition("-of-")
    number, counted = before[-_DIGITS - 1 :], after[:_DIGITS]
    if number.startswith("-") and number[1:].isdecimal() and counted.isdecimal() and int(counted):
        return Shard(before.removesuffix(number), int(number[1:]), int(counted), after[_DIGITS:])
    return Shard(name, 0, 0, "")


def shards_of(path: Path) -> list[Path]:
    """The files of a split: those that a folder's state.json lists, all shards of a file's name, or itself.

    Raises ReadingError if the list is damaged or a shard is missing.
    """
    if path.is_dir():
        return _files_of_folder(path)
    stem, _, total, end = shard_of(path.name)
    if not total:
        return [path]
    names = [f"{stem}-{at:0{_DIGITS}}-of-{total:0{_DIGITS}}{end}" for at in range(total)]
    paths = [path.with_name(name) for name in names]
    missing = [shard.name for shard in paths if not shard.is_file()]
    if missing:
        expected = f"expected {total} files, and {', '.join(missing[:3])} is missing"
        raise ReadingError(expected, FETCH_AGAIN, None)
    return paths


def _files_of_folder(folder: Path) -> list[Path]:
    """The Arrow files that a folder's state.json lists."""
    try:
        state = json.loads((folder / STATE).read_bytes())
        paths = [folder / Path(file["filename"]).name for file in state["_data_files"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ReadingError(
            f"expected the list of files that datasets writes in {STATE}", FETCH_AGAIN
        ) from None
    if state.get("_indices_data_files"):
        # Old versions kept a selection of rows beside the table; without it other rows would be read.
        fix = "Load it with datasets, then flatten_indices() and save_to_disk() again."
        raise ReadingError("expected a table without a selection of its rows", fix, None)
    return paths


class ColumnarFile:
    """The typed columns of one split. Raises ReadingError if a file is damaged or of another format."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.format = columnar_format(path) or "Parquet"
        self._paths = shards_of(path)
        self.schema: pa.Schema = _schema(self._paths[0])
        self.class_names: Mapping[str, Sequence[str]] = _class_names(self.schema, path)
        """Column to the names of its classes, in the order of their numbers."""

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The rows in order, in batches of at most `rows`."""
        for path in self._paths:
            yield from _batches(path, rows)

    def records(self) -> Records:
        """All rows as records of Python values."""
        return _records(self.format, self.schema.names, self.batches(_AT_ONCE))


def read_parquet(data: bytes) -> Records:
    """All rows of a Parquet file. Raises ReadingError if it is damaged, ImportError without pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            batches = file.iter_batches(batch_size=_AT_ONCE, use_threads=False)
            return _records("Parquet", file.schema_arrow.names, batches)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        expected = f"expected a Parquet file, and it is damaged or cut short ({error})"
        raise ReadingError(expected, FETCH_AGAIN, None) from None


def _records(title: str, names: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Records:
    rows: list[list[Any]] = []
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        rows += map(list, zip(*columns, strict=True))
    return Records(title, tuple(names), rows, range(1, len(rows) + 1))


def _schema(path: Path) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if columnar_format(path) == "Arrow":
            with pa.memory_map(str(path)) as source:
                schema = _arrow_reader(source).schema
        else:
            with pq.ParquetFile(path) as file:
                schema = file.schema_arrow
        str(schema.names)  # names that are no text raise an error when they are read
        return schema
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise _reading_error(error, path) from None


def _batches(path: Path, rows: int) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if columnar_format(path) == "Arrow":
            with pa.memory_map(str(path)) as source:
                for batch in _arrow_batches(_arrow_reader(source)):
                    batch.validate(full=True)  # the places of texts in a damaged file lie outside it
                    for start in range(0, batch.num_rows, rows):
                        yield batch.slice(start, rows)
            return
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=rows, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise _reading_error(error, path) from None


def _arrow_reader(source: Any) -> Any:
    """A reader of either of Arrow's two formats: with an index at the end, or a stream."""
    import pyarrow as pa

    head = source.read(len(ARROW_FILE))
    source.seek(0)
    if head == ARROW_FILE:
        return pa.ipc.open_file(source)
    return pa.ipc.open_stream(source)


def _arrow_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if hasattr(reader, "num_record_batches"):
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)
    else:
        yield from reader


def _reading_error(error: Exception, path: Path) -> Exception:
    """The error for a file that cannot be read; one of the operating system's stays as it is."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    kind = columnar_format(path)
    article = "an Arrow" if kind == "Arrow" else "a Parquet"
    fault = "damaged or cut short" if kind else "of another format"
    return ReadingError(f"expected {article} file, and it is {fault} ({error})", FETCH_AGAIN, None)


def _class_names(schema: pa.Schema, path: Path) -> dict[str, Sequence[str]]:
    """The classes that the file's metadata name, or else dataset_info.json beside the file."""
    features: Any = {}
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, TypeError, ValueError, RecursionError):
        folder = path if path.is_dir() else path.parent
        try:
            if (folder / INFO).is_file():
                features = json.loads((folder / INFO).read_bytes())["features"]
        except (KeyError, TypeError, ValueError, RecursionError):
            features = {}
    classes: dict[str, Sequence[str]] = {}
    if not isinstance(features, dict):
        return classes
    for column, feature in features.items():
        if isinstance(feature, dict) and "feature" in feature:
            feature = feature["feature"]  # of the items of a list
        if not isinstance(feature, dict):
            continue
        names = feature.get("names")
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            classes[column] = names
    return classes
