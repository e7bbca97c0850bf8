"""Writing a submission in the form every check accepts, from predictions in the forms people have them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Role, TestFile, load_benchmark
from gluebench.submission.check import SUFFIX, Names, layout
from gluebench.submission.column import Column
from gluebench.submission.problems import Problem
from gluebench.submission.tables import read_table

FORMATS = (".tsv", ".csv", ".jsonl", ".txt")
_INDEX_KEYS = ("index", "idx", "id")
_VALUE_KEYS = ("prediction", "label")


class Predictions(NamedTuple):
    """What a folder of prediction files held."""

    columns: dict[str, Column]
    """Test-file name to its predictions."""
    problems: list[Problem]


def write_submission(
    path: str | os.PathLike[str],
    predictions: Mapping[str, Any],
    benchmark: Benchmark | str | os.PathLike[str],
    *,
    role: Role = "test",
) -> None:
    """Write a zip that `check` finds valid: one TSV per test file, in the manifest's order.

    `predictions` are those of `check`, or for each task or test file what `grade` takes: a list, an array, a
    Series, a DataFrame. The file appears whole or not at all. Raises SubmissionError for predictions that are
    wrong, UnknownNameError or ValueError for a name that is no test file of the benchmark.
    """
    import zipfile

    benchmark = load_benchmark(benchmark)
    predictions = _columns(predictions, benchmark, role)
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in benchmark.files(role):
                if file.name in predictions:
                    member = zipfile.ZipInfo(file.name + SUFFIX)  # dated 1980, so the same bytes each time
                    member.compress_type = zipfile.ZIP_DEFLATED
                    member.external_attr = 0o644 << 16
                    archive.writestr(member, tsv(predictions[file.name]))
        os.replace(partial, target)
    except OSError as error:
        if error.filename == os.fspath(partial):
            error.filename = os.fspath(target)  # its author knows no other
        raise
    finally:
        with suppress(OSError):  # what was wrong with the name or the folder has been said
            partial.unlink()


def _columns(predictions: Mapping[str, Any], benchmark: Benchmark, role: Role) -> Mapping[str, Column]:
    files = {file.name for file in benchmark.files(role)}
    if files.issuperset(predictions) and all(isinstance(each, Column) for each in predictions.values()):
        return predictions
    from gluebench.submission.values import SubmissionError, submission_of

    submission = submission_of(predictions, benchmark, role=role)
    if submission.errors:
        raise SubmissionError(submission.errors, source=submission.source, unshown=submission.unshown)
    return submission.predictions


def tsv(column: Column) -> bytes:
    """A column as the bytes of its file."""
    values = column.words() if column.labels else [repr(number) for number in column.numbers]
    indices = column.row_indices
    rows = "".join(f"{index}\t{value}\n" for index, value in zip(indices, values, strict=True))
    return f"index\tprediction\n{rows}".encode()


def read_predictions(
    folder: str | os.PathLike[str], benchmark: Benchmark, *, role: Role = "test"
) -> Predictions:
    """Read predictions as a model left them: a file per test file, as .tsv, .csv, .jsonl or .txt.

    A .txt file has one prediction a line, in the order of the examples; a .jsonl file an object a line, with
    "prediction" (or "label") and, unless the lines are in order, "index" (or "idx", "id"). The header of a
    .tsv or .csv file names these columns too; others are passed over, and a lone "prediction" is in order.
    """
    names = Names(benchmark, role)
    columns: dict[str, Column] = {}
    problems: list[Problem] = []
    for path in sorted(_prediction_files(Path(folder))):
        file = names.file(path.stem + SUFFIX)
        if file is None:
            expected = f"expected a test file of {benchmark.name}"
            problems.append(
                Problem("ignored-file", "notice", path.name, expected, "Nothing to do: it was passed over.")
            )
        elif file.name in columns:
            expected = f"expected one file for {file.name}"
            problems.append(
                Problem("two-files", "error", path.name, expected, "Leave out the one that is not meant.")
            )
        else:
            table = _read(path, file, benchmark, role=role)
            problems += table.problems
            columns |= table.columns
    if not columns and not any(problem.severity == "error" for problem in problems):
        wanted = ", ".join(f"{file.name}.tsv" for file in benchmark.files(role))
        fix = f"Name each file as its test file: {wanted} (or .csv, .jsonl, .txt)."
        problems.append(
            Problem("no-files", "error", str(folder), "expected at least one file of predictions", fix)
        )
    return Predictions(columns, problems)


def _prediction_files(folder: Path) -> Iterable[Path]:
    if folder.is_file():
        return [folder]
    return [path for path in folder.iterdir() if path.suffix.casefold() in FORMATS and path.is_file()]


def _read(path: Path, file: TestFile, benchmark: Benchmark, *, role: Role) -> Predictions:
    data = path.read_bytes()
    suffix = path.suffix.casefold()
    if suffix == ".jsonl":
        converted = _from_json_lines(path.name, data)
        if isinstance(converted, Problem):
            return Predictions({}, [converted])
        data = converted
    elif suffix == ".txt":
        data = _numbered(data.decode("utf-8", "backslashreplace").splitlines())
    else:
        data = _two_columns(data, "," if suffix == ".csv" else "\t")
    table = read_table(path.name, data, layout(file, benchmark.task(file.task), role))
    problems = table.problems
    if suffix in (".jsonl", ".txt"):  # which had no header
        problems = [each if each.line is None else replace(each, line=each.line - 1) for each in problems]
    return Predictions({} if table.column is None else {file.name: table.column}, problems)


def _two_columns(data: bytes, delimiter: str) -> bytes:
    """The columns of index and prediction, by the names in the header; the data as it is where those fail."""
    header = data.split(b"\n", 1)[0].rstrip(b"\r")
    if b"\0" in header or (delimiter == "\t" and header.count(b"\t") == 1):
        return data
    import csv

    lines = data.decode("utf-8-sig", "backslashreplace").replace("\r\n", "\n").split("\n")
    try:
        names, *rows = (
            csv.reader(lines) if delimiter == "," else csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE)
        )
    except csv.Error:
        return data
    names = [name.strip().casefold() for name in names]
    index = next((names.index(key) for key in (*_INDEX_KEYS, "") if key in names), None)
    if _VALUE_KEYS[0] not in names or (index is None and len(names) > 1):
        return data
    value = names.index(_VALUE_KEYS[0])
    if index is None:
        return _numbered(delimiter.join(row) for row in (rows[:-1] if rows and not rows[-1] else rows))
    kept = (
        f"{row[index]}\t{row[value]}" if len(row) == len(names) else _unlike(row, delimiter) for row in rows
    )
    return "\n".join(["index\tprediction", *kept]).encode()


def _unlike(row: list[str], delimiter: str) -> str:
    """A row that has other columns than the header, such that it is not taken for one of two columns."""
    text = delimiter.join(row)
    return text + "\t" * (text.count("\t") == 1)


def _numbered(values: Iterable[object]) -> bytes:
    rows = "".join(f"{index}\t{value}\n" for index, value in enumerate(values))
    return f"index\tprediction\n{rows}".encode()


def _from_json_lines(name: str, data: bytes) -> bytes | Problem:
    rows = ["index\tprediction"]
    count = 0
    for line, text in enumerate(data.decode("utf-8", "backslashreplace").splitlines(), 1):
        if not text.strip():
            rows.append("")
            continue
        try:
            row = json.loads(text)
        except json.JSONDecodeError:
            row = None
        value = _first(row, _VALUE_KEYS) if isinstance(row, dict) else None
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            expected = 'expected an object with "prediction", as {"index": 0, "prediction": "entailment"}'
            return Problem(
                "json-line", "error", name, expected, "Write one such object a line.", line, None, text[:60]
            )
        index = _first(row, _INDEX_KEYS)
        rows.append(f"{count if index is None else index}\t{value}")
        count += 1
    return "\n".join([*rows, ""]).encode()


def _first(row: Mapping[str, object], keys: Iterable[str]) -> object:
    return next((row[key] for key in keys if key in row), None)
