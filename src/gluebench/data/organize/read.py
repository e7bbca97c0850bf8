"""Finding and reading an organizer's tables: CSV from spreadsheets, plain TSV, prepared Parquet."""

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import closest
from gluebench.benchmark.checks import task_name_finding
from gluebench.benchmark.lookup import fold
from gluebench.data.dataset import Dataset, read_dataset
from gluebench.data.errors import DataError, refuse
from gluebench.data.tsv import decoded
from gluebench.scoring.notebook import optional


class RawTable(NamedTuple):
    """A table as read, with every cell as text."""

    path: Path
    format: str
    """The format it was read as: "CSV, comma"."""
    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    """First line of each row in the file; for Parquet, the row number from 1."""
    declared: Dataset | None = None
    """The record of prepared data, which gives columns and license without detection."""

    def column(self, name: str) -> list[str]:
        """The cells of one column."""
        at = self.header.index(name)
        return [row[at] for row in self.rows]


_Rows = Iterator[tuple[int, list[str]]]
"""Line and cells of each row."""


def read_table(path: Path, *, encoding: str = "utf-8") -> RawTable:
    """Read .csv (quoted, separated by commas or semicolons), .tsv (no quoting) or a prepared .parquet.

    Blank lines are skipped. Raises DataError with every problem and its line.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return read_parquet(path)
    text = _text(path, encoding)
    if suffix == ".csv":
        return csv_table(path, text)
    # Split at line feeds only: a sentence may contain other Unicode line separators.
    lines = enumerate(text.split("\n"), 1)
    return _table(path, ((at, line.removesuffix("\r").split("\t")) for at, line in lines), "TSV, no quoting")


def csv_table(path: Path, text: str) -> RawTable:
    """The table of a text with quoted cells, separated as its first line is. Raises DataError."""
    first = text.partition("\n")[0]
    comma_or_semicolon = ";" if ";" in first and "," not in first else ","
    delimiter = "\t" if "\t" in first else comma_or_semicolon
    return _table(path, _csv_rows(path, text, delimiter), f"CSV, {_SEPARATORS[delimiter]}")


_SEPARATORS = {"\t": "tab", ",": "comma", ";": "semicolon"}


def _table(path: Path, read: _Rows, form: str) -> RawTable:
    rows = [(line, cells) for line, cells in read if cells and cells != [""]]
    if not rows:
        raise DataError(f"{path}: is empty; expected a header and rows")
    header, *rest = rows
    names = tuple(name.strip() for name in header[1])
    problems = [
        f'{path}:1: {count} columns are called "{name}"; expected different names'
        for name, count in Counter(name.casefold() for name in names).items()
        if count > 1
    ]
    problems += [
        f"{path}:{line}: {len(cells)} columns, expected {len(names)} as in the header"
        for line, cells in rest
        if len(cells) != len(names)
    ]
    if not rest:
        problems.append(f"{path}:1: has a header and no rows")
    refuse(problems)
    return RawTable(path, form, names, [cells for _, cells in rest], [line for line, _ in rest])


def _text(path: Path, encoding: str) -> str:
    try:
        return decoded(path, path.read_bytes(), encoding=encoding, advice=", or give --encoding")
    except LookupError:
        raise DataError(f"--encoding {encoding}: is not a known encoding; try utf-8 or cp1252") from None


def _csv_rows(path: Path, text: str, delimiter: str) -> _Rows:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        advice = "look for a quotation mark that is not doubled or not closed"
        problem = f"the row that begins here is not valid CSV ({error}); {advice}"
        raise DataError(f"{path}:{line}: {problem}") from None


def read_parquet(path: Path) -> RawTable:
    """One split of a prepared task; its columns are known from the `dataset.json` beside it.

    Raises DataError if that is missing, ModuleNotFoundError without pyarrow.
    """
    return parquet_table(path)._replace(declared=read_dataset(path.parent))


def parquet_table(path: Path) -> RawTable:
    """A Parquet file as text, missing values as empty cells. Raises DataError, OSError, ImportError."""
    parquet = optional("pyarrow.parquet", "Reading Parquet", "'gluebench[data]'")
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise DataError(f"{path}: not a Parquet file that can be read ({error})") from None
    columns = [["" if cell is None else str(cell) for cell in cells.to_pylist()] for cells in table.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return RawTable(path, "Parquet", tuple(table.column_names), rows, list(range(1, len(rows) + 1)))


SPLITS = ("train", "dev", "test")
DIAGNOSTIC = "diagnostic"
"""Name of the file of a diagnostic set, which becomes a task of its own."""
SUFFIXES = (".csv", ".tsv", ".parquet")


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
    tasks = [task for folder in folders for task in _tasks(Path(folder), name, problems)]
    first: dict[str, str] = {}
    for own in (task.name for task in tasks):  # task names are folder names, and may be invalid
        problems += [f"the task {finding.text}; rename the folder" for finding in task_name_finding((), own)]
        if other := first.get(fold(own)):
            problems.append(f'the tasks "{other}" and "{own}" have one name; expected names that differ')
        first[fold(own)] = own
    refuse(problems)
    return sorted(tasks)


def _tasks(home: Path, name: str, problems: list[str]) -> list[TaskFiles]:
    folders = sorted(path for path in home.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not tables(home):
        if not folders:
            expected = "a sub-folder for each, with train.csv, dev.csv, test.csv"
            problems.append(f"{home}: holds no task; expected {expected}")
        return [_task(folder.name, folder, problems) for folder in folders]
    problems += [
        f"{folder}: is a folder beside the files of one task; expected either files or folders"
        for folder in folders
        if tables(folder)
    ]
    return [_task(name, home, problems)]


def tables(folder: Path) -> list[Path]:
    """The CSV, TSV and Parquet files of a folder."""
    return sorted(
        path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")
    )


def _task(name: str, folder: Path, problems: list[str]) -> TaskFiles:
    files: dict[str, Path] = {}
    known = (*SPLITS, DIAGNOSTIC)
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
    problems += [
        f"{path}: is not a CSV, TSV or Parquet file; save it as {path.stem}.csv, or move it away"
        for path in sorted(folder.iterdir())
        if path.stem in known and path.is_file() and path.suffix.lower() not in SUFFIXES
    ]
    if "test" not in files:
        problems.append(f"{folder}: has no test file; expected test.csv, test.tsv or test.parquet")
    return TaskFiles(name, {split: files[split] for split in known if split in files})
