"""Read tags and metadata of gold labels: phenomena, groups of examples, and further columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from gluebench.benchmark import Benchmark, Phenomenon, Split, Task
from gluebench.benchmark.figures import counted
from gluebench.benchmark.lookup import closest, fold
from gluebench.reading.notation import PLACE
from gluebench.submission.problems import SHOWN_PER_FILE, Problem, problem_maker
from gluebench.submission.submission import Column

GROUP = "group"
DIRECTION = "direction"
OVERALL = "overall"
Value = TypeVar("Value", bound=Hashable)

problem = problem_maker(__file__)
"""A problem of the gold labels, of their tags or metadata, in the words of tags.tsv."""
Tagged = Mapping[Phenomenon, tuple[int, ...]]
"""Phenomenon to the ascending positions in the gold column that are tagged with it."""


class Metadata(NamedTuple):
    """Groups and further columns of the examples, in the order of the gold column."""

    groups: tuple[int, ...] | None
    """The group of each example, numbered from 0 in order of appearance; None if examples are independent."""
    columns: Mapping[str, tuple[str, ...]]
    """Column to the value of each example; "direction" has "forward" and "backward"."""

    @classmethod
    def of(
        cls, groups: Sequence[Hashable] | None, columns: Mapping[str, Sequence[str]], kept: Sequence[int]
    ) -> Metadata:
        """The metadata of the examples at some positions; groups may have any names."""
        values = {name: tuple(map(column.__getitem__, kept)) for name, column in columns.items()}
        if groups is None:
            return cls(None, values)
        return cls(group_numbers([groups[position] for position in kept]), values)


class Category(NamedTuple):
    """A category of a diagnostic set's examples."""

    kind: str
    """OVERALL, "coarse", "fine" or a column of the metadata."""
    name: str
    positions: tuple[int, ...]
    """Positions in the gold column, ascending and distinct."""


class Sheet:
    """A file of tags or metadata: its rows and problems."""

    def __init__(self, name: str, data: bytes, split: Split, indices: Sequence[int]) -> None:
        """`indices` are those of the gold column in the split."""
        self._name = name
        self._problems: list[Problem] = []
        self.positions = {index: position for position, index in enumerate(indices)}
        """Index in the split to the position in the gold column."""
        self.columns: list[str] = []
        """Names of all columns but the index."""
        self.rows: list[_Row] = []
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.add("encoding", line)
            return
        header, *lines = text.split("\n")
        first, *self.columns = header.split("\t")
        if first != "index" and not (first == "id" and split.ids):
            self.add("header, first", 1, value=header[:60])
            return
        self._ids: dict[str, int] | None = None
        if first == "id":
            self._ids = {name: index for index, name in enumerate(split.ids)}
        for line, row in enumerate(lines, 2):
            if row:
                self._read_row(line, row.split("\t"), split.size)

    def add(self, row: str, line: int | None = None, **details: object) -> None:
        """Record a problem."""
        self._problems.append(problem(row, self._name, line=line, **details))

    @property
    def problems(self) -> list[Problem]:
        """The first problems, and one with the number of the others."""
        rest = len(self._problems) - SHOWN_PER_FILE
        if rest <= 0:
            return self._problems
        more = problem("more", self._name, what=counted(rest, "more problem"))
        return self._problems[:SHOWN_PER_FILE] + [more]

    def refuse_header(self, *expected: str) -> None:
        """Record that the columns are not the expected ones."""
        expected_header = "<TAB>".join(("index",) + expected)
        self.add("header", 1, header=expected_header, value="\t".join(["index"] + self.columns))

    def _read_row(self, line: int, fields: Sequence[str], size: int) -> None:
        index = fields[0]
        if len(fields) != 1 + len(self.columns) or not all(fields):
            names = ", ".join(["index"] + self.columns)
            self.add("columns", line, names=names, value="\t".join(fields)[:60])
        elif self._ids is not None and index not in self._ids:
            self.add("unknown-id", line, value=index[:60])
        elif self._ids is not None:
            self.rows.append(_Row(line, self._ids[index], tuple(fields[1:])))
        elif not PLACE.fullmatch(index) or int(index) >= size:
            self.add("bad-index", line, last=size - 1, value=index[:60])
        else:
            self.rows.append(_Row(line, int(index), tuple(fields[1:])))


class _Row(NamedTuple):
    line: int
    example: int
    values: tuple[str, ...]


def read_phenomena(sheet: Sheet, task: Task) -> Tagged:
    """Read `index<TAB>coarse<TAB>fine`, a row per tag; add errors to the sheet's problems.

    Tags of examples without gold are ignored, and repeated tags count once.
    """
    if not sheet.problems and sheet.columns != ["coarse", "fine"]:
        sheet.refuse_header("coarse", "fine")
    if sheet.problems:
        return {}
    by_names: dict[tuple[str, str], Phenomenon] = {}
    for phenomenon in task.phenomena:
        coarse = fold(phenomenon.coarse)
        by_names[coarse, fold(phenomenon.name)] = phenomenon
        for alias in phenomenon.aliases:
            by_names[coarse, fold(alias)] = phenomenon
    # Many rows have the same tag, and folding is slow: each different one is folded once.
    by_values: dict[tuple[str, ...], Phenomenon | None] = {}
    for row in sheet.rows:
        if row.values not in by_values:
            coarse, fine = row.values
            by_values[row.values] = by_names.get((fold(coarse), fold(fine)))
    tagged: dict[Phenomenon, set[int]] = {phenomenon: set() for phenomenon in task.phenomena}
    for row in sheet.rows:
        known = by_values[row.values]
        if known is None:
            _refuse_phenomenon(sheet, row, task)
        elif row.example in sheet.positions:
            tagged[known].add(sheet.positions[row.example])
    return {phenomenon: tuple(sorted(positions)) for phenomenon, positions in tagged.items() if positions}


