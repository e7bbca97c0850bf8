"""Typed access to one table of a manifest; what is wrong is noted and reading goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gluebench.benchmark.lookup import closest

KeyPath = tuple[str | int, ...]
"""Where a value stands: keys and, inside arrays, 0-based positions."""


class Finding(NamedTuple):
    """One thing that is wrong with a manifest."""

    path: KeyPath
    text: str
    """What was found and what was expected."""


def kind(value: object) -> str:
    """The TOML name of a value's type, with its article."""
    names = {bool: "a boolean", int: "an integer", float: "a float", str: "a string"}
    names |= {list: "an array", dict: "a table"}
    return names.get(type(value), "a date or time")


def quoted(names: object) -> str:
    """Names as a list to read: 'a', 'b', 'c'."""
    return ", ".join(repr(name) for name in names) if isinstance(names, tuple | list | dict) else repr(names)


class Section:
    """One table. A key that is missing or wrong adds a finding and reads as an empty value."""

    __slots__ = ("findings", "path", "values")

    def __init__(
        self, values: Mapping[str, object], path: KeyPath, *, findings: list[Finding], keys: tuple[str, ...]
    ) -> None:
        self.values = values
        self.path = path
        self.findings = findings
        for key in values:
            if key not in keys:
                self.reject(key, _unknown(key, keys))

    def reject(self, key: str | int, text: str) -> None:
        """Note what is wrong with the value of `key`."""
        self.findings.append(Finding((*self.path, key), text))

    def missing(self, text: str) -> None:
        """Note what the table lacks."""
        self.findings.append(Finding(self.path, text))

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not blank; required when there is no default."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                self.missing(f"lacks the key {key!r} (a string)")
            return default or ""
        if not isinstance(value, str):
            self.reject(key, f"is {kind(value)}; expected a string")
            return default or ""
        if not value.strip():
            self.reject(key, "is blank; expected some text, or leave the key out")
        return value

    def optional_text(self, key: str) -> str | None:
        """A string that is not blank, or None where the key is absent."""
        return self.text(key) if key in self.values else None

    def texts(self, key: str) -> tuple[str, ...]:
        """An array of strings; empty where the key is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            self.reject(key, "expected an array of strings, none of them blank")
            return ()
        return tuple(value)

    def flag(self, key: str, default: bool) -> bool:
        """A boolean."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.reject(key, f"is {kind(value)}; expected true or false")
            return default
        return value

    def count(self, key: str) -> int:
        """A positive integer, required; 1 stands in for what is wrong."""
        value = self.values.get(key)
        if value is None:
            self.missing(f"lacks the key {key!r} (a positive integer)")
            return 1
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            found = value if isinstance(value, int) and not isinstance(value, bool) else kind(value)
            self.reject(key, f"is {found}; expected a positive integer")
            return 1
        return value

    def table(self, key: str) -> dict[str, object]:
        """A table; empty where the key is absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.reject(key, f"is {kind(value)}; expected a table")
            return {}
        return value

    def texts_by_name(self, key: str) -> dict[str, str]:
        """A table of strings, in its order."""
        table = self.table(key)
        return {
            name: Section(table, (*self.path, key), findings=self.findings, keys=tuple(table)).text(name)
            for name in table
        }

    def numbers_by_name(self, key: str) -> dict[str, float]:
        """A table of finite numbers, in its order."""
        numbers = {}
        for name, value in self.table(key).items():
            number = finite(value)
            if number is None:
                self.findings.append(
                    Finding((*self.path, key, name), f"is {kind(value)}; expected a finite number")
                )
            else:
                numbers[name] = number
        return numbers

    def section(self, key: str, keys: tuple[str, ...]) -> Section | None:
        """The table under `key`, or None where it is absent."""
        if key not in self.values:
            return None
        return Section(self.table(key), (*self.path, key), findings=self.findings, keys=keys)

    def named(self, key: str, keys: tuple[str, ...]) -> Iterator[tuple[str, Section]]:
        """The tables inside the table under `key`, with their names."""
        path = (*self.path, key)
        for name, value in self.table(key).items():
            if isinstance(value, dict):
                yield name, Section(value, (*path, name), findings=self.findings, keys=keys)
            else:
                self.findings.append(Finding((*path, name), f"is {kind(value)}; expected a table"))

    def listed(self, key: str, keys: tuple[str, ...]) -> Iterator[Section]:
        """The tables of the array under `key`."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.reject(key, f"is {kind(value)}; expected an array of tables")
            return
        for position, each in enumerate(value):
            path = (*self.path, key, position)
            if isinstance(each, dict):
                yield Section(each, path, findings=self.findings, keys=keys)
            else:
                self.findings.append(Finding(path, f"is {kind(each)}; expected a table"))


def finite(value: object) -> float | None:
    """The value as a float, or None when it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        return None
    return float(value)


def _unknown(key: str, keys: tuple[str, ...]) -> str:
    close = closest(key, keys)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"is not a key of this table; {hint}expected one of {', '.join(keys)}"
