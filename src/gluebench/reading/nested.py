"""JSON, JSON lines and JSON with records inside records, as passages with questions with answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from gluebench.reading.notation import NotationError, loaded
from gluebench.reading.records import ReadingError, Records

ID_KEYS = ("id", "idx", "index", "guid", "uid", "example_id", "pairid", "qid")
"""Keys by which an object shows that it is a record."""
_LOOKED_AT = 20
"""Elements of a list in which records are looked for."""
_CURE = "Write the file with a JSON library."


class Value(NamedTuple):
    """A value of JSON and the line where it begins."""

    line: int
    value: Any


def is_json(text: str) -> bool:
    """Whether the text begins as a JSON object or list does."""
    return text.lstrip()[:1] in ("{", "[")


def read_json(text: str, *, path: str = "", usual: Collection[str] = ()) -> Records:
    """The records of a JSON file, or of JSON lines.

    `path` leads to the list of the records. Without it, a list whose objects have one of the `usual` keys,
    or else an id, is taken; of several, the innermost. What the enclosing objects hold is repeated in each
    of their records. An object without such a list has ids as keys, or else is a single record. Raises
    ReadingError for what is not JSON.
    """
    values = _values(text)
    top = [each.value for each in values]
    notes: tuple[str, ...] = ()
    if not path:
        path = _find_path(top, usual)
        if path:
            notes = (f"records: `{path}`",)
    title = "JSON lines"
    if len(values) == 1 and isinstance(top[0], list):
        values = [Value(values[0].line, element) for element in top[0]]
        title = "JSON"
    elif len(values) == 1:
        title = "JSON"
        if not path and _maps_ids(top[0]):
            return _of_mapping(values[0], notes)
    keys = path.split(".") if path else []
    collector = _Collector()
    for each in values:
        collector.collect(each, keys)
    names, rows = _table(collector.records)
    groups = collector.groups if keys else None
    return Records(title, names, rows, collector.lines, groups, notes)


def _values(text: str) -> list[Value]:
    """The value of a JSON file, or those of its lines."""
    try:
        whole = loaded(text)
        if whole is not None:
            return [Value(1, whole)]
        values = []
        for line, content in enumerate(text.split("\n"), 1):
            if not content.strip():
                continue
            value = loaded(content)
            if value is None:
                raise ReadingError(f"expected JSON, not {content.strip()[:60]!r}", _CURE, line)
            values.append(Value(line, value))
    except NotationError as error:
        raise ReadingError(f"expected {error}", _CURE) from None
    if not values:
        raise ReadingError("expected JSON, and the file is empty", _CURE)
    return values


def _maps_ids(value: Any) -> bool:
    """Whether an object has ids as keys: the values are all objects, or none is an object or a list."""
    if not isinstance(value, dict) or not value:
        return False
    if set(ID_KEYS) & {key.casefold() for key in value}:
        return False
    objects = [isinstance(each, dict) for each in value.values()]
    return all(objects) or not any(isinstance(each, dict | list) for each in value.values())


def _of_mapping(each: Value, notes: tuple[str, ...]) -> Records:
    records = []
    for key, value in each.value.items():
        fields = _flatten(value, "") if isinstance(value, dict) else {"value": value}
        records.append({"id": key} | fields)
    names, rows = _table(records)
    note = "ids: the keys of the object"
    return Records("JSON", names, rows, [each.line] * len(rows), None, (note, *notes))


def _table(records: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], list[list[Any]]]:
    """The names of all fields in the order of their first use, and the rows of their values."""
    names = tuple(dict.fromkeys(chain.from_iterable(records)))
    return names, [[record.get(name) for name in names] for record in records]


def _find_path(top: list[Any], usual: Collection[str]) -> str:
    """The keys to the innermost list whose objects have a usual key, or else an id; empty for the top."""
    for keys in (usual, ID_KEYS):
        folded = {key.casefold() for key in keys}
        paths = [path for value in top[:_LOOKED_AT] for path in _paths(value, "", folded)]
        if paths:
            return max(paths, key=lambda path: path.count(".") + bool(path))
    return ""


def _paths(value: Any, path: str, usual: set[str]) -> Iterator[str]:
    """The paths of lists of objects with a usual key, and that of the value itself."""
    if isinstance(value, list):
        for element in value[:_LOOKED_AT]:
            yield from _paths(element, path, usual)
    elif isinstance(value, dict):
        if usual & {key.casefold() for key in value}:
            yield path
        for key, part in value.items():
            # An object is a part of its record; a list of objects may be the list of the records.
            if isinstance(part, list | dict):
                inner = f"{path}.{key}" if path else key
                for deeper in _paths(part, inner, usual):
                    if isinstance(part, list) or deeper != inner:
                        yield deeper


@dataclass
class _Collector:
    """Gathers the records of one file."""

    records: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    lists: int = 0
    """Lists of records met so far."""

    def collect(self, each: Value, keys: Sequence[str]) -> None:
        """Add the records that these keys lead to, from a value of the file."""
        if keys:
            self._descend(each.value, keys, {}, "", each.line)
        else:
            self._add(each.value, {}, "", each.line)

    def _descend(
        self, value: Any, keys: Sequence[str], outer: Mapping[str, Any], prefix: str, line: int
    ) -> None:
        """Go one key deeper, with the fields of the objects around."""
        key, *rest = keys
        name = f"{prefix}{key}"
        if not isinstance(value, dict) or key not in value:
            raise ReadingError(f"expected an object with the key {name!r}", _CURE, line)
        others = {other: part for other, part in value.items() if other != key}
        fields = {**outer, **_flatten(others, prefix)}
        part = value[key]
        elements = part if isinstance(part, list) else [part]
        self.lists += not rest
        for element in elements:
            if rest:
                self._descend(element, rest, fields, f"{name}.", line)
            else:
                self._add(element, fields, name, line)

    def _add(self, value: Any, outer: Mapping[str, Any], name: str, line: int) -> None:
        prefix = f"{name}." if name else ""
        own = _flatten(value, prefix) if isinstance(value, dict) else {name or "value": value}
        self.records.append({**outer, **own})
        self.lines.append(line)
        self.groups.append(self.lists - 1)


def _flatten(value: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The fields of an object and of the objects in it, named by their keys; lists are values."""
    fields: dict[str, Any] = {}
    for key, part in value.items():
        if isinstance(part, dict):
            fields |= _flatten(part, f"{prefix}{key}.")
        else:
            fields[f"{prefix}{key}"] = part
    return fields
