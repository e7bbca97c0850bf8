"""Models that must not learn inference: each looks at one thing that has nothing to do with meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gluebench.data import Example
from gluebench.data.tokens import overlap, words

Shortcut = Callable[[Sequence[Example], Sequence[Example]], list[str]]
"""From labelled training examples and others to a label for each of the others."""
BINS = 12


def _texts(example: Example) -> list[str]:
    return list(example.inputs.values())


def hypothesis_only(train: Sequence[Example], others: Sequence[Example]) -> list[str]:
    """Naive Bayes on the words and word pairs of the last text."""

    def parts(example: Example) -> set[str]:
        found = words(_texts(example)[-1])
        return {*found, *(f"{one} {two}" for one, two in zip(["", *found], found, strict=False))}

    prior = Counter(str(example.label) for example in train)
    counts = {label: Counter[str]() for label in prior}
    for example in train:
        counts[str(example.label)].update(parts(example))

    def score(example: Example, label: str) -> float:
        seen = [(counts[label][part] + 1) / (prior[label] + 2) for part in parts(example)]
        return float(np.log(prior[label]) + np.sum(np.log(seen)))

    return [max(sorted(prior), key=lambda label: score(other, label)) for other in others]


def _binned(measure: Callable[[Example], float]) -> Shortcut:
    """The most frequent training label among examples of a like value."""

    def predict(train: Sequence[Example], others: Sequence[Example]) -> list[str]:
        values = [measure(example) for example in train]
        edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
        held: dict[int, Counter[str]] = {}
        for place, example in zip(np.searchsorted(edges, values), train, strict=True):
            held.setdefault(int(place), Counter())[str(example.label)] += 1
        every = Counter(str(example.label) for example in train)
        places = np.searchsorted(edges, [measure(other) for other in others])
        return [
            max(sorted(every), key=lambda label, at=int(place): held.get(at, every)[label])
            for place in places
        ]

    return predict


def nearest(train: Sequence[Example], others: Sequence[Example]) -> list[str]:
    """The label of the training example whose two bags of words are most alike (cosine)."""
    bags = [_bag(example) for example in [*train, *others]]
    known = {name: place for place, name in enumerate(sorted({name for bag in bags for name in bag}))}
    matrix = np.zeros((len(bags), len(known)), dtype=np.float32)
    for row, bag in zip(matrix, bags, strict=True):
        row[[known[name] for name in bag]] = len(bag) ** -0.5
    seen, asked = matrix[: len(train)], matrix[len(train) :]
    found = []
    for start in range(0, len(asked), 500):
        # rounded, so that what is equally near is a tie, and the first of them is taken everywhere
        found += (asked[start : start + 500] @ seen.T).round(4).argmax(axis=1).tolist()
    return [str(train[place].label) for place in found]


def _bag(example: Example) -> set[str]:
    return {f"{place} {word}" for place, text in enumerate(_texts(example)) for word in words(text)}


SHORTCUTS: Mapping[str, Shortcut] = {
    "hypothesis only": hypothesis_only,
    "overlap": _binned(lambda example: overlap(*_texts(example)[:2])),
    "length of the premise": _binned(lambda example: len(words(_texts(example)[0]))),
    "length of the hypothesis": _binned(lambda example: len(words(_texts(example)[-1]))),
    "nearest neighbour": nearest,
}


def chance(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """What the predictions would score on average if they were dealt out to the examples at random.

    On balanced labels it is one over their number, whatever is predicted.
    """
    given, wanted = Counter(predicted), Counter(gold)
    return sum(given[label] * wanted[label] for label in wanted) / len(gold) ** 2


def accuracy(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Share of equal labels."""
    return sum(one == two for one, two in zip(predicted, gold, strict=True)) / len(gold)
