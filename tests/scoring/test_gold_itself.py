"""Properties of every metric of every form: gold has the best value, and order does not count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scoring.every_metric import NUMBERS, TAGS, WORDS, answers_of

from gluebench.benchmark.metrics import BUILT_IN, needs, takes
from gluebench.scoring import measure
from gluebench.submission import Column

ROWS = 60
UNBOUNDED = ("icm", "sets_icm", "icm_soft", "neg_cross_entropy")
"""Metrics whose best value depends on gold."""


def perfect(name: str, gold: Column) -> list[Any]:
    """The predictions that are gold."""
    form = BUILT_IN[name].form
    if form in ("labels", "probabilities"):
        words = gold.words()
        return words if form == "labels" else [[float(word == own) for word in WORDS] for own in words]
    if form == "numbers":
        return list(gold.numbers)
    if form == "text":
        return [answers[0] for answers in gold.cells]
    if form == "ranking":
        return [[item for item, _ in gains] for gains in gold.cells]
    return list(gold.cells)


def options(name: str) -> dict[str, Any]:
    form = BUILT_IN[name].form
    chosen: dict[str, Any] = {}
    if needs(name, "positive"):
        chosen["positive"] = float(NUMBERS[name]) if name in NUMBERS else WORDS[1]
    if form in ("labels", "sets", "probabilities", "distributions"):
        chosen["labels"] = WORDS
    if form == "tokens":
        chosen["labels"] = TAGS
    if takes(name, "scheme"):
        chosen["scheme"] = "IOB2"
    return chosen


def in_python(name: str, gold: Column) -> list[Any]:
    if gold.labels:
        return gold.words()
    return list(gold.numbers if BUILT_IN[name].form == "numbers" else gold.cells)


@pytest.mark.parametrize("name", BUILT_IN)
def test_gold_has_the_best_value_and_order_does_not_count(name: str) -> None:
    form = BUILT_IN[name].form
    (pairs,) = answers_of(form, ROWS)
    gold, best = in_python(name, pairs.gold), perfect(name, pairs.gold)
    other = in_python(name, pairs.predicted)
    groups = [*range(ROWS)] if name == "group_agreement" else [at // 3 for at in range(ROWS)]
    order = np.random.default_rng(5).permutation(ROWS).tolist()
    values = []
    for predicted in (best, other):
        grouped = {"groups": groups} if needs(name, "groups") else {}
        value = measure(name, gold, predicted, **options(name), **grouped)
        if grouped:
            grouped["groups"] = [groups[at] for at in order]
        shuffled = ([column[at] for at in order] for column in (gold, predicted))
        assert measure(name, *shuffled, **options(name), **grouped) == pytest.approx(value, abs=1e-12)
        values.append(value)
    assert values[0] >= values[1]
    if name not in UNBOUNDED:
        assert values[0] == pytest.approx(BUILT_IN[name].highest, abs=1e-12)
