"""Check a submission without gold labels, for the command line and the site."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Role, Task, TestFile, closest, load_benchmark
from gluebench.benchmark.metrics import needs
from gluebench.reading.notation import is_number
from gluebench.submission.archive import Archive, read_members
from gluebench.submission.archive_problems import base_name, some
from gluebench.submission.file import read_file
from gluebench.submission.forms import values_of
from gluebench.submission.names import SUFFIX, FileNames, foreign, split_name
from gluebench.submission.other_benchmark import count_rows, of_other_benchmark
from gluebench.submission.problems import SHOWN_PER_FILE, Problem, Severity, problem_maker, sentences, verdict
from gluebench.submission.submission import Column, Submission, missing_files
from gluebench.submission.tables import Table

# Freeing one large block makes glibc keep later ones for reuse, saving a sixth of the time (page faults).
bytes(32_000_000)

_problem = problem_maker(__file__)
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
    names = FileNames(benchmark, role)
    archive = read_members(source, names.knows)
    if not archive.members:
        from gluebench.submission.combined import separate_tasks

        archive = separate_tasks(source, archive, names)
    ignored = archive.ignored
    problems = list(archive.problems)
    rows = dict.fromkeys(archive.members, 0)
    broken = any(problem.severity == "error" for problem in problems)
    if broken and not rows:
        return Submission(benchmark, role, os.fspath(source), "invalid", tuple(problems), {})

    predictions: dict[str, Column] = {}
    unshown: dict[str, Mapping[str, int]] = {}
    tables: dict[str, Table] = {}
    by_name = names.by_file(rows)
    for file in _read_files(archive, by_name, benchmark, role):
        problems += file.table.problems
        rows[file.path] = file.rows
        if file.table.unshown:
            unshown[file.path] = file.table.unshown
        if file.table.column is not None:
            tables[file.name] = file.table
            if not file.table.wrong:
                predictions[file.name] = file.table.column

    if not broken:  # absent files may be among those that could not be read
        absent = [file for file in benchmark.files(role) if file.name not in by_name]
        likely = likely_files(ignored, names, absent)
        problems += _missing_file_problems(absent, likely, ignored, names, benchmark, nothing=not by_name)
    problems += _ignored_file_notices(ignored, names, problems)
    missing = missing_files(benchmark, role, by_name)
    judged = verdict(problems, missing=bool(missing))
    if judged == "invalid" and not broken:
        other = of_other_benchmark(rows, benchmark, role, comment=archive.comment)
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
    readers: Counter[str] = Counter()  # of a member that holds several test files
    for paths in by_name.values():
        readers.update(paths)
    for file in benchmark.files(role):
        paths = by_name.get(file.name, [])
        if len(paths) > 1:
            yield _ReadFile(file.name, paths[0], 0, Table(None, [two_files(file, paths)], Counter()))
        if len(paths) != 1:
            continue
        path = paths[0]
        data = archive.members[path]
        readers[path] -= 1
        if not readers[path]:
            del archive.members[path]
        table = _read_and_judge(path, data, file, benchmark, role)
        if path in archive.lineless:
            table = table.without_lines()
        if table.column is None or table.wrong:
            rows = count_rows(data)
        else:
            rows = len(table.column) + 1
        yield _ReadFile(file.name, path, rows, table)


def _read_and_judge(path: str, data: bytes, file: TestFile, benchmark: Benchmark, role: Role) -> Table:
    """Read one file; add notices and warnings about its name, its notation and its predictions."""
    table = read_file(path, data, file, benchmark, role)
    task = benchmark.task(file.task)
    if base_name(path) != file.path:
        table.problems.insert(0, _problem("file-name", path, "notice", name=file.path))
    if table.column is None or table.wrong:
        return table
    if task.form == "ranking" and b":" in data:
        table.problems.extend(_warn_of_gain(path, table.column))
    of_entities = [metric for metric in task.metrics if needs(metric.function, "scheme")]
    if of_entities and of_entities[0].scheme_assumed:
        table.problems.append(_problem("tag-scheme", path, "notice", scheme=of_entities[0].scheme))
    return add_warnings(table, path, task)


def add_warnings(table: Table, name: str, task: Task) -> Table:
    """The table of a file without errors, with warnings about its predictions."""
    column = table.column
    if column is None:
        return table
    problems: list[Problem] = []
    more = 0
    if column.constant:
        first = values_of(column.take([0]), task)[0]
        value = f"{first:g}" if task.form == "numbers" else str(first)[:60]
        problems.append(_problem("constant", name, "warning", value=value))
    elif column.labels:
        problems += _warn_of_swapped_labels(name, column, task)
    elif task.form != "numbers":
        problems += _warn_of_cells(name, column, task)
    elif task.score_range:
        low, high = task.score_range
        outside: list[int] = []
        if not column.within(low, high):
            outside += [at for at, number in enumerate(column.numbers) if not low <= number <= high]
        for at in outside[:SHOWN_PER_FILE]:
            value = f"{column.numbers[at]:.6g}"
            problems.append(
                _problem("outside-range", name, "warning", index=at, value=value, low=low, high=high)
            )
        more = len(outside) - len(problems)
    unshown = Counter(table.unshown)
    if more:
        unshown["outside-range"] = more
    return Table(column, table.problems + problems, unshown)


def _warn_of_cells(name: str, column: Column, task: Task) -> list[Problem]:
    """Warn of rankings of scores, of texts that are all in quotes, and of tags that begin no entity."""
    cells = [cell for cell in column.cells if cell]
    if not cells:
        return []
    if task.form == "ranking" and all(_is_score(item) for ranking in cells for item in ranking):
        return [_problem("scores-for-ids", name, "warning", value=" ".join(cells[0])[:60])]
    if task.form == "text" and all(_is_enclosed(text) for text in cells):
        return [_problem("marked-texts", name, "warning", value=cells[0][:60])]
    if task.form == "tokens":
        return _warn_of_tags_without_begin(name, cells, task)
    return []


def _is_score(item: str) -> bool:
    """Whether an item of a ranking looks like a score: ids may be numbers too, but without a point."""
    return "." in item and is_number(item)


def _is_enclosed(text: str) -> bool:
    """Whether a text begins and ends with a pair of quotes or brackets."""
    return len(text) > 1 and text[0] + text[-1] in _AROUND


def _warn_of_tags_without_begin(name: str, cells: Sequence[Sequence[str]], task: Task) -> list[Problem]:
    """Warn if tags are within entities that no tag begins, as in the scheme IO."""
    if "IOB2" not in {metric.scheme for metric in task.metrics}:
        return []
    tags: set[str] = set()
    tags.update(*cells)
    inside = sorted(tag for tag in tags if tag.startswith("I-"))
    if inside and not any(tag.startswith("B-") for tag in tags):
        return [_problem("no-begin", name, "warning", value=inside[0])]
    return []


def _warn_of_gain(name: str, column: Column) -> list[Problem]:
    """Warn of the first id that may be one with a gain."""
    for index, ids in zip(column.row_indices, column.cells, strict=True):
        for item in ids:
            _, colon, end = item.rpartition(":")
            if colon and is_number(end):
                return [_problem("gain", name, "warning", index=index, value=item[:60])]
    return []


def _warn_of_swapped_labels(name: str, column: Column, task: Task) -> list[Problem]:
    """Warn if the predicted label shares fit the training shares clearly better in another order."""
    known = [label.share for label in task.labels if label.share is not None]
    if len(known) != len(task.labels) or not 2 <= len(known) <= _MOST_LABELS:
        return []
    predicted = [count / len(column) for count in column.counts()]

    def distance(order: Sequence[int]) -> float:
        """Total variation distance: the share of rows that would have to change."""
        return sum(abs(predicted[at] - share) for at, share in zip(order, known, strict=True)) / 2

    labels = range(len(known))
    if distance(labels) - min(map(distance, permutations(labels))) < _CLEARLY:
        return []
    shares = _percentages(task.words, predicted)
    usual = _percentages(task.words, known)
    return [_problem("swapped-labels", name, "warning", value=shares, usual=usual)]


def _percentages(words: Iterable[str], shares: Iterable[float]) -> str:
    return ", ".join(f"{word} {share:.0%}" for word, share in zip(words, shares, strict=True))


def likely_files(
    ignored: Iterable[str], names: FileNames, absent: Iterable[TestFile]
) -> dict[str, list[str]]:
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


def _ignored_file_notices(
    paths: Iterable[str], names: FileNames, problems: Sequence[Problem]
) -> list[Problem]:
    """Notices of the files that were passed over, unless a problem names them already."""
    named = {problem.file for problem in problems} | {problem.value for problem in problems}
    by_code: dict[str, list[str]] = {"other-task": [], "ignored-file": []}
    for path in paths:
        if path not in named:
            code = "other-task" if names.of_other_task(path) else "ignored-file"
            by_code[code].append(path)
    return [_problem(code, "", "notice", paths=some(of)) for code, of in by_code.items() if of]


def _missing_file_problems(
    absent: Iterable[TestFile],
    likely: Mapping[str, Sequence[str]],
    ignored: Iterable[str],
    names: FileNames,
    benchmark: Benchmark,
    *,
    nothing: bool,
) -> list[Problem]:
    """A problem for each absent file, with the file that may be meant; a single one if all are absent."""
    meant = {name: paths[0] for name, paths in likely.items() if len(paths) == 1}
    if nothing and not meant:
        return [no_files(absent, ignored)]
    stems = {}
    for path in ignored:
        if path not in meant.values() and not names.of_other_task(path):
            stems[split_name(path)[0]] = path

    problems = []
    for file in absent:
        task = benchmark.task(file.task)
        if task.averaged:
            consequence = "there is no average"
        elif task.scored:
            consequence = "its task has no score"
        else:
            consequence = "its analysis is left out"
        row = "missing-file"
        severity: Severity = "warning"
        path = meant.get(file.name, "")
        if path:
            row += f", {_way_to_rename(path, file.path)}"
            if nothing:
                severity = "error"
        elif close := closest(file.name, stems, most=1):
            row += ", close"
            path = stems.pop(close[0])
        details = {"consequence": consequence, "path": path, "name": file.path, "kind": foreign(path)}
        problems.append(_problem(row, file.path, severity, **details, value=path or None))
    return problems


def _way_to_rename(path: str, name: str) -> str:
    """Whether a file has the format of another name already; else how to bring it there."""
    if foreign(path):
        return "foreign"
    _, suffix = split_name(path)
    _, own = split_name(name)
    if suffix == own or {suffix, own} <= {SUFFIX, ".txt"} or {suffix, own} <= {".json", ".jsonl"}:
        return "rename"
    return "convert" if own == SUFFIX else "reshape"


def no_files(absent: Iterable[TestFile], ignored: Iterable[str] = ()) -> Problem:
    """The problem that no file of the submission has the name of a test file."""
    names = ", ".join(dict.fromkeys(file.path for file in absent))
    tables = [path for path in ignored if split_name(path)[1]]
    if len(tables) != 1:
        return _problem("no-files", names=names)
    path = tables[0]
    row = "no-files, one"
    if path.casefold().endswith(".zip"):
        row = "no-files, zip"
    elif foreign(path):
        row = "no-files, foreign"
    return _problem(row, names=names, path=path, value=path, kind=foreign(path))


def official(submission: Submission) -> Submission:
    """The submission with everything that the original GLUE site refuses as an error.

    That site requires a zip of all test files with exact names and headers, and STS-B scores in [0, 5]
    (as its users reported, since its code was never published).
    """
    refused = {row: words.fix for row, words in sentences(__file__).items() if row.endswith(", official")}
    problems = []
    for problem in submission.problems:
        fix = refused.get(f"{problem.code}, official")
        if fix:
            problem = replace(problem, severity="error", fix=fix)
        problems.append(problem)
    if not submission.source.casefold().endswith(".zip"):
        problems.append(_problem("not-a-zip"))
    judged = verdict(problems, missing=False)
    return replace(submission, problems=tuple(problems), verdict=judged)
