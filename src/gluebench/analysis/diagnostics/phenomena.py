"""What the paper's phenomena are about, in a sentence or two, with pairs of the sample's diagnostic set."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from gluebench.data.sample.diagnostic import Pair, pairs

PAGE = "docs/reference/diagnostic.md"


class Explained(NamedTuple):
    """One phenomenon."""

    name: str
    words: str
    link: str
    """Where the manual has it: a page and a heading of it."""
    examples: tuple[Pair, ...]
    """Pairs that were written for the `sample` benchmark, those of this phenomenon alone first."""


def explain(name: str, *, examples: int = 2) -> Explained | None:
    """What a phenomenon of the paper is about; None for one that is not among its 33."""
    words = _words().get(name)
    if words is None:
        return None
    tagged = sorted(
        (pair for pair in pairs() if name in pair.phenomena), key=lambda pair: len(pair.phenomena)
    )
    anchor = re.sub(r"[^\w\- ]", "", name).lower().replace(" ", "-")
    return Explained(name, words, f"{PAGE}#{anchor}", tuple(tagged[:examples]))


@cache
def _words() -> Mapping[str, str]:
    text = resources.files("gluebench.analysis.diagnostics").joinpath("phenomena.toml").read_text("utf-8")
    return {name: str(words) for name, words in tomllib.loads(text).items()}
