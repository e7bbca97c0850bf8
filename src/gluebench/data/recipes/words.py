"""Words of any script as the vectors of GloVe and word2vec know them: case kept, English clitics apart."""

from __future__ import annotations

import re

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese kana, Chinese characters: each character is a word of its own."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
r"""Combining marks and the Indic blocks, whose vowel signs `\w` leaves out."""

_LETTER = rf"(?:(?![{UNSPACED}])[\w{MARKS}])"
_WORD = re.compile(
    rf"[{UNSPACED}]"
    rf"|{_LETTER}+?(?=n['’]t\b)|n['’]t\b"
    rf"|(?<=\w)['’](?:s|re|ve|ll|d|m)\b"
    rf"|{_LETTER}+",
    re.IGNORECASE,
)


def words(text: str) -> list[str]:
    """The words in order, without punctuation: "Ann's 3 don'ts" gives Ann, 's, 3, do, n't, s."""
    return _WORD.findall(text)


def overlap(first: str, second: str) -> float:
    """Share of the different words of two texts that stand in both (Jaccard), letter case aside; 0 to 1."""
    one, two = set(words(first.lower())), set(words(second.lower()))
    return len(one & two) / len(one | two) if one or two else 0.0
