"""Grade many submissions in parallel, into one table that a later run continues.

The table has a row for each submission. It is a CSV file that grows by whole lines, so that a run that ends
early keeps what it graded; a Parquet file is written from such a file at the end.
"""

from __future__ import annotations

import csv
import io
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from hashlib import sha256
from io import FileIO
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gluebench.benchmark import Benchmark, Role
from gluebench.benchmark.atomic import replacing
from gluebench.benchmark.extras import optional
from gluebench.benchmark.tables import csv_lines
from gluebench.scoring.gold import Gold
from gluebench.scoring.grade import Labels, gold_of, grade, with_tag_counts
from gluebench.scoring.report import places, provenance, rounded
from gluebench.submission.check import check
from gluebench.submission.names import FileNames

Row = dict[str, Any]
WORDS = ("submission", "modified", "provenance", "verdict", "missing", "problem")
"""The columns of text; all others are fractions."""
KEY = WORDS[:3]
"""A row is computed again if one of these columns differs."""
SUFFIXES = (".csv", ".parquet")


def grade_many(
    submissions: Iterable[str | os.PathLike[str]],
    gold: Labels,
    *,
    out: str | os.PathLike[str] | None = None,
    benchmark: Benchmark | str | os.PathLike[str] = "glue",
    intervals: bool = True,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Grade the zips and folders at these paths in `workers` processes, by default one per core.

    Returns a row per submission, in order of path: WORDS, then `score`, `<task>.<metric>` and, for tasks with
    several metrics, `<task>.score`, each followed by its 95 % interval as `_low` and `_high`. An invalid
    submission has its first problem instead of scores. `out` is a .csv or .parquet file: its rows are reused
    unless the submission, the labels or the version of gluebench changed, and rows of other submissions stay.
    `progress` is called with the number done, and the total. Processes are spawned, so that a script needs
    the guard `if __name__ == "__main__"` unless `workers` is 1. Raises GoldError, ValueError for another kind
    of file or one with other columns, and ImportError for Parquet without pyarrow.
    """
    labels = gold_of(gold, benchmark)
    paths = sorted({os.fspath(path) for path in submissions})
    jobs = [_Job(path, _modification_time(path)) for path in paths]
    fields = list(WORDS)
    fields += _number_columns(labels.benchmark, intervals=intervals)
    table = _Table(None if out is None else Path(out), fields)
    labels_and_version = sha256(repr(provenance(labels)).encode()).hexdigest()[:16]
    todo = [job for job in jobs if not table.has((job.path, job.modified, labels_and_version))]
    report = progress or (lambda done, of: None)
    done = len(jobs) - len(todo)
    report(done, len(jobs))
    with table:
        for row in _grade_jobs(todo, labels, intervals, workers):
            table.add(row | {"provenance": labels_and_version})
            done += 1
            report(done, len(jobs))
    return [table.rows[job.path] for job in jobs]


def submissions_in(paths: Iterable[str], benchmark: Benchmark, role: Role = "test") -> list[str]:
    """The paths, with each folder that holds no predictions replaced by the zips and folders in it."""
    names = FileNames(benchmark, role)
    submissions = []
    for path in paths:
        submissions += _submissions_at(path, names)
    return submissions


def _submissions_at(path: str, names: FileNames) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    if any(names.knows(entry.name) for entry in entries):
        return [path]
    submissions = []
    for entry in entries:
        hidden = entry.name.startswith(".")
        if not hidden and (entry.is_dir() or entry.name.casefold().endswith(".zip")):
            submissions.append(entry.path)
    return submissions


class _Job(NamedTuple):
    path: str
    modified: str


def _modification_time(path: str | os.PathLike[str]) -> str:
    """When the file, or the last of a folder's files, changed, in UTC; empty if there is none."""
    paths = [os.fspath(path)]
    for folder, _, files in os.walk(path):
        paths += [os.path.join(folder, name) for name in files]
    times = [os.stat(each).st_mtime for each in paths if os.path.exists(each)]
    if not times:
        return ""
    return datetime.fromtimestamp(max(times), UTC).isoformat()


# ---------------------------------------------------------------- columns


def _number_columns(benchmark: Benchmark, *, intervals: bool) -> Iterator[str]:
    for place in places(benchmark):
        yield place.name
        if intervals:
            yield f"{place.name}_low"
            yield f"{place.name}_high"


def _grade_job(job: _Job, gold: Gold, intervals: bool) -> Row:
    submission = with_tag_counts(check(job.path, gold.benchmark, role=gold.role), gold)
    row: Row = {
        "submission": job.path,
        "modified": job.modified,
        "provenance": "",
        "verdict": submission.verdict,
        "missing": " ".join(submission.missing),
        "problem": "",
    }
    if submission.errors:
        row["problem"] = " ".join(str(submission.errors[0]).split())  # on one line
    if submission.verdict == "invalid":
        return row
    report = grade(submission, gold, intervals=intervals)
    for place in places(gold.benchmark):
        score = place.score(report)
        row[place.name] = None if score is None else rounded(score.value)
        row[f"{place.name}_low"] = None if score is None else rounded(score.low)
        row[f"{place.name}_high"] = None if score is None else rounded(score.high)
    return row


# ---------------------------------------------------------------- processes


def _grade_jobs(jobs: Sequence[_Job], gold: Gold, intervals: bool, workers: int | None) -> Iterator[Row]:
    """The row of each job, as it is ready."""
    processes = min(workers or os.cpu_count() or 1, len(jobs))
    if processes <= 1:
        for job in jobs:
            yield _grade_job(job, gold, intervals)
        return
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _start, (gold, intervals))
    try:
        running: list[Future[Row]] = [pool.submit(_grade_in_worker, job) for job in jobs]
        for future in as_completed(running):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


