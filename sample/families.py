"""The families of MNLI-like meanings: what premises and hypotheses say, and the states they speak of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations, product
from random import Random
from typing import NamedTuple

from sample.logic import Clause, Draft, Said, said
from sample.world import (
    ACTIVITIES,
    CATEGORIES,
    COLORS,
    COMMON,
    COUNTED,
    DAYS,
    DEEDS_ON,
    KIN,
    MONTHS,
    NUMBERS,
    PEOPLE,
    ROLES,
    SPOTS,
    SURNAMES,
    TRADES,
    Category,
    Noun,
    a,
    seen,
    unseen,
)

HELD_OUT = (
    *("boat", "insect", "tree", "jewel", "mammal", "pastry", "gadget", "textile"),
    *("shop", "landform", "weapon", "personal"),
)
"""Categories that stand in MNLI's mismatched sections alone."""


class Style(NamedTuple):
    """What a section of MNLI draws on."""

    fresh: bool
    """Whether words and wordings are those that training never uses."""

    def words(self, words: Sequence[str]) -> tuple[str, ...]:
        """Those of a list that this section uses."""
        return unseen(words) if self.fresh else seen(words)

    def nouns(self, nouns: Sequence[Noun]) -> tuple[Noun, ...]:
        """The same for nouns."""
        return unseen(nouns) if self.fresh else seen(nouns)

    def categories(self) -> list[Category]:
        """The categories of things that this section speaks of."""
        return [each for each in COUNTED if (each.groups[0] in HELD_OUT) == self.fresh]


Family = Callable[[Random, Style, int], Draft]
"""Draws a draft with this many clauses."""
Forms = tuple[tuple[str, ...], tuple[str, ...]]
"""Wordings of training, and fresh ones."""
Wordings = dict[str, Forms]
"""Meaning to its wordings."""


def _people(rng: Random, style: Style, count: int) -> tuple[str, ...]:
    """Different people, all named in the same way: by first name, by full name, or by what they are."""
    way = rng.random()
    if way < 0.3:
        jobs = style.nouns(TRADES if rng.random() < 0.7 else ROLES)
        return tuple(f"the {each.name}" for each in rng.sample(jobs, count))
    if way < 0.4:
        whose = rng.choice(("my", "your", "her", "his", "our", "their"))
        return tuple(f"{whose} {each}" for each in rng.sample(style.words(KIN), count))
    names = rng.sample(style.words(PEOPLE), count)
    if way < 0.7:
        return tuple(names)
    return tuple(
        f"{one} {two}" for one, two in zip(names, rng.sample(style.words(SURNAMES), count), strict=True)
    )


def name(rng: Random, style: Style) -> str:
    """Somebody who is no filler, by a trade with an article, so that it is none of the others."""
    return f"the {rng.choice(style.nouns(TRADES)).name}"


def _any(rng: Random, style: Style, table: Wordings, key: str) -> str:
    return rng.choice(table[key][style.fresh])


def _thing(rng: Random, style: Style) -> tuple[Category, Noun]:
    category = rng.choice(style.categories())
    return category, rng.choice(category.kinds)


# ---------------------------------------------------------------- who did it and who did not


class Done(NamedTuple):
    """A verb phrase in the forms that clauses need."""

    past: str
    base: str
    ing: str
    participle: str


def done(rng: Random, style: Style) -> Done:
    """Something that people did: an activity, or a deed on a thing."""
    if rng.random() < 0.4:
        each = rng.choice(unseen(ACTIVITIES) if style.fresh else (*seen(ACTIVITIES), *COMMON))
        verb, rest = each.verb, each.rest
    else:
        category, kind = _thing(rng, style)
        verb = rng.choice(DEEDS_ON[category.groups[0]]).verb
        rest = f"{a(kind.name)}"
    return Done(*(f"{form} {rest}".strip() for form in (verb.past, verb.base, verb.ing, verb.participle)))


