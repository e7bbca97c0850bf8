"""What can be counted of a pair of texts without reading them: words, runs and lengths in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gluebench.data import Example
from gluebench.data.tokens import words
from gluebench.systems.features import Floats

NEGATIONS = frozenset(
    ["cannot", "hardly", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "without"]
)
QUANTIFIERS = frozenset(
    ["all", "any", "both", "each", "every", "few", "half", "less", "many", "more", "most", "only", "some"]
)


def shallow(examples: Sequence[Example]) -> Floats:
    """The features of each pair, shape (examples, features)."""
    pairs = ([words(text) for text in list(example.inputs.values())[:2]] for example in examples)
    return np.array([list(_features(first, second)) for first, second in pairs], dtype=np.float64)


def _features(first: Sequence[str], second: Sequence[str]) -> Iterator[float]:
    yield from (len(first), len(second), len(first) - len(second))
    yield from (first[:1] == second[:1], first[-1:] == second[-1:])
    for size in (1, 2, 3):
        yield from _compared(_grams(first, size), _grams(second, size))
    for length in longest(first, second):
        yield from (length, length / (len(second) or 1))
    one, two = set(first), set(second)
    negations = [{word for word in text if word in NEGATIONS or word.endswith("n't")} for text in (one, two)]
    numbers = [{word for word in text if word[0].isdigit()} for text in (one, two)]
    for kinds in (negations, [one & QUANTIFIERS, two & QUANTIFIERS], numbers):
        yield from (len(kinds[0] - kinds[1]), len(kinds[1] - kinds[0]))


def _compared(one: set[tuple[str, ...]], two: set[tuple[str, ...]]) -> Iterator[float]:
    """How many both have and each alone has, and the shares of all and of the second's that are common."""
    common = len(one & two)
    yield from (common, len(one) - common, len(two) - common)
    yield from (common / (len(one | two) or 1), common / (len(two) or 1))


def _grams(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return set(zip(*(text[start:] for start in range(size)), strict=False))


def longest(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """The lengths of the longest common substring and of the longest common subsequence, in words."""
    substring, runs, lengths = 0, [0] * (len(second) + 1), [0] * (len(second) + 1)
    for word in first:
        runs_before, before = runs, lengths
        runs, lengths = [0], [0]
        for place, other in enumerate(second):
            same = word == other
            runs.append(runs_before[place] + 1 if same else 0)
            lengths.append(before[place] + 1 if same else max(before[place + 1], lengths[place]))
        substring = max(substring, *runs)
    return substring, lengths[-1]
