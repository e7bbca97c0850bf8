"""Boards of many systems: remade from what is kept, with one more system, and 10,000 systems at once.

    python bench/rank.py [--systems N] [--more N] [--many N] [--units N]

1. A board of --systems systems of GLUE's size, all boards of the benchmark included, from what is kept of it.
2. One more system on a board of --more systems, on test files of a twentieth of GLUE's size.
3. All decisions on --many systems of --units units, in a process of its own, whose memory is measured.
4. A panel whose scores alone are known.

CPU seconds of one thread. The yardstick is a product of two matrices of single precision, systems x units and
its transpose: what no method that looks at all pairs on all units can do without.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from gluebench.analysis.board import rank_all
from gluebench.analysis.rank.boards import BoardDecisions, Boards, measure_file
from gluebench.analysis.rank.decisions import PairVariances, covariances, decide, precision
from gluebench.analysis.rank.panel import rank_scores
from gluebench.analysis.rank.store import MeasurementCache
from gluebench.analysis.rank.systems import BoardPlan, measure_answers
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.scoring import Gold, grade
from gluebench.scoring.grade import pairs_of
from gluebench.submission import Column, Submission

PANEL, PANEL_TASKS = 332, 41
FILE_BYTES = 1_500_000
"""Size of a submission of GLUE as a zip; its digest is taken each time."""


def board(
    glue: Benchmark, systems: int, rng: np.random.Generator, part: float = 1.0
) -> tuple[Gold, list[Submission]]:
    """Systems of 84 to 90 % that find the same examples hard; scores that correlate by about .9.

    `part` is the share of each test file that there is.
    """
    columns: dict[str, Column] = {}
    answers: list[dict[str, Column]] = [{} for _ in range(systems)]
    for file in glue.files():
        task, n = glue.task(file.task), max(int(part * file.size()), 150)
        if not task.words:
            ratings = rng.uniform(0, 5, n)
            columns[file.name] = Column((), array("d", ratings.round(3)))
            for at, each in enumerate(answers):
                noisy = (ratings + rng.normal(0, 0.7 + 0.004 * at, n)).clip(0, 5)
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


class Kept:
    """A board whose systems are measured and kept in a folder."""

    def __init__(self, folder: Path, gold: Gold, submissions: list[Submission], part: float = 1.0) -> None:
        self.gold, self.cache = gold, folder / "kept"
        self.bytes = int(part * FILE_BYTES)
        self.systems: dict[str, str] = {}
        self.shown: dict[str, dict[str, float]] = {}
        self._folder = folder
        for submission in submissions:
            self.add(submission)

    def add(self, submission: Submission) -> None:
        """Keep one system; a file of the usual size stands for its zip."""
        name = submission.source
        path = self._folder / name
        path.write_bytes(np.random.default_rng(int(name)).bytes(self.bytes))
        plan, store = BoardPlan.of(self.gold, 0), MeasurementCache(self.cache, self.gold, 0)
        digest = store.digest(path)
        store.read_or_measure(digest, lambda: measure_answers(pairs_of(submission, self.gold), plan, digest))
        report = grade(submission, self.gold, intervals=False)
        self.systems[name] = str(path)
        scores = {task: part.score.value for task, part in report.tasks.items() if part.score}
        self.shown[name] = {task: value for task, value in scores.items() if value is not None}

    def usual(self) -> BoardDecisions:
        """The usual board alone."""
        plan, store = BoardPlan.of(self.gold, 0), MeasurementCache(self.cache, self.gold, 0)
        systems = {}
        for name, path in self.systems.items():
            digest = store.digest(path)
            systems[name] = store.read_or_measure(
                digest, partial(measure_file, path, digest, self.gold, plan)
            )
        boards = Boards(plan, systems, self.shown, store)
        columns = [boards.values(task.name) for task in plan.scored]
        return boards.decide(plan.boards[""], np.mean(np.array(columns, np.float64), axis=0).tolist())

    def rank(self) -> dict[str, Any]:
        """All boards of the benchmark."""
        return rank_all(self.systems, self.gold, majorities=[()], shown=self.shown, cache=self.cache)


def multiplied(systems: int, units: int, rng: np.random.Generator) -> float:
    """CPU seconds of the product of matrices, from a part of the units."""
    few = min(units, 4000)
    values = rng.standard_normal((systems, few), dtype=np.float32)
    other = values.T.copy()
    return timed(lambda: values @ other)[0] * units / few


def remade_line(systems: int, rng: np.random.Generator) -> str:
    """A board of GLUE's size from what is kept."""
    glue = load_benchmark("glue")
    gold, submissions = board(glue, systems, rng)
    units = sum(map(len, gold.columns.values()))
    with tempfile.TemporaryDirectory() as folder:
        measuring, kept = timed(lambda: Kept(Path(folder), gold, submissions))
        submissions.clear()
        first, _ = timed(kept.rank)
        again, _ = timed(kept.rank)
    yardstick = multiplied(systems, units, rng)
    return (
        f"{systems} systems of {units:,} rows: measuring {measuring:.1f} s, first {first:.1f} s; "
        f"remade {again:.2f} s   goal 2; {again / yardstick:.2f} of the product"
    )


