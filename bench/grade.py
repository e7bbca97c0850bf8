"""Grading one full submission of 426,000 rows, warm and in one process, against its limits and a tuned peer.

    python bench/grade.py [--rounds N]

Every line is a ratio of CPU times taken in turn in the same run, with its goal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from material import interleaved, pandas_gold, ratio, read_members, tuned_pandas, write_material

from gluebench.benchmark import load_benchmark
from gluebench.scoring import Gold, grade, read_gold
from gluebench.submission import Submission, check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_material(folder)
        glue = load_benchmark("glue")
        gold, peer_gold = read_gold(folder / "gold", glue), pandas_gold(folder)
        good, shuffled, broken = folder / "good.zip", folder / "shuffled.zip", folder / "broken.zip"
        submission = check(good, glue)
        draws = drawings(submission, gold, resamples=1000)
        seconds = interleaved(
            {
                "zipfile, file order": lambda: read_members(good),
                "zipfile, shuffled": lambda: read_members(shuffled),
                "tuned pandas, file order": lambda: tuned_pandas(good, peer_gold, folder),
                "tuned pandas, shuffled": lambda: tuned_pandas(shuffled, peer_gold, folder),
                "ours, file order": lambda: grade(check(good, glue), gold, resamples=0),
                "ours, shuffled": lambda: grade(check(shuffled, glue), gold, resamples=0),
                "ours, broken": lambda: check(broken, glue),
                "ours, 1,000 resamples": lambda: grade(check(good, glue), gold, resamples=1000),
                "points alone": lambda: grade(submission, gold, resamples=0),
                "points and intervals": lambda: grade(submission, gold, resamples=1000),
                "random numbers alone": lambda: [draw() for draw in draws],
            },
            rounds,
        )
    for name, each in seconds.items():
        print(f"{name:28} {statistics.median(each) * 1000:8.1f} ms CPU")
    print()
    _line(
        "file order: times zipfile.read",
        ratio(seconds, "ours, file order", "zipfile, file order"),
        "<= 2 (1.5)",
    )
    _line(
        "file order: faster than tuned pandas",
        1 / ratio(seconds, "ours, file order", "tuned pandas, file order"),
        ">= 8 (12)",
    )
    _line(
        "shuffled: times zipfile.read", ratio(seconds, "ours, shuffled", "zipfile, shuffled"), "<= 3.3 (2.5)"
    )
    _line(
        "shuffled: faster than tuned pandas",
        1 / ratio(seconds, "ours, shuffled", "tuned pandas, shuffled"),
        ">= 4 (6)",
    )
    _line(
        "broken: times tuned pandas on a good one",
        ratio(seconds, "ours, broken", "tuned pandas, file order"),
        "<= 0.6 (0.3)",
    )
    _line(
        "with 1,000 resamples: faster than tuned pandas without",
        1 / ratio(seconds, "ours, 1,000 resamples", "tuned pandas, file order"),
        ">= 2 (3)",
    )
    suite = statistics.median(
        (whole - points) / numbers
        for whole, points, numbers in zip(
            seconds["points and intervals"],
            seconds["points alone"],
            seconds["random numbers alone"],
            strict=True,
        )
    )
    _line("resampling suite: times drawing its random numbers", suite, "<= 6 (2.5)")


def drawings(submission: Submission, gold: Gold, *, resamples: int) -> list[Callable[[], object]]:
    """The random numbers that the intervals need, and nothing done with them."""
    found: list[Callable[[], object]] = []
    for name, column in gold.columns.items():
        rng = np.random.default_rng(0)
        about = gold.metadata.get(name)
        if column.labels and (about is None or about.groups is None):
            cells = Counter(zip(column.codes, submission.predictions[name].codes, strict=True))
            shares = np.array(list(cells.values())) / len(column)
            found.append(partial(rng.multinomial, len(column), shares, size=resamples))
        else:
            units = len(column) if about is None or about.groups is None else max(about.groups) + 1
            found.append(partial(rng.integers, 0, units, size=(resamples, units)))
    return found


def _line(what: str, value: float, goal: str) -> None:
    print(f"{what:58} {value:6.2f}   goal {goal}")


if __name__ == "__main__":
    main()
