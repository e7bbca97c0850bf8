"""MNLI-like meanings that relate people or things: who did it to whom, who is before whom."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from random import Random
from typing import NamedTuple

from sample.logic import Clause, Draft, Said, said
from sample.style import Forms, Style, people
from sample.world import CATEGORIES, a


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
_MET: Forms = (
    ("{{0}} {past} {{1}}", "{{1}} was {part} by {{0}}"),
    ("{{1}} is one of those whom {{0}} {past}",),
)
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
        group = {"hand": "small", "rent": "rentable"}.get(passing.give, "goods")
        goods = [each for each in style.categories() if group in each.groups]
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

    pairs = rng.sample(list(permutations(range(3), 2)), min(depth, 3))
    clauses = [Clause(statement(rng.random() < 0.6), pair) for pair in pairs]
    claim = Clause(statement(rng.random() < 0.5), (0, 1))
    return Draft(people(rng, style, 3), tuple(clauses), claim, _relations(3))


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


_KIN = ("my ", "your ", "her ", "his ", "our ", "their ")


def _ranked(rng: Random, style: Style, count: int) -> tuple[tuple[str, ...], tuple[str, str]]:
    """What is put in order, and by what."""
    what = rng.random()
    if what < 0.6:
        fillers = people(rng, style, count)
        while fillers[0].startswith(_KIN):  # "my niece is older than my grandmother"
            fillers = people(rng, style, count)
        return fillers, rng.choice(_ORDERS[style.fresh])
    if what < 0.8:
        kinds = style.nouns(CATEGORIES["event"].kinds)
        return tuple(f"the {kind.name}" for kind in rng.sample(kinds, count)), rng.choice(
            _EVENT_ORDERS[style.fresh]
        )
    goods = [each for each in style.categories() if "named" in each.groups]
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
    # one sentence is not to say the same as another; of six (`singles`) only one is kept
    if len({clause.at if depth > 4 else frozenset(clause.at) for clause in clauses}) < depth:
        return orders(rng, style, depth)
    opening = rng.choice(("", "", "it is certain that ") if style.fresh else ("", "", "it is true that "))
    claim = more_than()
    claim = Said(opening + claim.text, claim.readings)
    states = list(permutations(range(count)))
    return Draft(fillers, tuple(clauses), Clause(claim, (0, 1)), states)
