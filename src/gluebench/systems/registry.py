"""The simple systems by name, with what a board says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gluebench.systems.protocols import SimpleSystem


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """A system one can make, as a board shows it."""

    name: str
    title: str
    method: str
    """In a few words."""
    description: str
    """One sentence."""
    regime: str
    """How it is trained: single-task, multi-task, frozen or other (as Table 4 groups its rows)."""
    make: Callable[[], SimpleSystem]
    """A new one, not fitted yet."""


def _majority() -> SimpleSystem:
    from gluebench.systems.majority import Majority

    return Majority()


def _overlap() -> SimpleSystem:
    from gluebench.systems.overlap import WordOverlap

    return WordOverlap()


def _bag() -> SimpleSystem:
    from gluebench.systems.bag import BagOfWords

    return BagOfWords()


def _hypothesis() -> SimpleSystem:
    from gluebench.systems.bag import HypothesisOnly

    return HypothesisOnly()


def _natural_logic() -> SimpleSystem:
    from gluebench.systems.natural_logic import NaturalLogic

    return NaturalLogic()


def _perceptron() -> SimpleSystem:
    from gluebench.systems.mlp import Perceptron

    return Perceptron()


_ENTRIES = (
    SystemEntry(
        "majority",
        "Majority class",
        "Most frequent label",
        "Answers every example with the most frequent training label of its task, or with the mean score.",
        "single-task",
        _majority,
    ),
    SystemEntry(
        "overlap",
        "Word overlap",
        "One feature",
        "Sees only the share of words that two texts have in common (of a single sentence, its length) "
        "and answers as most training examples of a like share.",
        "single-task",
        _overlap,
    ),
    SystemEntry(
        "bag-of-words",
        "Bag of words",
        "Logistic regression",
        "Logistic regression (for scores, ridge regression) on the words and word pairs of each text, "
        "of both and of one alone; one model per task.",
        "single-task",
        _bag,
    ),
    SystemEntry(
        "hypothesis-only",
        "Hypothesis only",
        "Logistic regression",
        "The bag of words of the last text alone: what it scores above chance on pairs is an artefact "
        "of the data.",
        "single-task",
        _hypothesis,
    ),
    SystemEntry(
        "natural-logic",
        "Natural logic",
        "Logistic regression on edits",
        "Logistic regression on the edits that lead from one text to the other, and on whether a word "
        'such as "no" or "every" reverses entailment there; single sentences as a bag of words.',
        "single-task",
        _natural_logic,
    ),
    SystemEntry(
        "mlp",
        "Small MLP",
        "Neural network",
        "A neural network with one hidden layer on the words and runs of words of each text and on where "
        "the words of one stand in the other; one model per task.",
        "single-task",
        _perceptron,
    ),
)
SYSTEMS: Mapping[str, SystemEntry] = {entry.name: entry for entry in _ENTRIES}
"""Name to system, weakest first."""