_DID: Wordings = {
    "yes": (
        (
            *("{{0}} {past}", "it is true that {{0}} {past}", "{x} knows that {{0}} {past}"),
            *("it is not true that {{0}} did not {base}", "{x} is glad that {{0}} {past}"),
            *("{x} regrets that {{0}} {past}", "{x} found out that {{0}} {past}"),
        ),
        ("{x} remembers that {{0}} {past}", "there is no doubt that {{0}} {past}", "{{0}} did indeed {base}"),
    ),
    "no": (
        (
            *(
                "{{0}} did not {base}",
                "it is not true that {{0}} {past}",
                "{x} knows that {{0}} did not {base}",
            ),
            *("{x} wrongly believes that {{0}} {past}", "{x} is mistaken in thinking that {{0}} {past}"),
        ),
        ("{x} falsely claims that {{0}} {past}", "it is false that {{0}} {past}"),
    ),
    "open": (
        (
            *("{x} suspects that {{0}} {past}", "{x} hopes that {{0}} {past}", "perhaps {{0}} {past}"),
            *("{x} says that {{0}} did not {base}", "{x} doubts that {{0}} {past}"),
            *("it is possible that {{0}} {past}", "{x} said that {{0}} {past}"),
        ),
        ("{x} guesses that {{0}} {past}", "{{0}} may well have {participle}"),
    ),
    "or": (("either {{0}} or {{1}} {past}", "{{0}} or {{1}} {past}"), ("one of {{0}} and {{1}} {past}",)),
    "xor": (
        ("either {{0}} or {{1}} {past}, but not both", "only one of {{0}} and {{1}} {past}"),
        ("exactly one of {{0}} and {{1}} {past}",),
    ),
    "and": (
        (
            *("both {{0}} and {{1}} {past}", "{{0}} {past}, and {{1}} did too"),
            *("{{0}} {past}, and so did {{1}}", "{{0}} and {{1}} both {past}"),
        ),
        ("{{0}} {past}, as did {{1}}",),
    ),
    "nor": (
        ("neither {{0}} nor {{1}} {past}", "{{0}} did not {base}, and {{1}} did not either"),
        ("{{0}} did not {base}, nor did {{1}}",),
    ),
    "but": (
        ("{{0}} {past}, but {{1}} did not", "{{0}}, but not {{1}}, {past}"),
        ("unlike {{1}}, {{0}} {past}",),
    ),
    "if": (
        (
            *("if {{0}} {past}, {{1}} did too", "if {{0}} {past}, so did {{1}}"),
            *("{{0}} {past} only if {{1}} did", "if {{1}} did not {base}, {{0}} did not either"),
        ),
        ("{{1}} {past} if {{0}} did", "{{1}} {past} provided that {{0}} did"),
    ),
    "if not": (
        ("if {{0}} {past}, {{1}} did not", "{{1}} did not {base} if {{0}} did"),
        ("in case {{0}} {past}, {{1}} did not",),
    ),
    "unless": (
        ("{{0}} {past} unless {{1}} did", "unless {{1}} {past}, {{0}} did"),
        ("if {{1}} did not {base}, {{0}} did",),
    ),
    "only": (
        ("only {{0}} {past}", "nobody but {{0}} {past}", "{{0}} {past}, and nobody else did"),
        ("nobody except {{0}} {past}",),
    ),
}
_DID_FACTS: dict[str, tuple[Callable[..., bool], ...]] = {
    "yes": (lambda w, x: w[x],),
    "no": (lambda w, x: not w[x],),
    "open": (lambda w, x: True,),
    "or": (lambda w, x, y: w[x] or w[y], lambda w, x, y: w[x] != w[y]),
    "xor": (lambda w, x, y: w[x] != w[y],),
    "and": (lambda w, x, y: w[x] and w[y],),
    "nor": (lambda w, x, y: not w[x] and not w[y],),
    "but": (lambda w, x, y: w[x] and not w[y],),
    "if": (lambda w, x, y: not w[x] or w[y],),
    "if not": (lambda w, x, y: not w[x] or not w[y],),
    "unless": (lambda w, x, y: w[x] or w[y], lambda w, x, y: w[x] != w[y]),
    "only": (lambda w, x: w[x] and sum(w) == 1,),
}


def _did(rng: Random, style: Style, key: str, doing: Done) -> Said:
    wording = _any(rng, style, _DID, key).format(x=name(rng, style), **doing._asdict())
    return Said(wording, _DID_FACTS[key])


