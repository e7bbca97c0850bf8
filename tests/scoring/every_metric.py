"""Answers of systems for every built-in metric, in the form that it compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gluebench.benchmark import Metric
from gluebench.benchmark.metrics import BUILT_IN, Form, names_of, needs, takes
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.pairs import Pairs

WORDS = ("art", "law", "war")
TAGS = ("O", "B-art", "I-art", "B-law", "I-law")
SENTENCES = ("tokens", "dependencies")
"""Forms whose answers are as long as the gold."""
NUMBERS = {"f1_from": "2.0", **dict.fromkeys(names_of("ranking"), "2")}
"""What `positive` is for metrics that take a number."""


def metric_of(name: str) -> Metric:
    """The metric as a manifest names it."""
    form = BUILT_IN[name].form
    labels = TAGS if form == "tokens" else () if form in ("numbers", "text") else WORDS
    positive = NUMBERS.get(name, WORDS[1]) if needs(name, "positive") else None
    scheme = "IOB2" if takes(name, "scheme") else ""
    return Metric(name, name, name, "F", positive, labels, scheme=scheme)


def answers_of(
    form: Form, n: int, *, systems: int = 1, groups: Sequence[int] | None = None, seed: int = 0
) -> list[Pairs]:
    """Systems whose answers are often the gold; many values occur more than once."""
    rng = np.random.default_rng(seed)
    gold = [_cell(form, rng) for _ in range(n)]
    columns = []
    for _ in range(systems):
        guesses = [_cell(form, rng, len(cell) if form in SENTENCES else None) for cell in gold]
        right = rng.random(n) < 0.6
        answers = [own if good else guess for own, guess, good in zip(gold, guesses, right, strict=True)]
        columns.append(answers)
    if form == "probabilities":
        columns = [[_shares(rng, label) for label in gold] for _ in range(systems)]
    if form == "ranking":
        gold = [dict.fromkeys(cell[:2], 1.0) for cell in gold]
    labels = WORDS if form in ("labels", "sets", "probabilities", "distributions") else ()
    of = None if groups is None else tuple(map(int, groups))
    return [replace(pairs_of(form, gold, column, labels=labels), groups=of) for column in columns]


def _shares(rng: np.random.Generator, label: str) -> list[float]:
    weights = rng.integers(1, 5, 3) + [0.0, 0.1, 0.2] + 3.0 * (np.array(WORDS) == label)
    return (weights / weights.sum()).tolist()


def _cell(form: Form, rng: np.random.Generator, length: int | None = None) -> object:
    """A random cell; a sentence has `length` words."""
    word = str(rng.choice(WORDS, p=[0.5, 0.3, 0.2]))
    length = length or int(rng.integers(2, 7))
    if form == "numbers":
        return float(rng.integers(0, 9)) / 2
    if form == "sets":
        return [each for each in WORDS if rng.random() < 0.4]
    if form == "distributions":
        return rng.dirichlet([1.0, 2.0, 1.0]).tolist()
    if form == "text":
        return " ".join(rng.choice(["cat", "dog", "ran", "sat"], rng.integers(1, 4)))
    if form == "tokens":
        return [str(tag) for tag in rng.choice(TAGS, length)]
    if form == "dependencies":
        return [f"{rng.integers(0, 3)}:{rng.choice(WORDS)}" for _ in range(length)]
    if form == "spans":
        starts = rng.choice(8, int(rng.integers(0, 3)), replace=False)
        return [(int(at) * 10, int(at) * 10 + int(rng.integers(3, 9)), "1") for at in sorted(starts)]
    if form == "ranking":
        return [str(item) for item in rng.permutation(["d1", "d2", "d3", "d4"])]
    if form == "relations":
        start = int(rng.integers(0, 4))
        words = [f"w{at}" for at in range(6)]
        tag = word.upper()  # tags in small letters are text
        words[start] = f"<{tag}>{words[start]}"
        words[start + int(rng.integers(0, 2))] += f"</{tag}>"
        return [" ".join(words)]
    return word
