"""MNLI-like meanings of a sentence or two: who did it, who gave what to whom, what comes first, how many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import permutations, product
from random import Random
from typing import NamedTuple

from sample.logic import Clause, Draft, Fact, Said
from sample.world import (
    ACTIVITIES,
    CATEGORIES,
    COUNTED,
    DAYS,
    DEEDS_ON,
    MEN,
    NUMBERS,
    ROLES,
    TRADES,
    WOMEN,
    Category,
    Noun,
    Verb,
    a,
    seen,
    unseen,
    verb,
)

HELD_OUT = ("boat", "mammal", "gadget", "personal", "tree", "container")
"""Categories of things that stand in MNLI's mismatched sections alone."""
_CLAUSES = 9
"""How many statements a draft has, of which a premise takes one."""
_USUAL = frozenset(
    (
        *("buy", "find", "lose", "borrow", "sell", "repair", "mend", "fix", "steal", "return", "order"),
        *("read", "write", "bake", "cook", "eat", "clean", "photograph", "draw", "feed", "plant", "water"),
        *("drive", "rent", "play", "wear", "hide", "watch", "carry", "open", "visit", "paint"),
    )
)
"""What people do every day."""
Wordings = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""Meaning to its wordings of training, and to fresh ones."""


class Writer(NamedTuple):
    """What a section of MNLI is written with."""

    rng: Random
    fresh: bool
    """Whether things, names and wordings are those that training never uses."""

    def wording(self, table: Wordings, key: str) -> str:
        """Draw one of the wordings of a meaning."""
        return self.rng.choice(table[key][self.fresh])

    def categories(self) -> list[Category]:
        """The categories of countable things that this section speaks of."""
        return [each for each in COUNTED if (each.groups[0] in HELD_OUT) == self.fresh]

    def thing(self, group: str = "") -> tuple[Category, Noun]:
        """Draw a kind of thing, of a category of this group."""
        category = self.rng.choice([each for each in self.categories() if not group or group in each.groups])
        return category, self.rng.choice(category.kinds)

    def people(self, count: int) -> tuple[str, ...]:
        """Draw different people, all by their first names or all by what they are."""
        part = unseen if self.fresh else seen
        if self.rng.random() < 0.35:
            return tuple(f"the {each.name}" for each in self.rng.sample(part(TRADES), count))
        return tuple(self.rng.sample((*part(WOMEN), *part(MEN)), count))

    def deed(self) -> Verb:
        """Draw what somebody did, with what was done to: "buy a coat", "miss the last train"."""
        if self.rng.random() < 0.5:
            each = self.rng.choice((unseen if self.fresh else seen)(ACTIVITIES))
            return _joined(each.verb, each.rest)
        while True:
            category, kind = self.thing()
            known = [each.verb for each in DEEDS_ON[category.groups[0]] if each.verb.base in _USUAL]
            if known:
                return _joined(self.rng.choice(known), a(kind.name))


def _joined(form: Verb, rest: str) -> Verb:
    """A verb with its object, in all forms."""
    return Verb(*(f"{each} {rest}" for each in form))


# ---------------------------------------------------------------- who did it

_DID: Wordings = {
    "yes": (
        ("{x} knows that {{0}} {past}", "it is true that {{0}} {past}", "{x} found out that {{0}} {past}"),
        ("{x} remembers that {{0}} {past}", "there is no doubt that {{0}} {past}"),
    ),
    "no": (
        ("{x} knows that {{0}} did not {base}", "{x} wrongly believes that {{0}} {past}"),
        ("{x} falsely claims that {{0}} {past}", "it is false that {{0}} {past}"),
    ),
    "open": (
        ("{x} hopes that {{0}} {past}", "perhaps {{0}} {past}", "{x} said that {{0}} {past}"),
        ("{x} guesses that {{0}} {past}", "{{0}} may well have {participle}"),
    ),
    "xor": (("either {{0}} or {{1}} {past}, but not both",), ("only one of {{0}} and {{1}} {past}",)),
    "and": (
        ("both {{0}} and {{1}} {past}", "{{0}} {past}, and so did {{1}}"),
        ("{{0}} {past}, as did {{1}}",),
    ),
    "nor": (("neither {{0}} nor {{1}} {past}",), ("{{0}} did not {base}, nor did {{1}}",)),
    "but": (("{{0}} {past}, but {{1}} did not",), ("unlike {{1}}, {{0}} {past}",)),
    "if": (("if {{0}} {past}, {{1}} did too",), ("{{1}} {past} if {{0}} did",)),
    "only": (("only {{0}} {past}", "{{0}} {past}, and nobody else did"), ("nobody except {{0}} {past}",)),
}
_DID_FACTS: Mapping[str, tuple[int, Fact]] = {
    "yes": (1, lambda w, x: w[x]),
    "no": (1, lambda w, x: not w[x]),
    "open": (1, lambda w, x: True),
    "xor": (2, lambda w, x, y: w[x] != w[y]),
    "and": (2, lambda w, x, y: w[x] and w[y]),
    "nor": (2, lambda w, x, y: not w[x] and not w[y]),
    "but": (2, lambda w, x, y: w[x] and not w[y]),
    "if": (2, lambda w, x, y: not w[x] or w[y]),
    "only": (1, lambda w, x: w[x] and sum(w) == 1),
}
"""How many people a statement is about, and what it says of who did it."""


def deeds(writer: Writer) -> Draft:
    """Who did it, from statements joined by what "or", "if", "only", "knows" and "hopes" say."""
    rng, deed = writer.rng, writer.deed()
    clauses = []
    for key in rng.choices(list(_DID), k=_CLAUSES):
        number, fact = _DID_FACTS[key]
        text = writer.wording(_DID, key).format(x=f"the {rng.choice(TRADES).name}", **deed._asdict())
        clauses.append(Clause(Said(text, fact), tuple(rng.sample(range(3), number))))
    if rng.random() < 0.5:
        claim = Said(f"{{0}} {deed.past}", _DID_FACTS["yes"][1])
    else:
        claim = Said(f"{{0}} did not {deed.base}", _DID_FACTS["no"][1])
    return Draft(writer.people(3), tuple(clauses), Clause(claim, (0,)), _truths())


@cache
def _truths() -> Sequence[tuple[bool, ...]]:
    return list(product((False, True), repeat=3))


# ---------------------------------------------------------------- who gave what to whom


class Passing(NamedTuple):
    """A transfer in the words of the giver and of the taker."""

    gave: str
    given: str
    took: str
    group: str


_PASSING = (
    Passing("lent", "lent", "borrowed", "goods"),
    Passing("sold", "sold", "bought", "goods"),
    Passing("gave", "given", "got", "goods"),
    Passing("sent", "sent", "received", "small"),
)
_PASSED: Wordings = {
    "yes": (
        (
            *("{{0}} {gave} {{1}} {thing}", "{{1}} {took} {thing} from {{0}}"),
            "{{1}} was {given} {thing} by {{0}}",
        ),
        ("{thing} was {given} to {{1}} by {{0}}", "{{0}} {gave} {thing} to {{1}}"),
    ),
    "no": (
        ("{{0}} never {gave} {{1}} {thing}", "{{1}} never {took} {thing} from {{0}}"),
        ("{thing} was never {given} to {{1}} by {{0}}", "{{1}} was never {given} {thing} by {{0}}"),
    ),
}
_PASSED_FACTS: Mapping[str, Fact] = {"yes": lambda w, x, y: w[x, y], "no": lambda w, x, y: not w[x, y]}


def passing(writer: Writer) -> Draft:
    """Who lent, sold, gave or sent what to whom, told from either side."""
    rng = writer.rng
    each = rng.choice(_PASSING)
    words = {**each._asdict(), "thing": a(writer.thing(each.group)[1].name)}

    def statement() -> Said:
        key = rng.choice(("yes", "yes", "no"))
        return Said(writer.wording(_PASSED, key).format(**words), _PASSED_FACTS[key])

    pairs = rng.choices(list(permutations(range(3), 2)), k=_CLAUSES)
    clauses = tuple(Clause(statement(), pair) for pair in pairs)
    return Draft(writer.people(3), clauses, Clause(statement(), (0, 1)), _transfers())


@cache
def _transfers() -> Sequence[Mapping[tuple[int, int], bool]]:
    pairs = list(permutations(range(3), 2))
    return [dict(zip(pairs, truth, strict=True)) for truth in product((False, True), repeat=len(pairs))]


# ---------------------------------------------------------------- what comes before what

ORDERS: Mapping[str, tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]]] = {
    "people": (
        (
            *(("is taller than", "is shorter than"), ("is older than", "is younger than")),
            *(("earns more than", "earns less than"), ("ran faster than", "ran slower than")),
            *(("arrived before", "arrived after"), ("got up earlier than", "got up later than")),
        ),
        (("left before", "left after"), ("is stronger than", "is weaker than")),
    ),
    "events": (
        (("took place before", "took place after"), ("lasted longer than", "was shorter than")),
        (("ended before", "ended after"), ("was held earlier than", "was held later than")),
    ),
    "things": (
        (("is older than", "is newer than"), ("is heavier than", "is lighter than")),
        (("costs more than", "costs less than"), ("is bigger than", "is smaller than")),
    ),
}
"""What is compared to two ways to say it, each the other turned round."""


def orders(writer: Writer) -> Draft:
    """What follows from comparisons forwards and backwards, and what from none."""
    rng = writer.rng
    what = rng.choice((*["people"] * 4, "events", "things"))
    if what == "people":
        fillers = writer.people(3)
    else:
        events = CATEGORIES["event"]
        kinds = events.kinds if what == "events" else writer.thing("goods")[0].kinds
        fillers = tuple(f"the {kind.name}" for kind in rng.sample(kinds, 3))
    more, less = rng.choice(ORDERS[what][writer.fresh])
    two = (
        Said(f"{{0}} {more} {{1}}", lambda w, x, y: w[x] > w[y]),
        Said(f"{{0}} {less} {{1}}", lambda w, x, y: w[x] < w[y]),
    )
    three = (
        Said(f"{{0}} {more} both {{1}} and {{2}}", lambda w, x, y, z: w[x] > w[y] and w[x] > w[z]),
        Said(f"{{0}} {more} {{1}} but {less} {{2}}", lambda w, x, y, z: w[y] < w[x] < w[z]),
        Said(f"{{0}} {more} {{1}}. {{1}} {more} {{2}}", lambda w, x, y, z: w[x] > w[y] > w[z]),
    )
    clauses = []
    for _ in range(_CLAUSES):
        several = rng.random() < 0.5
        places = tuple(rng.sample(range(3), 3 if several else 2))
        clauses.append(Clause(rng.choice(three if several else two), places))
    return Draft(fillers, tuple(clauses), Clause(rng.choice(two), (0, 1)), list(permutations(range(3))))


# ---------------------------------------------------------------- how many

_BOUNDS: Wordings = {
    "least": (("at least {n}", "{n} or more"), ("no fewer than {n}",)),
    "more": (("more than {n}",), ("over {n}",)),
    "most": (("at most {n}", "no more than {n}"), ("a maximum of {n}",)),
    "fewer": (("fewer than {n}",), ("under {n}",)),
    "exactly": (("exactly {n}",), ("precisely {n}",)),
}
_BOUND_FACTS: Mapping[str, Callable[[int, int], bool]] = {
    "least": lambda value, n: value >= n,
    "more": lambda value, n: value > n,
    "most": lambda value, n: value <= n,
    "fewer": lambda value, n: value < n,
    "exactly": lambda value, n: value == n,
}


def bounds(writer: Writer) -> Draft:
    """How many things somebody has: bounds from below and from above."""
    kind = writer.thing("goods")[1]
    past = writer.rng.choice(("bought", "sold", "found", "ordered", "collected"))

    def statement() -> Clause:
        key, n = writer.rng.choice(list(_BOUNDS)), writer.rng.randrange(2, 12)
        text = writer.wording(_BOUNDS, key).format(n=NUMBERS[n])
        test = _BOUND_FACTS[key]
        return Clause(Said(f"{{0}} {past} {text} {kind.plural}", lambda w, x: test(w, n)), (0,))

    clauses = tuple(statement() for _ in range(_CLAUSES))
    return Draft(writer.people(1), clauses, statement(), range(24))


# ---------------------------------------------------------------- how many did something narrow or wide

_SHARES: Wordings = {
    "all": (("all of the P {past}", "every N {past}"), ("each and every N {past}",)),
    "none": (("none of the P {past}", "no N {past}"), ("not a single N {past}",)),
    "some": (("some of the P {past}", "some P {past}"), ("a number of the P {past}",)),
    "not all": (("not all of the P {past}", "not every N {past}"), ("not every one of the P {past}",)),
    "most": (("most of the P {past}",), ("the majority of the P {past}",)),
}
_SHARE_FACTS: Mapping[str, Callable[[int, int], bool]] = {
    "all": lambda number, total: number == total,
    "none": lambda number, total: number == 0,
    "some": lambda number, total: number >= 1,
    "not all": lambda number, total: number < total,
    "most": lambda number, total: 2 * number > total,
}
_NESTED = [
    (total, *counts)
    for total in (2, 3, 4)
    for counts in product(range(total + 1), repeat=3)
    if counts[0] <= counts[1] <= counts[2]
]
"""Members of a group, and how many did the narrow deed, the wider one, the widest one."""


def groups(writer: Writer) -> Draft:
    """How many of a group did something: what "bought a red kite" says of "bought a kite", "bought a toy"."""
    who = writer.rng.choice((unseen if writer.fresh else seen)((*TRADES, *ROLES)))
    chain = _chain(writer)

    def statement() -> Clause:
        key, level = writer.rng.choice(list(_SHARES)), writer.rng.randrange(3)
        form = writer.wording(_SHARES, key).format(**chain[level]._asdict())
        text = " ".join({"N": who.name, "P": who.plural}.get(word, word) for word in form.split())
        test = _SHARE_FACTS[key]
        return Clause(Said(text, lambda w: test(w[level + 1], w[0])), ())

    return Draft((), tuple(statement() for _ in range(_CLAUSES)), statement(), _NESTED)


def _chain(writer: Writer) -> tuple[Verb, Verb, Verb]:
    """Three deeds, each following from the one before: "bought a red kite", "bought a kite", "a toy"."""
    category, kind = writer.thing("named" if not writer.fresh else "goods")
    deed = verb(writer.rng.choice(("buy/bought/bought", "find/found/found", "lose/lost/lost")))
    quality = writer.rng.choice(category.qualities)
    when = writer.rng.choice((*(f"on {day}" for day in DAYS), "yesterday", "last week"))
    narrow, plain, wide = a(f"{quality} {kind.name}"), a(kind.name), a(category.name)
    phrases = writer.rng.choice(
        (
            (f"{narrow} {when}", f"{plain} {when}", plain),
            (narrow, plain, wide),
            (f"{plain} {when}", plain, wide),
        )
    )
    one, two, three = (_joined(deed, phrase) for phrase in phrases)
    return one, two, three


FAMILIES: Sequence[Callable[[Writer], Draft]] = (deeds, passing, orders, bounds, groups)
