"""Edits of one sentence by rule, each with what the edited sentence says of the old one.

An edit is made only where its rule is safe: a sentence that does not fit is left alone (None), since a wrong
label costs more than a missing example. All of them are for English.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Literal, NamedTuple

from gluebench.analysis.challenge.item import english

Relation = Literal["same", "negated"]
Change = Callable[[str], str | None]


class Edit(NamedTuple):
    """A rule."""

    name: str
    relation: Relation
    """Whether the new sentence says the same, or the contrary."""
    phenomenon: str
    """What it tries, by the paper's name."""
    change: Change
    """The edited sentence; None where the rule does not fit."""
    exact: bool = False
    """Whether the new sentence is a paraphrase, so that labels of tasks other than inference stay too."""


_WORDS: dict[str, list[str]] = {name: words.split() for name, words in english("edits").items()}
_VERBAL = ("is", "are", "was", "were", "will", "can")
_STARTS, _UNSAFE = frozenset(_WORDS["starts"]), frozenset(_WORDS["unsafe"])
_WOMEN, _MEN = _WORDS["women"], _WORDS["men"]
_NAMES = (*_WOMEN, *_MEN)
_VERBS = [text.split("/") for text in _WORDS["verbs"]]
_WORD = re.compile(r"[\w'’]+")
_SHORT = re.compile(r"\b(is|are|was|were|did|ca|wo)n['’]t\b")


_PARTICIPLES = {past: participle for _, past, participle in _VERBS}
_PARTICIPLES |= {verb: verb for verb in _WORDS["participles"]}
_PASTS = {participle: past for past, participle in _PARTICIPLES.items()}
_NOUN = rf"(?!(?:{'|'.join(_WORDS['plural'])})\b)[a-z]*[a-rt-xz]|(?!\w*ly\b)[a-z]+y"
_NP = rf"(?:(?:[Tt]he|[Aa]n?) (?:(?:{'|'.join(_WORDS['adjectives'])}) )?(?:{_NOUN})|{'|'.join(_NAMES)})"
_ACTIVE = re.compile(rf"({_NP}) ({'|'.join(_PARTICIPLES)}) ({_NP})\.")
_PASSIVE = re.compile(rf"({_NP}) was ({'|'.join(_PASTS)}) by ({_NP})\.")
_BASES = {past: base for base, past, *_ in (*_VERBS, *(text.split("/") for text in _WORDS["pasts"]))}
_PAST_OF = {base: past for past, base in _BASES.items()}
_SUBJECT = rf"(?:{_NP}|[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Ww]e|[Yy]ou|I)"
_DONE = re.compile(rf"({_SUBJECT}) ({'|'.join(_BASES)})\b")
_NOT_DONE = re.compile(rf"\bdid not ({'|'.join(_PAST_OF)})\b")


def negation_added(text: str) -> str | None:
    """ "not" behind the one auxiliary, or "did not", in a plain statement about a definite subject."""
    if not _plain(text):
        return None
    found = [match for match in _WORD.finditer(text) if match[0] in _VERBAL]
    if not found:
        past = _DONE.match(text)
        return f"{past[1]} did not {_BASES[past[2]]}{text[past.end() :]}" if past else None
    if len(found) > 1:
        return None
    end = found[0].end()
    return f"{text[:end]}{'' if found[0][0] == 'can' else ' '}not{text[end:]}"


def negation_removed(text: str) -> str | None:
    """The one negation taken away, where `negation_added` would put it back."""
    long = _SHORT.sub(lambda match: {"ca": "can", "wo": "will"}.get(match[1], match[1]) + " not", text)
    long = re.sub(r"\bcan not\b", "cannot", long)
    shorter = re.sub(r"\b(can)not\b|\b(is|are|was|were|will) not\b", r"\1\2", long)
    shorter = _NOT_DONE.sub(lambda match: _PAST_OF[match[1]], shorter)
    return shorter if shorter != long and negation_added(shorter) == long else None


