"""The edits that lead from the first text to the second, and the polarity of the place of each.

"Rye bread" entails "bread", and "no bread" entails "no rye bread": whether an edit keeps the truth depends on
how many words before it reverse entailment.
Source: MacCartney and Manning, 2007, "Natural logic for textual inference".
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import product
from typing import NamedTuple

from gluebench.data import Example
from gluebench.data.tokens import overlap, words
from gluebench.systems.bag import BagOfWords, Extractor, whole

NEGATIONS = frozenset(
    words(
        "no not never none nobody nothing nowhere neither nor without cannot hardly barely rarely seldom "
        "few deny denied denies doubt doubts doubted fail failed fails refuse refused refuses forgot "
        "forget lack lacks "
    )
)
"""Words that reverse entailment for the rest of their clause; so does a word that ends in "n't"."""
RESTRICTING = frozenset(words("every all each any if unless whoever"))
"""Words that reverse it for the noun phrase after them."""
REACH = 2
"""How many words such a noun phrase has."""
LOGICAL = frozenset(
    words(
        "a an the some most many several both either or and but only exactly at least most more less "
        "fewer than before after because so that who which whose might may must can could should would "
        "will did does do was were is are has have had been to by of in on for with from as it he she "
        "they his her their him them one two three four five six seven eight nine ten half same other "
        "another "
    )
).union(NEGATIONS, RESTRICTING)
"""Words that keep their name in an edit; all others are content."""
_CLAUSE_END = re.compile(r"[,;:.]|\bbut\b|\band then\b")
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis")


class Edit(NamedTuple):
    """One step from the first text to the second."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    downward: bool
    """Whether the edit is in a context that reverses entailment."""


def edits_or_words(example: Example) -> Iterator[str]:
    """The names of an example's features, each once."""
    texts = list(example.inputs.values())
    if len(texts) == 1:
        return whole(example)
    return iter(dict.fromkeys(_pair(texts[0], texts[1])))


class NaturalLogic(BagOfWords):
    """Logistic regression, or ridge regression, on the edits between two texts and the polarity of each.

    A task of single sentences is answered as by the bag of words.
    """

    extract: Extractor = staticmethod(edits_or_words)


def _pair(first: str, second: str) -> Iterator[str]:
    premise = _nearest_clause(first, second)
    hypothesis = words(second)
    edits = list(_edits(premise, hypothesis))
    kinds = []
    masks = []
    for edit in edits:
        side = "down" if edit.downward else "up"
        kind = f"{_kind(edit)} {side}"
        kinds.append(kind)
        mask = f"{_mask_content(edit.removed)} > {_mask_content(edit.added)}"
        masks.append(mask)
        yield kind
        yield f"{mask} {side}"
        yield f"{' '.join(edit.removed)} > {' '.join(edit.added)}"
        if _opposite(edit):
            yield f"opposite {side}"
    yield f"script {'; '.join(kinds[:4])}"
    yield f"named script {'; '.join(masks[:3])}"
    parity = (_negations(premise) - _negations(hypothesis)) % 2
    yield f"negations differ {parity}"
    yield f"negations differ {parity} opposites {sum(map(_opposite, edits)) % 2}"
    yield f"overlap {int(10 * overlap(first, second))}"
    if sorted(premise) == sorted(hypothesis):
        yield f"same words {premise == hypothesis}"


def _nearest_clause(text: str, other: str) -> list[str]:
    """The words of the first text's clause that shares most words with the other text."""
    there = set(words(other))
    clauses = [words(clause) for clause in _CLAUSE_END.split(text)]
    return max(clauses, key=lambda clause: (len(there & set(clause)), -len(clause)))


def _edits(first: Sequence[str], second: Sequence[str]) -> Iterator[Edit]:
    steps = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    for name, start, end, start_2, end_2 in steps:
        if name == "equal":
            continue
        downward = _downward(first, start) if end > start else _downward(second, start_2)
        yield Edit(tuple(first[start:end]), tuple(second[start_2:end_2]), downward)


def _downward(text: Sequence[str], place: int) -> bool:
    """Whether an odd number of earlier words reverse entailment at the place."""
    turned = _negations(text[:place])
    turned += sum(word in RESTRICTING for word in text[max(0, place - REACH) : place])
    return turned % 2 == 1


def _negations(text: Sequence[str]) -> int:
    return sum(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in text)


def _kind(edit: Edit) -> str:
    kind = "remove"
    if edit.added:
        kind = "replace" if edit.removed else "add"
    if _negations(edit.removed) != _negations(edit.added):
        kind += " negation"
    return kind


def _mask_content(part: Sequence[str]) -> str:
    """Join the words, with all content words replaced by the same mark."""
    marks = []
    for word in part[:5]:
        if word.isdigit():
            marks.append("#")
        else:
            marks.append(word if word in LOGICAL else "~")
    return " ".join(marks)


def _opposite(edit: Edit) -> bool:
    """Whether a word takes, or loses, a prefix that negates it: legal, illegal."""
    for removed, added in product(edit.removed, edit.added):
        for prefix in _PREFIXES:
            if removed == prefix + added or added == prefix + removed:
                return True
    return False
