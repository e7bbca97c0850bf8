"""SST-2's shape: opinions on films whose polarity is computed from how the words are put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from gluebench.data.sample.rows import Row, Shelf, Splits
from gluebench.data.sample.world import sentence

NEGATIVE, POSITIVE = "0", "1"
_ASPECTS = (
    *("acting", "plot", "music", "dialogue", "camera work", "humour", "ending", "first half", "lead role"),
    *("pacing", "story", "script", "romance", "final scene", "cast", "direction"),
)
_WORDS = {
    POSITIVE: [
        "clever",
        "moving",
        "funny",
        "charming",
        "fresh",
        "graceful",
        "gripping",
        "witty",
        "warm",
        "elegant",
        "lively",
        "honest",
    ],
    NEGATIVE: [
        "dull",
        "clumsy",
        "tedious",
        "shallow",
        "lifeless",
        "predictable",
        "silly",
        "cold",
        "messy",
        "tired",
        "bland",
        "pretentious",
    ],
}
_NEW_WORDS = {
    POSITIVE: [*_WORDS[POSITIVE], "tender", "inventive", "memorable", "delightful"],
    NEGATIVE: [*_WORDS[NEGATIVE], "sluggish", "lazy", "forgettable", "dreary"],
}
"""The test split's words: a quarter of them are in no training sentence."""
Words = Mapping[str, list[str]]


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train on phrases and sentences, dev and test on sentences; both labels equally often."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(
            partial(_block, rng, _NEW_WORDS if split == "test" else _WORDS, phrases=split == "train"), size
        )
        for split, size in sizes.items()
    }


def _other(polarity: str) -> str:
    return NEGATIVE if polarity == POSITIVE else POSITIVE


def _block(rng: Random, words: Words, *, phrases: bool) -> list[Row]:
    """The same construction twice, once under each label."""
    short = phrases and rng.random() < 0.4
    make = rng.choice((_plain, _negated, _hedged, _compared)) if short else rng.choice(_SENTENCES)
    rows = []
    for polarity in (POSITIVE, NEGATIVE):
        text = make(rng, words, polarity)
        rows.append(Row((text if short else sentence(text),), polarity))
    return rows


def _word(rng: Random, words: Words, polarity: str) -> str:
    return rng.choice(words[polarity])


def _plain(rng: Random, words: Words, polarity: str) -> str:
    """A film's part, and a word that means what it says."""
    aspect, word = rng.choice(_ASPECTS), _word(rng, words, polarity)
    return rng.choice(
        (f"the {aspect} is {word}", f"a film whose {aspect} is {word}", f"the {aspect} feels {word}")
    )


def _negated(rng: Random, words: Words, polarity: str) -> str:
    aspect, word = rng.choice(_ASPECTS), _word(rng, words, _other(polarity))
    forms = ("is not {}", "is hardly {}", "is anything but {}", "is never {}", "is far from {}")
    return f"the {aspect} {rng.choice(forms).format(word)}"


def _hedged(rng: Random, words: Words, polarity: str) -> str:
    """Two words of opposite polarity, of which the first decides."""
    aspect, word = rng.choice(_ASPECTS), _word(rng, words, polarity)
    against = _word(rng, words, _other(polarity))
    forms = (
        "is too {} to be {}",
        "is {} rather than {}",
        "is {} where it could have been {}",
        "is {} and never {}",
    )
    return f"the {aspect} {rng.choice(forms).format(word, against)}"


def _compared(rng: Random, words: Words, polarity: str) -> str:
    aspect, word = rng.choice(_ASPECTS), _word(rng, words, _other(polarity))
    measure = "than one would fear" if polarity == POSITIVE else "than one would hope"
    return f"the {aspect} is less {word} {measure}"


_CLAUSES: tuple[Callable[[Random, Words, str], str], ...] = (_plain, _negated, _negated, _hedged, _compared)


def _clause(rng: Random, words: Words, polarity: str) -> str:
    text = rng.choice(_CLAUSES)(rng, words, polarity)
    return text.replace("a film whose", "the film's") if text.startswith("a film") else text


def _outweighed(rng: Random, words: Words, polarity: str) -> str:
    """Two clauses of opposite polarity, of which the grammar says which one counts."""
    against, counts = _clause(rng, words, _other(polarity)), _clause(rng, words, polarity)
    forms = (
        f"{against}, but {counts}",
        f"although {against}, {counts}",
        f"{counts}, even though {against}",
        f"whoever says that {against} has not seen how {counts}",
        f"it hardly matters that {against}, because {counts}",
        f"{counts}, which matters more than that {against}",
    )
    return rng.choice(forms)


def _agreeing(rng: Random, words: Words, polarity: str) -> str:
    first, second = _clause(rng, words, polarity), _clause(rng, words, polarity)
    return rng.choice(
        (f"{first}, and {second}", f"{first}; moreover, {second}", f"not only that: {first}, and {second}")
    )


_SENTENCES = (_plain, _negated, _hedged, _compared, _outweighed, _outweighed, _agreeing)
