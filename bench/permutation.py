"""The tests of two full submissions beside the paired permutation test of the package evaluatio.

    python -m venv /tmp/evaluatio && /tmp/evaluatio/bin/pip install evaluatio==0.5.2 numpy
    python bench/permutation.py [--python /tmp/evaluatio/bin/python] [--resamples 1000] [--rounds 5]

Evaluatio's test, written in Rust, takes a number for each example: whether it is right or, for STS-B, its
error. Ours has the values of each metric, T and intervals too. Both are timed in turn on all test files of
GLUE, with equal resamples. Without that environment there is nothing to compare, and the script says so.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from material import write_material

from gluebench.analysis.compare.scores import file_tests
from gluebench.benchmark import Metric, load_benchmark
from gluebench.scoring import read_gold
from gluebench.scoring.numeric import Floats
from gluebench.scoring.pairs import Pairs, join_by_index
from gluebench.submission import check

THEIRS = """
import sys, time
import numpy as np
from pathlib import Path
from evaluatio.inference.hypothesis import paired_permutation_test
columns = [np.load(path) for path in sorted(Path(sys.argv[1]).glob("*.npy"))]
start = time.process_time()
for a, b in columns:
    paired_permutation_test(a, b, int(sys.argv[2]))
print(time.process_time() - start)
"""
Compared = dict[str, tuple[list[Metric], list[list[Pairs]]]]
"""Test file to its metrics and the answers of both systems."""


def compared(folder: Path) -> Compared:
    """Two submissions of GLUE's size."""
    write_material(folder)
    glue = load_benchmark("glue")
    gold = read_gold(folder / "gold", glue)
    submissions = [check(folder / name, glue) for name in ("good.zip", "other.zip")]
    files: Compared = {}
    for task in glue.tasks:
        for name, metrics in task.metrics_by_file().items():
            answers = [submission.predictions[name] for submission in submissions]
            columns = [
                join_by_index(gold.columns[name], each, groups=None, size=len(each)) for each in answers
            ]
            files[name] = (list(metrics), [[pairs] for pairs in columns])
    return files


def scores(pairs: Pairs) -> Floats:
    """A number for each example, higher is better."""
    values: Floats
    if pairs.predicted.labels:
        values = np.equal(*pairs.code_arrays).astype(np.float64)
    else:
        values = -np.abs(np.subtract(pairs.predicted.numbers, pairs.gold.numbers))
    return values


def ours(files: Compared, resamples: int) -> float:
    """CPU seconds of our tests; values that are kept with the answers are computed anew."""
    fresh = {
        name: (metrics, [[Pairs(each.gold, each.predicted)] for (each,) in sides])
        for name, (metrics, sides) in files.items()
    }
    start = time.process_time()
    for name, (metrics, sides) in fresh.items():
        for tested in file_tests(metrics, sides, resamples=resamples, seed=0, name=name):
            tested.difference()
    return time.process_time() - start


def main() -> None:
    """Print the seconds of both, and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default="/tmp/evaluatio/bin/python", help="of the environment")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not Path(options.python).exists():
        print(f"{options.python} is not there; make the environment by the first line of this script")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = compared(folder)
        for file, (_, sides) in files.items():
            np.save(folder / f"{file}.npy", [scores(pairs) for (pairs,) in sides])
        of_theirs, of_ours = [], []
        for _ in range(options.rounds):
            command = [options.python, "-c", THEIRS, name, str(options.resamples)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            of_theirs.append(float(done.stdout))
            of_ours.append(ours(files, options.resamples))
    theirs, own = statistics.median(of_theirs), statistics.median(of_ours)
    print(f"{len(files)} test files, {options.resamples:,} resamples")
    print(f"evaluatio {theirs:.2f} s CPU, ours {own:.3f} s")
    print(f"{theirs / own:.1f} times faster   goal >= 5")


if __name__ == "__main__":
    main()
