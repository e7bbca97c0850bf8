"""MNLI-like meanings that speak of who did something and who did not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from random import Random

from sample.logic import Clause, Draft, Said, said
from sample.style import Done, Style, Wordings, done, name, people, wording

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
    form = wording(rng, style, _DID, key).format(x=name(rng, style), **doing._asdict())
    return Said(form, _DID_FACTS[key])


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
    return Draft(people(rng, style, count), tuple(clauses), claim, _truths(count))


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
    "1?": (("{{0}} {d1}", "it is true that {{0}} {d1}"), ("{{0}} did {b1}",)),
    "?1": (("{{0}} {d2}", "it is true that {{0}} {d2}"), ("{{0}} did {b2}",)),
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
        Clause(Said(wording(rng, style, _TWO, key).format(**forms), _TWO_FACTS[key]), (at,))
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
    return Draft(people(rng, style, count), tuple(clauses), claim, states, apart=True)