_shared: tuple[Gold, bool]
"""Of a worker process: the labels, which it receives once, and whether to compute intervals."""


def _start(gold: Gold, intervals: bool) -> None:
    """Prepare a worker process, which ends when its parent does, and leaves Ctrl-C to it."""
    global _shared
    _shared = gold, intervals
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _grade_in_worker(job: _Job) -> Row:
    gold, intervals = _shared
    return _grade_job(job, gold, intervals)


# ---------------------------------------------------------------- the file


class _Table:
    """The rows of a file by submission; within `with`, added rows are saved one by one."""

    def __init__(self, path: Path | None, fields: Sequence[str]) -> None:
        self._path = path
        self._fields = fields
        self._log: FileIO | None = None
        self.rows: dict[str, Row] = {}
        if path is None:
            return
        if path.suffix not in SUFFIXES:
            raise ValueError(f"{path}: expected a name that ends in {' or '.join(SUFFIXES)}")
        if path.suffix == ".parquet":
            optional("pyarrow.parquet", "A Parquet file", "'gluebench[data]'")  # before any work
            if _has_content(path):
                columns, rows = _read_parquet(path)
                self._add_stored_rows(path, columns, rows)
        if _has_content(self._log_path):
            columns, rows = _read_csv(self._log_path)
            self._add_stored_rows(self._log_path, columns, rows)

    @property
    def _log_path(self) -> Path:
        """The CSV file that grows: the table itself, or one beside a Parquet file until that is complete."""
        assert self._path is not None
        if self._path.suffix == ".csv":
            return self._path
        return self._path.with_suffix(".rows.csv")

    def _add_stored_rows(self, path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
        if columns != self._fields:
            raise ValueError(f"{path} has other columns: name another file, or remove it")
        for stored in rows:
            row: Row = {}
            for name, value in stored.items():
                if name in WORDS:
                    row[name] = value
                else:
                    row[name] = None if value in ("", None) else float(value)
            self.rows[row["submission"]] = row

    def has(self, key: tuple[str, ...]) -> bool:
        """Whether there is a row with this KEY."""
        row = self.rows.get(key[0])
        return row is not None and tuple(row[name] for name in KEY) == key

    def add(self, row: Row) -> None:
        """Add a row, or replace that of the same submission."""
        self.rows[row["submission"]] = {name: row.get(name) for name in self._fields}
        if self._log is not None:
            self._write_rows(self._log, [row], header=False)

    def __enter__(self) -> _Table:
        if self._path is not None:
            self._write_lines()  # without a line that was cut off
            self._log = open(self._log_path, "ab", buffering=0)
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._log is None or self._path is None:
            return
        self._log.close()
        if error is not None:
            return
        if self._path == self._log_path:
            self._write_lines()
        else:
            _write_parquet(self._path, self._rows_by_path(), self._fields)
            self._log_path.unlink()

    def _rows_by_path(self) -> list[Row]:
        return [self.rows[path] for path in sorted(self.rows)]

    def _write_lines(self) -> None:
        with replacing(self._log_path) as file:
            self._write_rows(file, self._rows_by_path(), header=True)

    def _write_rows(self, file: BinaryIO, rows: Sequence[Row], *, header: bool) -> None:
        """Write rows as lines of CSV, each at once; a path that is not UTF-8 keeps its bytes."""
        for line in csv_lines(self._fields, rows, header=header):
            file.write(line.encode(errors="surrogateescape"))


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _read_csv(path: Path) -> tuple[Sequence[str], list[Row]]:
    """The columns, and the rows that are complete."""
    text = path.read_bytes().decode(errors="surrogateescape")
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
    rows = [row for row in reader if None not in row.values()]  # else its line was cut off
    return reader.fieldnames or [], rows


def _read_parquet(path: Path) -> tuple[Sequence[str], list[Row]]:
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except ValueError as error:
        raise ValueError(f"{path} is not Parquet: {error}") from None
    return table.column_names, table.to_pylist()


def _write_parquet(path: Path, rows: Sequence[Row], fields: Sequence[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string() if name in WORDS else pa.float64()) for name in fields])
    with replacing(path) as file:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
