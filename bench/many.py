"""Many GLUE-sized submissions with intervals: one command for all against one command after the other.

python bench/many.py [--submissions N] [--singles N]
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from material import write_material
from process import run

GOAL_MINUTES, GOAL_SUBMISSIONS = 60, 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=200, help="in one command")
    parser.add_argument("--singles", type=int, default=10, help="one after the other")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_material(folder)
        systems = folder / "systems"
        systems.mkdir()
        for at in range(options.submissions):
            shutil.copy(folder / ("good.zip", "shuffled.zip")[at % 2], systems / f"{at:04}.zip")
        grade, gold = [sys.executable, "-m", "gluebench", "grade"], ["--gold", f"{folder}/gold"]
        start = time.perf_counter()
        for at in range(options.singles):
            run([*grade, f"{systems}/{at:04}.zip", *gold, "--json"])
        single = (time.perf_counter() - start) / options.singles
        start = time.perf_counter()
        run([*grade, str(systems), *gold, "--out", f"{folder}/scores.csv"])
        together = (time.perf_counter() - start) / options.submissions
        start = time.perf_counter()
        run([*grade, str(systems), *gold, "--out", f"{folder}/scores.csv"])
        again = time.perf_counter() - start
    print(f"one after the other: {single * 1000:.0f} ms each")
    print(f"together, on {os.cpu_count()} cores: {together * 1000:.0f} ms each")
    print(f"{single / together:.1f} times faster together   goal >= 4 (6)")
    minutes = together * GOAL_SUBMISSIONS / 60
    print(f"{GOAL_SUBMISSIONS:,} would take {minutes:.1f} minutes   goal <= {GOAL_MINUTES}")
    print(f"the same command again, with nothing to do: {again:.2f} s")


if __name__ == "__main__":
    main()
