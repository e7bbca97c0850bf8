"""The check: a submission read and judged without a label; the command line and the site both call it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Role, Task, TestFile, closest, load_benchmark
from gluebench.submission.archive import base_name, read_members
from gluebench.submission.column import Column
from gluebench.submission.problems import Problem, verdict
from gluebench.submission.submission import Submission, missing_files
from gluebench.submission.suspicions import suspicions
from gluebench.submission.tables import Layout, read_table

SUFFIX = ".tsv"

# Freeing one large block tells glibc to keep later ones for reuse: a sixth of the time was page faults.
bytes(16_000_000)


class Names:
    """Which file names mean which test file of a benchmark, letter case aside."""

    def __init__(self, benchmark: Benchmark, role: Role) -> None:
        self.files = {
            name.casefold(): file for file in benchmark.files(role) for name in (file.name, *file.synonyms)
        }
        self.others = {name.casefold() for file in benchmark.ignored for name in (file.name, *file.synonyms)}

    def file(self, path: str) -> TestFile | None:
        """The test file that a member is named as."""
        stem = _stem(path)
        return None if stem is None else self.files.get(stem.casefold())

    def knows(self, name: str) -> bool:
        """Whether a member of that base name is to be read."""
        return self.file(name) is not None

    def by_file(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """Test-file name to the members that are named as it."""
        found: dict[str, list[str]] = {}
        for path in paths:
            file = self.file(path)
            if file is not None:
                found.setdefault(file.name, []).append(path)
        return found

    def of_other_task(self, path: str) -> bool:
        """Whether it is a test file of a task that only the parent benchmark has."""
        stem = _stem(path)
        return stem is not None and stem.casefold() in self.others


class _File(NamedTuple):
    column: Column | None
    problems: list[Problem]
    unshown: Mapping[str, int]


def check(
    source: str | os.PathLike[str],
    benchmark: Benchmark | str | os.PathLike[str],
    *,
    role: Role = "test",
) -> Submission:
    """Read a zip, a folder or a single file of predictions; what is wrong is in the result, never raised."""
    benchmark = load_benchmark(benchmark)
    names = Names(benchmark, role)
    given, ignored, faults = read_members(source, names.knows)
    members = {**given}  # each is let go once it is read
    del given
    problems = list(faults)
    broken = any(problem.severity == "error" for problem in problems)
    if broken and not members:
        return Submission(benchmark, role, os.fspath(source), "invalid", tuple(problems), {})
    problems += _ignored(ignored, names)
    predictions: dict[str, Column] = {}
    unshown: dict[str, Mapping[str, int]] = {}
    found = names.by_file(members)
    for file in benchmark.files(role):
        paths = found.get(file.name, [])
        if len(paths) > 1:
            problems.append(two_files(file, paths))
        elif paths:
            read = _read(paths[0], members.pop(paths[0]), file, benchmark.task(file.task), role=role)
            problems += read.problems
            if read.unshown:
                unshown[paths[0]] = read.unshown
            if read.column is not None:
                predictions[file.name] = read.column
    absent = [file for file in benchmark.files(role) if file.name not in found]
    if not broken:  # what is absent may be among what could not be read
        strange = [path for path in ignored if not names.of_other_task(path)]
        problems += _missing(absent, strange, benchmark, nothing=not found)
    missing = missing_files(benchmark, role, found)
    judged = verdict(problems, missing=bool(missing))
    return Submission(
        benchmark, role, os.fspath(source), judged, tuple(problems), predictions, missing, unshown
    )


def layout(file: TestFile, task: Task, role: Role) -> Layout:
    """What a file of predictions should hold, from the manifest."""
    synonyms = {word: code for code, label in enumerate(task.labels) for word in label.synonyms}
    versions = {
        version.sizes[role]: f"{version.name} ({version.note})"
        for version in file.other_versions
        if role in version.sizes
    }
    return Layout(
        task.words,
        file.size(role),
        synonyms,
        versions=versions,
        others=other_sizes(file, role),
        score_range=task.score_range,
    )


def other_sizes(file: TestFile, role: Role) -> dict[int, str]:
    """Number of rows to the other split that has it, to tell who mixed them up."""
    return {split.size: other for other, split in file.splits.items() if split.size != file.size(role)}


def _read(path: str, data: bytes, file: TestFile, task: Task, *, role: Role) -> _File:
    table = read_table(path, data, layout(file, task, role))
    problems, unshown = list(table.problems), dict(table.unshown)
    if base_name(path) != file.name + SUFFIX:
        expected = f"expected the name {file.name}{SUFFIX}"
        problems.insert(
            0, Problem("file-name", "notice", path, expected, "Nothing to do: it was taken for that file.")
        )
    if table.column is not None:
        suspected = suspicions(path, table.column, task)
        problems += suspected.problems
        unshown.update(suspected.unshown)
    return _File(table.column, problems, unshown)


def two_files(file: TestFile, paths: list[str]) -> Problem:
    """The problem with several files that would be one test file."""
    listed = " and ".join(sorted(paths))
    expected = f"expected one file for {file.name}, and {listed} would both be it"
    return Problem("two-files", "error", paths[0], expected, "Leave out the one that is not meant.")


def _ignored(paths: Iterable[str], names: Names) -> list[Problem]:
    others = [path for path in paths if names.of_other_task(path)]
    strange = [path for path in paths if path not in others]
    problems = []
    if others:
        expected = f"expected only this benchmark's tasks; passed over {_listing(others)}"
        problems.append(Problem("other-task", "notice", "", expected, "Nothing to do."))
    if strange:
        expected = f"expected nothing but test files; passed over {_listing(strange)}"
        problems.append(
            Problem("ignored-file", "notice", "", expected, "Nothing to do, if none of them was meant.")
        )
    return problems


def _listing(paths: list[str], most: int = 10) -> str:
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(paths[:most]) + more


def _missing(
    absent: Iterable[TestFile], strange: Iterable[str], benchmark: Benchmark, *, nothing: bool
) -> list[Problem]:
    stems = {base_name(path).rpartition(".")[0] or base_name(path): path for path in strange}
    if nothing:
        return [no_files(absent)]
    problems = []
    for file in absent:
        close = closest(file.name, stems, most=1)
        task = benchmark.task(file.task)
        fix = f"Did you mean {stems[close[0]]}? Rename it to {file.name}{SUFFIX}." if close else "Add it."
        consequence = "there is no average" if task.scored else "its analysis is left out"
        expected = f"expected a file of this name; without it {consequence}"
        problems.append(Problem("missing-file", "warning", file.name + SUFFIX, expected, fix))
    return problems


def no_files(absent: Iterable[TestFile]) -> Problem:
    """The problem with a submission in which nothing is named as a test file."""
    names = ", ".join(file.name + SUFFIX for file in absent)
    fix = "Name each file as its task's test file."
    return Problem("no-files", "error", "", f"expected at least one of {names}", fix)


def _stem(path: str) -> str | None:
    name = base_name(path)
    return name[: -len(SUFFIX)] if name.casefold().endswith(SUFFIX) else None
