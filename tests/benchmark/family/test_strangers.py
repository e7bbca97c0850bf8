"""Benchmarks that were not used in the design: minimal pairs, multi-label tasks, soft labels, HANS."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from benchmark.family.hosting import host, table, values

from gluebench import load_benchmark

N = 60
RANDOM = Random(8)


def test_minimal_pairs_by_phenomenon(tmp_path: Path) -> None:
    """BLiMP: the gold answer is always the same; one plain file counts, and is reported by phenomenon too."""
    manifest = f"""
[tasks.BLiMP]
labels = ["good", "bad"]
metrics = [{{ name = "accuracy" }}]
splits.test.size = {N}
[tasks."BLiMP by phenomenon"]
scored = false
labels = ["good", "bad"]
metrics = [{{ name = "accuracy" }}]
splits.test.size = {N}
files = [{{ name = "BLiMP-phenomena", member = "BLiMP.tsv", column = "prediction" }}]
phenomena = {{ agreement = {{ anaphor = [], determiner = [] }} }}
"""
    answers = [RANDOM.choice(["good", "good", "bad"]) for _ in range(N)]
    gold = table(["index", "label"], range(N), ["good"] * N, separator="\t")
    kinds = ["anaphor" if at < 20 else "determiner" for at in range(N)]
    tags = table(["index", "coarse", "fine"], range(N), ["agreement"] * N, kinds, separator="\t")
    report = host(
        tmp_path,
        manifest,
        {"BLiMP.tsv": table(["index", "prediction"], range(N), answers, separator="\t")},
        {"BLiMP.tsv": gold, "BLiMP-phenomena.tsv": gold, "BLiMP-phenomena.phenomena.tsv": tags},
    )
    assert values(report) == {"BLiMP": {"accuracy": pytest.approx(answers.count("good") / N)}}
    diagnostic = report.diagnostics["BLiMP by phenomenon"]
    assert diagnostic is not None
    assert [score.value for score in diagnostic.fine.values()] == [
        pytest.approx(answers[:20].count("good") / 20),
        pytest.approx(answers[20:].count("good") / 40),
    ]


def test_sizes_of_russian_superglue() -> None:
    """As in dataset_infos.json of the hub's russian_super_glue, which counts the released files."""
    sizes = {task.name: task.splits["test"].size for task in load_benchmark("russian-superglue").scored}
    assert sizes == {
        "LiDiRus": 1104, "RCB": 438, "PARus": 500, "MuSeRC": 7614, "TERRa": 3198,
        "RUSSE": 18892, "RWSD": 154, "DaNetQA": 805, "RuCoS": 7257,
    }  # fmt: skip
