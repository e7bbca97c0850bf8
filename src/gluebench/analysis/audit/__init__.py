"""The artefact audit: classifiers that see a part of each pair, and the words that go with a class."""

from gluebench.analysis.audit.association import Association, associations
from gluebench.analysis.audit.run import PRINTED, Audit, Lengths, Measured, audit
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
]
