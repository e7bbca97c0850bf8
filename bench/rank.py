"""Rank intervals of a board over the whole of GLUE, against a numpy loop that resamples rows, in one run.

    python bench/rank.py [--systems N] [--resamples N]

The loop is what a user would write: for each resample draw the rows of a file and score every system on
them from counts. It is timed for a few resamples and all systems, and scaled to all resamples. Drawing the
row numbers alone, for all resamples, is the yardstick for a machine that is busy.

The last line is of a panel whose scores alone are known, against a loop that draws the tasks.
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

from gluebench.analysis.rank.arrays import values
from gluebench.analysis.rank.panel import rank_scores
from gluebench.analysis.rank.ranking import ranks
from gluebench.analysis.rank.uncertainty import all_pairs, pair_errors, suite_draws
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.scoring import Gold
from gluebench.scoring.grade import pairs_of
from gluebench.submission import Column, Submission

TIMED = 3
"""Resamples that the loop is timed for."""
PANEL, PANEL_TASKS, PANEL_RUNS = 332, 41, 5
"""Systems and tasks of the panel, and how often it is ranked; the fastest run counts."""


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
            labels = np.where(wrong, (codes + shift) % classes, codes).astype(np.uint8)
            each[file.name] = Column(task.words, labels.tobytes())
    gold = Gold(glue, "test", "made up", columns, {}, {}, partial=False)
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


def row_numbers(gold: Gold, resamples: int, rng: np.random.Generator) -> None:
    """Draw what any resampling of rows draws: a row number for every row of every scored file."""
    for task in gold.benchmark.scored:
        for file in task.files:
            size = len(gold.columns[file.name])
            for _ in range(resamples):
                rng.integers(0, size, size)


def panel_line(rng: np.random.Generator, resamples: int) -> str:
    """CPU time of a panel's rank intervals from its scores, and that of the loop."""
    matrix = rng.uniform(0.3, 0.95, (PANEL, PANEL_TASKS)).round(3)
    scores = {str(at): {str(task): score for task, score in enumerate(row)} for at, row in enumerate(matrix)}

    def loop() -> Any:
        drawn = rng.integers(0, PANEL_TASKS, (resamples, PANEL_TASKS))
        places = np.array([_ranks(-matrix[:, tasks].mean(axis=1)) for tasks in drawn])
        return np.quantile(places, [0.025, 0.975], axis=0)

    seconds = min(timed(lambda: rank_scores(scores, resamples=resamples))[0] for _ in range(PANEL_RUNS))
    plain = min(timed(loop)[0] for _ in range(PANEL_RUNS))
    return (
        f"{PANEL} x {PANEL_TASKS} scores, {resamples} resamples of the tasks {1000 * seconds:8.1f} ms"
        f"   goal 43; faster than the loop {plain / seconds:.1f} x"
    )


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


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

    def intervals() -> Any:
        answers = [pairs_of(each, gold) for each in submissions]
        drawn = suite_draws(glue.scored, answers, resamples=options.resamples, seed=0)
        equal = np.ones(drawn.shape[1])
        return drawn, ranks(values("mean", drawn, weights=equal, scales=equal))

    exact, (drawn, _) = timed(intervals)
    units = np.array([sum(file.size() for file in task.files) for task in glue.scored])
    means = drawn.mean(axis=(1, 2)).tolist()
    tests, _ = timed(lambda: all_pairs(means, pair_errors(drawn / drawn.shape[1], units)))
    numbers, _ = timed(lambda: row_numbers(gold, options.resamples, rng))
    loop = loop_seconds(gold, submissions, rng) * options.resamples / TIMED
    print(f"{options.systems} systems, {options.resamples} joint resamples of every file of GLUE; CPU")
    print(f"rank intervals               {exact:8.2f} s   goal 3")
    print(f"all pairs, t and Holm        {tests:8.3f} s   goal 0.15")
    print(f"random row numbers alone     {numbers:8.2f} s")
    print(f"intervals over row numbers   {exact / numbers:8.2f}     goal 2")
    print(f"numpy loop, {TIMED} resamples scaled {loop:8.0f} s")
    print(f"faster than the loop         {loop / exact:8.1f} x   goal 20")
    print(panel_line(rng, options.resamples))


if __name__ == "__main__":
    main()
