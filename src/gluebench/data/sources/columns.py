"""Mapping a file's columns to those of prepared data, and checks of index, labels and tags.

A column of a file becomes `index`, an input column, `label`, or tags, or keeps its name.
"""

import json
from collections import Counter
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
Check: TypeAlias = "Callable[[pa.Array], CheckedColumn]"
"""Converts and checks one batch of a column."""


class ColumnRoles(NamedTuple):
    """Positions of a file's columns by their role."""

    inputs: tuple[int, ...]
    """In the order of the task's input columns."""
    index_at: int | None
    label_at: int | None
    tags: Mapping[int, str]
    """Position of a column to the coarse category of its tags."""
    extras: Mapping[str, int]


class CheckedColumn(NamedTuple):
    """A column's converted values, and which of them are valid."""

    values: pa.Array
    sound: np.ndarray
    """Whether each value is valid."""
    expected: str
    hidden: np.ndarray | None = None
    """Whether each label is marked as hidden."""


def column_roles(
    names: Sequence[str], task: Task, release: TaskRelease, *, where: str, index: str = INDEX
) -> ColumnRoles:
    """The role of each column, by its name in the file; `index` is that of the index if none is declared.

    Raises DataError if an input is missing or a name is repeated.
    """
    ours = [release.columns.get(name, name) for name in names]
    if INDEX not in ours:
        ours = [INDEX if name == index else name for name in ours]
    listed = " ".join(repr(name[:40]) for name in names[:20])
    if len(names) > 20:
        listed += f" and {len(names) - 20} more"
    if not set(task.columns) <= set(ours):
        expected = " ".join(_names_of_input(column, release) for column in task.columns)
        problem = f"found the columns {listed}; expected {expected} among them, for {task.name}"
        raise DataError(f"{where}: {problem}")

    categories = task.coarse()
    tags = {at: name for at, name in enumerate(ours) if name in categories}
    counts = Counter(name for name in ours if name not in categories)
    if tags:
        counts[TAGS] += 1  # the column that the tags become
    repeated = sorted(name for name, count in counts.items() if count > 1)
    if repeated or "" in counts:
        fault = f"{repeated[0]!r} twice" if repeated else "one without a name"
        raise DataError(f"{where}: found the columns {listed}, {fault}; expected each name once")

    places = {name: at for at, name in enumerate(ours) if at not in tags}
    inputs = tuple(places.pop(column) for column in task.columns)
    index_at = places.pop(INDEX, None)
    label_at = places.pop(LABEL, None)
    return ColumnRoles(inputs, index_at, label_at, tags, places)


def _names_of_input(column: str, release: TaskRelease) -> str:
    """The names that an input column may have in a file."""
    others = ", ".join(theirs for theirs, name in release.columns.items() if name == column)
    return f"{column} (or {others})" if others else column


