"""JSON, JSON lines and JSON with records inside records, as passages with questions with answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from gluebench.reading.notation import NotationError, loaded
from gluebench.reading.records import ReadingError, Records
from gluebench.reading.text import SEEN

ID_KEYS = ("id", "idx", "index", "guid", "uid", "example_id", "pairid", "qid")
"""Keys by which an object shows that it is a record."""
_CURE = "Write the file with a JSON library."


class NestedRecords(NamedTuple):
    """The records of a file of JSON, column by column."""

    lines: Sequence[int]
    """The line where the value of JSON begins that holds the record."""
    values: list[Any]
    """Objects; in a list of other values, these."""
    are_lines: bool = False
    """Whether each line of the file is a value."""
    keys: tuple[str, ...] = ()
    """The keys that lead to the records."""
    around: Sequence[tuple[Mapping[str, Any], ...]] = ()
    """The objects that each record lies in, the outermost first; empty without such keys."""
    groups: Sequence[int] = ()
    """Number of the list that holds each record; empty without such keys."""
    names: Sequence[str] = ()
    """The key of each record, where the records are the values of one object; else empty."""


def is_json(text: str) -> bool:
    """Whether the text begins as a JSON object or list does."""
    return text.lstrip()[:1] in ("{", "[")


def read_json(text: str, *, path: str = "", usual: Collection[str] = ()) -> Records:
    """The records of a JSON file, or of JSON lines, as a table.

    What the enclosing objects hold is repeated in each of their records, and objects in a record become
    fields. See `find_records`; raises ReadingError for what is not JSON.
    """
    nested = find_records(text, path=path, usual=usual)
    notes: list[str] = []
    if nested.keys and not path:
        notes.append(f"records: `{'.'.join(nested.keys)}`")
    if nested.names:
        notes.append("ids: the keys of the object")
    objects = []
    for number, value in enumerate(nested.values):
        outer = nested.around[number] if nested.keys else ()
        fields = _fields_of(value, nested.keys, outer)
        if nested.names:
            fields = {"id": nested.names[number]} | fields
        objects.append(fields)
    names = tuple(dict.fromkeys(chain.from_iterable(objects)))
    rows = []
    for fields in objects:
        rows.append([fields.get(name) for name in names])
    title = "JSON lines" if nested.are_lines else "JSON"
    groups = nested.groups if nested.keys else None
    return Records(title, names, rows, nested.lines, groups, tuple(notes))


def _fields_of(value: Any, keys: Sequence[str], around: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The fields of a record, after those of the objects around it, named with the keys that lead there."""
    fields: dict[str, Any] = {}
    prefix = ""
    for key, outer in zip(keys, around, strict=True):
        others = {other: part for other, part in outer.items() if other != key}
        fields |= _flatten(others, prefix)
        prefix += f"{key}."
    if isinstance(value, dict):
        return fields | _flatten(value, prefix)
    name = prefix.removesuffix(".") or "value"
    return fields | {name: value}


def find_records(
    text: str,
    *,
    path: str = "",
    usual: Collection[str] = (),
    declared: Collection[str] = (),
    names: Collection[str] = (),
    are_lines: bool = False,
    most: float = inf,
) -> NestedRecords:
    """The records of a JSON file, or of JSON lines.

    `path` leads to the list of the records. Without it, a list whose objects have one of the `declared` keys
    is taken, of several the outermost; or else one of the `usual` keys or an id, of several the innermost. An
    object without such a list has ids as keys, or else is a single record. What one object has under one of
    the `names` of the file is all that is read of it. With `are_lines`, a single object is a record whatever
    it holds. Raises ReadingError for what is not JSON, and for a list or object of more
    than `most` records.
    """
    lines, values = _read_values(text)
    if len(values) > 1:
        are_lines = True
    else:
        only = _rows_of_split(_value_under(names, values[0]))
        if isinstance(only, list | dict) and len(only) > most:
            expected = f"expected at most {most:,.0f} records, and there are {len(only):,}"
            raise ReadingError(expected, "Write one for each example.", 1)
        are_lines = are_lines and isinstance(only, dict)
        values = only if isinstance(only, list) else [only]
        lines = [1] * len(values)

    if path:
        keys = tuple(path.split("."))
    else:
        keys = _find_path(values, usual, declared)
    if keys:
        collector = _Collector(keys)
        for line, value in zip(lines, values, strict=True):
            collector.collect(line, value)
        return NestedRecords(
            collector.lines, collector.values, are_lines, keys, collector.around, collector.groups
        )

    known = {key.casefold() for key in chain(ID_KEYS, usual, declared)}
    if not values or not all(_maps_ids(value, known, single=len(values) > 1) for value in values):
        return NestedRecords(lines, values, are_lines)
    lines_of_parts: list[int] = []
    names_of_parts: list[str] = []
    parts: list[Any] = []
    for line, value in zip(lines, values, strict=True):
        lines_of_parts += [line] * len(value)
        names_of_parts += value
        parts += value.values()
    return NestedRecords(lines_of_parts, parts, are_lines, names=names_of_parts)


def _value_under(names: Collection[str], value: Any) -> Any:
    """The list or object that an object has under the only key that is one of these names; else the value."""
    if not isinstance(value, dict):
        return value
    folded = {name.casefold() for name in names}
    named = [key for key in value if key.casefold() in folded]
    if len(named) == 1 and isinstance(value[named[0]], list | dict):
        return value[named[0]]
    return value


