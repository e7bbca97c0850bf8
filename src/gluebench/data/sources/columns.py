"""Mapping a file's columns to those of prepared data, checks of index, labels and tags, and JSON lines.

A column of a file becomes `index`, an input column, `label`, or tags, or keeps its name.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.data.arrays import constant, integers, lists, numbers, strings
from gluebench.data.dataset import INDEX, LABEL, TAGS
from gluebench.data.errors import DataError, refuse
from gluebench.data.sources.release import TaskRelease
from gluebench.data.tsv import text_lines

JOINER = ";"
"""Separator of several tags in one cell."""
Check: TypeAlias = "Callable[[pa.Array], Checked]"
"""Converts and checks one batch of a column."""


class Plan(NamedTuple):
    """Positions of a file's columns by their role."""

    inputs: tuple[int, ...]
    """In the order of the task's input columns."""
    index_at: int | None
    label_at: int | None
    tags: Mapping[int, str]
    """Position of a column to the coarse category of its tags."""
    extras: Mapping[str, int]


class Checked(NamedTuple):
    """A column's converted values, and which of them are valid."""

    values: pa.Array
    sound: np.ndarray
    """Whether each value is valid."""
    expected: str
    hidden: np.ndarray | None = None
    """Whether each label is marked as hidden."""


def plan(names: Sequence[str], task: Task, release: TaskRelease, *, where: str, index: str = INDEX) -> Plan:
    """The role of each column, by name. Raises DataError if an input is missing or a name is repeated."""
    ours = [INDEX if name == index else release.columns.get(name, name) for name in names]
    listed = " ".join(repr(name[:40]) for name in names[:20])
    listed += f" and {len(names) - 20} more" if len(names) > 20 else ""
    if not set(task.columns) <= set(ours):
        expected = []
        for column in task.columns:
            others = ", ".join(theirs for theirs, name in release.columns.items() if name == column)
            expected.append(f"{column} (or {others})" if others else column)
        problem = f"found the columns {listed}; expected {' '.join(expected)} among them, for {task.name}"
        raise DataError(f"{where}: {problem}")
    tagged = {at: name for at, name in enumerate(ours) if name in task.coarse()}
    taken = [*(name for at, name in enumerate(ours) if at not in tagged), *([TAGS] if tagged else [])]
    repeated = sorted({name for name in taken if taken.count(name) > 1})
    if repeated or "" in taken:
        fault = f"{repeated[0]!r} twice" if repeated else "one without a name"
        raise DataError(f"{where}: found the columns {listed}, {fault}; expected each name once")
    at = {name: position for position, name in enumerate(ours) if position not in tagged}
    known = {INDEX, LABEL, *task.columns}
    return Plan(
        tuple(at[column] for column in task.columns),
        at.get(INDEX),
        at.get(LABEL),
        tagged,
        {name: position for name, position in at.items() if name not in known},
    )


