"""From a file's columns to ours: which is which, and the checked index, labels and tags.

A column of a file becomes `index`, an input column, `label`, a set of tags, or stays under its own name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gluebench.benchmark import Task
from gluebench.data.arrays import integers, lists
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import LABEL
from gluebench.data.prepared import INDEX
from gluebench.data.sources.release import TaskRelease

if TYPE_CHECKING:
    import pyarrow as pa

TAGS = "phenomena"
JOINER = ";"
"""Between several tags in one cell."""


Check: TypeAlias = "Callable[[pa.Array], Checked]"
"""Reads one column of a file, batch by batch."""


class Plan(NamedTuple):
    """Positions of a file's columns by what becomes of them."""

    inputs: tuple[int, ...]
    """In the order of the task's input columns."""
    index_at: int | None
    label_at: int | None
    tags: Mapping[int, str]
    """Position to the coarse category whose tags it holds."""
    extras: Mapping[str, int]


class Checked(NamedTuple):
    """A column's values, and what is wrong with some of them."""

    values: pa.Array | None
    """None where they are hidden."""
    bad: Sequence[int] = ()
    """Rows whose value cannot be taken."""
    expected: str = ""


def plan(names: Sequence[str], task: Task, release: TaskRelease, *, where: str, index: str = INDEX) -> Plan:
    """What becomes of columns of these names. Raises DataError where the task's inputs are not all there."""
    ours = [INDEX if name == index else release.columns.get(name, name) for name in names]
    missing = [column for column in task.columns if column not in ours]
    if missing:
        expected = " ".join(_alternatives(column, release) for column in task.columns)
        raise DataError(
            [f"{where}: found the columns {_quoted(names)}; expected {expected} among them, for {task.name}"]
        )
    tagged = {at: name for at, name in enumerate(ours) if name in task.coarse()}
    taken = [*(name for at, name in enumerate(ours) if at not in tagged), *([TAGS] if tagged else [])]
    repeated = sorted({name for name in taken if taken.count(name) > 1})
    if repeated or "" in taken:
        found = f"{repeated[0]!r} twice" if repeated else "one without a name"
        raise DataError([f"{where}: found the columns {_quoted(names)}, {found}; expected each name once"])
    at = {name: position for position, name in enumerate(ours) if position not in tagged}
    own = {INDEX, LABEL, *task.columns}
    return Plan(
        tuple(at[column] for column in task.columns),
        at.get(INDEX),
        at.get(LABEL),
        tagged,
        {name: position for name, position in at.items() if name not in own},
    )


def _alternatives(column: str, release: TaskRelease) -> str:
    """A column's name in files, and its other ones."""
    names = [theirs for theirs, ours in release.columns.items() if ours == column]
    return f"{column} (or {', '.join(names)})" if names else column


def _quoted(names: Sequence[str]) -> str:
    shown = [repr(name[:40]) for name in names[:20]]
    return " ".join(shown) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


class Shaper:
    """Makes batches of ours from a file's columns and keeps every problem it meets."""

    def __init__(
        self, plan: Plan, task: Task, *, quoted: bool, index: Check, label: Check, problems: list[str]
    ) -> None:
        self._plan = plan
        self._task = task
        self._quoted = quoted
        self._index = index
        self._label = label
        self._tags = _Tags(task)
        self._problems = problems
        self._rows = 0

    def batch(self, columns: Sequence[pa.Array], where: Callable[[int], str]) -> pa.RecordBatch:
        """The rows of these columns; `where` says where a row of them stands."""
        import pyarrow as pa

        plan, found = self._plan, dict[str, Any]()
        rows = len(columns[0])
        found[INDEX] = self._numbered(columns, rows, where)
        for name, at in zip(self._task.columns, plan.inputs, strict=True):
            found[name] = unquoted(columns[at]) if self._quoted else columns[at]
        if plan.label_at is not None:
            found[LABEL] = self._checked(LABEL, self._label, columns[plan.label_at], where)
        found |= {name: columns[at] for name, at in plan.extras.items()}
        if plan.tags:
            cells = {coarse: columns[at].to_pylist() for at, coarse in plan.tags.items()}
            found[TAGS] = self._tags.read(cells, where, self._problems)
        self._rows += rows
        return pa.RecordBatch.from_pydict({name: each for name, each in found.items() if each is not None})

    def _numbered(self, columns: Sequence[pa.Array], rows: int, where: Callable[[int], str]) -> pa.Array:
        """The file's own index, or else the number of the row."""
        import numpy as np

        if self._plan.index_at is not None:
            return self._checked(INDEX, self._index, columns[self._plan.index_at], where)
        return integers(np.arange(self._rows, self._rows + rows))

    def _checked(
        self, name: str, check: Check, values: pa.Array, where: Callable[[int], str]
    ) -> pa.Array | None:
        checked = check(values)
        for row in checked.bad:
            value = values[row].as_py()
            self._problems.append(f"{where(row)}: the {name} is {value!r}; expected {checked.expected}")
        return checked.values


def unquoted(texts: pa.Array) -> pa.Array:
    """Texts with CSV quoting undone where it is whole: `"a ""b"" c"` becomes `a "b" c`, others stay."""
    import pyarrow.compute as pc

    if not pc.any(pc.starts_with(texts, '"')).as_py():
        return texts
    proper = pc.match_substring_regex(texts, r'(?s)^"(?:[^"]|"")*"$')
    inner = pc.replace_substring(pc.utf8_slice_codeunits(texts, 1, -1), '""', '"')
    return pc.if_else(proper, inner, texts)


class _Tags:
    """Reads the cells of coarse categories into one list of canonical names for each row."""

    def __init__(self, task: Task) -> None:
        self._names = {
            (phenomenon.coarse, name): phenomenon.name
            for phenomenon in task.phenomena
            for name in (phenomenon.name, *phenomenon.aliases)
        }
        self._coarse = task.coarse()

    def read(
        self, cells: Mapping[str, Sequence[str]], where: Callable[[int], str], problems: list[str]
    ) -> pa.Array:
        """Tags of each row in the manifest's order of categories, and in their cell's within one."""
        rows: list[list[str]] = [[] for _ in next(iter(cells.values()))]
        for coarse in self._coarse:
            for row, cell in enumerate(cells.get(coarse, ())):
                for tag in cell.split(JOINER) if cell else ():
                    name = self._names.get((coarse, tag))
                    if name is None:
                        expected = ", ".join(known for group, known in self._names if group == coarse)
                        problems.append(
                            f"{where(row)}: the tag {tag!r} of {coarse}; expected one of {expected}"
                        )
                    else:
                        rows[row].append(name)
        return lists(rows)
