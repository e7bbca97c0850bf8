"""Words of any script as the vectors of GloVe and word2vec know them: case kept, English clitics apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese kana, Chinese characters: each character is a word of its own."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
r"""Combining marks and the Indic blocks, whose vowel signs `\w` leaves out."""

_RUN = rf"[^\W{UNSPACED}]+(?:[{MARKS}]+[^\W{UNSPACED}]*)*"
_WORD = re.compile(rf"{_RUN}(?:['’]{_RUN})*|[{UNSPACED}]")
_PART = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))\Z", re.IGNORECASE)


def words(text: str) -> list[str]:
    """The words in order, without punctuation: "Ann's dog didn't" gives Ann, 's, dog, did, n't."""
    found = _WORD.findall(text)
    return list(_parted(found)) if "'" in text or "’" in text else found


def _parted(found: Iterable[str]) -> Iterator[str]:
    for word in found:
        clitic = _PART.search(word)
        stem = word[: clitic.start()] if clitic else word
        yield from filter(None, re.split("['’]", stem))
        if clitic:
            yield clitic[0]


def overlap(first: str, second: str) -> float:
    """Share of the different words of two texts that stand in both (Jaccard), letter case aside; 0 to 1."""
    one, two = set(words(first.lower())), set(words(second.lower()))
    return len(one & two) / len(one | two) if one or two else 0.0
