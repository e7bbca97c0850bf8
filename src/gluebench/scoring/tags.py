"""What stands beside the gold labels: phenomena tags, groups of examples, and columns to divide them by."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from gluebench.benchmark import Phenomenon, Task
from gluebench.benchmark.lookup import closest, fold
from gluebench.submission.problems import SHOWN_PER_FILE, Problem

GROUP = "group"
OVERALL = "overall"

Tagged = Mapping[Phenomenon, tuple[int, ...]]
"""Positions in the gold column that each phenomenon is tagged at, ascending."""


class Metadata(NamedTuple):
    """Groups and divisions of the examples, each in the order of the gold column."""

    groups: tuple[int, ...] | None
    """The group of each example, numbered from 0 in order of appearance; None if all stand alone."""
    columns: Mapping[str, tuple[str, ...]]
    """Column to the value of each example, as "direction" to "forward" or "backward"."""


class Category(NamedTuple):
    """Some of a diagnostic set's examples."""

    kind: str
    """OVERALL, "coarse", "fine" or a column of the metadata."""
    name: str
    positions: tuple[int, ...]
    """In the gold column, ascending; distinct."""


class Tags(NamedTuple):
    """What a phenomena file held."""

    positions: Tagged
    problems: list[Problem]


class Divisions(NamedTuple):
    """What a metadata file held."""

    metadata: Metadata
    problems: list[Problem]


class _Row(NamedTuple):
    line: int
    example: int
    values: tuple[str, ...]


class _Sheet(NamedTuple):
    columns: Sequence[str]
    """All but the index."""
    rows: Sequence[_Row]
    problems: list[Problem]


def read_phenomena(name: str, data: bytes, task: Task, *, size: int, positions: Mapping[int, int]) -> Tags:
    """Read `index<TAB>coarse<TAB>fine`, a row per tag, of a split of `size` examples.

    `positions` is index to position in the gold column. Tags of examples without gold are passed over,
    and the same tag twice counts once.
    """
    sheet = _read(name, data, size)
    if sheet.problems:
        return Tags({}, sheet.problems)
    if tuple(sheet.columns) != ("coarse", "fine"):
        return Tags({}, [_header(name, sheet, "index<TAB>coarse<TAB>fine")])
    known = {
        (fold(phenomenon.coarse), fold(word)): phenomenon
        for phenomenon in task.phenomena
        for word in (phenomenon.name, *phenomenon.aliases)
    }
    found: dict[Phenomenon, set[int]] = {phenomenon: set() for phenomenon in task.phenomena}
    problems: list[Problem] = []
    written = {
        values: known.get((fold(values[0]), fold(values[1]))) for values in {row.values for row in sheet.rows}
    }
    for row in sheet.rows:
        phenomenon = written[row.values]
        if phenomenon is None:
            problems.append(_unknown(name, row, task))
        elif row.example in positions:
            found[phenomenon].add(positions[row.example])
    tagged = {phenomenon: tuple(sorted(at)) for phenomenon, at in found.items() if at}
    return Tags(tagged, _first(name, problems))


def read_metadata(
    name: str, data: bytes, task: Task, *, size: int, positions: Mapping[int, int]
) -> Divisions:
    """Read `index` and further columns, of which `group` and those the manifest names are kept.

    Every example that has gold needs its row.
    """
    sheet = _read(name, data, size)
    columns = [column for column in (GROUP, *task.metadata) if column in sheet.columns]
    by_index = {row.example: row.values for row in sheet.rows}
    problems = (
        sheet.problems
        or _column_problems(name, sheet, task)
        or _first(name, [*_repeated(name, sheet.rows), *_unlisted(name, positions, by_index)])
    )
    if problems:
        return Divisions(Metadata(None, {}), problems)
    values = {
        column: tuple(by_index[index][sheet.columns.index(column)] for index in positions)
        for column in columns
    }
    groups = values.pop(GROUP, None)
    return Divisions(Metadata(None if groups is None else numbered(groups), values), [])


def categories(task: Task, tags: Tagged, about: Metadata | None, *, size: int) -> tuple[Category, ...]:
    """Every part of a diagnostic set that is reported: all, coarse and fine phenomena, metadata's values.

    In the manifest's order, values of the metadata as they first appear; empty ones are left out.
    """
    found = [Category(OVERALL, "", tuple(range(size)))]
    for coarse in task.coarse():
        tagged = {at for phenomenon, where in tags.items() if phenomenon.coarse == coarse for at in where}
        found.append(Category("coarse", coarse, tuple(sorted(tagged))))
    found += [
        Category("fine", phenomenon.name, tags[phenomenon])
        for phenomenon in task.phenomena
        if phenomenon in tags
    ]
    columns = {} if about is None else about.columns
    for column in task.metadata:
        where: dict[str, list[int]] = {}
        for position, value in enumerate(columns.get(column, ())):
            where.setdefault(value, []).append(position)
        found += [Category(column, value, tuple(positions)) for value, positions in where.items()]
    return tuple(each for each in found if each.positions)


