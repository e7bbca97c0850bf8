"""`gluebench grade` as a whole process against the same in tuned pandas: CPU and peak memory.

python bench/process.py [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
COMMAND = "import sys; from gluebench.__main__ import main; sys.exit(main())"
"""What the installed `gluebench` script does."""
PEER = (
    "import sys; from pathlib import Path; from material import pandas_gold, tuned_pandas; "
    "folder = Path(sys.argv[1]); print(tuned_pandas(folder / 'good.zip', pandas_gold(folder), folder))"
)


class Cost(NamedTuple):
    """What one run took."""

    cpu: float
    peak_mib: float


def run(command: list[str]) -> Cost:
    """Run a command to its end, its output discarded."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"failed: {' '.join(command)}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        make = (
            f"from pathlib import Path; from material import write_material; write_material(Path({name!r}))"
        )
        run([sys.executable, "-c", make])
        grade = [
            sys.executable,
            "-m",
            "gluebench",
            "grade",
            f"{name}/good.zip",
            "--gold",
            f"{name}/gold",
            "--json",
        ]
        commands = {
            "tuned pandas": [sys.executable, "-c", PEER, name],
            "grade --no-intervals": [*grade, "--no-intervals"],
            "grade": grade,
        }
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(rounds + 1):
            for label, command in commands.items():
                costs[label].append(run(command))
    costs = {label: each[1:] for label, each in costs.items()}
    for label, each in costs.items():
        cpu, peak = (statistics.median(values) for values in zip(*each, strict=True))
        print(f"{label:26} {cpu * 1000:8.0f} ms CPU  {peak:7.1f} MiB peak")
    for label, goal in (("grade --no-intervals", ">= 13 (18)"), ("grade", ">= 6 (9)")):
        times = statistics.median(
            a.cpu / b.cpu for a, b in zip(costs["tuned pandas"], costs[label], strict=True)
        )
        print(f"{label}: {times:.1f} times less CPU than tuned pandas   goal {goal}")
    peak = max(cost.peak_mib for cost in costs["grade"])
    print(f"peak memory of grade with intervals: {peak:.1f} MiB   goal <= 70")
    print(f"(the harness itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB)")


if __name__ == "__main__":
    main()
