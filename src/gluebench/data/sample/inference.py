"""MNLI's shape: one hypothesis with a premise for each label, all three premises of the same words.

A premise states three or four cases (all of these, some of those, none of the others); which thing stands in
which case decides the label, so neither the hypothesis nor the words shared with it tell anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits
from gluebench.data.sample.world import (
    HELD_OUT_TOPICS,
    KINDS,
    NUMBERS,
    PEOPLE,
    TOPICS,
    Kind,
    listed,
    plural,
    sentence,
)

LABELS = ("entailment", "neutral", "contradiction")
OPPOSITE = {"entailment": "contradiction", "neutral": "neutral", "contradiction": "entailment"}
_STATES = (
    *(
        "for sale",
        "on display",
        "insured",
        "listed in the catalogue",
        "from the north",
        "paid for",
        "in good order",
    ),
    *("marked with a number", "in the painting", "older than the house", "meant for export"),
)
_NEW_STATES = (
    "under protection",
    "on the map",
    "known to the guide",
    "visible from the tower",
    "in the film",
)


class Style(NamedTuple):
    """What a section of MNLI draws on."""

    topics: tuple[str, ...]
    states: tuple[str, ...]
    families: tuple[Callable[[Random, Style], Draft], ...]
    fresh: bool
    """Whether wordings are those that the training split never uses."""


class Draft(NamedTuple):
    """The cases a premise states, what stands in them under each label, and the hypothesis."""

    clauses: tuple[str, ...]
    """Each with fields for the fillers: "all of the {0.plural} are old"."""
    fillers: Mapping[str, tuple[object, ...]]
    """Label to the fillers of the fields: always the same ones, in another order."""
    hypothesis: str


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Matched dev and test as train; mismatched ones on other things, in other words."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(partial(_block, rng, _MISMATCHED if "mismatched" in split else _MATCHED), size)
        for split, size in sizes.items()
    }


def _block(rng: Random, style: Style) -> list[Row]:
    draft = rng.choice(style.families)(rng, style)
    clauses = rng.sample(draft.clauses, len(draft.clauses))
    enumerated = rng.random() < 0.7 and not any(", " in clause for clause in clauses)
    text = listed(clauses) if enumerated else "; ".join(clauses)
    hypothesis = sentence(draft.hypothesis)
    return [Row((sentence(text.format(*draft.fillers[label])), hypothesis), label) for label in LABELS]


def _placed(fillers: Sequence[object], cases: Mapping[str, int]) -> dict[str, tuple[object, ...]]:
    """The fillers for each label: the first has changed places with what stood in the label's field."""
    placed = {}
    for label, field in cases.items():
        moved = list(fillers)
        moved[0], moved[field] = moved[field], moved[0]
        placed[label] = tuple(moved)
    return placed


def _either(
    rng: Random, fillers: Sequence[object], clauses: Sequence[str], *, affirmed: str, denied: str
) -> Draft:
    """One of two opposite hypotheses. Affirmed, it holds of the first filler, may hold of the next."""
    cases = {"entailment": 0, "neutral": 1, "contradiction": 2}
    if rng.random() < 0.5:
        return Draft(tuple(clauses), _placed(fillers, cases), affirmed)
    turned = {OPPOSITE[label]: field for label, field in cases.items()}
    return Draft(tuple(clauses), _placed(fillers, turned), denied)


def _quantified(rng: Random, style: Style, *, subjects: Sequence[Kind], topic: Kind) -> Draft:
    """All of these, some of those, none of the others; the hypothesis is about `topic`, or a kind of it."""
    state = rng.choice(style.states)
    if style.fresh:
        clauses = (
            "the {0.plural} are without exception S",
            "a few of the {1.plural} are S",
            "not a single one of the {2.plural} is S",
        )
        affirmed = f"any {topic.name} there is {state}"
        denied = f"one {topic.name} or more is not {state}"
    else:
        clauses = rng.choice(
            (
                (
                    "all of the {0.plural} are S",
                    "some of the {1.plural} are S",
                    "none of the {2.plural} are S",
                ),
                ("every {0.name} is S", "at least one {1.name} is S", "no {2.name} is S"),
                ("each {0.name} is S", "more than one {1.name} is S", "not one {2.name} is S"),
            )
        )
        affirmed, denied = rng.choice(
            (
                (f"all of the {topic.plural} are {state}", f"some of the {topic.plural} are not {state}"),
                (f"every {topic.name} is {state}", f"not every {topic.name} is {state}"),
                (f"the {topic.plural} are all {state}", f"at least one {topic.name} is not {state}"),
            )
        )
    stated = [clause.replace("S", state) for clause in clauses]
    return _either(rng, subjects, stated, affirmed=affirmed, denied=denied)


def _of_kinds(rng: Random, style: Style) -> Draft:
    kinds = rng.sample(KINDS[rng.choice(style.topics)], 3)
    return _quantified(rng, style, subjects=kinds, topic=kinds[0])


def _of_categories(rng: Random, style: Style) -> Draft:
    """The premise speaks of instruments, the hypothesis of violins: the is-a fact is needed."""
    names = rng.sample(style.topics, 3)
    subjects = [Kind(name, plural(name), "") for name in names]
    return _quantified(rng, style, subjects=subjects, topic=rng.choice(KINDS[names[0]]))


