"""The MNLI-like meanings that speak of things: all, some and none of a kind; at least and at most so many."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from gluebench.data.sample.drafts import Draft, Style, either
from gluebench.data.sample.world import KINDS, NUMBERS, PEOPLE, Kind, listed, plural

Forms = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Wordings of all, some, none; P stands for the plural of the kind, N for its singular."""
_PLURAL: Forms = (
    ("all of the P are", "all P are", "the P are all", "each of the P is", "every one of the P is"),
    ("some of the P are", "some P are", "several of the P are", "a number of P are", "some few P are"),
    ("none of the P are", "no P are", "none of the P at all are", "not one of the P is"),
)
_SINGULAR: Forms = (
    ("every N is", "each N is", "every single N is", "each and every N is"),
    ("at least one N is", "more than one N is", "one N or another is", "some N is"),
    ("no N is", "not one N is", "no N whatever is", "no single N is"),
)
_NEW_PLURAL: Forms = (
    ("the P are without exception", "the P are one and all"),
    ("a few of the P are", "here and there P are"),
    ("not a single one of the P is", "in no case are the P"),
)
_JOINED: Forms = (
    ("all of the P", "all P", "all the P"),
    ("some of the P", "some P", "several P"),
    ("none of the P", "no P", "none at all of the P"),
)
_NEW_JOINED: Forms = (
    ("every last one of the P", "the P without exception"),
    ("a few P", "a few of the P"),
    ("not a single one of the P", "not even one of the P"),
)
_AFFIRMED = (
    *("all of the P are", "all P are", "the P are all", "each of the P is"),
    *("every N is", "each N is", "every single N is", "every one of the P is"),
)
_DENIED = (
    *("some of the P are not", "some P are not", "not all of the P are", "not all P are"),
    *("not every N is", "at least one N is not", "not every one of the P is", "not every single N is"),
)
_NEW_AFFIRMED = ("any N there is", "the P are without exception")
_NEW_DENIED = ("one N or more is not", "one or more of the P are not")
_ASIDES = ("all of the P are", "none of the P are", "every N is", "no N is")
"""How an aside speaks of the kind that is asked about, in another matter."""


def _field(form: str, number: int) -> str:
    """A form with the fields of a filler: "all of the {0.plural} are"."""
    words = {"P": f"{{{number}.plural}}", "N": f"{{{number}.name}}"}
    return " ".join(words.get(word, word) for word in form.split())


def _of(form: str, kind: Kind) -> str:
    return _field(form, 0).format(kind)


def _quantified(rng: Random, style: Style, depth: int, *, subjects: Sequence[Kind], topic: Kind) -> Draft:
    """All of these, some of those, none of the others; the hypothesis is about `topic`, or a kind of it."""
    state, other = rng.sample(style.states, 2)
    clauses = _stated(rng, style, state, depth)
    if depth == 4:
        clauses = (*clauses, f"{_of(rng.choice(_ASIDES), subjects[0])} {other}")
    affirmed = _of(rng.choice(_NEW_AFFIRMED if style.fresh else _AFFIRMED), topic)
    denied = _of(rng.choice(_NEW_DENIED if style.fresh else _DENIED), topic)
    return either(rng, subjects, clauses, affirmed=f"{affirmed} {state}", denied=f"{denied} {state}")


def _stated(rng: Random, style: Style, state: str, depth: int) -> tuple[str, ...]:
    """The three cases in three clauses, or joined in one or two."""
    if depth > 2:
        table = _NEW_PLURAL if style.fresh else rng.choice((_PLURAL, _SINGULAR))
        return tuple(f"{_field(rng.choice(forms), at)} {state}" for at, forms in enumerate(table))
    table = _NEW_JOINED if style.fresh else _JOINED
    phrases = [_field(rng.choice(forms), at) for at, forms in enumerate(table)]
    rng.shuffle(phrases)
    if depth == 1:
        return (f"{listed(phrases)} are {state}",)
    return (f"{listed(phrases[:2])} are {state}", f"{phrases[2]} are {state}")


def of_kinds(rng: Random, style: Style, depth: int) -> Draft:
    """All three are of one category."""
    kinds = rng.sample(KINDS[rng.choice(style.topics)], 3)
    return _quantified(rng, style, depth, subjects=kinds, topic=kinds[0])


def of_categories(rng: Random, style: Style, depth: int) -> Draft:
    """The premise speaks of instruments, the hypothesis of violins: the is-a fact is needed."""
    names = rng.sample(style.topics, 3)
    subjects = [Kind(name, plural(name), "") for name in names]
    return _quantified(rng, style, depth, subjects=subjects, topic=rng.choice(KINDS[names[0]]))


# ---------------------------------------------------------------- how many

_BOUNDS = (
    ("at least", "exactly", "no fewer than", "not less than"),
    ("at least", "no fewer than", "not less than"),
    ("at most", "exactly", "no more than", "not more than"),
)
"""Of the number above what is asked about, of the one that leaves it open, of the one below."""
_NEW_BOUNDS = (("a minimum of", "precisely"), ("a minimum of",), ("a maximum of", "precisely"))
_VERBS = ("bought", "counted", "drew", "owns", "sold", "found", "hid", "mended")


def counted(rng: Random, style: Style, depth: int) -> Draft:
    """Bounds on both sides of the number that is asked about, and one that leaves it open."""
    one, two = rng.sample(KINDS[rng.choice(style.topics)], 2)
    verb = "saw" if style.fresh else rng.choice(_VERBS)
    few, limit, many = sorted(rng.sample(range(3, 16), 3))
    above, open_, below = (rng.choice(words) for words in (_NEW_BOUNDS if style.fresh else _BOUNDS))
    bounds = (
        f"{above} {NUMBERS[many]}",
        f"{open_} {NUMBERS[rng.randint(2, few)]}",
        f"{below} {NUMBERS[few]}",
    )
    people = rng.sample(PEOPLE, 3)
    clauses = _counting(rng, verb, bounds, one.plural, depth)
    if depth == 4:
        bound = rng.choice((_NEW_BOUNDS if style.fresh else _BOUNDS)[rng.choice((0, 2))])
        clauses = (*clauses, f"{people[0]} {verb} {bound} {NUMBERS[rng.randint(2, 18)]} {two.plural}")
    return either(
        rng,
        people,
        clauses,
        affirmed=f"{people[0]} {verb} more than {NUMBERS[limit]} {one.plural}",
        denied=f"{people[0]} {verb} fewer than {NUMBERS[limit + 1]} {one.plural}",
    )


def _counting(rng: Random, verb: str, bounds: Sequence[str], things: str, depth: int) -> tuple[str, ...]:
    """Who counted how many, in three clauses, or with the verb left out after the first."""
    order = rng.sample(range(3), 3)
    full = [f"{{{at}}} {verb} {bounds[at]} {things}" for at in order]
    short = [f"{{{at}}} {bounds[at]}" for at in order]
    if depth == 1:
        return (listed([full[0], *short[1:]]),)
    return (listed([full[0], short[1]]), full[2]) if depth == 2 else tuple(full)
