"""Where sentences end within a text, as far as its words depend on it: at full stops that do not abbreviate.

A question or exclamation mark is a word of its own wherever it stands, so it parts nothing here.
"""

from __future__ import annotations

import re

TITLES = "adm brig capt cmdr col cpl dr fr gen gov hon lt maj messrs mr mrs ms pfc prof rep rev sen sgt supt"
NAMES = "al ave blvd bros co corp dept ft inc jr ltd mt ph sr st ste univ"
MONTHS = "jan feb mar apr aug sep sept oct nov dec"
REFERENCES = "approx ca cf cpl ed eds eg est etc fig ie p pp tel vol vols vs"
ABBREVIATIONS = frozenset(f"{TITLES} {NAMES} {MONTHS} {REFERENCES}".split())
"""In small letters and without the last full stop; single letters and `a.b.` need no list."""
NUMBERED = frozenset({"art", "no", "nos", "sec"})
"""Abbreviations before a number, words otherwise."""
BEGINNINGS = """
A After All Also Although An And As At Both But By During Each For From He Her His However I If In It Its
Many Most No On One Our She Since So Some That The Their Then There These They This Those Though To Two We
What When While With You
"""
OPENINGS = frozenset(BEGINNINGS.split())
"""Words that begin a sentence, rather than belong to a name, where an abbreviation stands before them."""

_STOP = re.compile(
    r"(?P<before>[^\s.]*(?:\.[^\s.]+)*)\.[\])}>\"'»”’]*\s+(?=(?P<quote>[\[({<\"'`“‘«]*)(?P<next>\w*\.?))"
)
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_OUTSIDE = "\"'`“‘«([{<"


def sentences(text: str) -> list[str]:
    """The parts of a text, each but the last with a full stop at its end."""
    found, start = [], 0
    for stop in _STOP.finditer(text):
        if _ends(stop["before"].lstrip(_OUTSIDE), stop["next"]):
            found.append(text[start : stop.end()].rstrip())
            start = stop.end()
    return [*found, text[start:]] if text[start:].strip() else found


def _ends(before: str, following: str) -> bool:
    """Whether the full stop of "before. following" ends a sentence."""
    if not before:
        return False
    if before.lower() in NUMBERED:
        return not following[:1].isdigit()
    word = before.rpartition("-")[2]
    if _DOTTED.match(word) or word.lower() in ABBREVIATIONS:
        return following in OPENINGS
    return True