def _refuse_phenomenon(sheet: Sheet, row: _Row, task: Task) -> None:
    close = closest(row.values[1], [phenomenon.name for phenomenon in task.phenomena])
    code = "unknown-phenomenon, close" if close else "unknown-phenomenon"
    details = {"index": row.example, "value": ", ".join(row.values)}
    sheet.add(code, row.line, **details, task=task.name, close=" or ".join(close))


def read_metadata(sheet: Sheet, task: Task) -> Metadata:
    """Read `index` and further columns; keep `group` and the columns that the manifest names.

    Every example with gold needs a row. Errors are added to the sheet's problems.
    """
    if not sheet.problems:
        _check_columns(sheet, task)
    if not sheet.problems:
        _check_indices(sheet)
    if sheet.problems:
        return Metadata(None, {})
    by_index = {row.example: row.values for row in sheet.rows}
    rows = [by_index[index] for index in sheet.positions]
    columns = {}
    for column in task.metadata:
        if column in sheet.columns:
            position = sheet.columns.index(column)
            columns[column] = tuple(row[position] for row in rows)
    if GROUP not in sheet.columns:
        return Metadata(None, columns)
    position = sheet.columns.index(GROUP)
    return Metadata(group_numbers([row[position] for row in rows]), columns)


def _check_columns(sheet: Sheet, task: Task) -> None:
    expected = (GROUP,) + task.metadata
    if not set(expected) & set(sheet.columns):
        sheet.refuse_header(*expected)
        return
    for column in expected:
        number = sheet.columns.count(column)
        if number > 1:
            sheet.add("metadata-column, repeated", 1, column=column)
        elif number == 0 and column != GROUP:
            sheet.add("metadata-column", 1, column=column)


def _check_indices(sheet: Sheet) -> None:
    seen: set[int] = set()
    for line, index, _ in sheet.rows:
        if index in seen:
            sheet.add("repeated-index", line, index=index)
        seen.add(index)
    for index in sheet.positions:
        if index not in seen:
            sheet.add("missing-index", index=index)


def categories(task: Task, tags: Tagged, about: Metadata | None, *, size: int) -> tuple[Category, ...]:
    """The reported categories of a diagnostic set: all, coarse and fine phenomena, metadata values.

    They are in the manifest's order, and metadata values in order of appearance; empty ones are left out.
    """
    parts = [Category(OVERALL, "", tuple(range(size)))]
    for coarse in task.coarse():
        tagged: set[int] = set()
        for phenomenon, positions in tags.items():
            if phenomenon.coarse == coarse:
                tagged.update(positions)
        parts.append(Category("coarse", coarse, tuple(sorted(tagged))))
    for phenomenon in task.phenomena:
        if phenomenon in tags:
            parts.append(Category("fine", phenomenon.name, tags[phenomenon]))
    if about is not None:
        for column in task.metadata:
            for value, rows in places_of(about.columns.get(column, ())).items():
                parts.append(Category(column, value, tuple(rows)))
    return tuple(part for part in parts if part.positions)


def with_pairs(
    metadata: Mapping[str, Metadata], benchmark: Benchmark, columns: Mapping[str, Column]
) -> dict[str, Metadata]:
    """The metadata with groups and directions of pairs, for tasks whose manifest declares pairs.

    Examples 0 and 1, 2 and 3, and so on are then one pair of texts, the first of them forward (section 4 of
    the paper). Groups and directions that are known stay.
    """
    with_groups = dict(metadata)
    for task in benchmark.tasks:
        if not task.in_pairs:
            continue
        for file in task.files:
            about = metadata.get(file.name, Metadata(None, {}))
            if file.name not in columns or about.groups is not None:
                continue
            indices = columns[file.name].row_indices
            directions = tuple("backward" if index % 2 else "forward" for index in indices)
            known = {DIRECTION: directions, **about.columns}
            in_order = {column: known[column] for column in task.metadata if column in known}
            pairs = group_numbers([index // 2 for index in indices])
            with_groups[file.name] = Metadata(pairs, in_order)
    return with_groups


def group_numbers(groups: Sequence[Hashable]) -> tuple[int, ...]:
    """The group of each example, numbered from 0 in order of appearance."""
    numbers: dict[Hashable, int] = {}
    for group in groups:
        numbers.setdefault(group, len(numbers))
    return tuple(numbers[group] for group in groups)


def places_of(values: Iterable[Value]) -> dict[Value, list[int]]:
    """Map each value to its positions, in order of first appearance."""
    places: dict[Value, list[int]] = {}
    for position, value in enumerate(values):
        places.setdefault(value, []).append(position)
    return places