@cache
def _truths(count: int) -> list[tuple[bool, ...]]:
    return list(product((False, True), repeat=count))


def deeds(rng: Random, style: Style, depth: int) -> Draft:
    """Who did it, from statements joined by what "or", "if", "only", "knows" and "suspects" say."""
    count = 3 if depth < 3 else 4
    doing = done(rng, style)
    clauses = []
    for key in rng.choices(list(_DID), k=depth):
        places = 1 if _DID_FACTS[key][0].__code__.co_argcount == 2 else 2
        clauses.append(Clause(_did(rng, style, key, doing), tuple(rng.sample(range(count), places))))
    asked = rng.choice(("yes", "no", "yes", "no", "and", "nor", "but", "or"))
    simple = {"yes": "{{0}} {past}", "no": "{{0}} did not {base}"}
    if asked in simple:
        claim = Clause(Said(simple[asked].format(**doing._asdict()), _DID_FACTS[asked]), (0,))
    else:
        claim = Clause(_did(rng, style, asked, doing), (0, 1))
    return Draft(_people(rng, style, count), tuple(clauses), claim, _truths(count))


_TWO: Wordings = {
    "11": (
        (
            *("{{0}} {d1} and {d2}", "{{0}}, who {d1}, {d2}", "{{0}} both {d1} and {d2}"),
            *("before {i2}, {{0}} {d1}", "{{0}} {d2} after {i1}"),
        ),
        ("{{0}} not only {d1} but also {d2}", "having {p1}, {{0}} {d2}"),
    ),
    "10": (
        (
            *("{{0}} {d1} but did not {b2}", "{{0}}, who {d1}, did not {b2}", "{{0}} {d1} without {i2}"),
            *("{{0}} did not {b2} but {d1}",),
        ),
        ("{{0}} {d1} instead of {i2}",),
    ),
    "01": (
        (
            *("{{0}} did not {b1} but {d2}", "{{0}}, who did not {b1}, {d2}", "{{0}} {d2} without {i1}"),
            *("{{0}} {d2} but did not {b1}",),
        ),
        ("{{0}} {d2} instead of {i1}",),
    ),
    "00": (
        ("{{0}} neither {d1} nor {d2}", "{{0}} did not {b1} and did not {b2}"),
        ("{{0}} did not {b1}, nor did {{0}} {b2}",),
    ),
    "1?": (("{{0}} {d1}", "it was {{0}} who {d1}"), ("{{0}} did {b1}",)),
    "?1": (("{{0}} {d2}", "it was {{0}} who {d2}"), ("{{0}} did {b2}",)),
    "or": (("{{0}} either {d1} or {d2}", "{{0}} {d1} or {d2}"), ("{{0}} {d1}, or else {{0}} {d2}",)),
}
_TWO_FACTS: dict[str, tuple[Callable[..., bool], ...]] = {
    "11": (lambda w, x: w[x][0] and w[x][1],),
    "10": (lambda w, x: w[x][0] and not w[x][1],),
    "01": (lambda w, x: not w[x][0] and w[x][1],),
    "00": (lambda w, x: not w[x][0] and not w[x][1],),
    "1?": (lambda w, x: w[x][0],),
    "?1": (lambda w, x: w[x][1],),
    "or": (lambda w, x: w[x][0] or w[x][1], lambda w, x: w[x][0] != w[x][1]),
}


def two_deeds(rng: Random, style: Style, depth: int) -> Draft:
    """Which of two things each did: coordination, relative clauses, "before", "without"."""
    one, two = done(rng, style), done(rng, style)
    forms = {
        f"{key}{number}": form
        for number, each in ((1, one), (2, two))
        for key, form in zip("dbip", each, strict=True)
    }
    count = max(3, depth)
    keys = rng.choices(list(_TWO), k=depth)
    clauses = [
        Clause(Said(_any(rng, style, _TWO, key).format(**forms), _TWO_FACTS[key]), (at,))
        for key, at in zip(keys, rng.sample(range(count), depth), strict=True)
    ]
    text, fact = rng.choice(
        (
            ("{{0}} {d1}", lambda w, x: w[x][0]),
            ("{{0}} did not {b1}", lambda w, x: not w[x][0]),
            ("{{0}} {d2}", lambda w, x: w[x][1]),
            ("{{0}} did not {b2}", lambda w, x: not w[x][1]),
            ("{{0}} {d2} and {d1}", lambda w, x: w[x][0] and w[x][1]),
            ("{{0}} {d1} but did not {b2}", lambda w, x: w[x][0] and not w[x][1]),
        )
    )
    claim = Clause(said(text.format(**forms), fact), (0,))
    states = [[pair] * count for pair in product((False, True), repeat=2)]
    return Draft(_people(rng, style, count), tuple(clauses), claim, states, apart=True)


