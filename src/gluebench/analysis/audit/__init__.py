"""The artifact audit: classifiers that take shortcuts, and the words that go with a class."""

from gluebench.analysis.audit.run import (
    PRINTED,
    Association,
    Audit,
    Lengths,
    Measured,
    associations,
    audit,
    together,
)
from gluebench.analysis.audit.sets import PairSet, Sources

__all__ = [
    "PRINTED",
    "Association",
    "Audit",
    "Lengths",
    "Measured",
    "PairSet",
    "Sources",
    "associations",
    "audit",
    "together",
]
