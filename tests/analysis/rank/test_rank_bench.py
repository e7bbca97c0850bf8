"""The benchmarks of rankings in their smallest form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[3]


def run(script: str, *options: str) -> str:
    """What a script of bench/ prints."""
    paths = os.pathsep.join([str(HOME / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(HOME / "bench" / script), *options],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rank_sets_of_close_systems_hold_the_truth() -> None:
    printed = run("rank_coverage.py", "--worlds", "4", "--only", "20 systems, 3 tasks, gap 0.001")
    (line,) = printed.splitlines()[1:-1]
    assert float(line.split("0.001")[1].split()[0]) > 90


def test_the_bits_of_decisions_are_few() -> None:
    lines = run("decided_bits.py", "--labelings", "60", "--uploads", "4").splitlines()
    assert len(lines) == 5
    for line in lines[1:]:
        score, shown, _ = map(float, line.split()[-3:])
        assert shown < score
