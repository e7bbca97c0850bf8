"""The built-in metrics that a manifest may name; `gluebench.scoring.metrics` has their formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, cast, get_args

from gluebench.benchmark.lookup import table_beside

Form = Literal[
    "labels", "numbers", "sets", "probabilities", "distributions",
    "text", "tokens", "dependencies", "spans", "ranking", "relations",
]  # fmt: skip
"""What one example is answered with (docs/reference/forms.md)."""
FORMS: tuple[Form, ...] = get_args(Form)


class BuiltIn(NamedTuple):
    """What a manifest has to know of a metric. Higher is better; a loss is negated and its name says so."""

    name: str
    title: str
    """Short heading in tables, which a new manifest gets."""
    form: Form
    """What it compares."""
    lowest: float
    """0 for a share, -1 for a correlation, minus infinity for a negated loss without a bound."""
    highest: float
    """The best value: 1, or 0 for a negated loss."""
    needs: str
    """What it compares with beside gold and predictions; in brackets what it can do without.

    "positive": a label, or for numbers and rankings a number. "order": the labels in their order. "groups":
    the group of each example. "scheme": how tags mark entities.
    """


BUILT_IN: Mapping[str, BuiltIn] = {
    name: BuiltIn(name, title, cast(Form, form), float(lowest), float(highest), needs)
    for name, (title, form, lowest, highest, needs) in table_beside(__file__).items()
}
"""The rows of metrics.tsv."""

UNSCALED = ("pearson", "spearman", "kendall")
"""Metrics that a manifest cannot put on another scale."""


ARTICLES = {
    "en": "a|an|the",
    "es": "un|una|unos|unas|el|la|los|las",
    "vi": "của|là|cái|chiếc|những",
    "de": "ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des",
    "ar": "",
    "hi": "",
    "zh": "",
    "ko": "",
    "zh-CMRC": "",
}
"""Languages in which texts are compared as in MLQA, and the words that do not count.

In `ko` they are compared as in KLUE, in `zh-CMRC` as in CMRC 2018.
"""


def names_of(form: Form) -> tuple[str, ...]:
    """The names of the built-in metrics of a form."""
    return tuple(metric.name for metric in BUILT_IN.values() if metric.form == form)


def takes(function: str, fact: str) -> bool:
    """Whether a built-in metric needs a fact of `BuiltIn.needs`, or can use it."""
    return function in BUILT_IN and BUILT_IN[function].needs.strip("[]") == fact


def needs(function: str, fact: str) -> bool:
    """Whether a built-in metric has no value without a fact of `BuiltIn.needs`."""
    return function in BUILT_IN and BUILT_IN[function].needs == fact


class TagScheme(NamedTuple):
    """The prefixes of tags in a scheme of entities, a letter each."""

    first: str
    """Those that begin an entity."""
    inner: str
    """Those that go on with one."""
    unfinished: str
    """Those after which an entity may go on."""
    last: str
    """Those at which an entity may end."""

    @property
    def prefixes(self) -> str:
        """All of them."""
        return "".join(dict.fromkeys(self.first + self.inner))


SCHEMES: Mapping[str, TagScheme] = {
    "IO": TagScheme("I", "I", "I", "I"),
    "IOB2": TagScheme("B", "I", "BI", "BI"),
    "IOBES": TagScheme("BS", "IE", "BI", "ES"),
    "BILOU": TagScheme("BU", "IL", "BI", "LU"),
    "BMES": TagScheme("BS", "ME", "BM", "ES"),
}
"""How tags mark entities; a token outside of them has the tag O."""
OUTSIDE = "O"


def scheme_problem(tags: Iterable[str], scheme: str) -> str:
    """What keeps a set of tags from being in a scheme, as the rest of a sentence; empty for nothing."""
    prefixes = SCHEMES[scheme].prefixes
    wrong = sorted({tag for tag in tags if tag != OUTSIDE and _prefix(tag) not in prefixes})
    if not wrong:
        return ""
    known = " and ".join(f"{prefix}-" for prefix in prefixes)
    return f"has {', '.join(wrong[:5])}; expected {OUTSIDE} and tags that begin with {known} in {scheme}"


def guess_scheme(tags: Iterable[str]) -> str | None:
    """The smallest scheme that the tags fit; None if several of one size do, or none does."""
    known_tags = list(tags)
    by_size: dict[int, list[str]] = {}
    for name, scheme in SCHEMES.items():
        if not scheme_problem(known_tags, name):
            by_size.setdefault(len(scheme.prefixes), []).append(name)
    if not by_size:
        return None
    smallest = by_size[min(by_size)]
    return smallest[0] if len(smallest) == 1 else None


def _prefix(tag: str) -> str:
    """The letter before the type; the whole tag where it has no type, and no letter if that is longer."""
    prefix = tag.partition("-")[0]
    if len(prefix) != 1:
        return "?"
    return prefix
