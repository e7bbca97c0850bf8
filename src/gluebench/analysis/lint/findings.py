"""What a check takes and gives: a split with its texts, and findings with their number and what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, cast

from gluebench.benchmark import Role, figures
from gluebench.benchmark.figures import counted
from gluebench.benchmark.lookup import table_beside
from gluebench.data import Example
from gluebench.data.tokens import words
from gluebench.scoring.tags import places_of

Severity = Literal["error", "warning", "note"]
"""An error spoils scores, a warning has to be documented or fixed, a note is a figure to publish."""
SHOWN = 5
"""So many rows are named; the rest are counted."""
ORDER: tuple[Severity, ...] = ("error", "warning", "note")
_SENTENCES = table_beside(__file__)
"""Check to its severity, its finding and what to do."""
Key = tuple[str, ...]


class Finding(NamedTuple):
    """One thing that was found, or measured."""

    severity: Severity
    check: str
    """What was looked for: "duplicates"."""
    where: str
    """The split, or the two: "train, test"."""
    number: float
    """How many rows or labels; for a measurement its value as a fraction."""
    text: str
    advice: str = ""
    """What to do; empty for a note that asks for nothing."""
    rows: tuple[str, ...] = ()
    """The first few, by index."""


def finding(
    check: str,
    where: str,
    number: float,
    rows: Sequence[str] = (),
    *,
    severity: Severity | None = None,
    **words: object,
) -> Finding:
    """A finding in the words of findings.tsv; `severity` where it is another than there.

    The first of the rows are named. "rows", "texts" and "repeat" count as many as `number`.
    """
    usual, text, advice = _SENTENCES[check]
    count = int(number)
    verb = "repeats" if count == 1 else "repeat"
    counts = {"rows": counted(count, "row"), "texts": counted(count, "text")}
    counts["repeat"] = f"{counts['rows']} {verb}"
    words = {**counts, **words}
    return Finding(
        severity=severity or cast(Severity, usual),
        check=check,
        where=where,
        number=number,
        text=text.format(**words),
        advice=advice.format(**words),
        rows=tuple(rows[:SHOWN]),
    )


class TaskLint(NamedTuple):
    """All that was found in one task, errors first."""

    task: str
    findings: tuple[Finding, ...]
    private: bool
    """Whether it reveals test labels."""


def percent(share: float) -> str:
    """A fraction as it is read: times 100, one decimal."""
    return f"{figures.percent(share)} %"


@dataclass
class LintSplit:
    """One split of a task."""

    name: str
    examples: Sequence[Example]
    role: Role | None
    """Which split it stands in for when submissions are graded; None for training data."""

    @cached_property
    def exact(self) -> list[Key]:
        """The texts of each example."""
        return [tuple(example.inputs.values()) for example in self.examples]

    @cached_property
    def folded(self) -> list[Key]:
        """The texts of each example as `fold` makes them."""
        return [tuple(map(fold, key)) for key in self.exact]

    @cached_property
    def spoken(self) -> list[Key]:
        """The words of each example's texts, punctuation set aside too."""
        keys = []
        for texts in self.folded:
            keys.append(tuple(" ".join(words(text)) or text for text in texts))
        return keys

    @cached_property
    def places(self) -> dict[Key, list[int]]:
        """Positions of the examples with the same folded texts."""
        return places_of(self.folded)

    @property
    def labeled(self) -> bool:
        """Whether every example has a label."""
        return bool(self.examples) and all(example.label is not None for example in self.examples)


def fold(text: str) -> str:
    """The text with letter case, runs of white space and forms of the same character set aside."""
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
