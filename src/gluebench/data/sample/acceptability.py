"""CoLA's shape: 2 × 2 blocks in which every word stands as often in good sentences as in bad ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, shares
from gluebench.data.sample.world import GOODS, TRADES, plural, sentence

GOOD, BAD = "1", "0"
_LINKS = ("near", "beside", "behind", "next to", "in front of", "opposite")
_STATES = ("old", "heavy", "beautiful", "expensive", "dusty", "famous", "new", "rare")
_VERBS = (("is", "are"), ("was", "were"), ("looks", "look"), ("seems", "seem"))
_TRANSITIVE = ("examined", "repaired", "carried", "destroyed", "borrowed", "described", "polished", "bought")
_INTRANSITIVE = ("slept", "smiled", "arrived", "sneezed", "vanished", "laughed", "stumbled", "hesitated")
_ADVERBS = ("quickly", "carefully", "slowly", "quietly", "gladly", "secretly")
_HEADS = (("king", "himself"), ("queen", "herself"), ("uncle", "himself"), ("aunt", "herself"))
OPENINGS = ("", "", "to be honest, ", "as far as I know, ", "if I am right, ", "by the way, ")
_SUBJECTS = tuple(f"the {trade}" for trade in TRADES)


class Crossed(NamedTuple):
    """Two good sentences and two bad ones of the same words."""

    good: Sequence[str]
    bad: Sequence[str]


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train and dev with at most one distracting noun, test with one to four; 70 % good."""
    shelf = Shelf(rng)
    depths = {"train": (0, 1), "dev": (0, 1), "test": (1, 2, 3, 4)}
    return {
        split: shelf.thin(partial(_block, rng, depths[split]), shares(size, GOOD, 0.7, other=BAD))
        for split, size in sizes.items()
    }


def _block(rng: Random, depths: Sequence[int]) -> list[Row]:
    family = rng.choice((_agreement, _agreement, _reflexive, _argument, _gap, _polarity, _order))
    good, bad = family(rng, rng.choice(depths))
    opening = rng.choice(OPENINGS)
    rows = [Row((sentence(opening + text),), GOOD) for text in good]
    return rows + [Row((sentence(opening + text),), BAD) for text in bad]


def _distractors(rng: Random, depth: int) -> str:
    """Phrases that put nouns of both numbers between a subject and what agrees with it."""
    nouns = rng.sample(GOODS, depth)
    return "".join(f" {rng.choice(_LINKS)} the {rng.choice((noun.name, noun.plural))}" for noun in nouns)


def _agreement(rng: Random, depth: int) -> Crossed:
    noun, between, state = rng.choice(GOODS), _distractors(rng, depth), _state(rng)
    one, many = rng.choice(_VERBS)
    single, several = f"the {noun.name}{between}", f"the {noun.plural}{between}"
    return Crossed(
        [f"{single} {one} {state}", f"{several} {many} {state}"],
        [f"{single} {many} {state}", f"{several} {one} {state}"],
    )


def _state(rng: Random) -> str:
    one, two = rng.sample(_STATES, 2)
    return rng.choice((one, f"very {one}", f"{one} and {two}", f"{one} but not {two}", f"rather {one}"))


def _reflexive(rng: Random, depth: int) -> Crossed:
    (first, own), (second, other) = rng.choice(
        [(one, two) for one in _HEADS for two in _HEADS if one[1] != two[1]]
    )
    known = rng.choice((rng.choice(TRADES), first, second)) if depth > 1 else rng.choice(TRADES)
    between = f" who knew the {known}" if depth else ""
    between += _distractors(rng, depth - 1) if depth > 1 else ""
    verb = rng.choice(("blamed", "praised", "painted", "admired", "hurt", "defended"))
    heads = (f"the {first}{between} {verb}", f"the {second}{between} {verb}")
    return Crossed([f"{heads[0]} {own}", f"{heads[1]} {other}"], [f"{heads[0]} {other}", f"{heads[1]} {own}"])


def _argument(rng: Random, depth: int) -> Crossed:
    subject = f"{rng.choice(_SUBJECTS)}{_distractors(rng, min(depth, 2))}"
    needs, lacks = rng.choice(_TRANSITIVE), rng.choice(_INTRANSITIVE)
    thing, adverb = f"the {rng.choice(GOODS).name}", rng.choice(_ADVERBS)
    return Crossed(
        [f"{subject} {adverb} {needs} {thing}", f"{subject} {adverb} {lacks}"],
        [f"{subject} {adverb} {needs}", f"{subject} {adverb} {lacks} {thing}"],
    )


def _gap(rng: Random, depth: int) -> Crossed:
    subject = f"{rng.choice(_SUBJECTS)}{_distractors(rng, min(depth, 2))}"
    verb = rng.choice(("bring", "describe", "borrow", "repair", "destroy", "carry"))
    thing = f"the {rng.choice(GOODS).name}"
    return Crossed(
        [f"what did {subject} {verb}?", f"did {subject} {verb} {thing}?"],
        [f"what did {subject} {verb} {thing}?", f"did {subject} {verb}?"],
    )


def _polarity(rng: Random, depth: int) -> Crossed:
    """ "Ever" needs a negation that commands it; the same negation inside a relative clause does not."""
    trade, other = rng.sample(TRADES, 2)
    others, near = plural(other), _distractors(rng, min(depth, 2))
    met, end = (
        rng.choice(("met", "saw", "helped")),
        rng.choice(("smiled", "complained", "returned", "cheated")),
    )
    return Crossed(
        [
            f"no {trade} who {met} the {others}{near} has ever {end}",
            f"no {trade} who has ever {end} {met} the {others}{near}",
        ],
        [
            f"the {trade} who {met} no {others}{near} has ever {end}",
            f"the {trade} who has ever {end} {met} no {others}{near}",
        ],
    )


def _order(rng: Random, depth: int) -> Crossed:
    subject = f"{rng.choice(_SUBJECTS)}{_distractors(rng, min(depth, 2))}"
    verb = rng.choice(_TRANSITIVE)
    adverb, noun, state = rng.choice(_ADVERBS), rng.choice(GOODS).name, rng.choice(_STATES)
    return Crossed(
        [f"{subject} {adverb} {verb} the {state} {noun}", f"{subject} {verb} the {state} {noun} {adverb}"],
        [f"{subject} {verb} {adverb} the {state} {noun}", f"{subject} {adverb} {verb} the {noun} {state}"],
    )
