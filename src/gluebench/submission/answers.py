"""Answers in JSON: which key of a record is its id or index, and which its answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.reading.nested import NestedRecords, find_records, holds_objects
from gluebench.reading.notation import is_number
from gluebench.reading.records import ReadingError
from gluebench.reading.text import SEEN

KEYS = ("index", "idx", "id", "guid", "example_id", "pairid", "", "unnamed: 0")
"""Common names of the index column, in any letter case, the most reliable first."""
VALUES: tuple[str, ...] = ("prediction", "predictions", "predicted_label", "predicted", "pred", "preds")
VALUES += ("label", "labels", "output", "answer", "answers", "class", "score", "scores")
"""Common names of the column of predictions."""
GOLD_NAMES = ("label", "labels")
"""Names in use for predictions, and for the true labels that stand beside them."""
_MOST_CLASSES = 10
"""A column with more different whole numbers is not taken for class numbers."""


class Answers(NamedTuple):
    """The answers of a JSON file, column by column."""

    lines: Sequence[int]
    indices: Sequence[Any]
    """The id or index of each; None if there is none."""
    values: Sequence[Any]
    records: Sequence[Any]
    """The object that holds each; another value if none does."""
    groups: Sequence[int] = ()
    """Number of the list that holds each; empty if there are no lists in objects."""

    def take(self, positions: Sequence[int]) -> Answers:
        """The answers at these positions, in their order."""
        columns = []
        for column in self:
            columns.append([column[at] for at in positions if column])
        return Answers(*columns)


def read_answers(
    text: str,
    keys: Sequence[str],
    *,
    most: int,
    id_key: str = "",
    names: Collection[str] = (),
    are_lines: bool = False,
) -> Answers:
    """The answers of a JSON file: objects with an id and one of these keys, or ids to answers.

    Objects with an id and no such key are left out. What stands under one of the `names` of the test file is
    all that is read. With `are_lines`, a single line is one answer. Raises ReadingError for what is not
    JSON, and for objects without such a key if all are, or if the order counts.
    """
    nested = find_records(text, declared=keys, names=names, are_lines=are_lines, most=most)
    answers = _answers(nested, keys, id_key)
    if len(answers.values) == 1 and not nested.are_lines:
        key = _value_key(nested.values[0], keys)
        if key and answers.indices[0] is None:
            column = _answers_of_column(text, answers.values[0], nested.keys + (key,), id_key)
            if column is not None:
                return column
    if nested.values and not answers.values:
        raise _no_answer(nested.lines[0], nested.values[0], keys)
    return answers


def _answers_of_column(text: str, column: Any, path: tuple[str, ...], id_key: str) -> Answers | None:
    """The answers of a column that one object holds under these keys; None if it is no column."""
    if isinstance(column, dict) and column and all(map(str.isdecimal, column)):
        # By their index, as `DataFrame.to_json` writes them.
        return Answers([1] * len(column), list(column), list(column.values()), [None] * len(column))
    if not isinstance(column, list):
        return None
    if any(map(holds_objects, column)):
        inner = find_records(text, path=".".join(path))
        return _answers(inner, VALUES, id_key)
    none = [None] * len(column)
    return Answers([1] * len(column), none, column, none)


def rival_of(chosen: str, columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Another column that may hold the predictions, if the chosen one has a name that true labels have too.

    To take the wrong one of the two would score the true labels. The other has words of the chosen column in
    its first rows, class numbers, lists of numbers, or with others a fraction for each class. A single
    fraction beside a word is no rival: it says how sure a prediction is.
    """
    if chosen.casefold() not in GOLD_NAMES:
        return None
    known = {str(value).strip().casefold() for value in columns[chosen][:SEEN]}
    fractions = []
    for name, values in columns.items():
        shown = values[:SEEN]
        if name == chosen or name.casefold() in KEYS or not shown:
            continue
        texts = {str(value).strip().casefold() for value in shown}
        if all(map(is_vector, shown)) or texts <= known:
            return name
        if all(map(str.isdecimal, texts)):
            if len(texts) <= _MOST_CLASSES:
                return name
        elif all(map(is_number, texts)):
            fractions.append(name)
    if fractions and (len(fractions) > 1 or all(map(is_number, known))):
        return fractions[0]
    return None


def is_vector(value: Any) -> bool:
    """Whether it is a list of numbers."""
    return isinstance(value, list) and bool(value) and all(isinstance(each, int | float) for each in value)


