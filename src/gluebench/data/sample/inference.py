"""MNLI's shape: one hypothesis with a premise for each label, all three premises of the same words.

A premise states three cases (all of these, some of those, none of the others) in one to four clauses; which
thing stands in which case decides the label, so neither the hypothesis nor the words shared with it tell
anything. The fourth clause says the opposite, or the same, in another matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from gluebench.data.sample import drafts, quantities
from gluebench.data.sample.drafts import Style
from gluebench.data.sample.rows import Row, Shelf, Splits
from gluebench.data.sample.world import HELD_OUT_TOPICS, TOPICS, listed, sentence

LABELS = ("entailment", "neutral", "contradiction")
_STATES = (
    *("for sale", "on display", "insured", "listed in the catalogue", "from the north", "paid for"),
    *("in good order", "marked with a number", "in the painting", "older than the house"),
    "meant for export",
)
_NEW_STATES = (
    *("under protection", "on the map", "known to the guide", "visible from the tower", "in the film"),
)
_TRAINED, _TESTED = (1, 2, 3), (1, 2, 3, 4, 4)
"""Numbers of clauses; test has premises deeper than any in training."""
_FAMILIES = (
    *(quantities.of_kinds, quantities.of_categories, quantities.counted),
    *(drafts.compared, drafts.attitude),
)
_MATCHED = Style(TOPICS, _STATES, (*_FAMILIES, drafts.disjoined), fresh=False)
_MISMATCHED = Style(HELD_OUT_TOPICS, _NEW_STATES, (*_FAMILIES, drafts.conditional), fresh=True)


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Matched dev as train, test with deeper premises; mismatched ones on other things, in other words."""
    shelf = Shelf(rng)
    return {split: shelf.fill(partial(_block, rng, split), size) for split, size in sizes.items()}


def _block(rng: Random, split: str) -> list[Row]:
    style = _MISMATCHED if "mismatched" in split else _MATCHED
    depth = rng.choice(_TESTED if split.startswith("test") else _TRAINED)
    draft = rng.choice(style.families)(rng, style, depth)
    clauses = rng.sample(draft.clauses, len(draft.clauses))
    enumerated = rng.random() < 0.7 and not any(", " in clause for clause in clauses)
    text = listed(clauses) if enumerated and len(clauses) > 1 else "; ".join(clauses)
    hypothesis = sentence(draft.hypothesis)
    return [Row((sentence(text.format(*draft.fillers[label])), hypothesis), label) for label in LABELS]