# ---------------------------------------------------------------- who did it to whom


class Passing(NamedTuple):
    """A transfer in the words of the giver and of the taker."""

    give: str
    gave: str
    given: str
    take: str
    took: str


_PASSING = (
    *(
        Passing("lend", "lent", "lent", "borrow", "borrowed"),
        Passing("sell", "sold", "sold", "buy", "bought"),
    ),
    *(Passing("give", "gave", "given", "get", "got"), Passing("send", "sent", "sent", "receive", "received")),
    *(
        Passing("hand", "handed", "handed", "receive", "received"),
        Passing("rent", "rented", "rented", "hire", "hired"),
    ),
)
_PASSED: Forms = (
    (
        *("{{0}} {gave} {{1}} {thing}", "{{0}} {gave} {thing} to {{1}}", "{{1}} {took} {thing} from {{0}}"),
        *("{{1}} was {given} {thing} by {{0}}",),
    ),
    ("{thing} was {given} to {{1}} by {{0}}", "what {{0}} {gave} {{1}} was {thing}"),
)
_NOT_PASSED: Forms = (
    (
        *("{{0}} never {gave} {{1}} {thing}", "{{0}} did not {give} {thing} to {{1}}"),
        *("{{1}} never {took} {thing} from {{0}}", "{{1}} was not {given} {thing} by {{0}}"),
    ),
    ("{{1}} did not {take} {thing} from {{0}}", "{thing} was never {given} to {{1}} by {{0}}"),
)
_PEERS = (
    *(("praise", "praised"), ("insult", "insulted"), ("greet", "greeted"), ("injure", "injured")),
    *(("follow", "followed"), ("help", "helped"), ("visit", "visited"), ("blame", "blamed")),
    *(("invite", "invited"), ("thank", "thanked"), ("arrest", "arrested"), ("treat", "treated")),
    *(
        ("photograph", "photographed"),
        ("interview", "interviewed"),
        ("forgive", "forgave"),
        ("watch", "watched"),
    ),
)
_PEER_PARTICIPLES = {"forgave": "forgiven"}
_MET: Forms = (("{{0}} {past} {{1}}", "{{1}} was {part} by {{0}}"), ("it was {{1}} whom {{0}} {past}",))
_NOT_MET: Forms = (
    ("{{0}} did not {base} {{1}}", "{{1}} was not {part} by {{0}}", "{{0}} never {past} {{1}}"),
    ("{{1}} was never {part} by {{0}}",),
)


@cache
def _relations(count: int) -> list[dict[tuple[int, int], bool]]:
    pairs = list(permutations(range(count), 2))
    return [dict(zip(pairs, truth, strict=True)) for truth in product((False, True), repeat=len(pairs))]


def roles(rng: Random, style: Style, depth: int) -> Draft:
    """Who gave whom what, or did what to whom: active and passive, two objects, and denials of it."""
    if rng.random() < 0.6:
        passing = rng.choice(_PASSING)
        goods = [each for each in style.categories() if "goods" in each.groups]
        kind = rng.choice(rng.choice(goods).kinds)
        words = {**passing._asdict(), "thing": a(kind.name)}
        yes, no = _PASSED, _NOT_PASSED
    else:
        base, past = rng.choice(_PEERS)
        words = {"base": base, "past": past, "part": _PEER_PARTICIPLES.get(past, past)}
        yes, no = _MET, _NOT_MET

    def statement(positive: bool) -> Said:
        forms = (yes if positive else no)[style.fresh]
        fact = (lambda w, x, y: w[x, y]) if positive else (lambda w, x, y: not w[x, y])
        return said(rng.choice(forms).format(**words), fact)

    clauses = [
        Clause(statement(rng.random() < 0.6), tuple(rng.sample(range(3), 2))) for _ in range(min(depth, 3))
    ]
    claim = Clause(statement(rng.random() < 0.5), (0, 1))
    return Draft(_people(rng, style, 3), tuple(clauses), claim, _relations(3))


