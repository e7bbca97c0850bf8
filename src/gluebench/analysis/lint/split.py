"""A split with its texts as they are compared, worked out once for all checks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cached_property

from gluebench.benchmark import Role
from gluebench.data import Example

Key = tuple[str, ...]


class LintSplit:
    """One split of a task."""

    def __init__(self, name: str, examples: Sequence[Example], *, role: Role | None) -> None:
        self.name = name
        self.examples = examples
        self.role = role
        """Which split it stands in for when submissions are graded; None for training data."""

    @cached_property
    def exact(self) -> list[Key]:
        """The texts of each example."""
        return [tuple(example.inputs.values()) for example in self.examples]

    @cached_property
    def folded(self) -> list[Key]:
        """The texts of each example as `fold` makes them."""
        return [tuple(map(fold, key)) for key in self.exact]

    @property
    def labelled(self) -> bool:
        """Whether every example has a label."""
        return bool(self.examples) and all(example.label is not None for example in self.examples)


def fold(text: str) -> str:
    """The text with letter case, runs of white space and forms of the same character set aside."""
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
