"""SST-2's shape: opinions whose polarity is computed from how the words are put together."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row, Shelf, Splits, wordings
from sample.world import a, sentence

NEGATIVE, POSITIVE = "0", "1"
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
DIMENSIONS: Mapping[str, Mapping[str, list[str]]] = {
    name: {POSITIVE: words["positive"], NEGATIVE: words["negative"]}
    for name, words in _DATA["dimensions"].items()
}
"""What can be judged, and the words that praise or blame it."""
THINGS: Mapping[str, dict[str, Any]] = _DATA["things"]
OPENINGS: Sequence[str] = _DATA["wordings"]["openings"]
_VERBS = {
    "is": "are",
    "was": "were",
    "seems": "seem",
    "remains": "remain",
    "turns": "turn",
    "strikes": "strike",
    "does": "do",
    "tries": "try",
    "fails": "fail",
    "gets": "get",
    "becomes": "become",
    "avoids": "avoid",
    "keeps": "keep",
    "it": "they",
}
"""Singular to plural."""


class Target(NamedTuple):
    """What a clause judges: a part of a thing, or the thing as a whole."""

    thing: str
    kind: str
    noun: str
    plural: bool
    dimensions: Sequence[str]


class Lexicon(NamedTuple):
    """What a split is written with: test has all words, parts and wordings, training three quarters."""

    rng: Random
    fresh: bool

    def word(self, dimension: str, polarity: str) -> str:
        """Draw a word of praise or blame."""
        return self.rng.choice(wordings(DIMENSIONS[dimension][polarity], fresh=self.fresh))

    def wording(self, name: str) -> str:
        """Draw a wording of the construction."""
        forms: list[str] = _DATA["wordings"][name]
        return self.rng.choice(wordings(forms, fresh=self.fresh))

    def thing(self) -> tuple[str, str]:
        """Draw what is reviewed, and one of its names."""
        thing = self.rng.choice(sorted(THINGS))
        return thing, self.rng.choice(THINGS[thing]["kinds"])

    def parts(self, thing: str, kind: str, number: int) -> list[Target]:
        """Draw different parts of the thing."""
        drawn = self.rng.sample(wordings(THINGS[thing]["parts"], fresh=self.fresh), number)
        return [Target(thing, kind, name.rstrip("+"), name.endswith("+"), rest) for name, *rest in drawn]

    def whole(self, thing: str, kind: str) -> Target:
        """Return the thing itself as a target."""
        return Target(thing, kind, kind, False, THINGS[thing]["whole"])


Construction = Callable[[Lexicon, Target, str], str]
"""Writes a clause about the target that has the polarity."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train on phrases and sentences, dev and test on sentences; both labels equally often."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(
            partial(_block, Lexicon(rng, fresh=split == "test"), phrases=split == "train"), size
        )
        for split, size in sizes.items()
    }


def _other(polarity: str) -> str:
    return NEGATIVE if polarity == POSITIVE else POSITIVE


def _block(lexicon: Lexicon, *, phrases: bool) -> list[Row]:
    """Write the same construction about the same thing twice, once under each label."""
    short = phrases and lexicon.rng.random() < 0.35
    thing = lexicon.thing()
    make = lexicon.rng.choice(_PHRASES if short else _SENTENCES)
    opening = lexicon.wording("openings") if lexicon.rng.random() < 0.25 else ""
    rows = []
    for polarity in (POSITIVE, NEGATIVE):
        text = make(lexicon, thing, polarity)
        start = opening if text.startswith(("the ", "this ")) else ""
        rows.append(Row((text if short else sentence(start + text),), polarity))
    return rows


def _put(lexicon: Lexicon, name: str, target: Target, word: str, opposite: str = "") -> str:
    """Fill a wording with a target and its words; verbs agree with the target."""
    verbs = _VERBS if target.plural else {verb: verb for verb in _VERBS}
    object_pronoun = "them" if target.plural else "it"
    article = "this" if target.noun == target.kind and lexicon.rng.random() < 0.4 else "the"
    less = f"less {word} {target.noun}"
    noun = f"{word} {target.noun}"
    return lexicon.wording(name).format(
        **verbs,
        it_o=object_pronoun,
        were="were",
        the=f"{article} {target.noun}",
        w=word,
        x=opposite,
        a_w=a(word),
        a_x=a(opposite) if opposite else "",
        kind=target.kind,
        bare=target.noun,
        less=less if target.plural else a(less),
        noun=noun if target.plural else a(noun),
        adjacent=f"the {noun}",
        tried=THINGS[target.thing]["tried"].format(a(target.kind)),
    )


