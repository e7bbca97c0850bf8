"""Write a valid submission from predictions in many forms, and repair submissions."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gluebench.benchmark import Benchmark, Role, TestFile, load_benchmark
from gluebench.benchmark.atomic import replacing
from gluebench.submission.archive import RATIO_FREE, Archive, Limits, read_members, read_nested, read_tree
from gluebench.submission.archive_problems import base_name
from gluebench.submission.check import likely_files, no_files, two_files
from gluebench.submission.combined import convert_parquet, separate_tasks
from gluebench.submission.file import read_file
from gluebench.submission.names import FileNames, foreign
from gluebench.submission.other_benchmark import COMMENT, count_rows, of_other_benchmark
from gluebench.submission.problems import Problem
from gluebench.submission.rows import Choices
from gluebench.submission.submission import Column, Submission
from gluebench.submission.tables import Table
from gluebench.submission.write_shapes import write_nested, write_shaped

_REPAIRS = {
    "utf-16": "UTF-16 rewritten as UTF-8",
    "byte-order-mark": "byte order mark removed",
    "line-ends": "line ends rewritten",
    "header-name": "header rewritten",
    "blank-lines": "blank lines removed",
    "label-synonym": "label synonyms replaced by the label words",
}


def write_submission(
    path: str | os.PathLike[str],
    predictions: Mapping[str, Any],
    benchmark: Benchmark | str | os.PathLike[str],
    *,
    role: Role = "test",
    like: Mapping[str, str | os.PathLike[str]] | None = None,
) -> None:
    """Write a zip that `check` finds valid: one TSV per test file, in the manifest's order.

    Its comment names the benchmark.

    `predictions` are those of `check`, or for each task or test file what `grade` takes: a list, an array, a
    Series, a DataFrame. `like` maps a test file to the task's own JSON lines, in whose structure its answers
    are written, as SuperGLUE has those of MultiRC. The file is written atomically. Raises SubmissionError for
    invalid predictions, UnknownNameError or ValueError for a name that is not a test file of the benchmark,
    and ValueError for JSON lines of other examples.
    """
    benchmark = load_benchmark(benchmark)
    predictions = _checked_columns(predictions, benchmark, role)
    members: dict[str, list[TestFile]] = {}
    for file in benchmark.files(role):
        if file.name in predictions:
            members.setdefault(file.path, []).append(file)
    contents = {}
    for name, files in members.items():
        contents[name] = _content(files, predictions, benchmark, role, like or {})
    comment = f"{COMMENT}{benchmark.name}".encode()
    with replacing(Path(path)) as target:
        if uniform := _write_zip(target, contents, comment, stored=()):
            target.seek(0)
            target.truncate()
            _write_zip(target, contents, comment, stored=uniform)


def _write_zip(
    target: BinaryIO, contents: Mapping[str, bytes], comment: bytes, *, stored: Collection[str]
) -> list[str]:
    """Write all, compressed but for those `stored`; return those that `check` might then take for a bomb."""
    import zipfile

    with zipfile.ZipFile(target, "w") as archive:
        archive.comment = comment
        for name, content in contents.items():
            member = zipfile.ZipInfo(name)  # dated 1980, so the same bytes each time
            member.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)
    safe = Limits().ratio // 2
    return [
        member.filename
        for member in archive.infolist()
        if member.file_size > max(RATIO_FREE, member.compress_size * safe)
    ]


def _content(
    files: Sequence[TestFile],
    predictions: Mapping[str, Column],
    benchmark: Benchmark,
    role: Role,
    like: Mapping[str, str | os.PathLike[str]],
) -> bytes:
    """The bytes of a file of the submission, which holds one or several test files."""
    file = files[0]
    if file.name in like:
        column = predictions[file.name]
        ids = file.splits[role].ids or list(map(str, column.row_indices))
        return write_nested(like[file.name], column, file.column or "label", ids)
    parts = [(file, benchmark.task(file.task), predictions[file.name]) for file in files]
    return write_shaped(parts, role)


def _checked_columns(
    predictions: Mapping[str, Any], benchmark: Benchmark, role: Role
) -> Mapping[str, Column]:
    files = {file.name for file in benchmark.files(role)}
    if files.issuperset(predictions) and all(isinstance(column, Column) for column in predictions.values()):
        return predictions
    from gluebench.submission.values import SubmissionError, submission_of

    submission = submission_of(predictions, benchmark, role=role)
    if submission.errors:
        raise SubmissionError(submission.errors, source=submission.source, unshown=submission.unshown)
    return submission.predictions


class Fixed(NamedTuple):
    """The predictions read from a submission, the repairs made, and the remaining errors."""

    columns: dict[str, Column]
    """Test-file name to predictions, without files that have an error that cannot be repaired."""
    done: list[str]
    """Descriptions of the repairs, one for each step."""
    problems: list[Problem]
    """Errors that the author has to fix."""


class _Result(NamedTuple):
    path: str
    column: Column | None
    done: list[str]
    problems: list[Problem]


def fix_submission(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    benchmark: Benchmark,
    *,
    role: Role = "test",
    labels: Sequence[Sequence[str]] = (),
) -> Fixed:
    """Write a canonical copy of a submission to `out`, unless an error cannot be repaired."""
    fixed = read_predictions(source, benchmark, role=role, labels=labels)
    if not fixed.problems:
        write_submission(out, fixed.columns, benchmark, role=role)
        count = len(fixed.columns)
        unit = "file" if count == 1 else "files"
        fixed.done.append(f"wrote {count} {unit} to {os.fspath(out)}")
    return fixed


def read_predictions(
    source: str | os.PathLike[str],
    benchmark: Benchmark,
    *,
    role: Role = "test",
    labels: Sequence[Sequence[str]] = (),
    argmax: bool = False,
    checked: Submission | None = None,
) -> Fixed:
    """Read a zip, a folder or a file of predictions as .tsv, .csv, .json, .jsonl, .txt or .parquet.

    A label is never changed. `labels` resolves class numbers: it has the words of each set of labels in the
    order of the numbers. With `argmax`, the label with the largest of several probabilities or logits is
    taken, in the order of a header, of `labels` or of the benchmark. `checked` is the same as it was checked,
    so that nothing is read twice.
    """
    names = FileNames(benchmark, role)
    archive, done = _read_archive(source, names)
    reader = _Reader(archive, benchmark, role, labels, argmax, checked)
    problems = [problem for problem in archive.problems if problem.severity == "error"]
    by_name, ignored = _match_files(archive, names, benchmark, role)
    results: dict[str, _Result] = {}
    for name, paths in by_name.items():
        if len(paths) > 1:
            problems.append(two_files(benchmark.file(name), paths))
        else:
            results[name] = reader.read(name, paths[0])
    results = _read_misnamed(results, reader, list(benchmark.files(role)))

    columns = {}
    for name, result in results.items():
        done += result.done
        problems += result.problems
        if result.column is not None:
            columns[name] = result.column
    if problems and archive.members:
        rows: dict[str, int] = {}
        for name, paths in by_name.items():
            rows[benchmark.file(name).path] = count_rows(archive.members[paths[0]])
        foreign_files = of_other_benchmark(rows, benchmark, role, comment=archive.comment)
        if foreign_files is not None:
            return Fixed({}, [], [foreign_files])
    if not columns and not problems:
        problems.append(no_files(benchmark.files(role), ignored))
    done += [f"{name}: left out, as it is named as no test file" for name in ignored]
    return Fixed(columns, done, problems)


def _read_archive(source: str | os.PathLike[str], names: FileNames) -> tuple[Archive, list[str]]:
    """Read all files that may be test files, also in a nested zip; return them and the repairs made."""
    archive, done = _find_files(source, names)
    archive = convert_parquet(separate_tasks(source, archive, names))
    done += [f"{problem.file}: {problem.repair}" for problem in archive.problems if problem.repair]
    return archive, done


def _find_files(source: str | os.PathLike[str], names: FileNames) -> tuple[Archive, list[str]]:
    """The files of a source that are, or seem to be, of the benchmark; and a sentence on what was unpacked.

    Where a folder or zip has none, they may lie deeper: in folders below, or in the only zip within.
    """

    def accepts(name: str) -> bool:
        if names.knows(name):
            return True
        seems_meant = names.likely(name) is not None
        return seems_meant and not foreign(name)

    archive = read_members(source, accepts)
    if not archive.members and not archive.problems and os.path.isdir(source):
        tree = read_tree(source, accepts)
        if tree.members or tree.problems:
            return tree, []
    zips = [path for path in archive.ignored if path.casefold().endswith(".zip")]
    if archive.members or archive.problems or len(zips) != 1:
        return archive, []
    return read_nested(source, base_name(zips[0]), accepts), [f"{zips[0]}: unpacked, a zip in a zip"]


def _match_files(
    archive: Archive, names: FileNames, benchmark: Benchmark, role: Role
) -> tuple[dict[str, list[str]], list[str]]:
    """Map test-file names to members that are, or seem to be, that file; and list the other paths."""
    by_name = names.by_file(archive.members)
    absent = [file for file in benchmark.files(role) if file.name not in by_name]
    others = [path for path in archive.members if not names.knows(path)]
    for name, paths in likely_files(others + archive.ignored, names, absent).items():
        readable = [path for path in paths if path in others]
        if readable:
            by_name[name] = readable
    matched: set[str] = set()
    matched.update(*by_name.values())
    return by_name, [path for path in archive.ignored + others if path not in matched]


def _misnamed_files(results: Mapping[str, _Result], files: Sequence[TestFile]) -> dict[str, str]:
    """Test-file name to the file that is it under another name; empty if one would be there twice."""
    misnamed: dict[str, str] = {}
    for result in results.values():
        meant = [problem.value for problem in result.problems if problem.code == "wrong-file"]
        for file in files:
            if file.path in meant[:1] and misnamed.setdefault(file.name, result.path) != result.path:
                return {}
    for name, result in results.items():
        if name in misnamed and result.path not in misnamed.values():
            return {}
    return misnamed


def _read_misnamed(
    results: Mapping[str, _Result], reader: _Reader, files: Sequence[TestFile]
) -> dict[str, _Result]:
    """The results, in which files that are others than their names say are read as those others."""
    misnamed = _misnamed_files(results, files)
    right = {name: result for name, result in results.items() if result.path not in misnamed.values()}
    for name, path in misnamed.items():
        right[name] = reader.read(name, path)
    return right


class _Reader(NamedTuple):
    """Reads the files of an archive, with what their author decided."""

    archive: Archive
    benchmark: Benchmark
    role: Role
    labels: Sequence[Sequence[str]]
    argmax: bool
    checked: Submission | None

    def read(self, name: str, path: str) -> _Result:
        """The predictions of a file, or what its author has to do."""
        file = self.benchmark.file(name)
        table = None
        if self.checked is not None:
            table = self.checked.tables.get(name)
        if table is None:
            table = self._read_table(file, path)
        done = []
        if base_name(path) != file.path:
            done.append(f"{path}: renamed to {file.path}")
        for problem in table.problems:
            if step := problem.repair or _REPAIRS.get(problem.code):
                done.append(f"{path}: {step}")
        if table.column is not None:
            return _Result(path, table.column, done, [])
        errors = [problem for problem in table.problems if problem.severity == "error"]
        unrepaired = [problem for problem in errors if not problem.repair]
        return _Result(path, None, done, unrepaired or errors)

    def _read_table(self, file: TestFile, path: str) -> Table:
        task = self.benchmark.task(file.task)
        known = {*task.words, *task.vocabulary}
        orders = [tuple(words) for words in self.labels if {*words} == known]
        choices = Choices(argmax=self.argmax)
        if orders:
            choices = Choices(orders[0], self.argmax)
        data = self.archive.members[path]
        table = read_file(path, data, file, self.benchmark, self.role, choices=choices, thorough=True)
        return table.without_lines() if path in self.archive.lineless else table
