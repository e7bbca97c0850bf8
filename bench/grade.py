"""Grading one full submission of 426,000 rows, warm and in one process, against its limits and a tuned peer.

    python bench/grade.py [--rounds N]

Every line is a ratio of CPU times taken in turn in the same run, with its goal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from material import interleaved, pandas_gold, ratio, read_members, tuned_pandas, write_material

from gluebench.analysis.compare import compare
from gluebench.benchmark import load_benchmark
from gluebench.scoring import grade, read_gold
from gluebench.submission import check


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
        other = folder / "other.zip"
        submission = check(good, glue)
        seconds = interleaved(
            {
                "zipfile, file order": lambda: read_members(good),
                "zipfile, shuffled": lambda: read_members(shuffled),
                "tuned pandas, file order": lambda: tuned_pandas(good, peer_gold, folder),
                "tuned pandas, shuffled": lambda: tuned_pandas(shuffled, peer_gold, folder),
                "ours, file order": lambda: grade(check(good, glue), gold, intervals=False),
                "ours, shuffled": lambda: grade(check(shuffled, glue), gold, intervals=False),
                "ours, broken": lambda: check(broken, glue),
                "ours, intervals": lambda: grade(check(good, glue), gold),
                "points alone": lambda: grade(submission, gold, intervals=False),
                "points and intervals": lambda: grade(submission, gold),
                "two compared": lambda: compare(check(good, glue), check(other, glue), gold),
                "compared, 1,000 resamples": lambda: compare(
                    check(good, glue), check(other, glue), gold, categories=False, resamples=1000
                ),
                "with categories, 1,000 resamples": lambda: compare(
                    check(good, glue), check(other, glue), gold, resamples=1000
                ),
            },
            rounds,
        )
    for name, each in seconds.items():
        print(f"{name:32} {statistics.median(each) * 1000:8.1f} ms CPU")
    print()
    _line(
        "file order: times zipfile.read",
        ratio(seconds, "ours, file order", "zipfile, file order"),
        "<= 1.9",
    )
    _line(
        "file order: faster than tuned pandas",
        1 / ratio(seconds, "ours, file order", "tuned pandas, file order"),
        ">= 8",
    )
    _line("shuffled: times zipfile.read", ratio(seconds, "ours, shuffled", "zipfile, shuffled"), "<= 2.6")
    _line(
        "shuffled: faster than tuned pandas",
        1 / ratio(seconds, "ours, shuffled", "tuned pandas, shuffled"),
        ">= 4",
    )
    _line(
        "broken: times tuned pandas on a good one",
        ratio(seconds, "ours, broken", "tuned pandas, file order"),
        "<= 0.35",
    )
    _line(
        "with intervals: faster than tuned pandas without",
        1 / ratio(seconds, "ours, intervals", "tuned pandas, file order"),
        ">= 2",
    )
    _line("intervals: times the points", ratio(seconds, "points and intervals", "points alone"), "<= 15")
    points = statistics.median(seconds["points alone"]) * 1000
    print(f"points alone: {points:.2f} ms CPU   goal <= 1.8")
    compared = statistics.median(seconds["two compared"])
    print(f"two full submissions compared: {compared:.2f} s CPU   goal <= 2")
    _line(
        "compared, 1,000 resamples: times graded with intervals",
        ratio(seconds, "compared, 1,000 resamples", "ours, intervals"),
        "<= 3",
    )
    _line(
        "the same with categories (--details)",
        ratio(seconds, "with categories, 1,000 resamples", "ours, intervals"),
        "<= 3",
    )


def _line(what: str, value: float, goal: str) -> None:
    print(f"{what:58} {value:6.2f}   goal {goal}")


if __name__ == "__main__":
    main()