@dataclass(eq=False)
class Shaper:
    """Converts batches of a file's columns to prepared data, and collects the problems."""

    plan: Plan
    task: Task
    release: TaskRelease
    index: Check
    label: Check
    problems: list[str]

    def __post_init__(self) -> None:
        self._hidden: bool | None = None
        """Whether the file's labels are hidden, as in its first batch; None before that."""
        self._tags = {
            (phenomenon.coarse, name): phenomenon.name
            for phenomenon in self.task.phenomena
            for name in (phenomenon.name, *phenomenon.aliases)
        }
        self._rows = 0

    def batch(self, columns: Sequence[pa.Array], prefix: str, places: Sequence[int]) -> pa.RecordBatch:
        """Convert one batch; problems name a row by `prefix` and its entry in `places`: "dev.tsv:3"."""
        plan, rows = self.plan, len(columns[0])

        def where(row: int) -> str:
            return f"{prefix}{places[row]}"

        if plan.index_at is None:
            index = integers(np.arange(self._rows, self._rows + rows))
        else:
            index = self._checked(INDEX, self.index(columns[plan.index_at]), columns[plan.index_at], where)
        ours: dict[str, Any] = {INDEX: index}
        for name, at in zip(self.task.columns, plan.inputs, strict=True):
            ours[name] = unquoted(columns[at]) if self.release.quoted else columns[at]
        if plan.label_at is not None:
            labels = self.label(columns[plan.label_at])
            if self._hidden is None:
                self._hidden = labels.hidden is not None and bool(labels.hidden.all())
            if self._hidden and labels.hidden is not None:
                expected = f"{HIDDEN} for hidden, as in the rows above"
                labels = labels._replace(sound=labels.hidden, expected=expected)
            values = self._checked(LABEL, labels, columns[plan.label_at], where)
            ours |= {} if self._hidden else {LABEL: values}
        ours |= {name: columns[at] for name, at in plan.extras.items()}
        if plan.tags:
            cells = {coarse: columns[at].to_pylist() for at, coarse in plan.tags.items()}
            ours[TAGS] = self._tag_lists(cells, rows, where)
        self._rows += rows
        return pa.RecordBatch.from_pydict(ours)

    def _checked(
        self, name: str, checked: Checked, values: pa.Array, where: Callable[[int], str]
    ) -> pa.Array:
        for row in np.flatnonzero(~checked.sound).tolist():
            value = values[row].as_py()
            self.problems.append(f"{where(row)}: the {name} is {value!r}; expected {checked.expected}")
        return checked.values

    def _tag_lists(
        self, cells: Mapping[str, Sequence[str]], rows: int, where: Callable[[int], str]
    ) -> pa.Array:
        """Tags of each row: categories in the manifest's order, tags of one category in the cell's."""
        tags: list[list[str]] = [[] for _ in range(rows)]
        for coarse in filter(cells.__contains__, self.task.coarse()):
            for row, cell in enumerate(cells[coarse]):
                for tag in cell.split(JOINER) if cell else ():
                    if name := self._tags.get((coarse, tag)):
                        tags[row].append(name)
                        continue
                    expected = ", ".join(known for group, known in self._tags if group == coarse)
                    problem = f"the tag {tag!r} of {coarse}; expected one of {expected}"
                    self.problems.append(f"{where(row)}: {problem}")
        return lists(tags)


def unquoted(texts: pa.Array) -> pa.Array:
    """Texts with complete CSV quoting removed: `"a ""b"" c"` becomes `a "b" c`; others are unchanged."""
    if not pc.any(pc.starts_with(texts, '"')).as_py():
        return texts
    proper = pc.match_substring_regex(texts, r'(?s)^"(?:[^"]|"")*"$')
    inner = pc.replace_substring(pc.utf8_slice_codeunits(texts, 1, -1), '""', '"')
    return pc.if_else(proper, inner, texts)


HIDDEN = "-1"
HIDDEN_NUMBER = -1
INTEGER = r"^(?:0|[1-9][0-9]{0,17})$"
DECIMAL = r"^-?[0-9]{1,15}(?:\.[0-9]{1,30})?$"


def index_text(values: pa.Array) -> Checked:
    """Check an index column of text: integers from 0."""
    good = pc.match_substring_regex(values, INTEGER)
    return Checked(_kept(values, good).cast(pa.int64()), numbers(good), "a whole number from 0")


def index_number(values: pa.Array) -> Checked:
    """Check a typed index column: integers from 0."""
    if not pa.types.is_integer(values.type):
        return Checked(values, np.zeros(len(values), bool), "a whole number from 0")
    good = _between(values, 0, float("inf"))
    return Checked(values.cast(pa.int64()), numbers(good), "a whole number from 0")


def label_text(task: Task) -> Check:
    """The check of labels that are text: label words and their synonyms, or scores."""
    return _words(task) if task.labels else _scores(task)


def _words(task: Task) -> Check:
    known = {word: word for word in task.words}
    for label in task.labels:
        known |= dict.fromkeys(label.synonyms, label.word)

    def check(values: pa.Array) -> Checked:
        codes = pc.index_in(values, value_set=strings(list(known)))
        sound = numbers(codes.is_valid())
        hidden = numbers(pc.equal(values, constant(HIDDEN))) & ~sound
        labels = strings(list(known.values())).take(codes)
        return Checked(labels, sound, f"one of {', '.join(task.words)}", hidden)

    return check


def _scores(task: Task) -> Check:
    low, high = task.score_range or (float("-inf"), float("inf"))

    def check(values: pa.Array) -> Checked:
        if pa.types.is_string(values.type):
            values = _kept(values, pc.match_substring_regex(values, DECIMAL))
        scores = values.cast(pa.float64())
        if pa.types.is_floating(values.type):
            # A score in single precision, also as a double, is its shortest decimal: 3.2, not 3.2000000477.
            single = values.cast(pa.float32())
            decimal = single.cast(pa.string()).cast(pa.float64())
            scores = pc.if_else(pc.equal(single.cast(pa.float64()), scores), decimal, scores)
        sound = numbers(_between(scores, low, high))
        hidden = numbers(_between(scores, HIDDEN_NUMBER, HIDDEN_NUMBER)) & ~sound
        return Checked(scores, sound, f"a plain decimal number from {low:g} to {high:g}", hidden)

    return check