# ---------------------------------------------------------------- who is before whom

_ORDERS: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = (
    (
        *(("is taller than", "is shorter than"), ("is older than", "is younger than")),
        *(("earns more than", "earns less than"), ("ran faster than", "ran slower than")),
        *(("lives further north than", "lives further south than"), ("arrived before", "arrived after")),
        *(("is richer than", "is poorer than"), ("got up earlier than", "got up later than")),
    ),
    (
        *(("left before", "left after"), ("spoke earlier than", "spoke later than")),
        *(("sits in front of", "sits behind"), ("is stronger than", "is weaker than")),
    ),
)
_EVENT_ORDERS = (
    (
        ("took place before", "took place after"),
        ("began before", "began after"),
        ("lasted longer than", "was shorter than"),
    ),
    (("ended before", "ended after"), ("was held earlier than", "was held later than")),
)
_THING_ORDERS = (
    (
        ("is older than", "is newer than"),
        ("is heavier than", "is lighter than"),
        ("is bigger than", "is smaller than"),
    ),
    (("costs more than", "costs less than"), ("is worth more than", "is worth less than")),
)


def _ranked(rng: Random, style: Style, count: int) -> tuple[tuple[str, ...], tuple[str, str]]:
    """What is put in order, and by what."""
    what = rng.random()
    if what < 0.6:
        return _people(rng, style, count), rng.choice(_ORDERS[style.fresh])
    if what < 0.8:
        kinds = style.nouns(CATEGORIES["event"].kinds)
        return tuple(f"the {kind.name}" for kind in rng.sample(kinds, count)), rng.choice(
            _EVENT_ORDERS[style.fresh]
        )
    goods = [each for each in style.categories() if "goods" in each.groups]
    kinds = rng.choice(goods).kinds
    return tuple(f"the {kind.name}" for kind in rng.sample(kinds, count)), rng.choice(
        _THING_ORDERS[style.fresh]
    )


def orders(rng: Random, style: Style, depth: int) -> Draft:
    """What follows from comparisons forwards and backwards, and what from none."""
    count = 3 if depth < 3 else 4
    fillers, (more, less) = _ranked(rng, style, count)

    def more_than() -> Said:
        if rng.random() < 0.5:
            return said(f"{{0}} {more} {{1}}", lambda w, x, y: w[x] > w[y])
        return said(f"{{0}} {less} {{1}}", lambda w, x, y: w[x] < w[y])

    triples = (
        said(f"{{0}} {more} both {{1}} and {{2}}", lambda w, x, y, z: w[x] > w[y] and w[x] > w[z]),
        said(f"{{0}} {less} both {{1}} and {{2}}", lambda w, x, y, z: w[x] < w[y] and w[x] < w[z]),
        said(f"{{0}} {more} {{1}} but {less} {{2}}", lambda w, x, y, z: w[y] < w[x] < w[z]),
    )
    clauses = []
    for _ in range(depth):
        statement, places = (rng.choice(triples), 3) if depth < 3 and rng.random() < 0.5 else (more_than(), 2)
        clauses.append(Clause(statement, tuple(rng.sample(range(count), places))))
    if len({clause.at for clause in clauses}) < depth:
        return orders(rng, style, depth)
    opening = rng.choice(("", "", "it is certain that ") if style.fresh else ("", "", "it is true that "))
    claim = more_than()
    claim = Said(opening + claim.text, claim.readings)
    states = list(permutations(range(count)))
    return Draft(fillers, tuple(clauses), Clause(claim, (0, 1)), states)


