"""The simple systems by name, with what a board says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

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


def _maker(module: str, name: str) -> Callable[[], SimpleSystem]:
    """Import the system's module only when one is made: some need NumPy."""

    def make() -> SimpleSystem:
        system: SimpleSystem = getattr(import_module(f"gluebench.systems.{module}"), name)()
        return system

    return make


_ENTRIES = (
    SystemEntry(
        "majority",
        "Majority class",
        "Most frequent label",
        "Answers every example with the most frequent training label of its task, or with the mean score.",
        "single-task",
        _maker("overlap", "Majority"),
    ),
    SystemEntry(
        "overlap",
        "Word overlap",
        "One feature",
        "Sees only the share of words that two texts have in common (of a single sentence, its length) "
        "and answers as most training examples of a like share.",
        "single-task",
        _maker("overlap", "WordOverlap"),
    ),
    SystemEntry(
        "bag-of-words",
        "Bag of words",
        "Logistic regression",
        "Logistic regression (for scores, ridge regression) on the words and word pairs of each text, "
        "of both and of one alone; one model per task.",
        "single-task",
        _maker("bag", "BagOfWords"),
    ),
    SystemEntry(
        "hypothesis-only",
        "Hypothesis only",
        "Logistic regression",
        "The bag of words of the last text alone: what it scores above chance on pairs is an artefact "
        "of the data.",
        "single-task",
        _maker("bag", "HypothesisOnly"),
    ),
    SystemEntry(
        "natural-logic",
        "Natural logic",
        "Logistic regression on edits",
        "Logistic regression on the edits that lead from one text to the other, and on whether a word "
        'such as "no" or "every" reverses entailment there; single sentences as a bag of words.',
        "single-task",
        _maker("natural_logic", "NaturalLogic"),
    ),
    SystemEntry(
        "mlp",
        "Small MLP",
        "Neural network",
        "A neural network with one hidden layer on the words and runs of words of each text and on where "
        "the words of one stand in the other; one model per task.",
        "single-task",
        _maker("mlp", "Perceptron"),
    ),
)
SYSTEMS: Mapping[str, SystemEntry] = {entry.name: entry for entry in _ENTRIES}
"""Name to system, weakest first."""
