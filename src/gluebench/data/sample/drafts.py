"""What an MNLI-like block is made of, and the meanings that speak of people: order, deeds, knowledge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from gluebench.data.sample.world import PEOPLE, listed

OPPOSITE = {"entailment": "contradiction", "neutral": "neutral", "contradiction": "entailment"}


class Style(NamedTuple):
    """What a section of MNLI draws on."""

    topics: tuple[str, ...]
    states: tuple[str, ...]
    families: tuple[Callable[[Random, Style, int], Draft], ...]
    fresh: bool
    """Whether wordings are those that the training split never uses."""


class Draft(NamedTuple):
    """The clauses of a premise, what stands in them under each label, and the hypothesis."""

    clauses: tuple[str, ...]
    """Each with fields for the fillers: "all of the {0.plural} are old"."""
    fillers: Mapping[str, tuple[object, ...]]
    """Label to the fillers of the fields: always the same ones, in another order."""
    hypothesis: str


def placed(fillers: Sequence[object], cases: Mapping[str, int]) -> dict[str, tuple[object, ...]]:
    """The fillers for each label: the first has changed places with what stood in the label's field."""
    found = {}
    for label, field in cases.items():
        moved = list(fillers)
        moved[0], moved[field] = moved[field], moved[0]
        found[label] = tuple(moved)
    return found


def either(
    rng: Random, fillers: Sequence[object], clauses: Sequence[str], *, affirmed: str, denied: str
) -> Draft:
    """One of two opposite hypotheses. Affirmed, it holds of the first filler, may hold of the next."""
    cases = {"entailment": 0, "neutral": 1, "contradiction": 2}
    if rng.random() < 0.5:
        return Draft(tuple(clauses), placed(fillers, cases), affirmed)
    turned = {OPPOSITE[label]: field for label, field in cases.items()}
    return Draft(tuple(clauses), placed(fillers, turned), denied)


# ---------------------------------------------------------------- who is before whom

RELATIONS = (
    ("is taller than", "is shorter than"),
    ("is older than", "is younger than"),
    ("earns more than", "earns less than"),
    ("ran faster than", "ran slower than"),
    ("lives to the north of", "lives to the south of"),
    ("came home before", "came home after"),
)
NEW_RELATIONS = (
    ("arrived before", "arrived after"),
    ("spoke earlier than", "spoke later than"),
    ("left before", "left after"),
    ("sits in front of", "sits behind"),
)
_ORDERS = ("", "it is known that ", "nobody doubts that ", "it is true that ")
_NEW_ORDERS = ("there is no question that ", "it is certain that ")
_CHAINS = {3: ((0, 1), (1, 2), (3, 1)), 4: ((0, 1), (1, 2), (2, 3), (4, 1))}
"""Which filler is before which, by number of clauses."""


def compared(rng: Random, style: Style, depth: int) -> Draft:
    """What follows from comparisons forwards or backwards, and what from none."""
    relation = rng.choice(NEW_RELATIONS if style.fresh else RELATIONS)
    first, last, other, *middle = rng.sample(PEOPLE, 5)
    if depth < 3:
        clauses, fillers = _forked(rng, relation, style, (first, last, other), depth)
    else:
        pairs, between = _CHAINS[depth], middle[: depth - 2]
        clauses = tuple(_ordered(rng, relation, style, *pair) for pair in pairs)
        fillers = {
            "entailment": (first, *between, last, other),
            "contradiction": (last, *between, first, other),
            "neutral": (first, *between, other, last),
        }
    more, less = relation
    if rng.random() < 0.5:
        return Draft(clauses, fillers, rng.choice((f"{first} {more} {last}", f"{last} {less} {first}")))
    turned = rng.choice((f"{last} {more} {first}", f"{first} {less} {last}"))
    return Draft(clauses, {OPPOSITE[label]: names for label, names in fillers.items()}, turned)


def _ordered(rng: Random, relation: tuple[str, str], style: Style, one: int, two: int) -> str:
    more, less = relation
    text = f"{{{one}}} {more} {{{two}}}" if rng.random() < 0.5 else f"{{{two}}} {less} {{{one}}}"
    return rng.choice(_NEW_ORDERS if style.fresh else _ORDERS) + text


def _forked(
    rng: Random, relation: tuple[str, str], style: Style, names: tuple[str, str, str], depth: int
) -> tuple[tuple[str, ...], dict[str, tuple[object, ...]]]:
    """One that is before two others, or after them: of the two others nothing follows."""
    first, last, other = names
    fillers: dict[str, tuple[object, ...]] = {
        "entailment": (first, last, other),
        "contradiction": (last, first, other),
        "neutral": (other, first, last),
    }
    down = rng.random() < 0.5
    if not down:
        fillers = {OPPOSITE[label]: filled for label, filled in fillers.items()}
    opening = rng.choice(_NEW_ORDERS if style.fresh else _ORDERS)
    verb = relation[0] if down else relation[1]
    clauses = [f"{opening}{{0}} {verb} {rng.choice(('both {1} and {2}', 'both {2} and {1}'))}"]
    if depth == 2:  # the two that are asked about, in another matter
        table = NEW_RELATIONS if style.fresh else RELATIONS
        matter = rng.choice(rng.choice([each for each in table if each != relation]))
        clauses.append(matter.join(f" {name} " for name in rng.sample((first, last), 2)).strip())
    return tuple(clauses), fillers