def _class_numbers(words: Sequence[str]) -> Check:
    """The check of the hub's labels: numbers of classes, -1 for hidden."""
    last = len(words) - 1

    def check(values: pa.Array) -> Checked:
        sound = _between(values, 0, last)
        labels = strings(words).take(_kept(values, sound).cast(pa.int64()))
        hidden = numbers(_between(values, HIDDEN_NUMBER, HIDDEN_NUMBER))
        return Checked(labels, numbers(sound), f"the number of a class, 0 to {last}", hidden)

    return check


def label_typed(task: Task, field: pa.Field, names: Sequence[str] | None, *, where: str) -> Check:
    """The check of a typed label column: class numbers, scores or words. Raises DataError for other types."""
    if pa.types.is_integer(field.type) and task.labels:
        return _class_numbers(task.words if names is None else _by_name(task, names, where=where))
    number = pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
    if (number and not task.labels) or pa.types.is_string(field.type):
        return label_text(task)
    expected = "numbers of classes or words" if task.labels else "decimal numbers"
    raise DataError(f"{where}: the label column is of type {field.type}; expected {expected}")


def class_names(schema: pa.Schema) -> list[str] | None:
    """The class names in Hugging Face's metadata, in the order of their numbers; None without them."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        names = features["label"]["names"]
    except (KeyError, TypeError, ValueError):
        return None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _by_name(task: Task, names: Sequence[str], *, where: str) -> tuple[str, ...]:
    """The label word of each class: by name, or by order if no name is known. Raises DataError."""
    known = {
        fold(name): label.word for label in task.labels for name in (label.gloss, *label.synonyms, label.word)
    }
    words = [known.get(fold(name)) for name in names]
    if len(words) == len(task.words) and not any(words):
        return task.words
    known_words = tuple(word for word in words if word is not None)
    if sorted(known_words) != sorted(task.words) or len(words) != len(known_words):
        raise DataError(
            f"{where}: the file's classes are {', '.join(names)}; expected those of {', '.join(task.words)}"
        )
    return known_words


def _kept(values: pa.Array, good: pa.Array) -> pa.Array:
    """The values, with nulls in place of invalid ones."""
    if pc.all(good).as_py():
        return values
    return pc.if_else(good, values, pa.nulls(1, values.type)[0])


def _between(values: pa.Array, low: float, high: float) -> pa.Array:
    """Whether each value is from `low` to `high`; False for null."""
    inside = pc.and_(pc.greater_equal(values, constant(low)), pc.less_equal(values, constant(high)))
    return pc.fill_null(inside, constant(False))


HUB_INDEX = "idx"
MERGED = "merged_label"
"""Column of labels that merge some of the task's (`TaskRelease.merged_labels`)."""


def from_json_lines(path: Path, task: Task, release: TaskRelease, notes: list[str]) -> pa.RecordBatch:
    """The objects of a file, one per line, with columns by key. Raises DataError with every wrong line."""
    rows: list[dict[str, str]] = []
    places: list[int] = []
    problems: list[str] = []
    for number, line in enumerate(text_lines(path, path.read_bytes()), 1):
        try:
            row = json.loads(line)
            rows.append({key: str(value) for key, value in row.items()})
            places.append(number)
        except (ValueError, AttributeError, RecursionError):
            problems.append(f"{path}:{number}: not a JSON object; expected one on each line")
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = {row.get(LABEL, "") for row in rows}
    if not values <= set(task.words) and values <= set(release.merged_labels):
        rows = [{MERGED if key == LABEL else key: value for key, value in row.items()} for row in rows]
        names[names.index(LABEL)] = MERGED
        known = f"only {' or '.join(sorted(values))}, kept as the column {MERGED}"
        notes.append(f"{path.name}: its labels are {known}; grading needs {', '.join(task.words)}")
    columns = plan(names, task, release, where=str(path), index=HUB_INDEX)
    for name in (names[at] for at in columns.inputs):
        problems += [
            f"{path}:{place}: no {name} is there; expected text"
            for place, row in zip(places, rows, strict=True)
            if name not in row
        ]
    shaper = Shaper(columns, task, release, index_text, label_text(task), problems)
    batch = shaper.batch([strings([row.get(name, "") for row in rows]) for name in names], f"{path}:", places)
    refuse(problems)
    return batch
