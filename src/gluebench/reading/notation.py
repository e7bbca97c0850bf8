"""How numbers and JSON are written: one rule for the cells of all forms, in submissions and in gold.

Numbers are plain decimals of ASCII digits. Parts and keys are there once; texts have UTF-8.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from math import isfinite
from typing import Any

LARGEST = 1e50
"""Largest size of a number: the fourth power, of which the error of a squared error consists, is finite."""
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
PLACE = re.compile(r"[0-9]{1,18}")
"""The number of a character, token or page, in plain digits."""
_NAMED = ("nan", "inf", "infinity")


class NotationError(ValueError):
    """A number, text or value of JSON in another notation; the message ends a sentence "expected ..."."""


class RepeatedError(NotationError):
    """A cell with a label, an id, a span or a key twice."""


class NumberError(NotationError):
    """No usable number; the message is the code of the problem (docs/reference/submission.md)."""


def decimal(text: str) -> float:
    """The number of a plain decimal, as -12.5, .5 or 1e-7. Raises NumberError."""
    if not _DECIMAL.fullmatch(text):
        is_named = text.strip("+-").lower() in _NAMED
        raise NumberError("not-finite" if is_named else "not-a-number")
    number = float(text)
    if abs(number) > LARGEST:
        raise NumberError("too-large-number" if isfinite(number) else "not-finite")
    return number


def weight(text: str) -> float:
    """The number of a plain decimal that is not negative. Raises NotationError."""
    number = decimal(text)
    if number < 0:
        raise NotationError(text)
    return number


def parse_position(text: str) -> int:
    """The number of up to 18 plain digits. Raises NotationError."""
    if not PLACE.fullmatch(text):
        raise NotationError(text)
    return int(text)


def is_number(text: str) -> bool:
    """Whether the text is meant as a number, which may be NaN, infinite or too large."""
    try:
        decimal(text.strip())
    except NumberError as error:
        return str(error) != "not-a-number"
    return True


DEEPEST = 200
"""Levels of JSON that are read; versions of Python differ in how often a function may call itself."""


def loaded(text: str, *, flat: bool = False) -> Any:
    """The value of JSON; None for null, or if it is not JSON, or nested more than `DEEPEST` levels.

    A list of objects that hold no others is read faster if it is known to be `flat`. Raises RepeatedError for
    an object with a key twice, NotationError for a lone surrogate.
    """
    try:
        if flat and "\\" not in text:
            value = json.loads(text)
            if _are_all_quotes(value, text.count('"')):
                return value
        value = _DECODER.decode(text)
    except NotationError:
        raise
    except (ValueError, RecursionError):
        return None
    if text.count("[") + text.count("{") > DEEPEST and _is_deeper(value, DEEPEST):
        return None
    if "\\ud" in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            surrogate = error.object[error.start]
            raise NotationError(f"whole characters, and {surrogate!r} is half of one") from None
    return value


def _are_all_quotes(value: list[Any], quotes: int) -> bool:
    """Whether a list of objects without escapes has so many quotation marks: then no key was there twice."""
    if set(map(type, value)) != {dict}:
        return False
    parts = chain.from_iterable(map(dict.values, value))
    texts = list(map(type, parts)).count(str) + sum(map(len, value))
    return quotes == 2 * texts


def _is_deeper(value: Any, most: int) -> bool:
    """Whether lists and objects lie in each other on more than so many levels."""
    level = [value]
    for _ in range(most):
        below: list[Any] = []
        for part in level:
            if isinstance(part, list):
                below += part
            elif isinstance(part, dict):
                below += part.values()
        level = [part for part in below if isinstance(part, list | dict)]
        if not level:
            return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise RepeatedError(f"each key of an object once, and {twice!r} is there twice")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def join_parts(parts: Iterable[Any], separator: str) -> str:
    """The cell of these parts. Raises NotationError for a part that would be read as several or none."""
    texts = list(map(str, parts))
    for text in texts:
        if text.split(separator.strip() or None) != [text]:
            raise NotationError(f"parts that are not empty and have no {separator!r} in them, not {text!r}")
    return separator.join(texts)