@dataclass(eq=False)
class BatchConverter:
    """Converts batches of a file's columns to prepared data, and collects the problems."""

    roles: ColumnRoles
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
        self._tags: dict[tuple[str, str], str] = {}
        """Coarse category and a name of a phenomenon to the manifest's name of it."""
        for phenomenon in self.task.phenomena:
            self._tags[phenomenon.coarse, phenomenon.name] = phenomenon.name
            for alias in phenomenon.aliases:
                self._tags[phenomenon.coarse, alias] = phenomenon.name
        self._rows = 0

    def convert(self, columns: Sequence[pa.Array], prefix: str, places: Sequence[int]) -> pa.RecordBatch:
        """Convert one batch; problems name a row by `prefix` and its entry in `places`: "dev.tsv:3"."""
        columns, places = self._drop_unlabeled(columns, prefix, places)
        roles = self.roles
        rows = len(columns[0])

        def where(row: int) -> str:
            return f"{prefix}{places[row]}"

        if roles.index_at is None:
            index = integers(np.arange(self._rows, self._rows + rows))
        else:
            column = columns[roles.index_at]
            index = self._report(INDEX, self.index(column), column, where)
        ours: dict[str, Any] = {INDEX: index}
        for name, at in zip(self.task.columns, roles.inputs, strict=True):
            ours[name] = unquote(columns[at]) if self.release.quoted else columns[at]
        if roles.label_at is not None:
            column = columns[roles.label_at]
            labels = self.label(column)
            if self._hidden is None:
                self._hidden = labels.hidden is not None and bool(labels.hidden.all())
            if self._hidden and labels.hidden is not None:
                expected = f"{HIDDEN[0]} for hidden, as in the rows above"
                labels = labels._replace(sound=labels.hidden, expected=expected)
            values = self._report(LABEL, labels, column, where)
            if not self._hidden:
                ours[LABEL] = values
        for name, at in roles.extras.items():
            ours[name] = columns[at]
        if roles.tags:
            cells = {coarse: columns[at].to_pylist() for at, coarse in roles.tags.items()}
            ours[TAGS] = self._tag_lists(cells, rows, where)
        self._rows += rows
        return pa.RecordBatch.from_pydict(ours)

    def _drop_unlabeled(
        self, columns: Sequence[pa.Array], prefix: str, places: Sequence[int]
    ) -> tuple[Sequence[pa.Array], Sequence[int]]:
        """The columns and places without the rows whose label is declared as none."""
        if not self.release.unlabeled or self.roles.label_at is None:
            return columns, places
        labels = columns[self.roles.label_at]
        if not pa.types.is_string(labels.type):
            labels = labels.cast(pa.string())
        unlabeled = numbers(pc.is_in(labels, value_set=strings(self.release.unlabeled)))
        if not unlabeled.any() or unlabeled.all():
            return columns, places  # in a split whose labels are all hidden, every row is kept
        self.unlabeled += [f"{prefix}{places[row]}" for row in np.flatnonzero(unlabeled).tolist()]
        labeled = np.flatnonzero(~unlabeled)
        rows = integers(labeled)
        return [column.take(rows) for column in columns], [places[row] for row in labeled.tolist()]

    def _report(
        self, name: str, checked: CheckedColumn, values: pa.Array, where: Callable[[int], str]
    ) -> pa.Array:
        """The converted values; invalid ones become problems."""
        for row in np.flatnonzero(~checked.sound).tolist():
            value = values[row].as_py()
            self.problems.append(f"{where(row)}: the {name} is {value!r}; expected {checked.expected}")
        return checked.values

    def _tag_lists(
        self, cells: Mapping[str, Sequence[str]], rows: int, where: Callable[[int], str]
    ) -> pa.Array:
        """Tags of each row: categories in the manifest's order, tags of one category in the cell's."""
        tags: list[list[str]] = [[] for _ in range(rows)]
        for coarse in self.task.coarse():
            for row, cell in enumerate(cells.get(coarse, ())):
                if not cell:
                    continue
                for tag in cell.split(JOINER):
                    name = self._tags.get((coarse, tag))
                    if name:
                        tags[row].append(name)
                        continue
                    expected = ", ".join(known for group, known in self._tags if group == coarse)
                    problem = f"the tag {tag!r} of {coarse}; expected one of {expected}"
                    self.problems.append(f"{where(row)}: {problem}")
        return lists(tags)


def unquote(texts: pa.Array) -> pa.Array:
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
    may_be_classes = task.form in ("sets", "tokens")
    cells = []
    for value in values:
        if may_be_classes and _are_classes(value, len(words)):
            value = [words[number] for number in value]
            if not names:
                note_classes(split, words, notes)
        try:
            cells.append("" if value is None else cell_text(value, task))
        except (NotationError, TypeError):
            cells.append(json.dumps(value, ensure_ascii=False))
    return cells


def _are_classes(value: Any, classes: int) -> bool:
    """Whether a value is a list of class numbers, and not empty."""
    if not isinstance(value, list) or not value:
        return False
    return all(type(number) is int and 0 <= number < classes for number in value)


def note_classes(split: str, words: Sequence[str], notes: list[str]) -> None:
    """Say once which labels the class numbers of a split are taken for."""
    meanings = [f"{number} is {word}" for number, word in enumerate(words[:3])]
    if len(words) > 3:
        meanings.append("...")
    note = f"{split}: labels are class numbers; {', '.join(meanings)}"
    if note not in notes:
        notes.append(note)


HIDDEN = ("-1", "")
"""Texts in place of a hidden label."""
HIDDEN_NUMBER = -1
INTEGER = r"^(?:0|[1-9][0-9]{0,17})$"
DECIMAL = r"^-?[0-9]{1,15}(?:\.[0-9]{1,30})?$"


def index_text(values: pa.Array) -> CheckedColumn:
    """Check an index column of text: integers from 0."""
    good = pc.match_substring_regex(values, INTEGER)
    indices = _null_invalid(values, good).cast(pa.int64())
    return CheckedColumn(indices, numbers(good), "a whole number from 0")


def index_number(values: pa.Array) -> CheckedColumn:
    """Check a typed index column: integers from 0."""
    if not pa.types.is_integer(values.type):
        return CheckedColumn(values, np.zeros(len(values), bool), "a whole number from 0")
    good = _between(values, 0, float("inf"))
    return CheckedColumn(values.cast(pa.int64()), numbers(good), "a whole number from 0")


def id_text(ids: Sequence[str]) -> Check:
    """The check of an index column that holds the ids of the manifest: their positions there."""
    position = {name: at for at, name in enumerate(ids)}

    def check(values: pa.Array) -> CheckedColumn:
        places = np.array([position.get(name, -1) for name in values.to_pylist()], np.int64)
        return CheckedColumn(integers(places), places >= 0, f"an id such as {ids[0]}")

    return check


