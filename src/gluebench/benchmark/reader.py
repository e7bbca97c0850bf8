"""Typed access to one table of a manifest; problems are collected and reading continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from gluebench.benchmark.lookup import did_you_mean

KeyPath = tuple[str | int, ...]
"""Location of a value: keys and, inside arrays, 0-based positions."""


def key_path(table: KeyPath, *keys: str | int) -> KeyPath:
    """The location of a value below a table, by the keys that lead there from the table."""
    return table + keys


class Finding(NamedTuple):
    """One problem of a manifest."""

    path: KeyPath
    text: str
    """The actual value and the expected one."""


class Section:
    """One table. A missing or invalid key adds a finding, and its value is read as empty."""

    __slots__ = ("findings", "path", "values")

    def __init__(
        self,
        values: Mapping[str, object],
        path: KeyPath,
        *,
        findings: list[Finding],
        keys: tuple[str, ...] | None = None,
    ) -> None:
        self.values = values
        self.path = path
        self.findings = findings
        if keys is not None:
            for key in self.values:
                if key not in keys:
                    hint = did_you_mean(key, keys)
                    self.reject(key, f"is not a key of this table.{hint} Its keys: {', '.join(keys)}")

    def reject(self, key: str, text: str) -> None:
        """Add a finding about the value of `key`."""
        self.findings.append(Finding(key_path(self.path, key), text))

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not blank; required if there is no default."""
        value = self.values.get(key, default)
        if value is None:
            self.reject(key, "is missing; expected a string")
        elif not isinstance(value, str):
            self.reject(key, f"is {kind(value)}; expected a string")
        elif key in self.values and not value.strip():
            self.reject(key, "is blank; expected some text, or the key left out")
        else:
            return value
        return default or ""

    def optional_text(self, key: str) -> str | None:
        """A string that is not blank, or None if the key is absent."""
        return self.text(key) if key in self.values else None

    def texts(self, key: str) -> tuple[str, ...]:
        """An array of strings; empty if the key is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.reject(key, f"is {kind(value)}; expected an array of strings")
            return ()
        strings = []
        for position, item in enumerate(value):
            path = key_path(self.path, key, position)
            if not isinstance(item, str):
                self.findings.append(Finding(path, f"is {kind(item)}; expected a string"))
                continue
            if not item.strip():
                self.findings.append(Finding(path, "is blank; expected a string"))
            strings.append(item)
        return tuple(strings)

    def flag(self, key: str, default: bool) -> bool:
        """A boolean."""
        value = self.values.get(key, default)
        if isinstance(value, bool):
            return value
        self.reject(key, f"is {kind(value)}; expected true or false")
        return default

    def optional_flag(self, key: str) -> bool | None:
        """A boolean, or None if the key is absent."""
        return self.flag(key, False) if key in self.values else None

    def count(self, key: str) -> int:
        """A positive integer, required."""
        value = self.values.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            self.reject(key, f"is {kind(value)}; expected a positive integer")
            return 0
        if value <= 0:
            self.reject(key, f"is {value}; expected a positive integer")
            return 0
        return value

    def read(self, **defaults: str | bool | tuple[()] | None) -> dict[str, Any]:
        """The values of several keys, each of the type of its default, which for None is a string."""
        values: dict[str, Any] = {}
        for key, default in defaults.items():
            if isinstance(default, tuple):
                values[key] = self.texts(key)
            elif isinstance(default, bool):
                values[key] = self.flag(key, default)
            elif default is None:
                values[key] = self.optional_text(key)
            else:
                values[key] = self.text(key, default)
        return values

    def inner(self, key: str, keys: tuple[str, ...] | None = None) -> Section:
        """The table under `key`, empty if absent; `keys` are the keys that it may have, None for any."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.reject(key, f"is {kind(value)}; expected a table")
            value = {}
        return Section(value, key_path(self.path, key), findings=self.findings, keys=keys)

    def texts_by_name(self, key: str) -> dict[str, str]:
        """The strings of a table, in file order."""
        inner = self.inner(key)
        return {name: inner.text(name) for name in inner.values}

    def numbers_by_name(self, key: str) -> dict[str, float]:
        """The finite numbers of a table, in file order."""
        inner = self.inner(key)
        numbers: dict[str, float] = {}
        for name, value in inner.values.items():
            number = finite(value)
            if number is None:
                inner.reject(name, f"is {kind(value)}; expected a finite number")
            else:
                numbers[name] = number
        return numbers

    def named(self, key: str, keys: tuple[str, ...] | None = None) -> Iterator[tuple[str, Section]]:
        """The tables inside the table under `key`, with their names."""
        inner = self.inner(key)
        for name in inner.values:
            yield name, inner.inner(name, keys)

    def listed(self, key: str, keys: tuple[str, ...]) -> Iterator[Section]:
        """The tables of the array under `key`."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.reject(key, f"is {kind(value)}; expected an array of tables")
            return
        for position, table in enumerate(value):
            path = key_path(self.path, key, position)
            if isinstance(table, dict):
                yield Section(table, path, findings=self.findings, keys=keys)
            else:
                self.findings.append(Finding(path, f"is {kind(table)}; expected a table"))


def finite(value: object) -> float | None:
    """The value as a float, or None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer that no float can hold
        return None
    return number if isfinite(number) else None


def kind(value: object) -> str:
    """The TOML type of a value, for messages."""
    if value is None:
        return "missing"
    if isinstance(value, float) and not isfinite(value):
        return f"{value}"
    names = {
        bool: "a boolean",
        int: "an integer",
        float: "a float",
        str: "a string",
        list: "an array",
        dict: "a table",
    }
    return names.get(type(value), "a date or time")


def one_of(names: Iterator[str] | tuple[str, ...] | Mapping[str, object]) -> str:
    """The end of a message: the names of which one was expected."""
    listing = ", ".join(f'"{name}"' for name in names)
    if not listing:
        return "there is none to name"
    return f"expected one of {listing}"
