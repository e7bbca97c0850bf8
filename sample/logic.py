"""Statements with a meaning, and the label that follows from going through every state of affairs.

A statement is a text with fields for fillers, and one or more readings: what it says of a state of affairs
in which the fillers have their parts. Where readings disagree on the label ("or" that includes both, or not),
the draw is given up, so that no label hangs on a doubtful reading.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import permutations, product
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row, Shape, shape
from sample.world import sentence

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS = ("entailment", "neutral", "contradiction")
State = Any
"""What is so: a value for each filler, or whatever else the facts of a family look up."""
Fact = Callable[..., bool]
"""Whether a statement holds in a state, of the fillers with these numbers."""


class Said(NamedTuple):
    """A statement: its text with fields "{0}", "{1}", and what it says in each of its readings."""

    text: str
    readings: tuple[Fact, ...]


class Clause(NamedTuple):
    """A statement about particular fillers."""

    said: Said
    at: tuple[int, ...]


class Draft(NamedTuple):
    """A premise whose fillers can change places, and a hypothesis that stays."""

    fillers: tuple[Any, ...]
    clauses: tuple[Clause, ...]
    hypothesis: Clause
    states: Sequence[State]
    apart: bool = False
    """Whether what is said of one filler has no bearing on another: only clauses on the same one count."""


def said(text: str, *readings: Fact) -> Said:
    """A statement."""
    return Said(text, readings)


def verdict(premises: Sequence[Sequence[int]], claims: Sequence[int], every: int) -> str | None:
    """The label, if it is the same in all readings; None if it is not, or if the premise cannot be true.

    A reading is a bit mask of the states in which it holds; `every` is the mask of all states.
    """
    labels = set()
    for masks in product(*premises):
        left = every
        for mask in masks:
            left &= mask
        if not left:
            return None
        for claim in claims:
            held = left & claim
            labels.add(CONTRADICTION if not held else ENTAILMENT if held == left else NEUTRAL)
    return labels.pop() if len(labels) == 1 else None


class Judge:
    """Works out the labels of one draft."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._masks: dict[tuple[Clause, tuple[int, ...]], list[int]] = {}
        self._every = (1 << len(draft.states)) - 1
        self._claims = self._readings(draft.hypothesis, draft.hypothesis.at)

    def label(self, places: Sequence[int]) -> str | None:
        """The label of the premise with filler `places[i]` in field i."""
        asked = set(self._draft.hypothesis.at)
        premises = []
        for clause in self._draft.clauses:
            ids = tuple(places[at] for at in clause.at)
            if not self._draft.apart or asked & set(ids):
                premises.append(self._readings(clause, ids))
        return verdict(premises, self._claims, self._every)

    def _readings(self, clause: Clause, ids: tuple[int, ...]) -> list[int]:
        key = clause, ids
        if key not in self._masks:
            self._masks[key] = [
                sum(1 << bit for bit, state in enumerate(self._draft.states) if fact(state, *ids))
                for fact in clause.said.readings
            ]
        return self._masks[key]


def text(clause: Clause, fillers: Sequence[Any], places: Sequence[int]) -> str:
    """A clause in words."""
    return clause.said.text.format(*(fillers[places[at]] for at in clause.at))


def premise(draft: Draft, places: Sequence[int]) -> str:
    """The premise in words."""
    parts = [text(clause, draft.fillers, places) for clause in draft.clauses]
    return " ".join(sentence(part) for part in parts)


def crossed(rng: Random, draft: Draft) -> list[Row]:
    """One premise for each label that looks like the others, all with the same hypothesis; or nothing."""
    judge, orders = Judge(draft), list(permutations(range(len(draft.fillers))))
    found = {places: judge.label(places) for places in orders}
    if not set(LABELS) <= set(found.values()):
        return []
    hypothesis = sentence(text(draft.hypothesis, draft.fillers, orders[0]))
    alike: defaultdict[Shape, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for places, label in found.items():
        if label:
            written = premise(draft, places)
            alike[shape(written, hypothesis)][label].append(written)
    complete = [by_label for by_label in alike.values() if len(by_label) == len(LABELS)]
    if not complete:
        return []
    by_label = rng.choice(complete)
    return [Row((rng.choice(by_label[each]), hypothesis), each) for each in LABELS]


def singles(rng: Random, draft: Draft) -> list[Row]:
    """The same for premises of one clause, which may be different clauses of the draft; or nothing."""
    by_label: defaultdict[str, set[str]] = defaultdict(set)
    asked, places = set(draft.hypothesis.at), list(range(len(draft.fillers)))
    for clause in draft.clauses:
        one = draft._replace(clauses=(clause,))
        judge = Judge(one)
        for _ in range(12):
            rng.shuffle(places)
            found = judge.label(places) if asked & {places[at] for at in clause.at} else None
            if found:
                by_label[found].add(premise(one, places))
    hypothesis = sentence(text(draft.hypothesis, draft.fillers, range(len(places))))
    if len(by_label) < len(LABELS):
        return []
    return [Row((rng.choice(sorted(by_label[each])), hypothesis), each) for each in LABELS]