def _rows_of_split(value: Any) -> Any:
    """The objects of a table of columns and rows, as pandas writes it with orient="split"; else the value.

    The index of the table is a field unless a column has ids.
    """
    if not isinstance(value, dict) or not {"columns", "data"} <= value.keys() <= {"columns", "index", "data"}:
        return value
    columns = value["columns"]
    try:
        objects = [dict(zip(columns, row, strict=True)) for row in value["data"]]
        has_ids = any(name.casefold() in ID_KEYS or name.casefold().endswith("id") for name in columns)
        if "index" in value and not has_ids:
            for name, fields in zip(value["index"], objects, strict=True):
                fields["index"] = name
    except (TypeError, ValueError, AttributeError):
        return value
    return objects


def _read_values(text: str) -> tuple[Sequence[int], list[Any]]:
    """The value of a JSON file, or those of its lines; and the line of each."""
    values = _flat_objects(text)
    if values:
        return range(1, len(values) + 1), values
    head, _, rest = text.strip().partition("\n")
    # The first line is tried before the whole, which would be read in vain if each line is a value.
    if not rest or _read_value(head, 1) is None:
        whole = _read_value(text, 1)
        if whole is not None:
            return [1], [whole]
    numbers = []
    values = []
    for line, content in enumerate(text.split("\n"), 1):
        if content.strip():
            value = _read_value(content, line)
            if value is None:
                raise ReadingError(f"expected JSON, not {content.strip()[:60]!r}", _CURE, line)
            numbers.append(line)
            values.append(value)
    if not values:
        raise ReadingError("expected JSON, and the file is empty", _CURE)
    return numbers, values


def _flat_objects(text: str) -> Any:
    """The values of lines that are objects without lists, read at once; empty if they are something else.

    Where each line begins with a { and there are no others, neither an object nor a text goes on over lines.
    """
    text = text.rstrip("\n")
    lines = text.count("\n") + 1
    beginnings = text.startswith("{") + text.count("\n{")
    if "[" in text or beginnings < lines or text.count("{") > lines:
        return []
    try:
        values = loaded(f"[{text}]".replace("\n", ","), flat=True)
    except NotationError:
        return []  # the line has to be named
    if values is None or len(values) != lines:
        return []
    return values


def _read_value(text: str, line: int) -> Any:
    """The value of JSON; None if it is not JSON. Raises ReadingError for what is written otherwise."""
    try:
        return loaded(text)
    except NotationError as error:
        raise ReadingError(f"expected {error}", "Write it so.", line) from None


def _maps_ids(value: Any, known: Collection[str], *, single: bool) -> bool:
    """Whether an object has ids as keys: no known one, and the values are all objects, or hold none.

    With `single`, it has one key, as where each line is an id with its value.
    """
    if not isinstance(value, dict) or not value or (single and len(value) > 1):
        return False
    if not {key.casefold() for key in value}.isdisjoint(known):
        return False
    if all(isinstance(part, dict) for part in value.values()):
        return True
    return not any(map(holds_objects, value.values()))


def holds_objects(value: Any) -> bool:
    """Whether it is an object, or a list with one at any depth."""
    if isinstance(value, list):
        return any(map(holds_objects, value))
    return isinstance(value, dict)


def _find_path(top: list[Any], usual: Collection[str], declared: Collection[str]) -> tuple[str, ...]:
    """The keys to the list whose objects have a declared or usual key, or else an id; empty for the top."""
    for keys in (declared, usual, ID_KEYS):
        folded = {key.casefold() for key in keys}
        paths: list[tuple[str, ...]] = []
        for value in top[:SEEN]:
            paths += _paths(value, (), folded)
        if paths and keys is declared:
            return min(paths, key=len)
        if paths:
            return max(paths, key=len)
    return ()


def _paths(value: Any, path: tuple[str, ...], usual: set[str]) -> Iterator[tuple[str, ...]]:
    """The paths of lists of objects with a usual key, and that of the value itself."""
    if isinstance(value, list):
        for element in value[:SEEN]:
            yield from _paths(element, path, usual)
    elif isinstance(value, dict):
        if not usual.isdisjoint(map(str.casefold, value)):
            yield path
        for key, part in value.items():
            # An object is a part of its record; a list of objects may be the list of the records.
            if isinstance(part, list | dict):
                inner = path + (key,)
                for deeper in _paths(part, inner, usual):
                    if isinstance(part, list) or deeper != inner:
                        yield deeper


class _Collector:
    """Gathers the records of one file from the lists that these keys lead to."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys
        self.lines: list[int] = []
        self.values: list[Any] = []
        self.around: list[tuple[Mapping[str, Any], ...]] = []
        self.groups: list[int] = []
        self._lists = 0  # of records met so far

    def collect(self, line: int, value: Any, outer: tuple[Mapping[str, Any], ...] = ()) -> None:
        """Add the records within a value of this line that lies in some objects, the outermost first."""
        depth = len(outer)
        key = self.keys[depth]
        if not isinstance(value, dict) or key not in value:
            name = ".".join(self.keys[: depth + 1])
            there = "no object"
            if isinstance(value, dict):
                there = ", ".join(value)[:100]
            expected = f"expected an object with the key {name!r}, not {there}"
            raise ReadingError(expected, "Name the keys that lead to the records.", line)
        part = value[key]
        elements = part if isinstance(part, list) else [part]
        around = outer + (value,)
        if len(around) < len(self.keys):
            for element in elements:
                self.collect(line, element, around)
            return
        self.lines += [line] * len(elements)
        self.values += elements
        self.around += [around] * len(elements)
        self.groups += [self._lists] * len(elements)
        self._lists += 1


def _flatten(value: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The fields of an object and of the objects in it, named by their keys; lists are values."""
    fields: dict[str, Any] = {}
    for key, part in value.items():
        if isinstance(part, dict):
            fields |= _flatten(part, f"{prefix}{key}.")
        else:
            fields[f"{prefix}{key}"] = part
    return fields
