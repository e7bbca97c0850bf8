"""Columns from plain Python values, for the metrics as functions."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from gluebench.benchmark.metrics import Form
from gluebench.scoring.metrics.counts import Table
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.tags import numbered
from gluebench.submission.forms import SIZES, SUM_ERROR, arc
from gluebench.submission.relations import relations
from gluebench.submission.submission import Column
from gluebench.submission.values import plain_answers, plain_values

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


def require_known(occurring: Iterable[Hashable], known: Sequence[Hashable]) -> None:
    """Raise ValueError if a label that occurs is not among the known ones."""
    unknown = [label for label in dict.fromkeys(occurring) if label not in known]
    if unknown:
        names, labels = (", ".join(map(repr, some)) for some in (unknown, known))
        raise ValueError(f"gold or predictions have {names}; expected only the labels {labels}")


def pairs_of(
    form: Form, gold: Values, predicted: Values, *, labels: Iterable[str] = (), groups: Values | None = None
) -> Pairs:
    """The columns of a form as Pairs. `labels` gives the order of probabilities, else the sorted gold labels.

    Raises ValueError for columns that do not match or values that are not of the form.
    """
    first, second = paired(gold, predicted, plain=form in ("labels", "numbers"))
    if form == "numbers":
        _require(_is_finite, first, second, "a finite number")
        return Pairs(Column((), array("d", first)), Column((), array("d", second)))
    if form == "labels":
        occurring = tuple(dict.fromkeys([*first, *second]))
        known = tuple(labels) or occurring
        require_known(occurring, known)
        of = None if groups is None else _group_numbers(groups, len(first))
        return Pairs(_coded(known, first), _coded(known, second), of)
    if form == "probabilities":
        return _with_probabilities(first, second, tuple(labels) or tuple(sorted(set(first))))
    sides: Sequence[tuple[str, Any, Callable[[Any], Hashable]]]
    sides = (("gold", first, _GOLD.get(form, _CELL[form])), ("predictions", second, _CELL[form]))
    columns = [_cells(*side) for side in sides]
    if size := {**SIZES, "distributions": len}.get(form):
        for position, (a, b) in enumerate(zip(*(map(size, column) for column in columns), strict=True)):
            if a != b and None not in (a, b):
                raise ValueError(f"gold has {a} values and predictions {b} {_at(position)}")
    return Pairs(Column((), tuple(columns[0])), Column((), tuple(columns[1])))


def _cells(name: str, values: Sequence[Any], convert: Callable[[Any], Hashable]) -> list[Any]:
    cells = []
    for position, value in enumerate(values):
        try:
            cells.append(convert(value))
        except (TypeError, ValueError):
            raise ValueError(f"{name}: {value!r} {_at(position)} does not have the metric's form") from None
    return cells


def _with_probabilities(gold: Sequence[Any], predicted: Sequence[Any], labels: tuple[str, ...]) -> Pairs:
    rows = _cells("predictions", predicted, _probabilities)
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


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _answers(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else _texts(value)


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError
    return tuple(map(_text, value))


def _arcs(value: Any) -> tuple[str, ...]:
    """Heads with relations as "2:nsubj", or as pairs of both."""
    labels = (label if isinstance(label, str) else ":".join(map(str, label)) for label in value)
    return tuple(arc(label, frozenset())[1] for label in labels)


def _set(value: Any) -> tuple[str, ...]:
    return tuple(sorted({*_texts(value)}))


def _floats(value: Any) -> tuple[float, ...]:
    numbers = tuple(map(float, value))
    if not all(map(isfinite, numbers)):
        raise ValueError
    return numbers


def _probabilities(value: Any) -> tuple[float, ...]:
    """Numbers from 0 to 1; a model's rounding errors are allowed."""
    numbers = _floats(value)
    if not all(-SUM_ERROR <= number <= 1 + SUM_ERROR for number in numbers):
        raise ValueError
    return numbers


def _spans(value: Any) -> tuple[tuple[int, int, str], ...]:
    return tuple(sorted((int(start), int(end), *map(_text, label or [""])) for start, end, *label in value))  # type: ignore[misc]


def _gains(value: Any) -> tuple[tuple[str, float], ...]:
    if isinstance(value, str):
        raise TypeError
    items = value.items() if isinstance(value, Mapping) else value
    pairs = [(item, 1.0) if isinstance(item, str) else item for item in items]
    gains = {_text(item): float(gain) for item, gain in pairs}
    if len(gains) < len(pairs) or not all(map(isfinite, gains.values())):
        raise ValueError
    return tuple(gains.items())


_CELL: Mapping[str, Callable[[Any], Hashable]] = {
    "text": _text,
    "sets": _set,
    "distributions": _probabilities,
    "tokens": _texts,
    "dependencies": _arcs,
    "spans": _spans,
    "ranking": _texts,
    "relations": relations,
}
"""Form to the conversion of a value."""
_GOLD: Mapping[str, Callable[[Any], Hashable]] = {
    "text": _answers,
    "ranking": _gains,
    "relations": partial(relations, gold=True),
}
"""The same for gold, if it differs."""


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
