"""Answers in JSON: which key of a record is its id or index, and which its answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.reading.nested import NestedRecord, NestedRecords, find_records, holds_objects
from gluebench.reading.records import ReadingError

KEYS = ("index", "idx", "id", "guid", "example_id", "pairid", "", "unnamed: 0")
"""Common names of the index column, in any letter case, the most reliable first."""
VALUES = (
    *("prediction", "predictions", "predicted_label", "predicted", "pred", "preds", "label", "labels"),
    *("output", "answer", "answers", "class", "score", "scores"),
)
"""Common names of the column of predictions."""


class Answer(NamedTuple):
    """The answer of one example."""

    line: int
    index: Any
    """Its id or index; None if there is none."""
    value: Any
    group: int | None = None
    """Number of the list that holds it; None if there are no lists in objects."""
    record: Mapping[str, Any] = {}
    """The object that holds it, if one does."""


def read_answers(
    text: str, keys: Sequence[str], *, most: int, id_key: str = "", are_lines: bool = False
) -> list[Answer]:
    """The answers of a JSON file: objects with an id and one of these keys, or ids to answers.

    Objects with an id and no such key are left out. With `are_lines`, a single line is one answer. Raises
    ReadingError for what is not JSON, and for objects without such a key if all are, or if the order counts.
    """
    found = find_records(text, declared=keys, are_lines=are_lines, most=most)
    answers = _answers(found, keys, id_key)
    if len(answers) == 1 and not found.are_lines:
        only = answers[0]
        key = _value_key(found.records[0].value, keys)
        if key and only.index is None and isinstance(only.value, list):
            # A column of answers in one object.
            if not any(map(holds_objects, only.value)):
                return [Answer(1, None, value) for value in only.value]
            inner = find_records(text, path=".".join((*found.keys, key)))
            return _answers(inner, VALUES, id_key)
    if found.records and not answers:
        raise _no_answer(found.records[0], keys)
    return answers


def _answers(found: NestedRecords, keys: Sequence[str], id_key: str) -> list[Answer]:
    answers = []
    without: NestedRecord | None = None
    names: dict[tuple[str, ...], tuple[str | None, str | None]] = {}
    for record in found.records:
        group = record.group if found.keys else None
        value = record.value
        if not isinstance(value, dict):
            answers.append(Answer(record.line, record.key, value, group))
            continue
        named = tuple(value)
        if named not in names:
            key = _value_key(value, keys)
            names[named] = (key, _id_key(value, key, id_key))
        key, name = names[named]
        if key is None:
            without = without or record
        else:
            answers.append(Answer(record.line, _index(record, name), value[key], group, value))
    if without and any(answer.index is None for answer in answers):
        # The order counts, and the answers after this object would be those of other examples.
        raise _no_answer(without, keys)
    return answers


def _no_answer(record: NestedRecord, keys: Sequence[str]) -> ReadingError:
    value = record.value
    there = f"one with {', '.join(value)[:60]!r}" if isinstance(value, dict) else "another value"
    expected = f"expected an object with the key {keys[0]!r}, not {there}"
    return ReadingError(expected, "Write the answer under this key.", record.line)


def _value_key(value: Any, keys: Sequence[str]) -> str | None:
    """The first of these keys that an object has, in other letter case if need be; None for other values."""
    if not isinstance(value, dict):
        return None
    folded = {name.casefold(): name for name in value}
    exact = (key for key in keys if key in value)
    alike = (folded[key.casefold()] for key in keys if key.casefold() in folded)
    return next(exact, next(alike, None))


def _id_key(value: Collection[str], key: str | None, id_key: str) -> str | None:
    """The key of the id: the declared one, else one with a usual name beside that of the answer."""
    if id_key:
        return id_key if id_key in value else None
    return id_name(name for name in value if name != key)


def _index(record: NestedRecord, name: str | None) -> Any:
    """The id of a record; of the paragraph, the question and the answer, the last."""
    index = record.key if name is None else record.value[name]
    return [*index.values()][-1] if isinstance(index, dict) and index else index


def id_name(names: Iterable[str]) -> str | None:
    """The name of the ids: a usual one, or else the first with "id" at its end or start, as tweet_id."""
    folded = {name.casefold(): name for name in reversed([*names])}
    others = (key for key in reversed(folded) if key.endswith("id") or key.startswith("id_"))
    return next((folded[key] for key in (*KEYS, *others) if key in folded), None)
