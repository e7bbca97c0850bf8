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
from gluebench.scoring.tags import numbered
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


class Counted(NamedTuple):
    """A confusion table and the code of each label."""

    table: Table
    labels: Mapping[Hashable, int]


def counted(gold: Values, predicted: Values, known: Sequence[Hashable] = ()) -> Counted:
    """Count label pairs, of the labels `known` or, if there are none, of those that occur, sorted.

    Raises ValueError for columns that do not match, and labels that occur and are not known.
    """
    first, second = paired(gold, predicted)
    require_labels(first, second, known)
    occurring = dict.fromkeys([*first, *second])
    kinds = {_kind(label) for label in occurring}
    if len(kinds) > 1:
        raise ValueError(
            f"gold and predictions mix {' and '.join(sorted(kinds))}; give both in the same form"
        )
    if known:
        require_known(occurring, known)
        in_order = [*known]
    else:
        in_order = sorted(occurring) if kinds <= {"label words", "numbers"} else [*occurring]
    labels = {label: code for code, label in enumerate(in_order)}
    pairs = Counter(zip(first, second, strict=True))
    return Counted([[pairs[g, p] for p in labels] for g in labels], labels)


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
        names, labels = (", ".join(map(repr, some)) for some in (unknown, known))
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
    first, second = paired(gold, predicted, plain=form in ("labels", "numbers"))
    if form == "numbers":
        _require(_is_finite, first, second, "a finite number")
        return Pairs(Column((), _doubles(first)), Column((), _doubles(second)))
    if form == "labels":
        require_labels(first, second, [*labels])
        occurring = tuple(dict.fromkeys([*first, *second]))
        known = tuple(labels) or occurring
        require_known(occurring, known)
        of = None if groups is None else _group_numbers(groups, len(first))
        return Pairs(_coded(known, first), _coded(known, second), of)
    if form == "probabilities":
        known = tuple(labels) or tuple(sorted(set(first)))
        return _with_probabilities(first, second, known, exclusive=exclusive)
    words = tuple(labels) or _words_of(form, [*first, *second])
    task = _ANY_TASK._replace(form=form, vocabulary=words, exclusive=exclusive)
    columns = [_cells("gold", first, task, gold=True), _cells("predictions", second, task)]
    if size := {**SIZES, "distributions": len}.get(form):
        for position, (a, b) in enumerate(zip(*(map(size, column) for column in columns), strict=True)):
            if a != b and None not in (a, b):
                raise ValueError(f"gold has {a} values and predictions {b} {_at(position)}")
    return Pairs(Column((), tuple(columns[0])), Column((), tuple(columns[1])))


def _cells(name: str, values: Sequence[Any], task: Task, *, gold: bool = False) -> list[Any]:
    """The values as a file would hold them, with the same checks."""
    form = cell_form(task, gold=gold)
    assert form is not None
    cells = []
    for position, value in enumerate(values):
        try:
            cells.append(form.read(cell_text(_in_file(value, task, gold), task)))
        except (TypeError, ValueError) as error:
            part = f": {error}" if isinstance(error, PartError) else ""
            where = _at(position)
            raise ValueError(f"{name}: {value!r} {where}{part}; expected {form.expected}") from None
    return cells


def _in_file(value: Any, task: Task, gold: bool) -> Any:
    """A value of Python as JSON in a file would give it."""
    if gold and task.form == "text" and isinstance(value, str):
        return [value]
    if gold and task.form == "ranking" and not isinstance(value, str):
        items: Iterable[Any] = value.items() if isinstance(value, Mapping) else value
        return [(item, 1) if isinstance(item, str) else item for item in items]
    return value


def _words_of(form: Form, answers: Sequence[Any]) -> tuple[str, ...]:
    """The labels that answers have where none are given; of distributions, the positions."""
    parts = [answer for answer in answers if isinstance(answer, list | tuple)]
    if form == "distributions" and parts:
        return tuple(map(str, range(len(parts[0]))))
    if form == "relations":
        tags = (tag for sentences in parts for tag in TAG.findall(" ".join(map(str, sentences))))
        return tuple(dict.fromkeys(f"{letters}{digits}" for _, letters, digits in tags)) or ("ARG0",)
    if form != "spans":
        return ()
    spans = (span for spans in parts for span in spans if isinstance(span, list | tuple))
    labels = dict.fromkeys(str(span[2]) for span in spans if len(span) > 2)
    return () if all(map(is_number, labels)) else tuple(labels)


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
            where = _at(position)
            raise ValueError(f"{number} {where} is rounded as a double; expected integers up to 2**53")
    return doubles


def _with_probabilities(
    gold: Sequence[Any], predicted: Sequence[Any], labels: tuple[str, ...], *, exclusive: bool
) -> Pairs:
    task = _ANY_TASK._replace(form="probabilities", vocabulary=tuple(map(str, labels)), exclusive=exclusive)
    rows = _cells("predictions", predicted, task)
    for position, (label, row) in enumerate(zip(gold, rows, strict=True)):
        if label not in labels or len(row) != len(labels):
            raise ValueError(
                f"gold {label!r} and {len(row)} probabilities {_at(position)}; expected one probability for "
                f"each of the labels {', '.join(map(repr, labels))}: name all of them with labels="
            )
    return Pairs(_coded(labels, gold), Column((), tuple(rows)))


def _coded(labels: tuple[Any, ...], values: Sequence[Any]) -> Column:
    code = {label: at for at, label in enumerate(labels)}
    return Column(labels, bytes(code[value] for value in values))


def _group_numbers(groups: Values, number: int) -> tuple[int, ...]:
    values = plain_values(groups)
    if len(values) != number:
        raise ValueError(f"there are {len(values)} groups and {number} examples; expected one per example")
    return numbered(values)


def _require(holds: Callable[[Any], bool], gold: Iterable[Any], predicted: Iterable[Any], what: str) -> None:
    """Raise ValueError for a value of one of the columns for which `holds` does not hold."""
    for name, column in (("gold", gold), ("predictions", predicted)):
        for position, value in enumerate(column):
            if not holds(value):
                raise ValueError(f"{name}: {value!r} {_at(position)}; expected {what}")


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def _is_given(value: object) -> bool:
    return not (value is None or value != value)


def paired(gold: Values, predicted: Values, *, plain: bool = True) -> tuple[list[Any], list[Any]]:
    """Both columns as lists; `plain` values are labels or numbers, others may be sequences.

    Raises ValueError for empty columns, different lengths or missing values.
    """
    first, second = (plain_values(column) if plain else _listed(column) for column in (gold, predicted))
    if len(first) != len(second):
        raise ValueError(
            f"gold has {len(first)} values and predictions {len(second)}; expected one per example"
        )
    if not first:
        raise ValueError("there are no examples; expected at least one")
    _require(_is_given, first, second, "a label or a number")
    return first, second


def _listed(values: Any) -> list[Any]:
    if isinstance(values, Column):
        return [*values.cells] if not values.labels else values.words()
    return plain_answers(values)


def _kind(label: object) -> str:
    if isinstance(label, str):
        return "label words"
    if isinstance(label, int | float):
        return "numbers"
    return f"values of type {type(label).__name__}"


def _at(position: int) -> str:
    return f"at position {position} (counted from 0)"
