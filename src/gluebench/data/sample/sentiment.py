"""SST-2's shape: opinions on films whose polarity is computed from how the words are put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, wordings
from gluebench.data.sample.world import sentence

NEGATIVE, POSITIVE = "0", "1"
_ASPECTS = (
    *("acting", "plot", "music", "dialogue", "camera work", "humour", "ending", "first half", "lead role"),
    *("pacing", "story", "script", "romance", "final scene", "cast", "direction"),
)
_WORDS = {
    POSITIVE: [
        *("clever", "moving", "funny", "charming", "fresh", "graceful"),
        *("gripping", "witty", "warm", "elegant", "lively", "honest"),
    ],
    NEGATIVE: [
        *("dull", "clumsy", "tedious", "shallow", "lifeless", "predictable"),
        *("silly", "cold", "messy", "tired", "bland", "pretentious"),
    ],
}
_NEW_WORDS = {
    POSITIVE: [*_WORDS[POSITIVE], "tender", "inventive", "memorable", "delightful"],
    NEGATIVE: [*_WORDS[NEGATIVE], "sluggish", "lazy", "forgettable", "dreary"],
}
"""The test split's words: a quarter of them are in no training sentence."""


class Lexicon(NamedTuple):
    """What the opinions of a split are put together from."""

    words: Mapping[str, list[str]]
    fresh: bool
    """Whether all wordings may be used, or those of training alone."""


_KNOWN, _NEW = Lexicon(_WORDS, fresh=False), Lexicon(_NEW_WORDS, fresh=True)


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train on phrases and sentences, dev and test on sentences; both labels equally often."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(
            partial(_block, rng, _NEW if split == "test" else _KNOWN, phrases=split == "train"), size
        )
        for split, size in sizes.items()
    }


def _other(polarity: str) -> str:
    return NEGATIVE if polarity == POSITIVE else POSITIVE


def _block(rng: Random, lexicon: Lexicon, *, phrases: bool) -> list[Row]:
    """The same construction twice, once under each label."""
    short = phrases and rng.random() < 0.4
    make = rng.choice((_plain, _negated, _hedged, _compared)) if short else rng.choice(_SENTENCES)
    rows = []
    for polarity in (POSITIVE, NEGATIVE):
        text = make(rng, lexicon, polarity)
        rows.append(Row((text if short else sentence(text),), polarity))
    return rows


def _word(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    return rng.choice(lexicon.words[polarity])


def _put(rng: Random, lexicon: Lexicon, forms: Sequence[str], *words: str) -> str:
    """One of the wordings that the split may use, with an aspect of a film and the words in their places."""
    return rng.choice(wordings(forms, fresh=lexicon.fresh)).format(*words, the=f"the {rng.choice(_ASPECTS)}")


def _plain(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    """A film's part, and a word that means what it says."""
    forms = (
        *("{the} is {0}", "{the} feels {0}", "{the} seems {0}", "{the} is really {0}", "{the} was {0}"),
        *("{the} is {0} from the start", "{the} looks {0}", "{the} proves {0}"),
    )
    return _put(rng, lexicon, forms, _word(rng, lexicon, polarity))


def _negated(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    forms = (
        *("{the} is not {0}", "{the} is hardly {0}", "{the} is anything but {0}", "{the} is never {0}"),
        *(
            "{the} is far from {0}",
            "{the} is in no way {0}",
            "{the} is by no means {0}",
            "{the} is not at all {0}",
        ),
    )
    return _put(rng, lexicon, forms, _word(rng, lexicon, _other(polarity)))


def _hedged(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    """Two words of opposite polarity, of which the grammar says which one counts."""
    forms = (
        *("{the} is too {0} to be {1}", "{the} is {0} rather than {1}", "{the} is {0} where it could be {1}"),
        *("{the} is {0} and never {1}", "{the} is not so much {1} as {0}", "{the} is less {1} than {0}"),
        *("{the} would be {1} if it were not so {0}", "{the} is {0} instead of {1}"),
    )
    return _put(rng, lexicon, forms, _word(rng, lexicon, polarity), _word(rng, lexicon, _other(polarity)))


def _compared(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    """Less of something than was expected of it."""
    better = ("one would fear", "the trailer threatened", "I was warned", "critics complained")
    worse = ("one would hope", "the trailer promised", "I was told", "critics boasted")
    measure = rng.choice(wordings(better if polarity == POSITIVE else worse, fresh=lexicon.fresh))
    forms = ("{the} is less {0} than {1}", "{the} feels less {0} than {1}", "{the} is not as {0} as {1}")
    return _put(rng, lexicon, forms, _word(rng, lexicon, _other(polarity)), measure)


_CLAUSES: tuple[Callable[[Random, Lexicon, str], str], ...] = (_plain, _negated, _negated, _hedged, _compared)


def _clause(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    return rng.choice(_CLAUSES)(rng, lexicon, polarity)


def _outweighed(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    """Two clauses of opposite polarity, of which the grammar says which one counts."""
    against, counts = _clause(rng, lexicon, _other(polarity)), _clause(rng, lexicon, polarity)
    forms = (
        *("{1}, but {0}", "although {1}, {0}", "{0}, even though {1}", "{1}, and yet {0}"),
        *("whoever says that {1} has not seen how {0}", "it hardly matters that {1}, because {0}"),
        *("{0}, which matters more than that {1}", "never mind that {1}, for {0}"),
    )
    return rng.choice(wordings(forms, fresh=lexicon.fresh)).format(counts, against)


def _agreeing(rng: Random, lexicon: Lexicon, polarity: str) -> str:
    first, second = _clause(rng, lexicon, polarity), _clause(rng, lexicon, polarity)
    forms = (
        *("{0}, and {1}", "{0}; moreover, {1}", "not only that: {0}, and {1}", "{0}, just as {1}"),
        *("{0}; what is more, {1}", "besides, {0}, and {1}", "{0}, and of course {1}", "{0}; in short, {1}"),
    )
    return rng.choice(wordings(forms, fresh=lexicon.fresh)).format(first, second)


_SENTENCES = (_plain, _negated, _hedged, _compared, _outweighed, _outweighed, _agreeing)
