"""Check a submission without gold labels, for the command line and the site."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import inf
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Role, Task, TestFile, closest, load_benchmark
from gluebench.benchmark.metrics import needs
from gluebench.reading.notation import is_number
from gluebench.submission.archive import Archive, read_members
from gluebench.submission.archive_problems import base_name, some
from gluebench.submission.file import read_file
from gluebench.submission.forms import values_of
from gluebench.submission.names import SUFFIX, Names, foreign, split_name
from gluebench.submission.other_benchmark import count_rows, of_other_benchmark
from gluebench.submission.problems import SHOWN_PER_FILE, Problem, Severity, sentences, verdict, worded
from gluebench.submission.submission import Column, Submission, missing_files
from gluebench.submission.tables import Table

# Freeing one large block makes glibc keep later ones for reuse, saving a sixth of the time (page faults).
bytes(32_000_000)

_problem = worded(__file__)
_CLEARLY = 0.15
"""Share of rows by which swapped labels must fit better before a warning is given."""
_AROUND = ("''", '""', "[]", "‘’", "“”", "«»")
"""Quotes and brackets around a text."""
_MOST_LABELS = 6
"""Largest label set of which all orders are tried."""


def check(
    source: str | os.PathLike[str], benchmark: Benchmark | str | os.PathLike[str], *, role: Role = "test"
) -> Submission:
    """Read a zip, a folder or a single file of predictions; problems are in the result, never raised."""
    benchmark = load_benchmark(benchmark)
    names = Names(benchmark, role)
    archive = read_members(source, names.knows)
    if not archive.members:
        from gluebench.submission.combined import separate_tasks

        archive = separate_tasks(source, archive, names)
    ignored, problems = archive.ignored, list(archive.problems)
    lines = dict.fromkeys(archive.members, 0)
    broken = any(problem.severity == "error" for problem in problems)
    if broken and not lines:
        return Submission(benchmark, role, os.fspath(source), "invalid", tuple(problems), {})
    predictions: dict[str, Column] = {}
    unshown: dict[str, Mapping[str, int]] = {}
    tables: dict[str, Table] = {}
    by_name = names.by_file(lines)
    for read in _read_files(archive, by_name, benchmark, role):
        problems += read.table.problems
        lines[read.path] = read.rows
        if read.table.unshown:
            unshown[read.path] = read.table.unshown
        if read.table.column is not None:
            tables[read.name] = read.table
            if not read.table.wrong:
                predictions[read.name] = read.table.column
    if not broken:  # absent files may be among those that could not be read
        absent = [file for file in benchmark.files(role) if file.name not in by_name]
        likely = likely_files(ignored, names, absent)
        problems += _missing(absent, likely, ignored, names, benchmark, nothing=not by_name)
    problems += _ignored(ignored, names, problems)
    missing = missing_files(benchmark, role, by_name)
    judged = verdict(problems, missing=bool(missing))
    if judged == "invalid" and not broken:
        other = of_other_benchmark(lines, benchmark, role, comment=archive.comment)
        if other is not None:
            return Submission(benchmark, role, os.fspath(source), judged, (other,), {}, missing)
    return Submission(
        benchmark, role, os.fspath(source), judged, tuple(problems), predictions, missing, unshown, tables
    )


class _ReadFile(NamedTuple):
    """What was read of one file."""

    name: str
    """Of the test file."""
    path: str
    rows: int
    """Rows with the header; 0 if it was not read."""
    table: Table


def _read_files(
    archive: Archive, by_name: Mapping[str, list[str]], benchmark: Benchmark, role: Role
) -> Iterator[_ReadFile]:
    """The test files that are there, in the order of the benchmark; each is freed once it is read."""
    readers = Counter(path for paths in by_name.values() for path in paths)
    for file in benchmark.files(role):
        paths = by_name.get(file.name, [])
        if len(paths) > 1:
            yield _ReadFile(file.name, paths[0], 0, Table(None, [two_files(file, paths)], Counter()))
        if len(paths) != 1:
            continue
        (path,) = paths
        readers[path] -= 1
        data = archive.members[path] if readers[path] else archive.members.pop(path)
        table = _read(path, data, file, benchmark, role)
        if path in archive.lineless:
            table = table.without_lines()
        if table.column is None or table.wrong:
            rows = count_rows(data)
        else:
            rows = len(table.column) + 1
        yield _ReadFile(file.name, path, rows, table)


def _read(path: str, data: bytes, file: TestFile, benchmark: Benchmark, role: Role) -> Table:
    table = read_file(path, data, file, benchmark, role)
    task = benchmark.task(file.task)
    if base_name(path) != file.path:
        table.problems.insert(0, _problem("file-name", path, "notice", name=file.path))
    if table.column is not None and not table.wrong:
        if task.form == "ranking" and b":" in data:
            table.problems.extend(_gain(path, table.column))
        of_entities = [metric for metric in task.metrics if needs(metric.function, "scheme")]
        if of_entities and of_entities[0].scheme_assumed:
            table.problems.append(_problem("tag-scheme", path, "notice", scheme=of_entities[0].scheme))
        suspected = suspicions(path, table.column, task)
        table.problems.extend(suspected.problems)
        table.unshown.update(suspected.unshown)
    return table


class Suspicions(NamedTuple):
    """Warnings about one file, and the number of further ones of each kind."""

    problems: list[Problem]
    unshown: dict[str, int]


def suspicions(name: str, column: Column, task: Task) -> Suspicions:
    """Warnings about the predictions of one file."""
    if column.constant:
        first = values_of(column.take([0]), task)[0]
        value = f"{first:g}" if task.form == "numbers" else str(first)[:60]
        return Suspicions([_problem("constant", name, "warning", value=value)], {})
    if column.labels:
        swapped = _swapped(name, column, task)
        return Suspicions([swapped] if swapped else [], {})
    if task.form != "numbers":
        return Suspicions(_odd_cells(name, column, task), {})
    low, high = task.score_range or (-inf, inf)
    if column.within(low, high):
        return Suspicions([], {})
    rows = [index for index, number in enumerate(column.numbers) if not low <= number <= high]
    problems = [
        _problem(
            "outside-range", name, "warning", index=at, value=f"{column.numbers[at]:.6g}", low=low, high=high
        )
        for at in rows[:SHOWN_PER_FILE]
    ]
    more = len(rows) - len(problems)
    return Suspicions(problems, {"outside-range": more} if more else {})


def _odd_cells(name: str, column: Column, task: Task) -> list[Problem]:
    """Warn of rankings of scores, of texts that are all in quotes, and of tags that begin no entity."""
    cells = [cell for cell in column.cells if cell]
    if not cells:
        return []
    if task.form == "ranking" and all(_is_score(item) for ranking in cells for item in ranking):
        return [_problem("scores-for-ids", name, "warning", value=" ".join(cells[0])[:60])]
    if task.form == "text" and all(_is_enclosed(text) for text in cells):
        return [_problem("marked-texts", name, "warning", value=cells[0][:60])]
    if task.form == "tokens":
        return _no_begin(name, cells, task)
    return []


def _is_score(item: str) -> bool:
    """Whether an item of a ranking looks like a score: ids may be numbers too, but without a point."""
    return "." in item and is_number(item)


def _is_enclosed(text: str) -> bool:
    """Whether a text begins and ends with a pair of quotes or brackets."""
    return len(text) > 1 and text[0] + text[-1] in _AROUND


def _no_begin(name: str, cells: Sequence[Sequence[str]], task: Task) -> list[Problem]:
    """Warn if tags are within entities that no tag begins, as in the scheme IO."""
    if "IOB2" not in {metric.scheme for metric in task.metrics}:
        return []
    tags: set[str] = set().union(*cells)
    inside = sorted(tag for tag in tags if tag.startswith("I-"))
    if inside and not any(tag.startswith("B-") for tag in tags):
        return [_problem("no-begin", name, "warning", value=inside[0])]
    return []


def _gain(name: str, column: Column) -> list[Problem]:
    """Warn of the first id that may be one with a gain."""
    for index, ids in zip(column.row_indices, column.cells, strict=True):
        for each in ids:
            _, colon, end = each.rpartition(":")
            if colon and is_number(end):
                return [_problem("gain", name, "warning", index=index, value=each[:60])]
    return []


def _swapped(name: str, column: Column, task: Task) -> Problem | None:
    """Warn if the predicted label shares fit the training shares clearly better in another order."""
    known = [label.share for label in task.labels if label.share is not None]
    if len(known) != len(task.labels) or not 2 <= len(known) <= _MOST_LABELS:
        return None
    predicted = [count / len(column) for count in column.counts()]

    def distance(order: Sequence[int]) -> float:
        """Total variation distance: the share of rows that would have to change."""
        return sum(abs(predicted[at] - share) for at, share in zip(order, known, strict=True)) / 2

    labels = range(len(known))
    if distance(labels) - min(map(distance, permutations(labels))) < _CLEARLY:
        return None
    shares = ", ".join(f"{word} {share:.0%}" for word, share in zip(task.words, predicted, strict=True))
    usual = ", ".join(f"{word} {share:.0%}" for word, share in zip(task.words, known, strict=True))
    return _problem("swapped-labels", name, "warning", value=shares, usual=usual)


def likely_files(ignored: Iterable[str], names: Names, absent: Iterable[TestFile]) -> dict[str, list[str]]:
    """Absent test file to the paths that their names suggest, those for another split only if alone."""
    absent_names = {file.name for file in absent}
    likely: dict[str, list[str]] = {}
    for path in ignored:
        file = names.likely(path)
        if file is not None and file.name in absent_names and not names.of_other_task(path):
            likely.setdefault(file.name, []).append(path)
    for name, paths in likely.items():
        likely[name] = [path for path in paths if not names.of_other_split(path)] or paths
    return likely


def two_files(file: TestFile, paths: list[str]) -> Problem:
    """The problem that several files are taken for the same test file."""
    return _problem("two-files", paths[0], name=file.name, paths=" and ".join(sorted(paths)))


def _ignored(paths: Iterable[str], names: Names, problems: Sequence[Problem]) -> list[Problem]:
    """Notices of the files that were passed over, unless a problem names them already."""
    named = {problem.file for problem in problems} | {problem.value for problem in problems}
    paths = [path for path in paths if path not in named]
    others = [path for path in paths if names.of_other_task(path)]
    strange = [path for path in paths if path not in others]
    by_code = {"other-task": others, "ignored-file": strange}
    return [_problem(code, "", "notice", paths=some(of)) for code, of in by_code.items() if of]


def _missing(
    absent: Iterable[TestFile],
    likely: Mapping[str, Sequence[str]],
    ignored: Iterable[str],
    names: Names,
    benchmark: Benchmark,
    *,
    nothing: bool,
) -> list[Problem]:
    """A problem for each absent file, with the file that may be meant; a single one if all are absent."""
    meant = {name: paths[0] for name, paths in likely.items() if len(paths) == 1}
    if nothing and not meant:
        return [no_files(absent, ignored)]
    others = [path for path in ignored if path not in meant.values()]
    strange = [path for path in others if not names.of_other_task(path)]
    stems = {split_name(path)[0]: path for path in strange}
    problems = []
    for file in absent:
        task = benchmark.task(file.task)
        consequence = "its task has no score" if task.scored else "its analysis is left out"
        consequence = "there is no average" if task.averaged else consequence
        row, path = "missing-file", meant.get(file.name, "")
        severity: Severity = "error" if nothing and path else "warning"
        if path:
            rename = _way_to_rename(path, file.path)
            row += f", {'foreign' if foreign(path) else rename}"
        elif close := closest(file.name, stems, most=1):
            row, path = "missing-file, close", stems.pop(close[0])
        details = {"consequence": consequence, "path": path, "name": file.path, "kind": foreign(path)}
        problems.append(_problem(row, file.path, severity, **details, value=path or None))
    return problems


def _way_to_rename(path: str, name: str) -> str:
    """Whether a file has the format of another name already; else how to bring it there."""
    suffix, own = split_name(path)[1], split_name(name)[1]
    if suffix == own or {suffix, own} <= {SUFFIX, ".txt"} or {suffix, own} <= {".json", ".jsonl"}:
        return "rename"
    return "convert" if own == SUFFIX else "reshape"


def no_files(absent: Iterable[TestFile], ignored: Iterable[str] = ()) -> Problem:
    """The problem that no file of the submission has the name of a test file."""
    names = ", ".join(dict.fromkeys(file.path for file in absent))
    tables = [path for path in ignored if split_name(path)[1]]
    if len(tables) != 1:
        return _problem("no-files", names=names)
    (path,) = tables
    row = "zip" if path.casefold().endswith(".zip") else "foreign" if foreign(path) else "one"
    return _problem(f"no-files, {row}", names=names, path=path, value=path, kind=foreign(path))


def official(submission: Submission) -> Submission:
    """The submission with everything that the original GLUE site refuses as an error.

    That site requires a zip of all test files with exact names and headers, and STS-B scores in [0, 5]
    (as its users reported, since its code was never published).
    """
    refused = {row: words.fix for row, words in sentences(__file__).items() if row.endswith(", official")}
    problems = [
        replace(problem, severity="error", fix=fix)
        if (fix := refused.get(f"{problem.code}, official"))
        else problem
        for problem in submission.problems
    ]
    if not submission.source.casefold().endswith(".zip"):
        problems.append(_problem("not-a-zip"))
    judged = verdict(problems, missing=False)
    return replace(submission, problems=tuple(problems), verdict=judged)
