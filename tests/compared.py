"""Benchmarks of a task or two, made in a test, and systems that are right so often."""

from __future__ import annotations

import numpy as np

MANIFEST = """
[benchmark]
name = "three"
title = "Three"
description = "tasks for the comparison's tests"
"""
TASK = """
[tasks.{name}]
title = "{name}"
summary = "classification"
section = "All"
domain = "misc."
columns = ["sentence"]
scored = {scored}
{range}
metrics = [{metrics}]
{labels}
[tasks.{name}.splits]
test = {{file = "test.tsv", size = {size}}}
[tasks.{name}.source]
corpus = "none"
license = "Apache-2.0"
citation = "none"
"""
TWO = '[tasks.{name}.labels]\n"0" = "no"\n"1" = "yes"'
ACCURACY = '{name = "accuracy", title = "acc."}'
F1 = '{name = "f1", title = "F1", positive = "1"}'
R_K = '{name = "r_k", title = "R2"}'
CORRELATIONS = '{name = "pearson", title = "Pearson"}, {name = "spearman", title = "Spearman corr."}'


def task(name, size, *, metrics=ACCURACY, scored=True, numbers=False):
    return TASK.format(
        name=name,
        size=size,
        metrics=metrics,
        scored=str(scored).lower(),
        range="score_range = [0.0, 5.0]" if numbers else "",
        labels="" if numbers else TWO.format(name=name),
    )


def words(codes):
    return [str(code) for code in codes]


def noisy(rng, gold, right, classes=2):
    return np.where(rng.random(len(gold)) < right, gold, rng.integers(0, classes, len(gold)))
