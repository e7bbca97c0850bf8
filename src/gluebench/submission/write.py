"""Writing a submission in the form every check accepts, from predictions in the forms people have them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Role, TestFile, load_benchmark
from gluebench.submission.check import layout
from gluebench.submission.column import Column
from gluebench.submission.mistakes import GUESS, explained
from gluebench.submission.names import SUFFIX, TEXT, Names
from gluebench.submission.problems import Problem
from gluebench.submission.tables import read_table


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
    return [path for path in folder.iterdir() if path.suffix.casefold() in TEXT and path.is_file()]


def _read(path: Path, file: TestFile, benchmark: Benchmark, *, role: Role) -> Predictions:
    """A file in its own form. What had to be guessed is an error, but for the order of predictions alone."""
    data = path.read_bytes()
    wanted = layout(file, benchmark.task(file.task), role)
    table = read_table(path.name, data, wanted)
    if table.column is not None:
        return Predictions({file.name: table.column}, table.problems)
    table = explained(path.name, data, wanted, table, thorough=True)
    codes = {each.code for each in table.problems}
    guesses = [each for each in table.problems if each.repair.startswith(GUESS)]
    if codes.isdisjoint(("more-columns", "index-from-1")):
        guesses = []
    if table.column is not None and not guesses:
        return Predictions({file.name: table.column}, [])
    left = [each for each in table.problems if each.severity == "error" and not each.repair]
    return Predictions({}, [*guesses, *left])