# ---------------------------------------------------------------- who did what

DEEDS = (
    ("sang at the wedding", "did not sing at the wedding"),
    ("missed the train", "did not miss the train"),
    ("signed the letter", "did not sign the letter"),
    ("won a prize", "did not win a prize"),
    ("voted for the plan", "did not vote for the plan"),
    ("read the report", "did not read the report"),
    ("came to the concert", "did not come to the concert"),
    ("passed the exam", "did not pass the exam"),
)
NEW_DEEDS = (
    ("swam across the lake", "did not swim across the lake"),
    ("climbed the tower", "did not climb the tower"),
    ("saw the comet", "did not see the comet"),
    ("joined the crew", "did not join the crew"),
)


def _deeds(rng: Random, style: Style) -> tuple[tuple[str, str], tuple[str, str]]:
    """What is asked about, and something else."""
    one, two = rng.sample(NEW_DEEDS if style.fresh else DEEDS, 2)
    return one, two


def _aside(rng: Random, name: str, deed: tuple[str, str]) -> tuple[str]:
    """What the one asked about did, or did not do, in another matter."""
    return (f"{name} {rng.choice(deed)}",)


def disjoined(rng: Random, style: Style, depth: int) -> Draft:
    """One of two, one that did and one that did not."""
    (did, did_not), other = _deeds(rng, style)
    people = rng.sample(PEOPLE, 4)
    pair = rng.choice(("either {1} or {3}", "either {3} or {1}", "one of {1} and {3}"))
    clauses: tuple[str, ...] = (f"{{0}} {did}", f"{pair} {did}", f"{{2}} {did_not}")
    if depth == 1:
        clauses = (
            rng.choice(
                (
                    f"{{0}} and {pair}, but not {{2}}, {did}",
                    f"{pair} as well as {{0}}, but not {{2}}, {did}",
                    f"apart from {{2}}, who {did_not}, {{0}} and {pair} {did}",
                )
            ),
        )
    elif depth == 2:
        clauses = (rng.choice((f"{{0}} and {pair} {did}", f"{pair} and also {{0}} {did}")), clauses[2])
    elif depth == 4:
        clauses += _aside(rng, people[0], other)
    return either(rng, people, clauses, affirmed=f"{people[0]} {did}", denied=f"{people[0]} {did_not}")


_KNOWN = (
    "knows",
    "has found out",
    "is glad",
    "remembers",
    "has noticed",
    "regrets",
    "is aware",
    "has proved",
)
_OPEN = ("suspects", "hopes", "says", "fears", "assumes", "guesses", "suggests", "is told")
_WRONG = ("wrongly believes", "falsely claims", "wrongly thinks", "mistakenly assumes", "falsely reports")
_NEW_HELD = (("has learnt", "is sorry"), ("supposes", "reckons"), ("mistakenly believes", "falsely declares"))


def attitude(rng: Random, style: Style, depth: int) -> Draft:
    """What somebody knows is so, what somebody believes wrongly is not, what somebody suspects may be."""
    (did, did_not), other = _deeds(rng, style)
    *people, one, two, three = rng.sample(PEOPLE, 6)
    forms = _NEW_HELD if style.fresh else (_KNOWN, _OPEN, _WRONG)
    known, suspected, wrong = (rng.choice(form) for form in forms)
    clauses: tuple[str, ...] = (
        f"{one} {known} that {{0}} {did}",
        f"{two} {suspected} that {{1}} {did}",
        f"{three} {wrong} that {{2}} {did}",
    )
    if depth < 3:
        parts = rng.sample((f"{known} that {{0}} {did}", f"{wrong} that {{2}} {did}"), 2)
        tail = f"{suspected} that {{1}} {did}"
        clauses = (
            (f"{one} {listed([*parts, tail])}",)
            if depth == 1
            else (f"{one} {listed(parts)}", f"{two} {tail}")
        )
    elif depth == 4:
        clauses += _aside(rng, people[0], other)
    return either(rng, people, clauses, affirmed=f"{people[0]} {did}", denied=f"{people[0]} {did_not}")


def conditional(rng: Random, style: Style, depth: int) -> Draft:
    """A condition that holds, one that brings its opposite, and one of which nothing is known."""
    (did, did_not), _ = _deeds(rng, style)
    *people, one, two, three = rng.sample(PEOPLE, 6)
    clauses = (
        f"{one} and {two} {did}",
        f"if {one} {did}, then so did {{0}}",
        f"if {two} {did}, then {{2}} {did_not}",
        f"if {three} {did}, then so did {{1}}",
    )
    return either(rng, people, clauses, affirmed=f"{people[0]} {did}", denied=f"{people[0]} {did_not}")
