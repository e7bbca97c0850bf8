"""Features of a pair that see where the words of one text stand in the other, and of a text in what order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from gluebench.data import Example
from gluebench.data.tokens import overlap, tokens

FUNCTION_WORDS = 120
"""How many of the most frequent words keep their own name where both texts have them."""
REACH = 3
"""How far from a shared word its neighbours count."""


class Aligner:
    """Extracts features; knows the words that are too frequent in training to point to the other text."""

    def __init__(self, train: Sequence[Example]) -> None:
        counts: Counter[str] = Counter()
        names: set[str] = set()
        for example in train:
            for text in example.inputs.values():
                counts.update(set(tokens(text)))
                names.update(word.lower() for word in text.split()[1:] if word[:1].isupper())
        frequent = [word for word, _ in counts.most_common() if word not in names]
        self._frequent = frozenset(frequent[:FUNCTION_WORDS])

    def __call__(self, example: Example) -> Iterator[str]:
        """The names of an example's features, each once."""
        texts = [tokens(text) for text in example.inputs.values()]
        if len(texts) == 1:
            yield from dict.fromkeys(_sequence("", texts[0]))
            return
        first, second = texts[:2]
        yield from dict.fromkeys(self._pair(first, second))
        shared = overlap(*list(example.inputs.values())[:2])
        yield from (f"overlap {step}" for step in range(int(20 * shared) + 1))
        rare = {stem(word) for word in first if word not in self._frequent}
        common = len(rare & {stem(word) for word in second})
        yield from (f"common {step}" for step in range(common + 1))

    def _pair(self, first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
        """Words of both, and each text with pointers in the place of the words that it shares."""
        yield from (f"{side} {word}" for side, text in (("1", first), ("2", second)) for word in text)
        for side, text, other in (("1", first, second), ("2", second, first)):
            pointed = self._pointed(text, other)
            yield from _grams(side, pointed)
            if side == "1":
                yield from _windows(pointed)

    def _pointed(self, text: Sequence[str], other: Sequence[str]) -> list[str]:
        """The text with @1 for the first of the other text's rarer words that it has, and so on."""
        stems = {stem(word) for word in text if word not in self._frequent}
        pointers: dict[str, str] = {}
        for word in other:
            if stem(word) in stems and stem(word) not in pointers:
                pointers[stem(word)] = f"@{len(pointers) + 1}"
        return [word if word in self._frequent else pointers.get(stem(word), word) for word in text]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The word without the ending of a plural."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "shes", "ches")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _grams(side: str, text: Sequence[str]) -> Iterator[str]:
    edged = ["^", *text, "$"]
    yield from (f"{side} {one} {two}" for one, two in pairwise(edged))
    yield from (f"{side} {' '.join(edged[at : at + 3])}" for at in range(len(edged) - 2))


def _windows(text: Sequence[str]) -> Iterator[str]:
    """What stands before and after each pointer, and in what order the pointers come."""
    for place, word in enumerate(text):
        if word.startswith("@"):
            yield from (f"{before} < {word}" for before in text[max(0, place - REACH) : place])
            yield from (f"{word} < {after}" for after in text[place + 1 : place + 1 + REACH])
    pointers = [word for word in text if word.startswith("@")]
    yield from (f"{one} << {two}" for one, two in pairwise(pointers))


def _sequence(side: str, text: Sequence[str]) -> Iterator[str]:
    """Words, runs of up to three, pairs with a gap, and the words and endings at either end."""
    yield from text
    yield from _grams(side, text)
    yield from (f"{one} _ {two}" for one, two in zip(text, text[2:], strict=False))
    for place in range(min(3, len(text))):
        yield f"start {place} {text[place]}"
        yield f"start {place} -{text[place][-1]}"
        yield f"end {place} {text[-1 - place]}"
