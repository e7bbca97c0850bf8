"""Texts as bags of words and word pairs: what a classifier of n-grams sees of them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.data.tokens import tokens

Ints = npt.NDArray[np.int64]
AT_A_TIME = 20_000
"""Texts that are cut into words before their words become numbers: bounds the memory."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""Multiplicative hashing: 2 to the 64th over the golden ratio, made odd (Knuth, volume 3, 6.4)."""


class Bags(NamedTuple):
    """The features of texts, one text behind the other; text i has those from starts[i] to starts[i + 1]."""

    features: Ints
    """Numbers below the width of the vocabulary; every text has at least one."""
    starts: Ints
    """Shape (texts + 1,)."""


class Vocabulary:
    """Numbers for the start of a text (0), for words (from 1), and for pairs of neighbours (hashed).

    A pair's number is the hash of its words' numbers, so pairs may share one; words never do.
    """

    def __init__(self, *, bits: int) -> None:
        self._bits = bits
        self._numbers: dict[str, int] = {}

    @property
    def width(self) -> int:
        """How many features there are."""
        return 1 + len(self._numbers) + (1 << self._bits)

    def learn(self, texts: Sequence[str]) -> Bags:
        """The features of the texts, whose words become known."""
        return self._bags(texts, grow=True)

    def known(self, texts: Sequence[str]) -> Bags:
        """The features of the texts as far as their words are known."""
        return self._bags(texts, grow=False)

    def _bags(self, texts: Sequence[str], *, grow: bool) -> Bags:
        found, lengths = array("q"), array("q")
        for start in range(0, len(texts), AT_A_TIME):
            cut = [tokens(text) for text in texts[start : start + AT_A_TIME]]
            flat = list(chain.from_iterable(cut))
            if grow:
                for word in dict.fromkeys(flat):
                    self._numbers.setdefault(word, len(self._numbers) + 1)
            get = self._numbers.get
            found.extend([get(word, -1) for word in flat])
            lengths.extend(map(len, cut))
        return self._paired(np.array(found, dtype=np.int64), np.array(lengths, dtype=np.int64))

    def _paired(self, words: Ints, lengths: Ints) -> Bags:
        """Each text as its start, then each word followed by its pair with what stands before it."""
        starts = np.concatenate([[0], np.cumsum(2 * lengths + 1)])
        places = 2 * np.arange(len(words)) + np.repeat(np.arange(len(lengths)), lengths) + 1
        features = np.zeros(starts[-1], dtype=np.int64)
        features[places] = words
        # two places before a word stands the word before it, or before a first word the text's start
        before = features[np.maximum(places - 2, 0)]
        first = np.zeros(len(words), dtype=bool)
        first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
        before[first] = 0
        pairs = (before * (len(self._numbers) + 1) + words).astype(np.uint64) * _SPREAD
        hashed = (pairs >> np.uint64(64 - self._bits)).astype(np.int64) + len(self._numbers) + 1
        features[places + 1] = np.where((words < 0) | (before < 0), -1, hashed)
        kept = features >= 0
        if kept.all():
            return Bags(features, starts)
        return Bags(features[kept], np.concatenate([[0], np.cumsum(kept)])[starts])
