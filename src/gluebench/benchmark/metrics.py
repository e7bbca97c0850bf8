"""The built-in metrics that a manifest may name; `gluebench.scoring.metrics` has their formulas."""

from __future__ import annotations

from collections.abc import Mapping
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
    positive: bool
    """Whether the manifest names a label, or for `f1_from` and `precision_at` a number, under `positive`."""


BUILT_IN: Mapping[str, BuiltIn] = {
    name: BuiltIn(name, title, cast(Form, form), float(lowest), float(highest), bool(positive))
    for name, (title, form, lowest, highest, positive) in table_beside(__file__).items()
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


def takes_positive(function: str) -> bool:
    """Whether it is a built-in metric of one label, or number; of relations it is of all without one."""
    return function in BUILT_IN and BUILT_IN[function].positive


def needs_positive(function: str) -> bool:
    """Whether the manifest has to name that label, or number."""
    return takes_positive(function) and BUILT_IN[function].form != "relations"
