"""The artifact audit: classifiers that take shortcuts, and the words that go with a class."""

from gluebench.analysis.audit.run import (
    PRINTED,
    Association,
    Audit,
    Lengths,
    ShortcutAccuracy,
    associations,
    audit,
    merge_audits,
)
from gluebench.analysis.audit.sets import PairSet, Sources

# The names until 0.1, for one release.
Measured = ShortcutAccuracy
together = merge_audits

__all__ = [
    "PRINTED",
    "Association",
    "Audit",
    "Lengths",
    "Measured",
    "PairSet",
    "ShortcutAccuracy",
    "Sources",
    "associations",
    "audit",
    "merge_audits",
    "together",
]
