"""What a check of a diagnostic set says: findings, and the figures they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]


class Limits(NamedTuple):
    """Below or above what something is worth a warning."""

    pairs: int = 10
    """Fewest pairs of a phenomenon."""
    median_overlap: float = 0.7
    """Of the words of two sentences, the share that stands in both: the median of all pairs."""
    overlap: float = 0.4
    """The same of one pair."""
    label_share: float = 0.8
    """Most of a phenomenon's examples that one label may have."""
    word_share: float = 0.75
    """Most of the hypotheses with a word that one label may have."""
    word_excess: float = 0.2
    """How far that share has to lie above the label's share of all examples."""
    word_count: int = 10
    """Hypotheses that a word has to stand in to count."""


DEFAULT_LIMITS = Limits()


class Finding(NamedTuple):
    """One thing that is wrong (error) or worth a look (warning)."""

    severity: Severity
    code: str
    line: int | None
    """Line of the file, the header being line 1; None where it is the whole set that is meant."""
    message: str


class Counts(NamedTuple):
    """A phenomenon, or the whole set: pairs, and examples by label."""

    name: str
    pairs: int
    labels: Mapping[str, int]


class Lint(NamedTuple):
    """All findings, and the figures of the set."""

    findings: tuple[Finding, ...]
    total: Counts
    phenomena: tuple[Counts, ...]
    """In the manifest's order."""
    domains: Mapping[str, int]
    """Pairs of each domain."""
    sets: int | None
    """Number of minimal sets; None if the file does not name them."""
    median_overlap: float


def error(code: str, line: int | None, message: str) -> Finding:
    """Something that has to be mended."""
    return Finding("error", code, line, message)


def warning(code: str, line: int | None, message: str) -> Finding:
    """Something to look at."""
    return Finding("warning", code, line, message)