def _read(name: str, data: bytes, size: int) -> _Sheet:
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem("encoding", "error", name, "expected UTF-8 text", "Save it as UTF-8.", line)
        return _Sheet((), (), [problem])
    header, _, body = text.partition("\n")
    columns = header.split("\t")
    if columns[0] != "index":
        fix, shown = "Name the first column index.", header[:60]
        problem = Problem("header", "error", name, "expected a line of column names", fix, 1, None, shown)
        return _Sheet((), (), [problem])
    rows: list[_Row] = []
    problems: list[Problem] = []
    for line, row in enumerate(body.split("\n"), 2):
        if not row:
            continue
        fields = row.split("\t")
        faulty = _row_problem(name, line, fields, columns, size)
        if faulty is None:
            rows.append(_Row(line, int(fields[0]), tuple(fields[1:])))
        else:
            problems.append(faulty)
    return _Sheet(columns[1:], rows, _first(name, problems))


def _row_problem(
    name: str, line: int, fields: Sequence[str], columns: Sequence[str], size: int
) -> Problem | None:
    if len(fields) != len(columns) or not all(fields):
        expected = f"expected a value for each of {', '.join(columns)}, with one tab between them"
        shown = "\t".join(fields)[:60]
        return Problem("columns", "error", name, expected, "Fill in the row.", line, None, shown)
    index = fields[0]
    # A longer number is no index, and int() refuses more than 4,300 digits.
    if not (index.isascii() and index.isdigit() and len(index) <= 18 and int(index) < size):
        expected = f"expected an integer from 0 to {size - 1} as index"
        fix = "Write the test file's index."
        return Problem("bad-index", "error", name, expected, fix, line, None, index[:60])
    return None


def _column_problems(name: str, sheet: _Sheet, task: Task) -> list[Problem]:
    if not {GROUP, *task.metadata} & set(sheet.columns):
        return [_header(name, sheet, "<TAB>".join(["index", GROUP, *task.metadata]))]
    problems = []
    for column in (GROUP, *task.metadata):
        number = sheet.columns.count(column)
        if number > 1:
            expected, fix = f"expected one column {column!r}", "Remove the others."
        elif number == 0 and column != GROUP:
            expected, fix = f"expected a column {column!r}, which the manifest names", "Add the column."
        else:
            continue
        problems.append(Problem("metadata-column", "error", name, expected, fix, 1))
    return problems


def _header(name: str, sheet: _Sheet, wanted: str) -> Problem:
    found = "\t".join(["index", *sheet.columns])
    return Problem("header", "error", name, f"expected the header {wanted}", "Write it so.", 1, None, found)


def _unknown(name: str, row: _Row, task: Task) -> Problem:
    value = ", ".join(row.values)
    close = closest(row.values[1], [phenomenon.name for phenomenon in task.phenomena])
    hint = "Add it to the manifest, as a name or an alias."
    if close:
        hint = f"Did you mean {' or '.join(close)}?"
    expected = f"expected a phenomenon of {task.name} and its coarse category, as the manifest has them"
    return Problem("unknown-phenomenon", "error", name, expected, hint, row.line, row.example, value)


def _repeated(name: str, rows: Sequence[_Row]) -> list[Problem]:
    seen: set[int] = set()
    problems = []
    expected, fix = "expected each index once", "Keep one row for this index."
    for row in rows:
        if row.example in seen:
            problems.append(Problem("repeated-index", "error", name, expected, fix, row.line, row.example))
        seen.add(row.example)
    return problems


def _unlisted(
    name: str, positions: Mapping[int, int], by_index: Mapping[int, Sequence[str]]
) -> list[Problem]:
    expected, fix = "expected a row for each example that has gold", "Add the missing row."
    return [
        Problem("missing-index", "error", name, expected, fix, None, index)
        for index in positions
        if index not in by_index
    ]


def numbered(values: Sequence[Hashable]) -> tuple[int, ...]:
    """The values as numbers from 0, in order of appearance."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return tuple(numbers[value] for value in values)


def _first(name: str, problems: list[Problem]) -> list[Problem]:
    """The first few, and how many more there are."""
    if len(problems) <= SHOWN_PER_FILE:
        return problems
    rest = len(problems) - SHOWN_PER_FILE
    more = f"{rest:,} more problem{'s' * (rest != 1)}"
    return [*problems[:SHOWN_PER_FILE], Problem("more", "error", name, more, "Mend those above first.")]
