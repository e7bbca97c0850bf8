"""Statements with a meaning, and the label that follows from going through every state of affairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row
from sample.world import sentence

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS = ("entailment", "neutral", "contradiction")
State = Any
"""What is so: a value for each filler, or whatever else the facts of a family look up."""
Fact = Callable[..., bool]
"""Whether a statement holds in a state, of the fillers with these numbers."""


class Said(NamedTuple):
    """A statement: its text with fields "{0}", "{1}", and what it says."""

    text: str
    fact: Fact


class Clause(NamedTuple):
    """A statement about particular fillers."""

    said: Said
    at: tuple[int, ...]


class Draft(NamedTuple):
    """Statements of which each may be the premise, and a hypothesis."""

    fillers: Sequence[str]
    clauses: Sequence[Clause]
    hypothesis: Clause
    states: Sequence[State]


def label(draft: Draft, clause: Clause) -> str | None:
    """What the clause says of the hypothesis; None if it cannot be true, or is about somebody else."""
    if draft.hypothesis.at and not set(clause.at) & set(draft.hypothesis.at):
        return None
    claim = draft.hypothesis
    left = [state for state in draft.states if clause.said.fact(state, *clause.at)]
    truths = {claim.said.fact(state, *claim.at) for state in left}
    if not truths:
        return None
    return NEUTRAL if len(truths) == 2 else ENTAILMENT if True in truths else CONTRADICTION


def text(clause: Clause, fillers: Sequence[str]) -> str:
    """A clause in words."""
    filled = clause.said.text.format(*(fillers[at] for at in clause.at))
    return " ".join(sentence(part) for part in filled.split(". "))


def block(rng: Random, draft: Draft) -> list[Row]:
    """A premise for each label, all with the same hypothesis; or nothing if the draft has not all labels."""
    by_label: defaultdict[str | None, list[str]] = defaultdict(list)
    hypothesis = text(draft.hypothesis, draft.fillers)
    for clause in draft.clauses:
        premise = text(clause, draft.fillers)
        if premise != hypothesis:
            by_label[label(draft, clause)].append(premise)
    if not all(by_label[each] for each in LABELS):
        return []
    return [Row((rng.choice(by_label[each]), hypothesis), each) for each in LABELS]
