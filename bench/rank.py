"""Rank intervals of a board over the whole of GLUE, against a numpy loop that resamples rows, in one run.

    python bench/rank.py [--systems N] [--resamples N]

The loop is what a user would write: for each resample draw the rows of a file and score every system on
them from counts. It is timed for a few resamples and all systems, and scaled to all resamples.
"""

from __future__ import annotations

import argparse
import os
import time
from array import array
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from gluebench.analysis.joint import suite_draws
from gluebench.analysis.joint.pairwise import all_pairs
from gluebench.analysis.joint.rules import ranks, values
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.scoring import Gold
from gluebench.scoring.gold import gold_of
from gluebench.submission import Column, Submission

TIMED = 3
"""Resamples that the loop is timed for."""


def board(glue: Benchmark, systems: int, rng: np.random.Generator) -> tuple[Gold, list[Submission]]:
    """Systems of 84 to 90 % that find the same examples hard; scores that correlate by about .9."""
    columns: dict[str, Column] = {}
    answers: list[dict[str, Column]] = [{} for _ in range(systems)]
    for file in glue.files():
        task, n = glue.task(file.task), file.size()
        if not task.words:
            gold = rng.uniform(0, 5, n)
            columns[file.name] = Column((), array("d", gold.round(3)))
            for at, each in enumerate(answers):
                noisy = (gold + rng.normal(0, 0.7 + 0.004 * at, n)).clip(0, 5)
                each[file.name] = Column((), array("d", noisy.round(3)))
            continue
        classes = len(task.words)
        codes = rng.integers(0, classes, n).astype(np.uint8)
        columns[file.name] = Column(task.words, codes.tobytes())
        hard = rng.random(n) ** 4 * 0.6
        for at, each in enumerate(answers):
            wrong = rng.random(n) < hard * (0.8 + 0.4 * at / systems)
            shift = rng.integers(1, classes, n)
            found = np.where(wrong, (codes + shift) % classes, codes).astype(np.uint8)
            each[file.name] = Column(task.words, found.tobytes())
    gold = gold_of(glue, "test", "made up", columns, {}, {}, partial=False)
    return gold, [Submission(glue, "test", str(at), "valid", (), each) for at, each in enumerate(answers)]


def loop_seconds(gold: Gold, submissions: list[Submission], rng: np.random.Generator) -> float:
    """CPU seconds of TIMED resamples of every file by the loop."""
    start = time.process_time()
    for task in gold.benchmark.scored:
        for file in task.files:
            labels = gold.columns[file.name]
            truth = np.frombuffer(labels.values, np.uint8 if labels.labels else np.float64)
            for _ in range(TIMED):
                rows = rng.integers(0, len(truth), len(truth))
                drawn = truth[rows]
                for each in submissions:
                    column = np.frombuffer(each.predictions[file.name].values, truth.dtype)[rows]
                    _score(drawn, column, classes=len(labels.labels))
    return time.process_time() - start


def _score(gold: Any, predicted: Any, *, classes: int) -> float:
    if classes:
        table = np.bincount(gold * classes + predicted, minlength=classes**2).reshape(classes, classes)
        return float(np.trace(table) / table.sum())  # any count metric costs as much
    ranked = [_ranks(column) for column in (gold, predicted)]
    return float(np.corrcoef(gold, predicted)[0, 1] + np.corrcoef(*ranked)[0, 1])


def _ranks(column: Any) -> Any:
    """Mid-ranks by numpy."""
    _, value, counts = np.unique(column, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[value]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    glue = load_benchmark("glue")
    gold, submissions = board(glue, options.systems, rng)

    def intervals(approximate: bool) -> Any:
        drawn = suite_draws(
            glue.scored, submissions, gold, resamples=options.resamples, seed=0, approximate=approximate
        )
        means = values("mean", drawn, np.ones(drawn.shape[1]))
        return means, ranks(means)

    exact, (means, _) = timed(lambda: intervals(False))
    normal, (near, _) = timed(lambda: intervals(True))
    tests, _ = timed(lambda: all_pairs(means.mean(axis=1).tolist(), means))
    loop = loop_seconds(gold, submissions, rng) * options.resamples / TIMED
    ratio = near.std(axis=1) / means.std(axis=1)
    print(f"{options.systems} systems, {options.resamples} joint resamples of every file of GLUE; CPU")
    print(f"exact                        {exact:8.2f} s   goal 3")
    print(f"normal limit of large files  {normal:8.2f} s   goal 1")
    print(f"all pairs, Holm              {tests:8.3f} s   goal a tenth of the exact: {exact / 10:.2f}")
    print(f"numpy loop, {TIMED} resamples scaled {loop:8.0f} s")
    print(f"exact: faster than the loop  {loop / exact:8.1f} x   goal 20")
    print(f"normal: faster than the loop {loop / normal:8.1f} x   goal 20")
    print(f"sd of the average, normal over exact: {ratio.min():.3f} to {ratio.max():.3f}")


if __name__ == "__main__":
    main()
