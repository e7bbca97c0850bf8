"""Challenge sets: examples made by rule, to ask a system about and keep where it fails (docs/errors.md)."""

from gluebench.analysis.challenge.item import Item, read_items, write_items
from gluebench.analysis.challenge.perturb import perturbed, sentence_pairs
from gluebench.analysis.challenge.score import CaseScore, Scored, score
from gluebench.analysis.challenge.shortcuts import shortcuts

__all__ = [
    "CaseScore",
    "Item",
    "Scored",
    "perturbed",
    "read_items",
    "score",
    "sentence_pairs",
    "shortcuts",
    "write_items",
]