class TwoColumnsError(ReadingError):
    """Two columns that may hold the predictions, of which one may be the true labels."""


def refuse_rivals(chosen: str, columns: Mapping[str, Sequence[Any]], line: int) -> None:
    """Raise TwoColumnsError if the chosen column has a rival."""
    rival = rival_of(chosen, columns)
    if rival is not None:
        raise TwoColumnsError(
            f"expected one column of answers, and {chosen!r} may be the true labels, "
            f"{rival!r} the predictions",
            "Leave out the column of true labels, or call that of the predictions prediction.",
            line,
        )


def refuse_rivals_in_objects(answers: Answers, keys: Sequence[str]) -> None:
    """Raise TwoColumnsError for objects that may have true labels beside the predictions."""
    records = [record for record in answers.records[:SEEN] if isinstance(record, dict) and record]
    if not records:
        return
    chosen = _value_key(records[0], keys)
    if chosen is None:
        return
    columns = {}
    for name in records[0]:
        columns[name] = [record[name] for record in records if name in record]
    refuse_rivals(chosen, columns, answers.lines[0])


def _answers(nested: NestedRecords, keys: Sequence[str], id_key: str) -> Answers:
    """The answers of these records; objects without one are left out, unless the order counts."""
    names_of_columns: dict[tuple[str, ...], tuple[str | None, str | None]] = {}
    indices: list[Any] = list(nested.names) or [None] * len(nested.values)
    values: list[Any] = []
    without: dict[int, Any] = {}  # number of a record to the record
    for number, value in enumerate(nested.values):
        if not isinstance(value, dict):
            values.append(plain_answer(value))
            continue
        names = tuple(value)
        columns = names_of_columns.get(names)
        if columns is None:
            key = _value_key(value, keys)
            columns = (key, _id_key(value, key, id_key))
            names_of_columns[names] = columns
        key, name = columns
        if key is None:
            without[number] = value
            values.append(None)
            continue
        if name is not None:
            index = value[name]
            if isinstance(index, dict) and index:  # of the paragraph, the question and the answer, the last
                index = list(index.values())[-1]
            indices[number] = index
        answer = value[key]
        if isinstance(answer, list):
            answer = plain_answer(answer)
        values.append(answer)
    answers = Answers(nested.lines, indices, values, nested.values, nested.groups)
    if not without:
        return answers
    answers = answers.take([number for number in range(len(values)) if number not in without])
    if None in answers.indices:
        # The order counts, and the answers after the first of these objects would be those of other examples.
        first = min(without)
        raise _no_answer(nested.lines[first], without[first], keys)
    return answers


def plain_answer(value: Any) -> Any:
    """The label of [{"label": "yes", "score": 0.9}]; of several such objects, the score of each label.

    A pipeline of transformers gives these; any other value stays as it is.
    """
    if not isinstance(value, list) or not value:
        return value
    scores = {}
    for each in value:
        if not isinstance(each, dict) or each.keys() != {"label", "score"}:
            return value
        scores[str(each["label"])] = each["score"]
    return scores if len(value) > 1 else value[0]["label"]


def _no_answer(line: int, value: Any, keys: Sequence[str]) -> ReadingError:
    there = "another value"
    if isinstance(value, dict):
        there = f"one with {', '.join(value)[:60]!r}"
    expected = f"expected an object with the key {keys[0]!r}, not {there}"
    return ReadingError(expected, "Write the answer under this key.", line)


def _value_key(value: Any, keys: Sequence[str]) -> str | None:
    """The first of these keys that an object has, in other letter case if need be; None for other values."""
    if not isinstance(value, dict):
        return None
    for key in keys:
        if key in value:
            return key
    folded: dict[str, str] = {name.casefold(): name for name in value}
    for key in keys:
        if key.casefold() in folded:
            return folded[key.casefold()]
    return None


def _id_key(value: Collection[str], key: str | None, id_key: str) -> str | None:
    """The key of the id: the declared one, else one with a usual name beside that of the answer."""
    if not id_key:
        return id_name(name for name in value if name != key)
    if id_key in value:
        return id_key
    return None


def id_name(names: Iterable[str]) -> str | None:
    """The name of the ids: a usual one, or else the first with "id" at its end or start, as tweet_id."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    for key in KEYS:
        if key in folded:
            return folded[key]
    for key, name in folded.items():
        if key.endswith("id") or key.startswith("id_"):
            return name
    return None
