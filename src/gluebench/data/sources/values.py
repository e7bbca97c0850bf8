"""Reading a column's values: indices and labels as text, and labels as the hub's class numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gluebench.benchmark import Task
from gluebench.data.arrays import constant, numbers, strings
from gluebench.data.errors import DataError
from gluebench.data.sources.shape import Check, Checked

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

HIDDEN = "-1"
HIDDEN_NUMBER = -1
WHOLE = r"^(?:0|[1-9][0-9]{0,17})$"
DECIMAL = r"^-?[0-9]{1,15}(?:\.[0-9]{1,30})?$"


def index_text(values: pa.Array) -> Checked:
    """Whole numbers from 0 as plain text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    good = pc.match_substring_regex(values, WHOLE)
    found = _kept(values, good).cast(pa.int64())
    return Checked(found, _bad(good), "a whole number from 0")


def index_number(values: pa.Array) -> Checked:
    """Whole numbers from 0 of a typed column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(values.type):
        return Checked(values, range(len(values)), "a whole number from 0")
    good = _true(pc.greater_equal(values, constant(0)))
    return Checked(values.cast(pa.int64()), _bad(good), "a whole number from 0")


def label_text(task: Task) -> Check:
    """The reader of labels that are text."""
    return _Words(task) if task.labels else _Scores(task)


class _Hidden:
    """Whether labels are hidden: the first batch says so for the whole file."""

    def __init__(self) -> None:
        self._hidden: bool | None = None

    def __call__(self, hidden: np.ndarray, checked: Checked) -> Checked:
        import numpy as np

        if self._hidden is None:
            self._hidden = bool(hidden.all())
        if not self._hidden:
            return checked
        return Checked(None, np.flatnonzero(~hidden).tolist(), f"{HIDDEN} for hidden, as in the rows above")


class _Words:
    """Label words, and their synonyms for them."""

    def __init__(self, task: Task) -> None:
        self._words = {word: word for word in task.words}
        for label in task.labels:
            self._words |= dict.fromkeys(label.synonyms, label.word)
        self._expected = f"one of {', '.join(task.words)}"
        self._hidden = _Hidden()

    def __call__(self, values: pa.Array) -> Checked:
        import pyarrow.compute as pc

        codes = pc.index_in(values, value_set=strings(list(self._words)))
        good = codes.is_valid()
        hidden = numbers(pc.and_not(pc.equal(values, constant(HIDDEN)), good))
        words = strings(list(self._words.values())).take(codes)
        return self._hidden(hidden, Checked(words, _bad(good), self._expected))


class _Scores:
    """Decimal numbers within the task's range."""

    def __init__(self, task: Task) -> None:
        self._range = task.score_range or (float("-inf"), float("inf"))
        self._expected = f"a plain decimal number from {self._range[0]:g} to {self._range[1]:g}"
        self._hidden = _Hidden()

    def __call__(self, values: pa.Array) -> Checked:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_floating(values.type):
            scores = _shortest(values)
        else:
            plain = pc.match_substring_regex(values, DECIMAL)
            scores = _kept(values, plain).cast(pa.float64())
        low, high = self._range
        good = pc.and_(pc.greater_equal(scores, constant(low)), pc.less_equal(scores, constant(high)))
        good = _true(good)
        hidden = pc.and_not(_true(pc.equal(scores, constant(HIDDEN_NUMBER))), good)
        return self._hidden(numbers(hidden), Checked(scores, _bad(good), self._expected))


class ClassNumbers:
    """The hub's labels: numbers of classes, -1 where hidden."""

    def __init__(self, task: Task, names: Sequence[str] | None, *, where: str) -> None:
        """`names` are the classes as the file's metadata has them. Raises DataError where they do not fit."""
        self._words = task.words if names is None else _by_name(task, names, where=where)
        self._hidden = _Hidden()

    def __call__(self, values: pa.Array) -> Checked:
        """The label word of each number."""
        import pyarrow as pa
        import pyarrow.compute as pc

        number = len(self._words)
        good = _true(pc.and_(pc.greater_equal(values, constant(0)), pc.less(values, constant(number))))
        hidden = numbers(_true(pc.equal(values, constant(HIDDEN_NUMBER))))
        words = strings(self._words).take(_kept(values, good).cast(pa.int64()))
        expected = f"the number of a class, 0 to {number - 1}"
        return self._hidden(hidden, Checked(words, _bad(good), expected))


def label_typed(task: Task, field: pa.Field, names: Sequence[str] | None, *, where: str) -> Check:
    """The reader of a typed label column: class numbers, scores or words."""
    import pyarrow as pa

    if pa.types.is_integer(field.type) and task.labels:
        return ClassNumbers(task, names, where=where)
    if (pa.types.is_floating(field.type) and not task.labels) or pa.types.is_string(field.type):
        return label_text(task)
    expected = "numbers of classes or words" if task.labels else "decimal numbers"
    raise DataError([f"{where}: the label column is of type {field.type}; expected {expected}"])


def class_names(schema: pa.Schema) -> list[str] | None:
    """The classes that Hugging Face's metadata names, in the order of their numbers; None if it does not."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        names = features["label"]["names"]
    except (KeyError, TypeError, ValueError):
        return None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _by_name(task: Task, names: Sequence[str], *, where: str) -> tuple[str, ...]:
    """Classes of the file as our label words: by name where they are known, else by order."""
    known = {
        _plain(name): label.word
        for label in task.labels
        for name in (label.gloss, *label.synonyms, label.word)
    }
    words = [known.get(_plain(name)) for name in names]
    if len(words) == len(task.words) and not any(words):
        return task.words
    found = tuple(word for word in words if word is not None)
    if sorted(found) != sorted(task.words) or len(words) != len(found):
        raise DataError(
            [f"{where}: the file's classes are {', '.join(names)}; expected those of {', '.join(task.words)}"]
        )
    return found


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ")


def _shortest(values: pa.Array) -> pa.Array:
    """Doubles; a single-precision number as its shortest decimal (3.2, not 3.2000000477)."""
    import pyarrow as pa

    if pa.types.is_float64(values.type):
        return values
    return values.cast(pa.string()).cast(pa.float64())


def _kept(values: pa.Array, good: pa.Array) -> pa.Array:
    """The values with nulls for those that are not good."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(good).as_py():
        return values
    return pc.if_else(good, values, pa.nulls(1, values.type)[0])


def _true(found: pa.Array) -> pa.Array:
    """Which are true; a missing value is not."""
    import pyarrow.compute as pc

    return pc.fill_null(found, constant(False))


def _bad(good: pa.Array) -> list[int]:
    import numpy as np

    found: list[int] = np.flatnonzero(~numbers(good)).tolist()
    return found