def _one_word(name: str, *, reverse: bool = False) -> Construction:
    """Make a construction with one word, of the label's polarity or of the opposite one."""

    def construct(lexicon: Lexicon, target: Target, polarity: str) -> str:
        dimension = lexicon.rng.choice(target.dimensions)
        word = lexicon.word(dimension, _other(polarity) if reverse else polarity)
        return _put(lexicon, name, target, word)

    return construct


def _two_words(name: str) -> Construction:
    """Make a construction with a word and one of opposite polarity in the same dimension; {w} decides."""

    def construct(lexicon: Lexicon, target: Target, polarity: str) -> str:
        dimension = lexicon.rng.choice([name for name in target.dimensions if name != "quality"])
        word, opposite = lexicon.word(dimension, polarity), lexicon.word(dimension, _other(polarity))
        return _put(lexicon, name, target, word, opposite)

    return construct


def _compared(lexicon: Lexicon, target: Target, polarity: str) -> str:
    """Write that there is less of something than was expected of it."""
    return _two_words("feared" if polarity == POSITIVE else "hoped")(lexicon, target, polarity)


def _missed(lexicon: Lexicon, target: Target, polarity: str) -> str:
    """Write what the target did not become: to fail at good things is bad, to avoid bad ones is good."""
    return _one_word("escaped" if polarity == POSITIVE else "failed", reverse=True)(lexicon, target, polarity)


_plain, _negated = _one_word("plain"), _one_word("negated", reverse=True)
_ALWAYS = (*[_plain] * 9, _negated, _negated, _two_words("hedged"), _two_words("overcome"), _compared)
_CLAUSES = {False: _ALWAYS, True: (*_ALWAYS, _missed, _two_words("excluded"))}
"""By whether the thing unfolds in time, as a story or a song does."""


def _clause(lexicon: Lexicon, target: Target, polarity: str) -> str:
    makers = _CLAUSES[THINGS[target.thing]["unfolds"]]
    return lexicon.rng.choice(makers)(lexicon, target, polarity)


def _simple(lexicon: Lexicon, thing: tuple[str, str], polarity: str) -> str:
    """Judge a part or the whole, in one clause or by what others say of it."""
    target = lexicon.rng.choice((*lexicon.parts(*thing, 1), lexicon.whole(*thing)))
    makers = (*[_clause] * 4, _one_word("believed"), _one_word("doubted", reverse=True))
    return lexicon.rng.choice(makers)(lexicon, target, polarity)


def _ranked(lexicon: Lexicon, thing: tuple[str, str], polarity: str) -> str:
    """Call the whole the best or worst of its kind."""
    return _one_word("ranked")(lexicon, lexicon.whole(*thing), polarity)


def _unreal(lexicon: Lexicon, thing: tuple[str, str], polarity: str) -> str:
    """Say what the whole would have been without one of its parts, which decides."""
    (part,), whole = lexicon.parts(*thing, 1), lexicon.whole(*thing)
    word = lexicon.word(lexicon.rng.choice(part.dimensions), polarity)
    opposite = lexicon.word(lexicon.rng.choice(whole.dimensions), _other(polarity))
    return _put(lexicon, "unreal", part, word, opposite)


def _outweighed(lexicon: Lexicon, thing: tuple[str, str], polarity: str) -> str:
    """Write two clauses of opposite polarity, of which the grammar says which one counts."""
    (part,), whole = lexicon.parts(*thing, 1), lexicon.whole(*thing)
    return lexicon.wording("outweighed").format(
        counts=_clause(lexicon, whole, polarity), against=_clause(lexicon, part, _other(polarity))
    )


def _agreeing(lexicon: Lexicon, thing: tuple[str, str], polarity: str) -> str:
    """Write two clauses of one polarity on two parts."""
    one, two = lexicon.parts(*thing, 2)
    return lexicon.wording("agreeing").format(
        counts=_clause(lexicon, one, polarity), more=_clause(lexicon, two, polarity)
    )


def _phrase(make: Construction) -> Callable[[Lexicon, tuple[str, str], str], str]:
    return lambda lexicon, thing, polarity: make(lexicon, lexicon.parts(*thing, 1)[0], polarity)


_SENTENCES = (_simple, _simple, _simple, _ranked, _unreal, _outweighed, _outweighed, _agreeing, _agreeing)
_PHRASES = (
    _phrase(_one_word("phrases_plain")),
    _phrase(_one_word("phrases_plain")),
    _phrase(_one_word("phrases_negated", reverse=True)),
    _phrase(_two_words("phrases_hedged")),
)
