"""AX's shape: the hand-written pairs of `diagnostic.tsv`, each labelled in both directions."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Pair(NamedTuple):
    """Two sentences and what each says of the other."""

    domain: str
    phenomena: tuple[str, ...]
    """Fine-grained phenomena, by the paper's names."""
    first: str
    second: str
    forward: str
    """Label with the first sentence as the premise."""
    backward: str
    """Label with the second sentence as the premise."""
    set: str
    """Name of the minimal set: pairs made from one source sentence share it."""


class Judgement(NamedTuple):
    """One example: a pair read in one direction."""

    pair: int
    direction: str
    domain: str
    phenomena: tuple[str, ...]
    premise: str
    hypothesis: str
    label: str


@cache
def pairs() -> tuple[Pair, ...]:
    """The pairs, in the order of the file."""
    text = files("gluebench.data.sample").joinpath("diagnostic.tsv").read_text("utf-8")
    sentence_pairs = []
    for line in text.splitlines()[1:]:
        domain, phenomena, *rest = line.split("\t")
        sentence_pairs.append(Pair(domain, tuple(phenomena.split("; ")), *rest))
    return tuple(sentence_pairs)


def judgements() -> list[Judgement]:
    """Every pair forward, then backward: two examples with neighbouring indices."""
    examples = []
    for number, pair in enumerate(pairs()):
        shared = (pair.domain, pair.phenomena)
        examples.append(Judgement(number, "forward", *shared, pair.first, pair.second, pair.forward))
        examples.append(Judgement(number, "backward", *shared, pair.second, pair.first, pair.backward))
    return examples
