"""Finding and reading an organizer's tables: CSV from spreadsheets, plain TSV, JSON, prepared Parquet."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import closest
from gluebench.benchmark.checks import task_name_finding
from gluebench.benchmark.extras import optional
from gluebench.benchmark.lookup import fold
from gluebench.data.dataset import FILE, Dataset, read_dataset
from gluebench.data.errors import DataError, refuse
from gluebench.reading.columnar import ColumnarFile, columnar_format
from gluebench.reading.formats import read_records
from gluebench.reading.records import Declared, ReadingError, Records


class RawTable(NamedTuple):
    """A table as read, with every cell as text."""

    path: Path
    format: str
    """The format it was read as: "CSV, cells between commas"."""
    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    """First line of each row in the file; for Parquet, the row number from 1."""
    declared: Dataset | None = None
    """The record of prepared data, which gives columns and license without detection."""

    def column(self, name: str) -> list[str]:
        """The cells of one column."""
        position = self.header.index(name)
        return [row[position] for row in self.rows]


def read_split(path: Path, *, encoding: str) -> RawTable:
    """The table of an organizer's split; of prepared data with the record beside it. Raises DataError."""
    table = read_table(path, encoding=encoding, advice=", or give --encoding")
    if table.format == "Parquet":
        table = table._replace(declared=read_dataset(path.parent))
    return table


def read_table(path: Path, *, encoding: str = "", data: bytes | None = None, advice: str = "") -> RawTable:
    """Read a table in CSV, TSV (no quoting), JSON, JSON lines, Parquet or Arrow, with every cell as text.

    `data` are the bytes of a file that was packed; `advice` follows that on a file in another encoding.
    Blank lines are skipped, and missing values are empty. Raises DataError with every problem and its line,
    ImportError for Parquet without pyarrow.
    """
    try:
        if data is None and (path.suffix == ".parquet" or columnar_format(path)):
            optional("pyarrow.parquet", "Reading Parquet", "'gluebench[data]'")
            records = ColumnarFile(path).records()
        else:
            records = _read_text(path, path.read_bytes() if data is None else data, encoding)
    except LookupError:
        raise DataError(f"--encoding {encoding}: is not a known encoding; try utf-8 or cp1252") from None
    except ReadingError as error:
        line = "" if error.line is None else f":{error.line}"
        fix = error.fix.removesuffix(".")
        if fix.endswith("UTF-8"):
            fix += advice
        raise DataError(f"{path}{line}: {error.expected}; {fix[:1].lower()}{fix[1:]}") from None
    return _check_table(path, records)


def _read_text(path: Path, data: bytes, encoding: str) -> Records:
    """The records of a text: quoted cells unless the file is called .tsv, with a header in the first line."""
    quoted = path.suffix.lower() != ".tsv"
    delimiter = "" if quoted else "\t"
    declared = Declared(delimiter=delimiter, quoted=quoted, header=True)
    records = read_records(data, declared, encoding=encoding)
    if records.format == "lines" and path.suffix.lower() == ".csv":
        # Its rows do not have as many cells as its header: the errors say which.
        records = read_records(data, declared._replace(delimiter=","), encoding=encoding)
    return records


def _check_table(path: Path, records: Records) -> RawTable:
    """The records as a table of texts. Raises DataError for rows of another width, and repeated names."""
    names = tuple(name.strip() for name in records.names)
    problems = []
    for name, count in Counter(name.casefold() for name in names).items():
        if count > 1:
            problems.append(f'{path}:1: {count} columns are called "{name}"; expected different names')
    for line, cells in zip(records.lines, records.rows, strict=True):
        if len(cells) != len(names):
            expected = f"expected {len(names)} as in the header"
            problems.append(f"{path}:{line}: {len(cells)} columns, {expected}")
    if not records.rows:
        problems.append(f"{path}:1: has a header and no rows")
    refuse(problems)
    rows = [list(map(_cell_text, cells)) for cells in records.rows]
    form = ", ".join([records.format] + list(records.notes))
    return RawTable(path, form, names, rows, list(records.lines))


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool | list | dict):
        return json.dumps(cell, ensure_ascii=False)
    return str(cell)


SPLITS = ("train", "dev", "test")
DIAGNOSTIC = "diagnostic"
"""Name of the file of a diagnostic set, which becomes a task of its own."""
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


class TaskFiles(NamedTuple):
    """The files of one task."""

    name: str
    files: Mapping[str, Path]
    """Split name to its file, in the order train, dev, test, diagnostic; always has test."""


def find_tasks(folders: Sequence[str | os.PathLike[str]], name: str) -> list[TaskFiles]:
    """The tasks in some folders, sorted by name; a folder that contains split files is the task `name`.

    Raises DataError for a folder without tasks, a task without test file, and tables with other names.
    """
    problems: list[str] = []
    tasks: list[TaskFiles] = []
    for folder in folders:
        tasks += _tasks(Path(folder), name, problems)
    earlier: dict[str, str] = {}
    for task in tasks:  # their names are those of folders, and may be invalid
        for finding in task_name_finding((), task.name):
            problems.append(f"the task {finding.text}; rename the folder")
        other = earlier.get(fold(task.name))
        if other:
            problems.append(
                f'the tasks "{other}" and "{task.name}" have one name; expected names that differ'
            )
        earlier[fold(task.name)] = task.name
    refuse(problems)
    return sorted(tasks)


def _tasks(home: Path, name: str, problems: list[str]) -> list[TaskFiles]:
    folders = sorted(path for path in home.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not tables(home):
        if not folders:
            expected = "a sub-folder for each, with train.csv, dev.csv, test.csv"
            problems.append(f"{home}: holds no task; expected {expected}")
        return [_task(folder.name, folder, problems) for folder in folders]
    for folder in folders:
        if tables(folder):
            expected = "expected either files or folders"
            problems.append(f"{folder}: is a folder beside the files of one task; {expected}")
    return [_task(name, home, problems)]


def tables(folder: Path) -> list[Path]:
    """The CSV, TSV, JSON, JSON lines and Parquet files of a folder."""
    paths = []
    for path in folder.iterdir():
        hidden = path.name.startswith(".")
        if path.suffix.lower() in SUFFIXES and path.name != FILE and not hidden:
            paths.append(path)
    return sorted(paths)


def _task(name: str, folder: Path, problems: list[str]) -> TaskFiles:
    files: dict[str, Path] = {}
    known = SPLITS + (DIAGNOSTIC,)
    for path in tables(folder):
        if path.stem not in known:
            hint = "".join(f" (is it {name}?)" for name in closest(path.stem, known, most=1))
            names = f"expected train, dev, test or diagnostic as its name{hint}"
            problems.append(f"{path}: {names}; rename it, or move it away")
        elif path.stem in files:
            other = files[path.stem].name
            problems.append(f"{path}: there is {other} as well; expected one file for a split")
        else:
            files[path.stem] = path
    for path in sorted(folder.iterdir()):
        if path.stem in known and path.is_file() and path.suffix.lower() not in SUFFIXES:
            fix = f"save it as {path.stem}.csv, or move it away"
            problems.append(f"{path}: is not a CSV, TSV, JSON or Parquet file; {fix}")
    if "test" not in files:
        problems.append(f"{folder}: has no test file; expected test.csv, test.tsv or test.parquet")
    return TaskFiles(name, {split: files[split] for split in known if split in files})
