"""Where the clause of a pronoun begins: GLUE's WNLI asks about that clause, seldom about the whole text."""

from __future__ import annotations

import re
from typing import NamedTuple

_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)]*\s+|[。！？]+\s*")
_FEWEST_WORDS = 2
"""A clause that ends in an object pronoun has a subject and a verb before it."""


class ClauseRules(NamedTuple):
    """How much of a text a hypothesis keeps, and the words that say so; all lower case."""

    extent: str = "clause"
    """clause, sentence or text."""
    connectives: frozenset[str] = frozenset()
    """A clause begins after each of these."""
    links: frozenset[str] = frozenset()
    """A clause begins after these if a subject pronoun follows, or the pronoun itself."""
    keeps: frozenset[str] = frozenset()
    """What follows these cannot stand without what precedes them."""
    subjects: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    definite: str = ""
    """The definite article; a pronoun after it and a noun begins a relative clause."""


def last_sentence(text: str, rules: ClauseRules) -> str:
    """What follows the last end of a sentence."""
    ends = _ends(text, rules)
    return text[ends[-1] :] if ends else text


def first_sentence(text: str, rules: ClauseRules) -> str:
    """The text up to the first end of a sentence."""
    ends = _ends(text, rules)
    return text[: ends[0]].rstrip() if ends else text


def _ends(text: str, rules: ClauseRules) -> list[int]:
    """Where sentences end: not at an abbreviation's or initial's stop, nor before a small letter."""
    ends = []
    for end in _SENTENCE_END.finditer(text + " "):
        word = re.split(r"[\s.]", text[: end.start()])[-1]
        short = word.lower() in rules.abbreviations or (len(word) == 1 and word.isalpha())
        if not (end.group().strip() == "." and short) and not text[end.end() :][:1].islower():
            ends.append(end.end())
    return ends


def kept_before(before: str, rules: ClauseRules, *, begins: bool | None, possessive: bool) -> str:
    """The part of the text before a pronoun that the hypothesis keeps.

    `begins` says whether the clause begins with the pronoun; None leaves that to the word before it. A
    possessive in the middle of a clause keeps its sentence, for whose it is is often said by the rest.
    """
    if rules.extent == "text":
        return before
    sentence = last_sentence(before, rules)
    if rules.extent == "sentence" or _follows(sentence, rules.keeps) or _only_connective(sentence, rules):
        return sentence
    if begins is not False and _at_boundary(sentence, rules):
        return ""
    if possessive:
        return re.split(r"[;:]\s+", sentence)[-1]
    if begins and not _relative(sentence, rules):
        return ""
    return _clause(sentence, rules)


def _at_boundary(sentence: str, rules: ClauseRules) -> bool:
    return sentence[-1:] in (",", ";", ":") or _follows(sentence, rules.connectives | rules.links)


def _follows(sentence: str, words: frozenset[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}$", sentence.lower()) for word in words)


def _only_connective(sentence: str, rules: ClauseRules) -> bool:
    """A sentence that begins "Since he ..." has its main clause after the pronoun's."""
    return sentence.lower() in rules.connectives | rules.links


def _relative(sentence: str, rules: ClauseRules) -> bool:
    words = sentence.lower().split()
    return len(words) >= 2 and words[-2] == rules.definite


def _clause(sentence: str, rules: ClauseRules) -> str:
    """What follows the last boundary that leaves a subject and a verb."""
    for end in reversed([found.end() for found in _boundary(rules).finditer(sentence)]):
        rest = _led_off(sentence[end:], rules)
        if len(rest.split()) >= _FEWEST_WORDS:
            return rest
    return sentence


def _boundary(rules: ClauseRules) -> re.Pattern[str]:
    """Punctuation, a connective, or a link and a subject pronoun; never at the start of a sentence."""
    options = [r"[,;:]\s+"]
    if rules.connectives:
        options.append(rf"\s(?:{_either(rules.connectives)})\s+")
    if rules.links and rules.subjects:
        options.append(rf"\s(?:{_either(rules.links)})\s+(?=(?:{_either(rules.subjects)})\s)")
    return re.compile("|".join(options), re.IGNORECASE)


def _led_off(text: str, rules: ClauseRules) -> str:
    """The text without the connectives and links at its head."""
    words = rules.connectives | rules.links
    if not words:
        return text
    return re.sub(rf"^(?:(?:{_either(words)})\s+)+", "", text, flags=re.IGNORECASE)


def _either(words: frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
