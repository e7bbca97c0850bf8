"""QQP of the sample: what each question asks is read from its words alone, and duplicates ask the same."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from data.sample_rows import rows_of

from gluebench.benchmark import Benchmark
from sample.world import DEEDS

SCALES = (
    (("dearer", "costlier"), ("cheaper",)),
    (("prettier", "lovelier"), ("uglier",)),
    (("bigger", "larger"), ("smaller",)),
    (("rarer", "scarcer"), ("commoner",)),
    (("richer", "wealthier"), ("poorer",)),
    (("noisier", "louder"), ("quieter",)),
    (("cleverer", "smarter"), ("dumber",)),
    (("faster", "quicker"), ("slower",)),
    (("slimmer", "thinner"), ("fatter",)),
    (("happier", "merrier"), ("sadder",)),
)
SIDE = {
    word: (more[0], side)
    for more, less in SCALES
    for side, words in ((True, more), (False, less))
    for word in words
}
BASE = {verb.ing: verb.base for deed in DEEDS for verb in (deed.verb, deed.same) if verb}
WHERE = r"(?P<rest>(?: without a degree| these days| in .*)?)"
NAME = r"(?P<{}>(?:an? )?[^ ]+(?: [A-Z][^ ]+)?)"
ONE, TWO = NAME.format("one"), NAME.format("two")
AFTER = "(?:come after|done after|to follow|be later than)"
BEFORE = "(?:come before|done before|to precede|be earlier than)"
CMP = r"(?P<how>\w+er)"
FORMS = {
    "compare": (
        rf"(?:is|would you say that|in general, is|can) {ONE} (?:is |be )?{CMP} than {TWO}",
        rf"does {ONE} count as {CMP} beside {TWO}",
        rf"would you call {ONE} {CMP} next to {TWO}",
        rf"set against {TWO}, does {ONE} seem {CMP}",
        rf"do people find {ONE} {CMP} after seeing {TWO}",
    ),
    "first": (
        r"(?:should I|is it right to|must one|does one) (?P<one>\w+) (?P<rest>an? .*) "
        r"before (?:I|one can|one may) (?P<two>\w+) it",
        rf"\w+ (?P<two>\w+) (?P<rest>an? .*) {AFTER} (?P<one>\w+) it",
        rf"\w+ (?P<one>\w+) (?P<rest>an? .*) {BEFORE} (?P<two>\w+) it",
    ),
    "become": (
        rf"(?:can|could) {ONE} (?:ever )?become {TWO}{WHERE}",
        rf"is (?:there a way|it possible) for {ONE} to become {TWO}{WHERE}",
        rf"\w+ {TWO} have (?:started as|begun as|been) {ONE}(?: at first)?{WHERE}",
        rf"\w+ {ONE} (?:still end as|then finish as|yet finish as|turn into) {TWO}(?: at last)?{WHERE}",
    ),
    "help": (
        rf"does {ONE} help me to learn {TWO}",
        rf"will knowing {ONE} make {TWO} easier",
        rf"is {ONE} of any use for {TWO}",
        rf"can {ONE} make me better at {TWO}",
        rf"does {TWO} gain a lot from {ONE}",
        rf"is {TWO} made easier by {ONE}",
        rf"(?:do skills in|can) {TWO} (?:ever )?profit from {ONE}",
        rf"does {ONE} pave the way to {TWO}",
        rf"is {ONE} an entry to {TWO}",
        rf"(?:do skills in|can) {ONE} (?:ever )?assist with {TWO}",
    ),
    "prefer": (
        rf"(?:in general, )?(?:do|would) (?P<rest>\w+) (?:prefer|like|choose|favor) {ONE} "
        rf"(?:to|better than|rather than|over) {TWO}",
        rf"do (?P<rest>\w+) (?:rank|place) {ONE} (?:above|before) {TWO}",
        rf"do (?P<rest>\w+) (?:rank|place) {TWO} (?:below|behind) {ONE}",
        rf"are {ONE} rated above {TWO} by (?P<rest>\w+)",
        rf"are {TWO} rated below {ONE} by (?P<rest>\w+)",
        rf"set against {TWO}, do {ONE} taste nicer to (?P<rest>\w+)",
        rf"set against {ONE}, do {TWO} taste worse to (?P<rest>\w+)",
    ),
}


def asked(question: str) -> tuple[str, ...]:
    """What a question asks of whom or what, in which order."""
    text = question[0].lower() + question[1:].rstrip("?")
    found = [
        (name, match.groupdict())
        for name, forms in FORMS.items()
        for form in forms
        if (match := re.fullmatch(form, text))
    ]
    meanings = {_meaning(name, fields) for name, fields in found}
    assert len(meanings) == 1, question
    return meanings.pop()


def _meaning(name: str, fields: dict[str, str]) -> tuple[str, ...]:
    one, two = fields["one"].lower(), fields["two"].lower()
    if name == "compare":
        name, more = SIDE[fields["how"]]
        one, two = (one, two) if more else (two, one)
    if name == "first":
        one, two = BASE.get(one, one), BASE.get(two, two)
    return name, one, two, fields.get("rest", "")


def test_duplicates_ask_the_same_of_the_same_in_the_same_order(
    sample: Benchmark, sample_folder: Path
) -> None:
    seen: Counter[str] = Counter()
    for rows in rows_of(sample_folder, sample, "QQP").values():
        for row in rows:
            first, second = map(asked, row.inputs)
            assert first[0] == second[0], row
            assert {*first[1:3]} == {*second[1:3]}, row
            assert first[3] == second[3], row
            assert (first == second) == (row.label == "1"), row
            seen[first[0] if first[0] in FORMS else "compare"] += 1
    assert set(seen) == set(FORMS)
    assert min(seen.values()) > 500
