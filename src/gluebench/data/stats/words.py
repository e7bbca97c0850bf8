"""The words of many texts at once.

No token has white space in it. So texts are cut there, which is fast, each different stretch between is
tokenised once and has a number, and the rest is arithmetic on these numbers.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from gluebench.data.tokens import tokens, words

Numbers = npt.NDArray[np.int64]


class _Stretches(dict[str, int]):
    """Numbers stretches as they appear, and keeps how many tokens and which words each has."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths = array("q")
        self.words = array("q")
        """Numbers of the words of all stretches, one stretch after the other."""
        self.ends = array("q")
        self._numbers: dict[str, int] = {}

    def __missing__(self, stretch: str) -> int:
        number = self[stretch] = len(self)
        self.lengths.append(len(tokens(stretch)))
        self.words.extend(self._numbers.setdefault(word, len(self._numbers)) for word in words(stretch))
        self.ends.append(len(self.words))
        return number

    @property
    def different_words(self) -> int:
        """How many there are so far."""
        return len(self._numbers)


class Coded:
    """The texts of a column as numbers: one for each stretch, and the text it stands in."""

    def __init__(self, texts: Sequence[str], known: _Stretches) -> None:
        cut = [text.split() for text in texts]
        self.size = len(cut)
        self.stretches = np.fromiter(map(known.__getitem__, chain.from_iterable(cut)), np.int64)
        self.texts = np.repeat(np.arange(self.size), [len(each) for each in cut])


class Words:
    """Counts the words of texts, column by column."""

    def __init__(self) -> None:
        self._known = _Stretches()
        self._counts = np.zeros(0, np.int64)

    def coded(self, texts: Sequence[str]) -> Coded:
        """The texts as numbers; their words count from now on."""
        coded = Coded(texts, self._known)
        counts = np.bincount(coded.stretches, minlength=len(self._known))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        return coded

    def lengths(self, coded: Coded) -> Numbers:
        """Tokens of each text."""
        lengths = np.array(self._known.lengths)
        counts = np.bincount(coded.texts, lengths[coded.stretches], minlength=coded.size)
        return counts.astype(np.int64)

    def overlaps(self, one: Coded, two: Coded) -> npt.NDArray[np.float64]:
        """`gluebench.data.tokens.overlap` of each text of one column with that of the other."""
        first, second = self._different(one), self._different(two)
        both = self._by_text(np.intersect1d(first, second, assume_unique=True), one.size)
        either = self._by_text(first, one.size) + self._by_text(second, one.size) - both
        shares: npt.NDArray[np.float64] = both / np.maximum(either, 1)
        return shares

    def _different(self, coded: Coded) -> Numbers:
        """The different words of each text, as text * number of all words + word, in order."""
        ends = np.array(self._known.ends)
        starts = np.concatenate(([0], ends))[coded.stretches]
        counts = ends[coded.stretches] - starts
        before = np.cumsum(counts) - counts
        at = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        of_text = np.repeat(coded.texts, counts)
        keys = of_text * self._known.different_words + np.array(self._known.words)[at]
        keys.sort()  # np.unique puts them in a hash table, which takes longer
        different: Numbers = keys[np.diff(keys, prepend=-1) > 0]
        return different

    def _by_text(self, found: Numbers, size: int) -> Numbers:
        return np.bincount(found // max(self._known.different_words, 1), minlength=size)

    def vocabulary(self) -> Counter[str]:
        """How often each token stands in all the texts."""
        found: Counter[str] = Counter()
        for stretch, count in zip(self._known, self._counts.tolist(), strict=True):
            for token in tokens(stretch):
                found[token] += count
        return found