def _plain(text: str) -> bool:
    """A statement of one clause, about a subject that is definite."""
    words = _WORD.findall(text.lower())
    if not 3 <= len(words) <= 25 or "?" in text or "," in text or _UNSAFE & set(words):
        return False
    first = _WORD.search(text)
    definite = words[0] in _STARTS or (first is not None and first[0] in _NAMES)
    return definite and not any(word.endswith(("n't", "n’t")) for word in words)


def _inner(text: str) -> str | None:
    """The statement as a clause within another: its first letter small, unless it begins a name."""
    first = _WORD.search(text)
    if first is None or "?" in text or first.start() != 0:
        return None
    if first[0].lower() in {*_STARTS, "a", "an", "there"}:
        return text if first[0] == "I" else text[0].lower() + text[1:]
    return text if first[0] in _NAMES else None


def _is_statement(text: str) -> bool:
    """Whether there is a verb known to be finite before any relative clause, as fragments have not."""
    words = _WORD.findall(text.lower())
    ends = [number for number, word in enumerate(words) if word in _WORDS["relative"]]
    return any(word in _WORDS["finite"] or word in _BASES for word in words[: min(ends, default=len(words))])


def framed(text: str) -> str | None:
    """ "It is true that" before the statement."""
    inner = _inner(text)
    return None if inner is None or not _is_statement(text) else f"It is true that {inner}"


def tautology_added(text: str) -> str | None:
    """A truism behind the statement: it adds nothing."""
    if "?" in text or not text.endswith(".") or not _is_statement(text):
        return None
    return f"{text[:-1]}, and a week has seven days."


def made_passive(text: str) -> str | None:
    """ "The miller greeted the potter." the other way about; the object has to be singular."""
    found = _ACTIVE.fullmatch(text)
    if found is None:
        return None
    subject, verb, thing = found.groups()
    return f"{_upper(thing)} was {_PARTICIPLES[verb]} by {_lower(subject)}."


def made_active(text: str) -> str | None:
    """A passive with its agent as an active sentence."""
    found = _PASSIVE.fullmatch(text)
    if found is None:
        return None
    thing, verb, subject = found.groups()
    return f"{_upper(subject)} {_PASTS[verb]} {_lower(thing)}."


def _upper(phrase: str) -> str:
    return phrase[0].upper() + phrase[1:]


def _lower(phrase: str) -> str:
    return phrase if phrase in _NAMES else phrase[0].lower() + phrase[1:]


EDITS = (
    Edit("negation added", "negated", "Negation", negation_added),
    Edit("negation removed", "negated", "Negation", negation_removed),
    Edit("active to passive", "same", "Active/Passive", made_passive, exact=True),
    Edit("passive to active", "same", "Active/Passive", made_active, exact=True),
    Edit("framed as true", "same", "Redundancy", framed),
    Edit("truism added", "same", "Conjunction", tautology_added),
)
NAMES_CHANGED = "names changed"
NAMED = "Named Entities"


def names_changed(texts: tuple[str, ...], chance: Random) -> tuple[str, ...] | None:
    """Every first name by another of the same gender, the same one throughout; None where there is none."""
    there = dict.fromkeys(word for text in texts for word in _WORD.findall(_owned(text)) if word in _NAMES)
    if not there:
        return None
    new: dict[str, str] = {}
    for name in there:
        pool = _WOMEN if name in _WOMEN else _MEN
        free = [other for other in pool if other not in there and other not in new.values()]
        if not free:
            return None
        new[name] = chance.choice(free)
    pattern = re.compile(rf"\b({'|'.join(there)})\b")
    return tuple(pattern.sub(lambda match: new[match[1]], text) for text in texts)


def _owned(text: str) -> str:
    """The text with genitives parted from their names."""
    return re.sub(r"['’]s\b", " s", text)
