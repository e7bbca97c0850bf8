"""Mending the form of a submission without changing a label: what `check --fix` does."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Role, TestFile
from gluebench.submission.archive import base_name, read_members
from gluebench.submission.check import SUFFIX, Names, layout, no_files, two_files
from gluebench.submission.column import Column
from gluebench.submission.problems import Problem
from gluebench.submission.tables import Layout, read_table
from gluebench.submission.write import write_submission

_WHOLE = re.compile(r"([+-]?)0*([0-9]+)(?:\.0*)?")
"""A number that is an integer however it is written: 3, 03, 3.0."""


class Mended(NamedTuple):
    """What was done, and what is left for the author to do."""

    done: list[str]
    problems: list[Problem]
    """Errors that cannot be mended without guessing; nothing was written if there are any."""


class _Text(NamedTuple):
    rows: list[list[str]]
    done: list[str]


def fix_submission(
    source: str | os.PathLike[str], out: str | os.PathLike[str], benchmark: Benchmark, *, role: Role = "test"
) -> Mended:
    """Write a canonical copy of a submission to `out`, unless an error remains that no rewriting can mend."""
    names = Names(benchmark, role)
    archive = read_members(source, names.knows)
    problems = [problem for problem in archive.problems if problem.severity == "error"]
    columns: dict[str, Column] = {}
    done: list[str] = []
    for name, paths in names.by_file(archive.members).items():
        file = benchmark.file(name)
        if len(paths) > 1:
            problems.append(two_files(file, paths))
            continue
        mended = _mend(paths[0], archive.members[paths[0]], file, benchmark, role=role)
        done += mended.done
        problems += mended.problems
        if mended.column is not None:
            columns[name] = mended.column
    if not columns and not problems:
        problems.append(no_files(benchmark.files(role)))
    if not problems:
        write_submission(out, columns, benchmark, role=role)
        done += [f"{name}: left out, as it is named as no test file" for name in archive.ignored]
        done.append(f"wrote {len(columns)} file{'s' * (len(columns) != 1)} to {os.fspath(out)}")
    return Mended(done, problems)


class _Result(NamedTuple):
    column: Column | None
    done: list[str]
    problems: list[Problem]


def _mend(path: str, data: bytes, file: TestFile, benchmark: Benchmark, *, role: Role) -> _Result:
    wanted = layout(file, benchmark.task(file.task), role)
    table = read_table(path, data, wanted)
    done = [] if base_name(path) == file.name + SUFFIX else [f"{path}: renamed to {file.name}{SUFFIX}"]
    done += [f"{path}: {_SAID[problem.code]}" for problem in table.problems if problem.code in _SAID]
    if table.column is not None:
        return _Result(table.column, done, [])
    rows, steps = _rewrite(data, wanted)
    done += [f"{path}: {step}" for step in steps]
    again = read_table(path, "".join("\t".join(row) + "\n" for row in rows).encode(), wanted)
    errors = [problem for problem in table.problems if problem.severity == "error"]
    return _Result(again.column, done, [] if again.column is not None else errors)


_SAID = {
    "byte-order-mark": "byte order mark removed",
    "line-ends": "line ends rewritten",
    "header-name": "header rewritten",
    "blank-lines": "blank lines removed",
    "label-synonym": "label synonyms replaced by the label words",
}


def _rewrite(data: bytes, wanted: Layout) -> _Text:
    """The rows as they were surely meant, each step named."""
    text = _decoded(data)
    done = [] if data[:2] not in (b"\xff\xfe", b"\xfe\xff") else ["UTF-16 rewritten as UTF-8"]
    lines = [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
    separator = "\t" if any("\t" in line for line in lines[:2]) else ","
    if separator == ",":
        done.append("commas replaced by tabs")
    rows = [line.split(separator) for line in lines]
    header, first = ["index", f"{wanted.value}"], rows[0] if rows else []
    if first and not _WHOLE.fullmatch(first[0].strip(' "')):
        rows = rows[1:]
        if first != header:
            done.append("header rewritten")
    else:
        done.append("header added")
    for step, name in (
        (_bare, "quotes and spaces around values removed"),
        (_whole_index, "indices written as integers"),
    ):
        rows = _applied(step, rows, name, done)
    rows = _applied(_label(wanted), rows, "label words written as the benchmark has them", done)
    unique = list(dict.fromkeys(map(tuple, rows)))
    if len(unique) < len(rows):
        done.append(f"{len(rows) - len(unique):,} exact repetitions of a row removed")
    return _Text([header, *map(list, unique)], done)


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "backslashreplace")


def _applied(
    step: Callable[[list[str]], list[str]], rows: list[list[str]], name: str, done: list[str]
) -> list[list[str]]:
    mended = [step(row) for row in rows]
    if mended != rows:
        done.append(name)
    return mended


def _bare(row: list[str]) -> list[str]:
    return [field.strip().strip('"').strip() for field in row]


def _whole_index(row: list[str]) -> list[str]:
    match = _WHOLE.fullmatch(row[0])
    return [match[2], *row[1:]] if match and match[1] != "-" else row


def _label(wanted: Layout) -> Callable[[list[str]], list[str]]:
    """Match a label word with letter case and a decimal zero aside."""
    words = {word.casefold(): word for word in (*wanted.synonyms, *wanted.words)}

    def mend(row: list[str]) -> list[str]:
        if len(row) != 2 or not words:
            return row
        match = _WHOLE.fullmatch(row[1])
        folded = match[1].strip("+") + match[2] if match else row[1].casefold()
        return [row[0], words.get(folded, row[1])]

    return mend
