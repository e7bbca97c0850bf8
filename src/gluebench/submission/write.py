"""Writing a submission in the form every check accepts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gluebench.benchmark import Benchmark, Role, load_benchmark
from gluebench.submission.column import Column
from gluebench.submission.names import SUFFIX


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
