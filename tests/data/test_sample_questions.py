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
AFTER = "(?:come after|done after|(?:meant )?to follow|be later than|happen after|the step after)"
BEFORE = "(?:come before|done before|(?:meant )?to precede|be earlier than|happen before|the step before)"
CMP = r"(?P<how>\w+er)"
WHO = r"(?P<rest>\w+)"
FORMS = {
    "compare": (
        rf"(?:is|would you say that|in general, is|can|is it true that) {ONE} "
        rf"(?:is |be |really )?{CMP} than {TWO}",
        rf"(?:do most people find|would you call) {ONE} {CMP} than {TWO}",
        rf"does {ONE} count as {CMP} beside {TWO}",
        rf"would you call {ONE} {CMP} next to {TWO}",
        rf"(?:compared with|next to|measured against|set against) {TWO}, (?:is|does) {ONE} "
        rf"(?:look |seem |the )?{CMP}(?: one)?",
        rf"does {ONE} seem {CMP} to you than {TWO}",
        rf"do people find {ONE} {CMP} after seeing {TWO}",
    ),
    "first": (
        r"(?:should I|is it right to|must one|does one|do people|would you|ought one to|do I) (?P<one>\w+) "
        r"(?P<rest>an? .*) before (?:I|one can|one may|they|you) (?P<two>\w+) it",
        rf"\w+ (?P<two>\w+) (?P<rest>an? .*?) {AFTER} (?P<one>\w+) it",
        rf"\w+ (?P<one>\w+) (?P<rest>an? .*?) {BEFORE} (?P<two>\w+) it",
        r"does one start (?P<two>\w+) (?P<rest>an? .*) after (?P<one>\w+) it",
        r"does one stop (?P<one>\w+) (?P<rest>an? .*) before (?P<two>\w+) it",
    ),
    "become": (
        rf"(?:can|could|might|does) {ONE} (?:ever )?become {TWO}{WHERE}",
        rf"is (?:there a way for|it possible for|it realistic for) {ONE} to become {TWO}{WHERE}",
        rf"is {ONE} able to become {TWO}{WHERE}",
        rf"\w+ {TWO} have (?:started as|started off as|begun as|been) {ONE}(?: at first)?{WHERE}",
        rf"does {TWO} ever start out as {ONE}{WHERE}",
        rf"is it possible for {TWO} to have begun as {ONE}{WHERE}",
        rf"\w+ {ONE} (?:(?:still|ever) end(?: up)? as|then finish as|yet finish as|turn into) {TWO}"
        rf"(?: at last)?{WHERE}",
        rf"is it possible for {ONE} to end up as {TWO}{WHERE}",
        rf"has {TWO} ever been {ONE} before{WHERE}",
        rf"does {ONE} ever become {TWO} later{WHERE}",
    ),
    "help": (
        rf"(?:does|will) {ONE} help me (?:to learn|with) {TWO}",
        rf"will knowing {ONE} make {TWO} easier",
        rf"(?:is|would) {ONE} (?:of any use|be useful|a help) (?:for|in learning) {TWO}",
        rf"does it pay to study {ONE} for {TWO}",
        rf"can {ONE} make me better at {TWO}",
        rf"does {TWO} gain a lot from {ONE}",
        rf"is {TWO} made easier by {ONE}",
        rf"(?:do skills in|can) {TWO} (?:ever )?profit from {ONE}",
        rf"can {TWO} build upon {ONE}",
        rf"is {TWO} helped along by {ONE}",
        rf"does {TWO} come easier with {ONE}",
        rf"will {TWO} be quicker thanks to {ONE}",
        rf"does {ONE} pave the way to {TWO}",
        rf"is {ONE} an entry to {TWO}",
        rf"(?:do skills in|can) {ONE} (?:ever )?assist with {TWO}",
        rf"can {ONE} prepare for {TWO}",
        rf"is {ONE} a preparation for {TWO}",
        rf"does {ONE} lead over to {TWO}",
        rf"will {ONE} be good training for {TWO}",
    ),
    "prefer": (
        rf"(?:in general, |is it true that )?(?:do |would )?{WHO} (?:usually )?"
        rf"(?:prefer|like|choose|favor|go for|sooner have|want) {ONE} "
        rf"(?:to|better than|rather than|over|than|more than) {TWO}",
        rf"do {WHO} want {TWO} less than {ONE}",
        rf"do {WHO} (?:rank|place) {ONE} (?:above|before) {TWO}",
        rf"do {WHO} (?:rank|place) {TWO} (?:below|behind) {ONE}",
        rf"are {ONE} (?:rated above|more popular than) {TWO} (?:by|with) {WHO}",
        rf"are {TWO} (?:rated below|less popular than) {ONE} (?:by|with) {WHO}",
        rf"set against {TWO}, are {ONE} more popular with {WHO}",
        rf"set against {ONE}, are {TWO} less popular with {WHO}",
        rf"do {ONE} come ahead of {TWO} for {WHO}",
        rf"do {TWO} come second to {ONE} for {WHO}",
        rf"will {WHO} take {ONE} sooner than {TWO}",
        rf"will {WHO} take {TWO} later than {ONE}",
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
