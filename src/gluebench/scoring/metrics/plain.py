"""Columns from plain Python values, for the metrics as functions."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from gluebench.benchmark import Source, Task
from gluebench.benchmark.metrics import Form
from gluebench.reading.notation import is_number
from gluebench.scoring.metrics.counts import Table
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.tags import group_numbers
from gluebench.submission.forms import SIZES, cell_form, cell_text
from gluebench.submission.relations import TAG, PartError
from gluebench.submission.submission import Column
from gluebench.submission.values import plain_answers, plain_values

_ANY_TASK = Task("", "", "", "", "", (), (), None, (), {}, (), Source("", "", ""))
"""A task of which only the form and the labels matter."""
LARGEST_EXACT = 1 << 53
"""Up to here every integer is a double."""
Values = Iterable[Any] | Column
"""One value per example: a list, an array, a Series, a tensor, a Column."""


class LabelCounts(NamedTuple):
    """A confusion table and the code of each label."""

    table: Table
    labels: Mapping[Hashable, int]


def count_labels(gold: Values, predicted: Values, known: Sequence[Hashable] = ()) -> LabelCounts:
    """Count label pairs, of the labels `known` or, if there are none, of those that occur, sorted.

    Raises ValueError for columns that do not match, and labels that occur and are not known.
    """
    gold_labels, predicted_labels = lists_of(gold, predicted)
    require_labels(gold_labels, predicted_labels, known)
    occurring = list(dict.fromkeys(gold_labels + predicted_labels))
    kinds = {_kind(label) for label in occurring}
    if len(kinds) > 1:
        raise ValueError(
            f"gold and predictions mix {' and '.join(sorted(kinds))}; give both in the same form"
        )
    in_order: Sequence[Any] = occurring
    if known:
        require_known(occurring, known)
        in_order = known
    elif kinds <= {"label words", "numbers"}:
        in_order = sorted(occurring)
    pairs = Counter(zip(gold_labels, predicted_labels, strict=True))
    codes = {label: code for code, label in enumerate(in_order)}
    table = []
    for gold_label in codes:
        table.append([pairs[gold_label, predicted_label] for predicted_label in codes])
    return LabelCounts(table, codes)


def require_labels(gold: Sequence[Any], predicted: Sequence[Any], known: Sequence[Hashable]) -> None:
    """Raise ValueError for probabilities or scores, which are no labels unless the known ones have them."""
    if not known:
        _require(_is_label, gold, predicted, "a label: the one with the highest probability")


def _is_label(value: object) -> bool:
    return not isinstance(value, float) or value.is_integer()


def require_known(occurring: Iterable[Hashable], known: Sequence[Hashable]) -> None:
    """Raise ValueError if a label that occurs is not among the known ones."""
    unknown = [label for label in dict.fromkeys(occurring) if label not in known]
    if unknown:
        names = ", ".join(map(repr, unknown))
        labels = ", ".join(map(repr, known))
        raise ValueError(f"gold or predictions have {names}; expected only the labels {labels}")


def pairs_of(
    form: Form,
    gold: Values,
    predicted: Values,
    *,
    labels: Iterable[str] = (),
    groups: Values | None = None,
    exclusive: bool = True,
) -> Pairs:
    """The columns of a form as Pairs. `labels` gives the order of probabilities, else the sorted gold labels.

    `exclusive` probabilities and distributions sum to 1. Raises ValueError for columns that do not match, and
    for values that a file of the form could not hold.
    """
    known_labels = tuple(labels)
    gold_values, predicted_values = lists_of(gold, predicted, plain=form in ("labels", "numbers"))
    if form == "numbers":
        _require(_is_finite, gold_values, predicted_values, "a finite number")
        return Pairs(Column((), _doubles(gold_values)), Column((), _doubles(predicted_values)))
    if form == "labels":
        require_labels(gold_values, predicted_values, known_labels)
        occurring = tuple(dict.fromkeys(gold_values + predicted_values))
        known = known_labels or occurring
        require_known(occurring, known)
        numbers = None if groups is None else _numbers_of_groups(groups, len(gold_values))
        return Pairs(_label_column(known, gold_values), _label_column(known, predicted_values), numbers)
    if form == "probabilities":
        known = known_labels or tuple(sorted(set(gold_values)))
        return _with_probabilities(gold_values, predicted_values, known, exclusive=exclusive)
    words = known_labels or _label_words(form, gold_values + predicted_values)
    task = _ANY_TASK._replace(form=form, vocabulary=words, exclusive=exclusive)
    gold_cells = _read_cells("gold", gold_values, task, gold=True)
    predicted_cells = _read_cells("predictions", predicted_values, task)
    _require_equal_sizes(form, gold_cells, predicted_cells)
    return Pairs(Column((), tuple(gold_cells)), Column((), tuple(predicted_cells)))


def _require_equal_sizes(form: Form, gold: Sequence[Any], predicted: Sequence[Any]) -> None:
    """Raise ValueError for an example whose answer has not as many parts as gold, in forms that need it."""
    if form in SIZES:
        size_of: Callable[[Any], int | None] = SIZES[form]
    elif form == "distributions":
        size_of = len
    else:
        return
    for position, (gold_cell, predicted_cell) in enumerate(zip(gold, predicted, strict=True)):
        gold_size = size_of(gold_cell)
        size = size_of(predicted_cell)
        if gold_size != size and gold_size is not None and size is not None:
            where = _position_text(position)
            raise ValueError(f"gold has {gold_size} values and predictions {size} {where}")


def _read_cells(name: str, values: Sequence[Any], task: Task, *, gold: bool = False) -> list[Any]:
    """The values as a file would hold them, with the same checks."""
    form = cell_form(task, gold=gold)
    assert form is not None
    cells = []
    for position, value in enumerate(values):
        try:
            cells.append(form.read(cell_text(_in_file(value, task, gold), task)))
        except (TypeError, ValueError) as error:
            part = f": {error}" if isinstance(error, PartError) else ""
            where = _position_text(position)
            raise ValueError(f"{name}: {value!r} {where}{part}; expected {form.expected}") from None
    return cells


def _in_file(value: Any, task: Task, gold: bool) -> Any:
    """A value of Python as JSON in a file would give it."""
    if gold and task.form == "text" and isinstance(value, str):
        return [value]
    if gold and task.form == "ranking" and not isinstance(value, str):
        items: Iterable[Any] = value.items() if isinstance(value, Mapping) else value
        # An item without a gain is relevant.
        return [(item, 1) if isinstance(item, str) else item for item in items]
    return value


def _label_words(form: Form, answers: Sequence[Any]) -> tuple[str, ...]:
    """The labels that answers have where none are given; of distributions, the positions."""
    sequences = [answer for answer in answers if isinstance(answer, list | tuple)]
    if form == "distributions" and sequences:
        return tuple(map(str, range(len(sequences[0]))))
    labels: dict[str, None] = {}  # in order of appearance
    if form == "relations":
        for sentences in sequences:
            for _, letters, digits in TAG.findall(" ".join(map(str, sentences))):
                labels[f"{letters}{digits}"] = None
        return tuple(labels) or ("ARG0",)
    if form == "spans":
        for spans in sequences:
            for span in spans:
                if isinstance(span, list | tuple) and len(span) > 2:
                    labels[str(span[2])] = None
        if not all(map(is_number, labels)):  # numbers are weights, not labels
            return tuple(labels)
    return ()


def without_offset(column: Values) -> list[Any]:
    """A column of numbers; large integers minus the first of them, of which correlations do not depend."""
    values = plain_values(column)
    whole = all(isinstance(value, int) for value in values)
    if whole and max(map(abs, values), default=0) > LARGEST_EXACT:
        return [value - values[0] for value in values]
    return values


def _doubles(numbers: Sequence[Any]) -> array[float]:
    """The numbers as doubles. Raises ValueError for an integer that no double is."""
    doubles = array("d", numbers)
    for position, (number, double) in enumerate(zip(numbers, doubles, strict=True)):
        if number != double:
            where = _position_text(position)
            raise ValueError(f"{number} {where} is rounded as a double; expected integers up to 2**53")
    return doubles


def _with_probabilities(
    gold: Sequence[Any], predicted: Sequence[Any], labels: tuple[str, ...], *, exclusive: bool
) -> Pairs:
    task = _ANY_TASK._replace(form="probabilities", vocabulary=tuple(map(str, labels)), exclusive=exclusive)
    rows = _read_cells("predictions", predicted, task)
    for position, (label, row) in enumerate(zip(gold, rows, strict=True)):
        if label not in labels or len(row) != len(labels):
            known = ", ".join(map(repr, labels))
            raise ValueError(
                f"gold {label!r} and {len(row)} probabilities {_position_text(position)}; expected one "
                f"probability for each of the labels {known}: name all of them with labels="
            )
    return Pairs(_label_column(labels, gold), Column((), tuple(rows)))


def _label_column(labels: tuple[Any, ...], values: Sequence[Any]) -> Column:
    codes = {label: code for code, label in enumerate(labels)}
    return Column(labels, bytes(codes[value] for value in values))


def _numbers_of_groups(groups: Values, number: int) -> tuple[int, ...]:
    values = plain_values(groups)
    if len(values) != number:
        raise ValueError(f"there are {len(values)} groups and {number} examples; expected one per example")
    return group_numbers(values)


def _require(holds: Callable[[Any], bool], gold: Iterable[Any], predicted: Iterable[Any], what: str) -> None:
    """Raise ValueError for a value of one of the columns for which `holds` does not hold."""
    for name, column in (("gold", gold), ("predictions", predicted)):
        for position, value in enumerate(column):
            if not holds(value):
                raise ValueError(f"{name}: {value!r} {_position_text(position)}; expected {what}")


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def _is_given(value: object) -> bool:
    return value is not None and value == value  # not a number is not equal to itself


def lists_of(gold: Values, predicted: Values, *, plain: bool = True) -> tuple[list[Any], list[Any]]:
    """Both columns as lists; `plain` values are labels or numbers, others may be sequences.

    Raises ValueError for empty columns, different lengths or missing values.
    """
    to_list = plain_values if plain else _answers
    gold_values = to_list(gold)
    predicted_values = to_list(predicted)
    if len(gold_values) != len(predicted_values):
        raise ValueError(
            f"gold has {len(gold_values)} values and predictions {len(predicted_values)}; "
            "expected one per example"
        )
    if not gold_values:
        raise ValueError("there are no examples; expected at least one")
    _require(_is_given, gold_values, predicted_values, "a label or a number")
    return gold_values, predicted_values


def _answers(values: Any) -> list[Any]:
    """The values as a list, where one may be a sequence."""
    if not isinstance(values, Column):
        return plain_answers(values)
    if values.labels:
        return values.words()
    return list(values.cells)


def _kind(label: object) -> str:
    if isinstance(label, str):
        return "label words"
    if isinstance(label, int | float):
        return "numbers"
    return f"values of type {type(label).__name__}"


def _position_text(position: int) -> str:
    return f"at position {position} (counted from 0)"
