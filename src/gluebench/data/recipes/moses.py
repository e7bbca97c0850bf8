"""English text tokenised in the manner of the Moses toolkit, as the copy of MRPC that GLUE ships."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LETTER = r"[^\W\d_]"
_OTHER = r"[\W\d_]"
_STEPS = [
    (re.compile(r"[\x00-\x1f]"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r"([^\w\s.'`,-]|_)"), r" \1 "),
    # A comma stays only within a number.
    (re.compile(r"(\D),"), r"\1 , "),
    (re.compile(r",(\D)"), r" , \1"),
    # An apostrophe begins the word after it if a letter stands on either side: "didn 't", but "boys ' club".
    (re.compile(f"({_OTHER})'({_OTHER})"), r"\1 ' \2"),
    (re.compile(rf"([\W_])'({_LETTER})"), r"\1 ' \2"),
    (re.compile(f"({_LETTER})'({_OTHER})"), r"\1 ' \2"),
    (re.compile(f"({_LETTER})'({_LETTER})"), r"\1 '\2"),
    (re.compile(r"(\d)'(s)"), r"\1 '\2"),
]
_DOTS = re.compile(r"\.{2,}")
_DOT = "\ue000"
"""Stands for each full stop of an ellipsis, which is one token, while the others are looked at."""

# Words whose full stop stays although no small letter follows, as far as GLUE's copy shows them.
_ABBREVIATIONS = {
    *("Adm", "Brig", "Bros", "Capt", "Cmdr", "Col", "Corp", "Cpl", "Dr", "Gen", "Gov", "Lt", "Maj", "Mr"),
    *("Mrs", "Ms", "Pfc", "Rep", "Rev", "Sen", "Sens", "Sgt", "Sr", "St", "v", "vs"),
}
_BEFORE_NUMBERS = {"Aug", "Dec", "Feb", "Jan", "No", "Nov", "Oct"}


def tokenise(text: str) -> str:
    """The tokens of an English sentence with one space between them."""
    text = f" {text} "
    for pattern, replacement in _STEPS[:3]:
        text = pattern.sub(replacement, text)
    text = _DOTS.sub(lambda dots: f" {_DOT * len(dots[0])} ", text)
    for pattern, replacement in _STEPS[3:]:
        text = pattern.sub(replacement, text)
    return " ".join(_full_stops(text.split())).replace(_DOT, ".")


def _full_stops(tokens: list[str]) -> Iterator[str]:
    for token, after in zip(tokens, [*tokens[1:], ""], strict=False):
        word = token.removesuffix(".")
        if word in ("", token) or _keeps(word, after):
            yield token
        else:
            yield word
            yield "."


def _keeps(word: str, after: str) -> bool:
    """Whether the full stop after a word belongs to it."""
    initial = len(word) == 1 and "A" <= word <= "Z"
    inner = "." in word and re.search(_LETTER, word) is not None
    numbered = word in _BEFORE_NUMBERS and after[:1].isdigit()
    return initial or inner or numbered or word in _ABBREVIATIONS or after[:1].islower()
