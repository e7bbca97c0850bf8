"""Baselines that use only the label frequencies, or only the share of common words."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.data.tokens import overlap, words
from gluebench.systems import targets

BINS = 6
"""At most so many ranges of the feature, each holding about as many training examples."""


class Rule(NamedTuple):
    """An answer for each range of one feature."""

    limits: tuple[float, ...]
    """Where one range ends and the next begins, ascending."""
    answers: tuple[str | float, ...]
    """One more than limits."""


class Majority:
    """Answers every example of a task alike: with its most frequent training label, or the mean score."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}

    def feature(self, example: Example) -> float:
        """The number by which examples are answered: the same for all."""
        return 0.0

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Cut the training examples into ranges of the feature and note the answer of each."""
        values = [self.feature(example) for example in train]
        ordered = sorted(values)
        cuts = set()
        if ordered:
            cuts = {ordered[len(ordered) * part // BINS] for part in range(1, BINS)}
            cuts.discard(ordered[0])  # nothing is below it
        limits = tuple(sorted(cuts))
        places = [bisect_right(limits, value) for value in values]
        answers = []
        for place in range(len(limits) + 1):
            held = [example for example, at in zip(train, places, strict=True) if at == place]
            answers.append(targets.typical(task, held or train))
        self._rules[task.name] = Rule(limits, tuple(answers))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The answer of the range that each example falls into."""
        limits, answers = self._rules[task.name]
        return [answers[bisect_right(limits, self.feature(example))] for example in examples]

    def parameters(self) -> int:
        """The limits and the answers."""
        return sum(len(rule.limits) + len(rule.answers) for rule in self._rules.values())


class WordOverlap(Majority):
    """Sees one number of each example: the share of words that its two texts have in common.

    It answers by range of that number: with the label most frequent there in training, or the mean score.
    A task of single sentences has no overlap; there the number is the sentence's length in words.
    """

    def feature(self, example: Example) -> float:
        """Share of the words of a pair that stand in both texts; number of words of a single text."""
        texts = list(example.inputs.values())
        return overlap(texts[0], texts[1]) if len(texts) > 1 else float(len(words(texts[0])))
