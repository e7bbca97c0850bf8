"""Read tags and metadata of gold labels: phenomena, groups of examples, and further columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from gluebench.benchmark import Benchmark, Phenomenon, Split, Task
from gluebench.benchmark.figures import counted
from gluebench.benchmark.lookup import closest, fold
from gluebench.reading.notation import PLACE
from gluebench.submission.problems import SHOWN_PER_FILE, Problem, worded
from gluebench.submission.submission import Column

GROUP = "group"
DIRECTION = "direction"
OVERALL = "overall"
Value = TypeVar("Value", bound=Hashable)

problem = worded(__file__)
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
        return cls(numbered([groups[at] for at in kept]), values)


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
        self._name, self._problems = name, list[Problem]()
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
        self._ids = {name: index for index, name in enumerate(split.ids)} if first == "id" else None
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
        return [*self._problems[:SHOWN_PER_FILE], more]

    def refuse_header(self, *expected: str) -> None:
        """Record that the columns are not the expected ones."""
        header = "<TAB>".join(["index", *expected])
        self.add("header", 1, header=header, value="\t".join(["index", *self.columns]))

    def _read_row(self, line: int, fields: Sequence[str], size: int) -> None:
        index = fields[0]
        if len(fields) != 1 + len(self.columns) or not all(fields):
            names = ", ".join(["index", *self.columns])
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
    known = {
        (fold(phenomenon.coarse), fold(word)): phenomenon
        for phenomenon in task.phenomena
        for word in (phenomenon.name, *phenomenon.aliases)
    }
    of_values = {
        values: known.get((fold(values[0]), fold(values[1]))) for values in {row.values for row in sheet.rows}
    }
    tagged: dict[Phenomenon, set[int]] = {phenomenon: set() for phenomenon in task.phenomena}
    for row in sheet.rows:
        phenomenon = of_values[row.values]
        if phenomenon is None:
            _refuse_phenomenon(sheet, row, task)
        elif row.example in sheet.positions:
            tagged[phenomenon].add(sheet.positions[row.example])
    return {phenomenon: tuple(sorted(at)) for phenomenon, at in tagged.items() if at}


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
    values = {
        column: tuple(by_index[index][sheet.columns.index(column)] for index in sheet.positions)
        for column in (GROUP, *task.metadata)
        if column in sheet.columns
    }
    groups = values.pop(GROUP, None)
    return Metadata(None if groups is None else numbered(groups), values)


def _check_columns(sheet: Sheet, task: Task) -> None:
    if not {GROUP, *task.metadata} & set(sheet.columns):
        sheet.refuse_header(GROUP, *task.metadata)
        return
    for column in (GROUP, *task.metadata):
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
        tagged = {at for phenomenon, where in tags.items() if phenomenon.coarse == coarse for at in where}
        parts.append(Category("coarse", coarse, tuple(sorted(tagged))))
    parts += [
        Category("fine", phenomenon.name, tags[phenomenon])
        for phenomenon in task.phenomena
        if phenomenon in tags
    ]
    columns = {} if about is None else about.columns
    for column in task.metadata:
        places = places_of(columns.get(column, ()))
        parts += [Category(column, value, tuple(positions)) for value, positions in places.items()]
    return tuple(part for part in parts if part.positions)


def with_pairs(
    metadata: Mapping[str, Metadata], benchmark: Benchmark, columns: Mapping[str, Column]
) -> dict[str, Metadata]:
    """The metadata with groups and directions of pairs, for tasks whose manifest declares pairs.

    Examples 0 and 1, 2 and 3, and so on are then one pair of texts, the first of them forward (section 4 of
    the paper). Groups and directions that are known stay.
    """
    paired = dict(metadata)
    for task in benchmark.tasks:
        for name in (file.name for file in task.files if task.in_pairs and file.name in columns):
            about = metadata.get(name, Metadata(None, {}))
            if about.groups is not None:
                continue
            indices = columns[name].row_indices
            directions = tuple("backward" if index % 2 else "forward" for index in indices)
            known = {DIRECTION: directions, **about.columns}
            ordered = {key: known[key] for key in task.metadata if key in known}
            paired[name] = Metadata(numbered([index // 2 for index in indices]), ordered)
    return paired


def numbered(values: Sequence[Hashable]) -> tuple[int, ...]:
    """Number the distinct values from 0, in order of appearance."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return tuple(numbers[value] for value in values)


def places_of(values: Iterable[Value]) -> dict[Value, list[int]]:
    """Map each value to its positions, in order of first appearance."""
    places: dict[Value, list[int]] = {}
    for position, value in enumerate(values):
        places.setdefault(value, []).append(position)
    return places
