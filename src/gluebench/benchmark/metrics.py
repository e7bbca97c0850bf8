"""The built-in metrics that a manifest may name; `gluebench.scoring.metrics` has their formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

Form = Literal[
    "labels", "numbers", "sets", "probabilities", "distributions", "text", "tokens", "spans", "ranking"
]
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
    positive: bool = False
    """Whether it is computed for one label, which the manifest names under `positive`."""
    highest: float = 1.0
    """The best value: 0 for a negated loss."""


BUILT_IN: Mapping[str, BuiltIn] = {
    metric.name: metric
    for metric in (
        BuiltIn("accuracy", "acc.", "labels", 0.0),
        BuiltIn("f1", "F1", "labels", 0.0, positive=True),
        BuiltIn("matthews_correlation", "MCC", "labels", -1.0),
        BuiltIn("r_k", "R_K", "labels", -1.0),
        BuiltIn("pearson", "Pearson", "numbers", -1.0),
        BuiltIn("spearman", "Spearman", "numbers", -1.0),
    )
}


def names_of(form: Form) -> tuple[str, ...]:
    """The names of the built-in metrics of a form."""
    return tuple(metric.name for metric in BUILT_IN.values() if metric.form == form)


def takes_positive(function: str) -> bool:
    """Whether it is a built-in metric of one label."""
    return function in BUILT_IN and BUILT_IN[function].positive
