"""Errors in files of examples, with all problems together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

SHOWN = 20
"""Problems of one file that a message shows in full; the rest are counted."""
Item = TypeVar("Item")
Result = TypeVar("Result")


class DataError(ValueError):
    """Examples that cannot be used; the message has a line for each problem."""

    def __init__(self, problems: str | Sequence[str], *, shown: int | None = SHOWN) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        """Each names the file, the line or value, and what was expected."""
        lines = self.problems[:shown]
        more = len(self.problems) - len(lines)
        if more:
            lines.append(f"... and {more} more")
        super().__init__("\n".join(lines))


def refuse(problems: Sequence[str]) -> None:
    """Raise DataError if there are any problems."""
    if problems:
        raise DataError(problems)


@contextmanager
def parsing(path: Path, what: str, advice: str) -> Iterator[None]:
    """Raise DataError, "PATH: not WHAT (reason); ADVICE", for any fault of a file's content."""
    try:
        yield
    except DataError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not {what} ({error}); {advice}") from None


def expect_schema(values: Any, expected: str) -> None:
    """Raise ValueError, KeyError or TypeError unless the values of a file have this schema."""
    if values["schema"] != expected:
        raise ValueError(f"its schema is {values['schema']!r}, expected {expected!r}")


def differences(saved: Mapping[str, Any], current: Mapping[str, Any]) -> list[str]:
    """Each value in which two records differ, as JSON has them; None is as if it was not there.

    Names of nested values are joined by spaces: "settings clip was 5.0, and is 1.0 now".
    """
    before = _flatten(json.loads(json.dumps(saved)))
    now = _flatten(json.loads(json.dumps(current)))
    lines = []
    for name in before | now:
        if before.get(name) != now.get(name):
            lines.append(f"{name} was {_as_json(before.get(name))}, and is {_as_json(now.get(name))} now")
    return lines


def _as_json(value: object) -> str:
    return "not there" if value is None else json.dumps(value, ensure_ascii=False)


def _flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested values under the names that lead to them, with spaces between."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{name} ")
        else:
            flat[prefix + name] = value
    return flat


def gather(function: Callable[[Item], Result], items: Iterable[Item]) -> tuple[list[Result], list[str]]:
    """The results for the items, and the problems of every DataError."""
    results = []
    problems = []
    for item in items:
        try:
            results.append(function(item))
        except DataError as error:
            problems += error.problems
    return results, problems


def gathered(function: Callable[[str, Item], Result], items: Mapping[str, Item]) -> dict[str, Result]:
    """The result for each named item. Raises DataError with the problems of all of them."""
    results, problems = gather(lambda name: function(name, items[name]), items)
    if problems:
        raise DataError(problems)
    return dict(zip(items, results, strict=True))
