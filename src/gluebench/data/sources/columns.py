"""Mapping a file's columns to those of prepared data, and checks of index, labels and tags.

A column of a file becomes `index`, an input column, `label`, or tags, or keeps its name.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.data.arrays import constant, integers, lists, numbers, strings
from gluebench.data.dataset import INDEX, LABEL, TAGS
from gluebench.data.errors import DataError
from gluebench.data.sources.release import TaskRelease
from gluebench.reading.notation import NotationError
from gluebench.submission.forms import cell_form, cell_text

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
    """The role of each column, by its name in the file; `index` is that of the index if none is declared.

    Raises DataError if an input is missing or a name is repeated.
    """
    ours = [release.columns.get(name, name) for name in names]
    if INDEX not in ours:
        ours = [INDEX if name == index else name for name in ours]
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
    unlabeled: list[str] = field(default_factory=list)
    """Places of rows that are left out, since their label is one that the release declares as none."""

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
        columns, places = self._labeled(columns, prefix, places)
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
                expected = f"{HIDDEN[0]} for hidden, as in the rows above"
                labels = labels._replace(sound=labels.hidden, expected=expected)
            values = self._checked(LABEL, labels, columns[plan.label_at], where)
            ours |= {} if self._hidden else {LABEL: values}
        ours |= {name: columns[at] for name, at in plan.extras.items()}
        if plan.tags:
            cells = {coarse: columns[at].to_pylist() for at, coarse in plan.tags.items()}
            ours[TAGS] = self._tag_lists(cells, rows, where)
        self._rows += rows
        return pa.RecordBatch.from_pydict(ours)

    def _labeled(
        self, columns: Sequence[pa.Array], prefix: str, places: Sequence[int]
    ) -> tuple[Sequence[pa.Array], Sequence[int]]:
        """The columns and places without the rows whose label is declared as none."""
        if not self.release.unlabeled or self.plan.label_at is None:
            return columns, places
        labels = columns[self.plan.label_at]
        texts = labels if pa.types.is_string(labels.type) else labels.cast(pa.string())
        without = numbers(pc.is_in(texts, value_set=strings(self.release.unlabeled)))
        if not without.any() or without.all():
            return columns, places  # in a split whose labels are all hidden, every row is kept
        self.unlabeled += [f"{prefix}{places[row]}" for row in np.flatnonzero(without).tolist()]
        kept = np.flatnonzero(~without)
        return [column.take(integers(kept)) for column in columns], [places[row] for row in kept.tolist()]

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


OF_LISTS = ("sets", "tokens", "dependencies", "spans", "ranking")
"""Forms whose labels are lists in JSON and in typed files."""


def list_cells(
    values: Iterable[Any], task: Task, split: str, notes: list[str], names: Sequence[str] = ()
) -> list[str]:
    """Labels that are lists as cells of the task's form, other values as JSON has them.

    Whole numbers in a list are classes, with these names in their order; or with the manifest's, which is
    said in `notes`.
    """
    words = names or task.vocabulary
    cells = []
    for value in values:
        parts = value if isinstance(value, list) and task.form in ("sets", "tokens") else []
        if parts and all(type(part) is int and 0 <= part < len(words) for part in parts):
            value = [words[part] for part in parts]
            if not names:
                note_classes(split, words, notes)
        try:
            cells.append("" if value is None else cell_text(value, task))
        except (NotationError, TypeError):
            cells.append(json.dumps(value, ensure_ascii=False))
    return cells


def note_classes(split: str, words: Sequence[str], notes: list[str]) -> None:
    """Say once which labels the class numbers of a split are taken for."""
    meanings = ", ".join(f"{number} is {word}" for number, word in enumerate(words[:3]))
    note = f"{split}: labels are class numbers; {meanings}{', ...' * (len(words) > 3)}"
    if note not in notes:
        notes.append(note)


HIDDEN = ("-1", "")
"""Texts in place of a hidden label."""
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


def id_text(ids: Sequence[str]) -> Check:
    """The check of an index column that holds the ids of the manifest: their positions there."""
    position = {name: at for at, name in enumerate(ids)}

    def check(values: pa.Array) -> Checked:
        places = np.array([position.get(name, -1) for name in values.to_pylist()], np.int64)
        return Checked(integers(places), places >= 0, f"an id such as {ids[0]}")

    return check


def label_text(task: Task) -> Check:
    """The check of labels that are text: label words and their synonyms, scores, or cells of another form."""
    if task.labels:
        return _words(task, task.words)
    if task.form == "numbers":
        return _scores(task)
    form = cell_form(task, gold=True)
    if form is None:  # the gold of probabilities
        return _words(task, task.vocabulary)

    def check(values: pa.Array) -> Checked:
        sound = np.ones(len(values), bool)
        for row, cell in enumerate(values.to_pylist()):
            try:
                form.read(cell)
            except ValueError:
                sound[row] = False
        hidden = numbers(pc.equal(values, constant("")))
        if task.form == "sets":
            hidden &= ~sound  # no label is an answer
        return Checked(values, sound & ~hidden, form.expected, hidden)

    return check


def _words(task: Task, words: Sequence[str]) -> Check:
    known = {label.gloss: label.word for label in task.labels if label.gloss}
    for label in task.labels:
        known |= dict.fromkeys(label.synonyms, label.word)
    known |= {word: word for word in words}

    def check(values: pa.Array) -> Checked:
        codes = pc.index_in(values, value_set=strings(list(known)))
        sound = numbers(codes.is_valid())
        hidden = numbers(pc.is_in(values, value_set=strings(HIDDEN))) & ~sound
        labels = strings(list(known.values())).take(codes)
        return Checked(labels, sound, f"one of {', '.join(words)}", hidden)

    return check


def _scores(task: Task) -> Check:
    low, high = task.score_range or (float("-inf"), float("inf"))

    def check(values: pa.Array) -> Checked:
        empty: pa.Array | None = None
        if pa.types.is_string(values.type):
            empty = pc.equal(values, constant(""))
            values = _kept(values, pc.match_substring_regex(values, DECIMAL))
        scores = values.cast(pa.float64())
        if pa.types.is_floating(values.type):
            # A score in single precision, also as a double, is its shortest decimal: 3.2, not 3.2000000477.
            single = values.cast(pa.float32())
            decimal = single.cast(pa.string()).cast(pa.float64())
            scores = pc.if_else(pc.equal(single.cast(pa.float64()), scores), decimal, scores)
        sound = numbers(_between(scores, low, high))
        hidden = numbers(_between(scores, HIDDEN_NUMBER, HIDDEN_NUMBER)) & ~sound
        if empty is not None:
            hidden |= numbers(empty)
        return Checked(scores, sound, f"a plain decimal number from {low:g} to {high:g}", hidden)

    return check


def class_numbers(words: Sequence[str]) -> Check:
    """The check of numbers of classes, as numbers or text; -1 or empty text for hidden."""
    last = len(words) - 1

    def check(values: pa.Array) -> Checked:
        if pa.types.is_string(values.type):
            values = pc.if_else(pc.equal(values, constant("")), constant(HIDDEN[0]), values)
            whole = pc.match_substring_regex(values, r"^-?[0-9]{1,9}(?:\.0)?$")
            values = _kept(values, whole).cast(pa.float64())
        elif pa.types.is_floating(values.type):  # as pandas has numbers beside missing ones
            values = pc.fill_null(values, HIDDEN_NUMBER)
            values = _kept(values, pc.equal(values, pc.floor(values)))
        sound = _between(values, 0, last)
        labels = strings(words).take(_kept(values, sound).cast(pa.int64()))
        hidden = numbers(_between(values, HIDDEN_NUMBER, HIDDEN_NUMBER))
        return Checked(labels, numbers(sound), f"the number of a class, 0 to {last}", hidden)

    return check


def label_typed(
    task: Task, release: TaskRelease, field: pa.Field, names: Sequence[str] | None, *, where: str
) -> Check:
    """The check of a typed label column: class numbers, scores or words. Raises DataError for other types."""
    number = pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
    if number and task.labels:
        if names is None:
            return class_numbers(release.classes or task.words)
        return class_numbers(words_of_classes(task, names, where=where))
    if (number and task.form == "numbers") or pa.types.is_string(field.type) or is_list(field, task):
        return label_text(task)
    expected = "decimal numbers" if task.form == "numbers" else "text"
    if task.labels:
        expected = "numbers of classes or words"
    elif task.form in OF_LISTS:
        expected = "lists or text"
    raise DataError(f"{where}: the label column is of type {field.type}; expected {expected}")


def is_list(field: pa.Field, task: Task) -> bool:
    """Whether a column has the labels of the task as lists."""
    lists_of = pa.types.is_list(field.type) or pa.types.is_large_list(field.type)
    return task.form in OF_LISTS and bool(lists_of)


def words_of_classes(task: Task, names: Sequence[str], *, where: str) -> tuple[str, ...]:
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
    if pa.types.is_integer(values.type):
        values = values.cast(pa.float64(), safe=False)  # a damaged file may have integers beyond 2^53
    inside = pc.and_(pc.greater_equal(values, constant(low)), pc.less_equal(values, constant(high)))
    return pc.fill_null(inside, constant(False))


HUB_INDEX = "idx"
MERGED = "merged_label"
"""Column of labels that merge some of the task's (`TaskRelease.merged_labels`)."""
