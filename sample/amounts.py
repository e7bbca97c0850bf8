"""MNLI-like meanings that speak of amounts: how many, all, most, some, none, and of narrow and wide deeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from random import Random
from typing import Any, NamedTuple

from sample.logic import Clause, Draft, Judge, Said, said
from sample.style import Done, Style, Wordings, people, thing, wording
from sample.world import (
    COLORS,
    DAYS,
    DEEDS_ON,
    MONTHS,
    NUMBERS,
    OPPOSITES,
    PEOPLE,
    ROLES,
    SPOTS,
    TRADES,
    Category,
    a,
)

_BOUNDS: Wordings = {
    "least": (("at least {n}", "no fewer than {n}", "{n} or more"), ("a minimum of {n}",)),
    "more": (("more than {n}",), ("over {n}",)),
    "most": (("at most {n}", "no more than {n}", "{n} or fewer"), ("a maximum of {n}",)),
    "fewer": (("fewer than {n}",), ("under {n}",)),
    "exactly": (("exactly {n}",), ("precisely {n}",)),
    "between": (("between {n} and {m}", "from {n} to {m}"), ("as many as {n} to {m}",)),
}
_BOUND_FACTS: dict[str, Callable[[int, int, int], bool]] = {
    "least": lambda v, n, m: v >= n,
    "more": lambda v, n, m: v > n,
    "most": lambda v, n, m: v <= n,
    "fewer": lambda v, n, m: v < n,
    "exactly": lambda v, n, m: v == n,
    "between": lambda v, n, m: n <= v <= m,
}


def _bound(rng: Random, style: Style, key: str) -> tuple[str, Callable[..., bool]]:
    n, m = sorted(rng.sample(range(2, 14), 2))
    wording = rng.choice(_BOUNDS[key][style.fresh]).format(n=NUMBERS[n], m=NUMBERS[m])
    test = _BOUND_FACTS[key]
    return wording, lambda w, x: test(w[x], n, m)


def bounds(rng: Random, style: Style, depth: int) -> Draft:
    """How many each has done it to: bounds from below, from above, from both sides."""
    category, kind = thing(rng, style)
    verb = rng.choice(DEEDS_ON[category.groups[0]]).verb.past
    count = max(3, depth)
    clauses = []
    for at in rng.sample(range(count), depth):
        wording, fact = _bound(rng, style, rng.choice(list(_BOUNDS)))
        clauses.append(Clause(said(f"{{0}} {verb} {wording} {kind.plural}", fact), (at,)))
    wording, fact = _bound(rng, style, rng.choice(list(_BOUNDS)))
    claim = Clause(said(f"{{0}} {verb} {wording} {kind.plural}", fact), (0,))
    states = [[value] * count for value in range(24)]
    return Draft(people(rng, style, count), tuple(clauses), claim, states, apart=True)


# ---------------------------------------------------------------- all, most, some, none


class Group(NamedTuple):
    """A group of things and a part of it: violins and old violins, or instruments and violins."""

    whole: str
    wholes: str
    part: str
    parts: str


_QUANTIFIERS: Wordings = {
    "all": (
        ("all of the P are", "all the P are", "every one of the P is", "each of the P is", "every N is"),
        ("the P are, without exception,", "each and every N is"),
    ),
    "none": (
        ("none of the P are", "not one of the P is", "no N is", "no P are"),
        ("not a single N is", "none at all of the P are"),
    ),
    "some": (
        ("some of the P are", "at least one of the P is", "some P are", "one or more of the P are"),
        ("a number of the P are",),
    ),
    "not all": (
        ("not all of the P are", "not every N is", "at least one of the P is not", "some of the P are not"),
        ("not every one of the P is",),
    ),
    "most": (("most of the P are", "more than half of the P are"), ("the majority of the P are",)),
    "few": (("few of the P are", "very few of the P are"), ("only a few of the P are",)),
    "half": (("exactly half of the P are",), ("half of the P, no more and no fewer, are",)),
    "two": (("exactly two of the P are",), ("precisely two of the P are",)),
    "at least two": (
        ("at least two of the P are", "two or more of the P are"),
        ("no fewer than two of the P are",),
    ),
    "all but one": (("all but one of the P are",), ("all of the P except one are",)),
}
_QUANTIFIER_FACTS: dict[str, tuple[Callable[[int, int], bool], ...]] = {
    "all": (lambda n, t: n == t,),
    "none": (lambda n, t: n == 0,),
    "some": (lambda n, t: n >= 1,),
    "not all": (lambda n, t: n < t,),
    "most": (lambda n, t: 2 * n > t,),
    "few": (lambda n, t: 2 * n < t, lambda n, t: 0 < 2 * n < t),
    "half": (lambda n, t: 2 * n == t,),
    "two": (lambda n, t: n == 2, lambda n, t: n == 2 < t),
    "at least two": (lambda n, t: n >= 2,),
    "all but one": (lambda n, t: t > 1 and n == t - 1,),
}
_STATES = (
    (
        "for sale",
        "on display",
        "insured",
        "listed in the catalogue",
        "paid for",
        "marked with a number",
        "meant for export",
    ),
    ("under guard", "in the inventory", "visible from the window", "mentioned in the letter"),
)
_COUNTS = [
    (of_part, part, of_rest, rest)
    for part in range(1, 5)
    for rest in (0, 1, 2, 4)
    for of_part in range(part + 1)
    for of_rest in range(rest + 1)
]
"""How many of the part and of the rest of a group are so, out of how many."""


def quantities(rng: Random, style: Style, depth: int) -> Draft:
    """All, most, some or none of a group or of a part of it; the hypothesis asks about either."""
    count = max(3, depth)
    fillers, predicate = _groups(rng, style, count)
    form, part, mixed = rng.choice("NP"), rng.random() < 0.5, rng.random() < 0.3

    def draw() -> Said:
        return _quantified(rng, style, predicate, form, rng.random() < 0.5 if mixed else part)

    claim = _quantified(rng, style, predicate, rng.choice("NP"), rng.random() < 0.5)
    return _spread(rng, fillers, claim, draw, _COUNTS, depth)


def _spread(
    rng: Random,
    fillers: tuple[Any, ...],
    claimed: Said,
    draw: Callable[[], Said],
    states: Sequence[Any],
    depth: int,
) -> Draft:
    """A draft of statements on one filler each, of every label if some of those drawn have it."""
    claim = Clause(claimed, (0,))
    by_label: dict[str, Said] = {}
    drawn = [draw() for _ in range(9)]
    for each in drawn:
        found = Judge(Draft(("",), (Clause(each, (0,)),), claim, [[state] for state in states])).label((0,))
        by_label.setdefault(found or "", each)
    by_label.pop("", None)
    chosen = [*by_label.values(), *drawn][:depth]
    clauses = (
        Clause(each, (at,)) for each, at in zip(chosen, rng.sample(range(len(fillers)), depth), strict=True)
    )
    return Draft(fillers, tuple(clauses), claim, [[state] * len(fillers) for state in states], apart=True)


def _groups(rng: Random, style: Style, count: int) -> tuple[tuple[Group, ...], str]:
    """Groups of one category with a part marked off, or categories with a kind each; and what they may be."""
    if rng.random() < 0.35:
        categories = [each for each in style.categories() if "named" in each.groups]
        chosen = rng.sample(categories, count)
        kinds = [rng.choice(each.kinds) for each in chosen]
        groups = tuple(
            Group(each.name, each.plural, kind.name, kind.plural)
            for each, kind in zip(chosen, kinds, strict=True)
        )
        return groups, rng.choice(_STATES[style.fresh])
    category = rng.choice([each for each in style.categories() if len(each.kinds) >= 2 * count])
    while True:
        marks, predicates = rng.sample(category.qualities, 2)
        if frozenset((marks, predicates)) not in OPPOSITES:
            break
    way = rng.random()
    if way < 0.4:
        predicates = rng.choice(category.places)
    before, after = (
        (f"{marks} ", "") if rng.random() < 0.6 else ("", f" {rng.choice(_relatives(rng, style, category))}")
    )
    kinds = rng.sample(category.kinds, count)
    groups = tuple(
        Group(k.name, k.plural, f"{before}{k.name}{after}", f"{before}{k.plural}{after}") for k in kinds
    )
    return groups, predicates


def _relatives(rng: Random, style: Style, category: Category) -> tuple[str, ...]:
    verb = rng.choice(DEEDS_ON[category.groups[0]]).verb
    who = rng.choice(style.words(PEOPLE))
    return (f"that {who} {verb.past}", f"{verb.participle} by {who}")


def _quantified(rng: Random, style: Style, predicate: str, form: str, part: bool) -> Said:
    """A statement on the part or the whole of a group, in the singular ("N") or the plural ("P")."""
    key = rng.choice(list(_QUANTIFIERS))
    wordings = _QUANTIFIERS[key][style.fresh]
    wording = rng.choice([each for each in wordings if form in each.replace(",", "").split()] or wordings)
    nouns = ("{0.part}", "{0.parts}") if part else ("{0.whole}", "{0.wholes}")
    fields = {"N": nouns[0], "P": nouns[1], "P,": nouns[1] + ","}
    text = " ".join(fields.get(word, word) for word in wording.split())
    tests = _QUANTIFIER_FACTS[key]

    def reading(test: Callable[[int, int], bool]) -> Callable[..., bool]:
        if part:
            return lambda w, x: test(w[x][0], w[x][1])
        return lambda w, x: test(w[x][0] + w[x][2], w[x][1] + w[x][3])

    return Said(f"{text} {predicate}", tuple(reading(test) for test in tests))


# ---------------------------------------------------------------- more and less narrow deeds

_SHARES: Wordings = {
    "all": (
        (
            "all of the P {past}",
            "all the P {past}",
            "every one of the P {past}",
            "every N {past}",
            "each N {past}",
        ),
        ("each and every N {past}", "the P {past} without exception"),
    ),
    "none": (
        (
            "none of the P {past}",
            "no N {past}",
            "no P {past}",
            "not a single N {past}",
            "not one of the P {past}",
        ),
        ("none at all of the P {past}",),
    ),
    "some": (
        ("some of the P {past}", "at least one of the P {past}", "one N or more {past}"),
        ("a number of the P {past}",),
    ),
    "not all": (
        ("not all of the P {past}", "not every N {past}", "some of the P did not {base}"),
        ("not every one of the P {past}",),
    ),
    "most": (("most of the P {past}", "more than half of the P {past}"), ("the majority of the P {past}",)),
    "two": (("exactly two of the P {past}", "only two of the P {past}"), ("precisely two of the P {past}",)),
}
_NESTED = [
    (total, *counts)
    for total in (2, 3, 4)
    for counts in product(range(total + 1), repeat=3)
    if counts[0] <= counts[1] <= counts[2]
]
"""Members of a group, and how many did the narrow deed, the wider one, the widest one."""


_COLORED = frozenset(
    (
        *("garment", "toy", "instrument", "piece of household linen"),
        *("piece of crockery", "piece of furniture", "piece of stationery"),
    )
)
"""What may well be of any color."""


def _chain(rng: Random, style: Style) -> tuple[Done, Done, Done]:
    """Three deeds of which each follows from the one before: "bought a red kite in May", "bought a kite"."""
    category, kind = thing(rng, style)
    while "named" not in category.groups:
        category, kind = thing(rng, style)
    verb = rng.choice([each for each in DEEDS_ON[category.groups[0]] if set(each.groups) & {"goods"}]).verb
    quality, other = rng.sample(category.qualities, 2)
    mark = rng.choice(style.words(COLORS)) if category.name in _COLORED else other
    days = (
        *(f"on {day}" for day in DAYS),
        *(f"in {month}" for month in MONTHS),
        "last week",
        "this morning",
        "yesterday",
    )
    when = rng.choice((*style.words(days), *style.words(SPOTS)))
    chains = (
        (f"{a(f'{quality} {kind.name}')} {when}", f"{a(kind.name)} {when}", a(kind.name)),
        (f"{a(f'{mark} {kind.name}')} {when}", f"{a(kind.name)} {when}", a(kind.name)),
        (f"{a(kind.name)} {when}", a(kind.name), a(category.name)),
        (f"{a(f'{quality} {kind.name}')}", a(kind.name), a(category.name)),
    )
    one, two, three = (
        Done(*(f"{form} {rest}" for form in (verb.past, verb.base, verb.ing, verb.participle)))
        for rest in rng.choice(chains)
    )
    return one, two, three


def nested(rng: Random, style: Style, depth: int) -> Draft:
    """What follows from a narrow deed for a wide one, and the other way round under "no"."""
    count = max(3, depth)
    chain = _chain(rng, style)
    groups = style.nouns((*TRADES, *ROLES))
    fillers = tuple(Group(each.name, each.plural, "", "") for each in rng.sample(groups, count))

    def statement() -> Said:
        key, level = rng.choice(list(_SHARES)), rng.randrange(3)
        form = wording(rng, style, _SHARES, key).format(**chain[level]._asdict())
        text = " ".join({"N": "{0.whole}", "P": "{0.wholes}"}.get(word, word) for word in form.split())

        def reading(test: Callable[[int, int], bool]) -> Callable[..., bool]:
            return lambda w, x: test(w[x][level + 1], w[x][0])

        return Said(text, tuple(map(reading, _QUANTIFIER_FACTS[key])))

    return _spread(rng, fillers, statement(), statement, _NESTED, depth)