def one_more_line(systems: int, rng: np.random.Generator) -> str:
    """One more system on a board that is kept: all boards, and the usual one alone."""
    glue = load_benchmark("glue")
    gold, submissions = board(glue, systems + 1, rng, 0.05)
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(Path(folder), gold, submissions[:-1], 0.05)
        kept.rank()
        kept.add(submissions[-1])
        usual, _ = timed(kept.usual)
        every, _ = timed(kept.rank)
    units = sum(map(len, gold.columns.values()))
    yardstick = multiplied(systems, units, rng)
    return (
        f"one more on {systems} systems of {units:,} rows: {usual:.2f} s   goal 2; {usual / yardstick:.2f} "
        f"of the product; every other board too {every:.2f} s"
    )


def many_line(systems: int, units: int) -> str:
    """All decisions on systems of 60 to 90 % that find the same examples hard."""
    rng = np.random.default_rng(0)
    cuts = np.linspace(-1.28, -0.25, systems, dtype=np.float32)
    difficulty = rng.standard_normal(units, dtype=np.float32)
    wrong = np.empty((systems, units), np.uint8)
    for row, cut in zip(wrong, cuts, strict=True):
        row[:] = 0.7 * difficulty + 0.714 * rng.standard_normal(units, dtype=np.float32) < cut
    means = wrong.mean(axis=1, dtype=np.float64)
    kind = precision(systems)
    before = peak_memory()

    def decided() -> float:
        column = means.astype(kind)[:, np.newaxis]
        variances = PairVariances(systems)
        variances.add(covariances(lambda part: column - wrong[:, part].astype(kind), systems, units), units)
        better = decide(variances.deviates(-means)).better
        return float(better.sum()) / (systems * (systems - 1) / 2)

    seconds, share = timed(decided)
    memory = peak_memory()
    yardstick = multiplied(systems, units, rng)
    return (
        f"{systems:,} systems x {units:,} units: {seconds:.1f} s   goal 60; {seconds / yardstick:.2f} of the "
        f"product; peak {memory:,.0f} MiB   goal 1,229 (answers alone {before:,.0f}); {share:.0%} decided"
    )


def peak_memory() -> float:
    """The most memory that this process had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def panel_line(rng: np.random.Generator) -> str:
    """CPU time of a panel from its scores."""
    matrix = rng.uniform(0.3, 0.95, (PANEL, PANEL_TASKS)).round(3)
    scores = {str(at): {str(task): score for task, score in enumerate(row)} for at, row in enumerate(matrix)}
    seconds = min(timed(lambda: rank_scores(scores))[0] for _ in range(5))
    return f"{PANEL} x {PANEL_TASKS} scores: {1000 * seconds:.1f} ms"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", type=int, default=300)
    parser.add_argument("--more", type=int, default=1000)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--alone", action="store_true", help="Only the third line, in this process.")
    options = parser.parse_args()
    if options.alone:
        print(many_line(options.many, options.units))
        return
    rng = np.random.default_rng(0)
    print(panel_line(rng), flush=True)
    alone = [sys.executable, __file__, "--alone"]
    alone += ["--many", str(options.many), "--units", str(options.units)]
    subprocess.run(alone, check=True)
    print(remade_line(options.systems, rng), flush=True)
    print(one_more_line(options.more, rng), flush=True)


if __name__ == "__main__":
    main()
