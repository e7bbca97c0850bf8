"""Simple tokenization of sentences, for counting words."""

import re
from functools import lru_cache

_TOKEN = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")
_WORD = re.compile(r"\w+(?:['’]\w+)?")


def tokens(text: str) -> list[str]:
    """Words and punctuation marks in lower case."""
    return _TOKEN.findall(text.lower())


def words(text: str) -> list[str]:
    """Words in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def overlap(first: str, second: str) -> float:
    """Jaccard similarity of two texts' sets of words, 0 to 1."""
    first_words = _distinct(first)
    second_words = _distinct(second)
    if not first_words and not second_words:
        return 0.0
    return len(first_words & second_words) / len(first_words | second_words)


@lru_cache(maxsize=64)  # one text is often compared with several
def _distinct(text: str) -> frozenset[str]:
    return frozenset(words(text))
