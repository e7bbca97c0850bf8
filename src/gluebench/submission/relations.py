"""Relations: copies of a sentence, one for each relation, in which tags mark spans of words.

A tag has a name of capital letters, and digits or none: `<ARG0>the storm</ARG0>`. A label without digits
stands for its tags of every number, as SIG for SIG0 and SIG1. Words are what single blanks separate.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any

TAG = re.compile(r"<(/?)([A-Z]+)([0-9]*)>")
"""A tag: whether it closes a span, the letters of its name, and the digits."""
_LIKE_TAG = re.compile(r"</?([A-Z]+)([0-9]*)>", re.IGNORECASE)
_EMPTY = re.compile(r"<([A-Z]+[0-9]*)> *</\1>")
MOST_GOLD = 8
"""Relations of a gold cell: predictions are compared with them in every order."""
Relations = tuple[str, ...]


class PartError(ValueError):
    """A cell of which the message is the part that is wrong, or what is wrong with it."""


def relations(sentences: Any, *, words: tuple[str, ...] = (), gold: bool = False) -> Relations:
    """The sentences of a list, with tags of the labels `words`; empty for any. Raises ValueError."""
    if not isinstance(sentences, list | tuple) or not all(isinstance(item, str) for item in sentences):
        raise ValueError(sentences)
    if gold and len(sentences) > MOST_GOLD:
        raise PartError(f"{len(sentences)} relations, at most {MOST_GOLD} in gold")
    sizes = [sentence.count(" ") + 1 for sentence in sentences]
    for sentence, size in zip(sentences, sizes, strict=True):
        tags = tuple(TAG.findall(sentence))
        _check_tags(tags, words)
        if sentence.count("<") > len(tags):
            _check_letters(sentence, words)
        if empty := _EMPTY.search(sentence):
            raise PartError(f"{empty[0]} without a word between")
        if size != sizes[0]:
            raise PartError(f"{size:,} words, not {sizes[0]:,} as in the first sentence")
    return tuple(sentences)


@lru_cache(maxsize=1 << 12)
def _check_tags(tags: tuple[tuple[str, str, str], ...], words: tuple[str, ...]) -> None:
    opened = dict[str, None]()
    for closing, letters, digits in tags:
        name = letters + digits
        known = not words or name in words or letters in words
        if not known or bool(closing) != (name in opened):
            raise PartError(f"<{closing}{name}>")
        if closing:
            del opened[name]
        else:
            opened[name] = None
    for name in opened:
        raise PartError(f"<{name}> without </{name}>")


def _check_letters(sentence: str, words: tuple[str, ...]) -> None:
    """Refuse tags of the labels in small letters, which would be read as text."""
    for tag in _LIKE_TAG.finditer(sentence):
        letters = tag[1].upper()
        name = letters + tag[2]
        if not TAG.fullmatch(tag[0]) and (letters in words or name in words):
            raise PartError(tag[0])


def in_python(cell: str) -> Any:
    """The value that is written as in Python; None if it is not."""
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def size_of(cell: Relations) -> int | None:
    """The number of words of the sentence; None if there is no relation."""
    return cell[0].count(" ") + 1 if cell else None