def _compared(rng: Random, style: Style) -> Draft:
    """A chain of comparisons: what follows from two of them, forwards or backwards, and what from none."""
    relations = _NEW_RELATIONS if style.fresh else _RELATIONS
    more, less = rng.choice(relations)
    first, middle, last, other = rng.sample(PEOPLE, 4)
    clauses = tuple(
        f"{{{one}}} {more} {{{two}}}" if rng.random() < 0.5 else f"{{{two}}} {less} {{{one}}}"
        for one, two in ((0, 1), (1, 2), (3, 1))
    )
    fillers = {
        "entailment": (first, middle, last, other),
        "contradiction": (last, middle, first, other),
        "neutral": (first, middle, other, last),
    }
    hypothesis = rng.choice((f"{first} {more} {last}", f"{last} {less} {first}"))
    if rng.random() < 0.5:
        return Draft(clauses, fillers, hypothesis)
    turned = rng.choice((f"{last} {more} {first}", f"{first} {less} {last}"))
    return Draft(clauses, {OPPOSITE[label]: names for label, names in fillers.items()}, turned)


_RELATIONS = (
    ("is taller than", "is shorter than"),
    ("is older than", "is younger than"),
    ("earns more than", "earns less than"),
    ("ran faster than", "ran slower than"),
    ("lives to the north of", "lives to the south of"),
)
_NEW_RELATIONS = (
    ("arrived before", "arrived after"),
    ("spoke earlier than", "spoke later than"),
    ("left before", "left after"),
    ("sits in front of", "sits behind"),
)


def _counted(rng: Random, style: Style) -> Draft:
    """At least so many, at most so many: bounds on both sides of the number that is asked about."""
    thing = rng.choice(KINDS[rng.choice(style.topics)]).plural
    verb = "saw" if style.fresh else rng.choice(("bought", "counted", "drew", "owns"))
    few, limit, many = sorted(rng.sample(range(3, 16), 3))
    least = NUMBERS[rng.randint(2, few)]
    at_least, at_most = (
        ("a minimum of", "a maximum of") if style.fresh else _BOUNDS[rng.randrange(len(_BOUNDS))]
    )
    clauses = (
        f"{{0}} {verb} {at_least} {NUMBERS[many]} {thing}",
        f"{{1}} {verb} {at_least} {least} {thing}",
        f"{{2}} {verb} {at_most} {NUMBERS[few]} {thing}",
    )
    people = rng.sample(PEOPLE, 3)
    return _either(
        rng,
        people,
        clauses,
        affirmed=f"{people[0]} {verb} more than {NUMBERS[limit]} {thing}",
        denied=f"{people[0]} {verb} fewer than {NUMBERS[limit + 1]} {thing}",
    )


_BOUNDS = (("at least", "at most"), ("no fewer than", "no more than"))


def _disjoined(rng: Random, style: Style) -> Draft:
    """One of two, one that did and one that did not."""
    did, did_not = rng.choice(_NEW_DEEDS if style.fresh else _DEEDS)
    people = rng.sample(PEOPLE, 4)
    clauses = (f"{{0}} {did}", f"either {{1}} or {{3}} {did}", f"{{2}} {did_not}")
    return _either(rng, people, clauses, affirmed=f"{people[0]} {did}", denied=f"{people[0]} {did_not}")


_DEEDS = (
    ("sang at the wedding", "did not sing at the wedding"),
    ("missed the train", "did not miss the train"),
    ("signed the letter", "did not sign the letter"),
    ("won a prize", "did not win a prize"),
    ("voted for the plan", "did not vote for the plan"),
    ("read the report", "did not read the report"),
    ("came to the concert", "did not come to the concert"),
    ("passed the exam", "did not pass the exam"),
)
_NEW_DEEDS = (
    ("swam across the lake", "did not swim across the lake"),
    ("climbed the tower", "did not climb the tower"),
    ("saw the comet", "did not see the comet"),
    ("joined the crew", "did not join the crew"),
)


def _attitude(rng: Random, style: Style) -> Draft:
    """What somebody knows is so, what somebody believes wrongly is not, what somebody suspects may be."""
    did, did_not = rng.choice(_NEW_DEEDS if style.fresh else _DEEDS)
    *people, one, two, three = rng.sample(PEOPLE, 6)
    clauses = (
        f"{one} {rng.choice(('knows', 'has found out', 'is glad'))} that {{0}} {did}",
        f"{two} {rng.choice(('suspects', 'hopes', 'says'))} that {{1}} {did}",
        f"{three} {rng.choice(('wrongly believes', 'falsely claims', 'wrongly thinks'))} that {{2}} {did}",
    )
    return _either(rng, people, clauses, affirmed=f"{people[0]} {did}", denied=f"{people[0]} {did_not}")


def _conditional(rng: Random, style: Style) -> Draft:
    """A condition that holds, one that brings its opposite, and one of which nothing is known."""
    did, did_not = rng.choice(_NEW_DEEDS if style.fresh else _DEEDS)
    *people, one, two, three = rng.sample(PEOPLE, 6)
    clauses = (
        f"{one} and {two} {did}",
        f"if {one} {did}, then so did {{0}}",
        f"if {two} {did}, then {{2}} {did_not}",
        f"if {three} {did}, then so did {{1}}",
    )
    return _either(rng, people, clauses, affirmed=f"{people[0]} {did}", denied=f"{people[0]} {did_not}")


_MATCHED = Style(
    TOPICS, _STATES, (_of_kinds, _of_categories, _compared, _counted, _disjoined, _attitude), False
)
_MISMATCHED = Style(
    HELD_OUT_TOPICS,
    _NEW_STATES,
    (_of_kinds, _of_categories, _compared, _counted, _attitude, _conditional),
    True,
)