def label_text(task: Task) -> Check:
    """The check of labels that are text: label words and their synonyms, scores, or cells of another form."""
    if task.labels:
        return _word_check(task, task.words)
    if task.form == "numbers":
        return _score_check(task)
    form = cell_form(task, gold=True)
    if form is None:  # the gold of probabilities
        return _word_check(task, task.vocabulary)

    def check(values: pa.Array) -> CheckedColumn:
        sound = np.ones(len(values), bool)
        for row, cell in enumerate(values.to_pylist()):
            try:
                form.read(cell)
            except ValueError:
                sound[row] = False
        hidden = numbers(pc.equal(values, constant("")))
        if task.form == "sets":
            hidden &= ~sound  # no label is an answer
        return CheckedColumn(values, sound & ~hidden, form.expected, hidden)

    return check


def _word_check(task: Task, words: Sequence[str]) -> Check:
    # A word of one label may be the gloss or a synonym of another; then it means itself.
    known = {label.gloss: label.word for label in task.labels if label.gloss}
    for label in task.labels:
        known |= dict.fromkeys(label.synonyms, label.word)
    known |= {word: word for word in words}

    def check(values: pa.Array) -> CheckedColumn:
        codes = pc.index_in(values, value_set=strings(list(known)))
        sound = numbers(codes.is_valid())
        hidden = numbers(pc.is_in(values, value_set=strings(HIDDEN))) & ~sound
        labels = strings(list(known.values())).take(codes)
        return CheckedColumn(labels, sound, f"one of {', '.join(words)}", hidden)

    return check


def _score_check(task: Task) -> Check:
    low, high = task.score_range or (float("-inf"), float("inf"))

    def check(values: pa.Array) -> CheckedColumn:
        empty: pa.Array | None = None
        if pa.types.is_string(values.type):
            empty = pc.equal(values, constant(""))
            values = _null_invalid(values, pc.match_substring_regex(values, DECIMAL))
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
        return CheckedColumn(scores, sound, f"a plain decimal number from {low:g} to {high:g}", hidden)

    return check


def class_numbers(words: Sequence[str]) -> Check:
    """The check of numbers of classes, as numbers or text; -1 or empty text for hidden."""
    last = len(words) - 1

    def check(values: pa.Array) -> CheckedColumn:
        if pa.types.is_string(values.type):
            values = pc.if_else(pc.equal(values, constant("")), constant(HIDDEN[0]), values)
            whole = pc.match_substring_regex(values, r"^-?[0-9]{1,9}(?:\.0)?$")
            values = _null_invalid(values, whole).cast(pa.float64())
        elif pa.types.is_floating(values.type):  # as pandas has numbers beside missing ones
            values = pc.fill_null(values, HIDDEN_NUMBER)
            values = _null_invalid(values, pc.equal(values, pc.floor(values)))
        sound = _between(values, 0, last)
        labels = strings(words).take(_null_invalid(values, sound).cast(pa.int64()))
        hidden = numbers(_between(values, HIDDEN_NUMBER, HIDDEN_NUMBER))
        return CheckedColumn(labels, numbers(sound), f"the number of a class, 0 to {last}", hidden)

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
    expected = "text"
    if task.labels:
        expected = "numbers of classes or words"
    elif task.form == "numbers":
        expected = "decimal numbers"
    elif task.form in OF_LISTS:
        expected = "lists or text"
    raise DataError(f"{where}: the label column is of type {field.type}; expected {expected}")


def is_list(field: pa.Field, task: Task) -> bool:
    """Whether a column has the labels of the task as lists."""
    lists_of = pa.types.is_list(field.type) or pa.types.is_large_list(field.type)
    return task.form in OF_LISTS and bool(lists_of)


def words_of_classes(task: Task, names: Sequence[str], *, where: str) -> tuple[str, ...]:
    """The label word of each class: by name, or by order if no name is known. Raises DataError."""
    known: dict[str, str] = {}
    for label in task.labels:
        known[fold(label.gloss)] = label.word
        for synonym in label.synonyms:
            known[fold(synonym)] = label.word
        known[fold(label.word)] = label.word
    words = [known.get(fold(name)) for name in names]
    if len(words) == len(task.words) and not any(words):
        return task.words
    known_words = tuple(word for word in words if word is not None)
    if sorted(known_words) != sorted(task.words) or len(words) != len(known_words):
        raise DataError(
            f"{where}: the file's classes are {', '.join(names)}; expected those of {', '.join(task.words)}"
        )
    return known_words


def _null_invalid(values: pa.Array, good: pa.Array) -> pa.Array:
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
