"""Which words go with which class: pointwise mutual information, as Gururangan et al. (2018) list it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

from gluebench.data.tokens import words

SMOOTHING = 100.0
"""Added to every count, as there: else the words at the top are those that hardly ever occur."""
SHOWN = 5
"""At most so many words of each class are listed."""
LEAST = 0.005
"""PMI below which a word says nothing of a class: it would be shown as 0.00."""


class Association(NamedTuple):
    """A word that speaks for a class."""

    label: str
    word: str
    pmi: float
    """Bits by which the class is more probable with the word than without knowing it, smoothed."""
    share: float
    """Share of the class's texts that hold the word, as a fraction."""
    texts: int
    """Texts of the class that hold it."""


def associations(
    texts: Sequence[str],
    labels: Sequence[str],
    classes: Sequence[str],
    *,
    smoothing: float = SMOOTHING,
    shown: int = SHOWN,
) -> list[Association]:
    """The words of highest PMI with each class, class by class; of equals the more frequent, then by letter.

    PMI(word, class) = log2 p(word, class) / (p(word) p(class)), where p(word, class) is the share of the
    pair in all counts, a count being the class's texts that hold the word, plus the smoothing. A word
    that makes a class no more probable is not listed for it.
    """
    counts = {label: Counter[str]() for label in classes}
    sizes = Counter(labels)
    for text, label in zip(texts, labels, strict=True):
        counts[label].update(set(words(text)))
    table = pmi(counts, smoothing=smoothing)
    listed = []
    for label in classes:
        telling = [word for word in counts[label] if table[label][word] >= LEAST]
        ranked = sorted(telling, key=lambda word: (-table[label][word], -counts[label][word], word))
        for word in ranked[:shown]:
            held = counts[label][word]
            listed.append(Association(label, word, table[label][word], held / sizes[label], held))
    return listed


def pmi(counts: Mapping[str, Counter[str]], *, smoothing: float) -> dict[str, dict[str, float]]:
    """Class to word to PMI in bits, from class to word to count; every word of any class has a value.

    Without smoothing it is minus infinity where a word does not occur with a class.
    """
    everywhere = sum(counts.values(), Counter[str]())
    by_word = {word: count + smoothing * len(counts) for word, count in everywhere.items()}
    by_class = {label: each.total() + smoothing * len(everywhere) for label, each in counts.items()}
    total = sum(by_class.values())
    return {
        label: {
            word: _bits((each[word] + smoothing) * total, by_word[word] * by_class[label])
            for word in everywhere
        }
        for label, each in counts.items()
    }


def _bits(joint: float, apart: float) -> float:
    return log2(joint / apart) if joint else float("-inf")