# ---------------------------------------------------------------- how many

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
    category, kind = _thing(rng, style)
    verb = rng.choice(DEEDS_ON[category.groups[0]]).verb.past
    count = max(3, depth)
    clauses = []
    for number, at in enumerate(rng.sample(range(count), max(depth, 1))):
        wording, fact = _bound(rng, style, rng.choice(list(_BOUNDS)))
        tail = f" {kind.plural}" if number == 0 or depth > 2 else ""
        clauses.append(
            Clause(said(f"{{0}} {verb if tail else ''}".strip() + f" {wording}{tail}", fact), (at,))
        )
    wording, fact = _bound(rng, style, rng.choice(list(_BOUNDS)))
    claim = Clause(said(f"{{0}} {verb} {wording} {kind.plural}", fact), (0,))
    states = [[value] * count for value in range(24)]
    joint = ". " if depth != 2 else " and "
    return Draft(_people(rng, style, count), tuple(clauses), claim, states, joint=joint, apart=True)


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
    "two": (lambda n, t: n == 2,),
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
    for rest in range(5)
    for of_part in range(part + 1)
    for of_rest in range(rest + 1)
]
"""How many of the part and of the rest of a group are so, out of how many."""


def quantities(rng: Random, style: Style, depth: int) -> Draft:
    """All, most, some or none of a group or of a part of it; the hypothesis asks about either."""
    count = max(3, depth)
    fillers, predicate = _groups(rng, style, count)
    clauses = []
    for at in rng.sample(range(count), depth):
        clauses.append(Clause(_quantified(rng, style, predicate), (at,)))
    claim = Clause(_quantified(rng, style, predicate), (0,))
    states = [[each] * count for each in _COUNTS]
    return Draft(fillers, tuple(clauses), claim, states, apart=True)


def _groups(rng: Random, style: Style, count: int) -> tuple[tuple[Group, ...], str]:
    """Groups of one category with a part marked off, or categories with a kind each; and what they may be."""
    if rng.random() < 0.35:
        categories = [each for each in style.categories() if "goods" in each.groups]
        chosen = rng.sample(categories, count)
        kinds = [rng.choice(each.kinds) for each in chosen]
        groups = tuple(
            Group(each.name, each.plural, kind.name, kind.plural)
            for each, kind in zip(chosen, kinds, strict=True)
        )
        return groups, rng.choice(_STATES[style.fresh])
    category = rng.choice([each for each in style.categories() if len(each.kinds) >= 2 * count])
    marks, predicates = rng.sample(category.qualities, 2)
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


def _quantified(rng: Random, style: Style, predicate: str) -> Said:
    key = rng.choice(list(_QUANTIFIERS))
    part = rng.random() < 0.5
    nouns = ("{0.part}", "{0.parts}") if part else ("{0.whole}", "{0.wholes}")
    text = " ".join(
        {"N": nouns[0], "P": nouns[1], "P,": nouns[1] + ","}.get(word, word)
        for word in _any(rng, style, _QUANTIFIERS, key).split()
    )
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


def _chain(rng: Random, style: Style) -> tuple[Done, Done, Done]:
    """Three deeds of which each follows from the one before: "bought a red kite in May", "bought a kite"."""
    category, kind = _thing(rng, style)
    while "goods" not in category.groups:
        category, kind = _thing(rng, style)
    verb = rng.choice([each for each in DEEDS_ON[category.groups[0]] if set(each.groups) & {"goods"}]).verb
    quality, colour = rng.choice(category.qualities), rng.choice(style.words(COLORS))
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
        (f"{a(f'{quality} {colour} {kind.name}')}", a(f"{colour} {kind.name}"), a(kind.name)),
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
        wording = _any(rng, style, _SHARES, key).format(**chain[level]._asdict())
        text = " ".join({"N": "{0.whole}", "P": "{0.wholes}"}.get(word, word) for word in wording.split())
        test = _QUANTIFIER_FACTS[key][0]
        return said(text, lambda w, x: test(w[x][level + 1], w[x][0]))

    clauses = [Clause(statement(), (at,)) for at in rng.sample(range(count), min(depth, count))]
    states = [[each] * count for each in _NESTED]
    return Draft(fillers, tuple(clauses), Clause(statement(), (0,)), states, apart=True)


FAMILIES: tuple[Family, ...] = (deeds, two_deeds, roles, orders, bounds, quantities, nested)
