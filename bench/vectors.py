"""Reading some words' vectors out of a file shaped like GloVe 840B, against reading its bytes as lines.

python bench/vectors.py
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gluebench.data.vectors import read_vectors

LINES, DIMENSIONS, WANTED = 60_000, 300, 840
"""A fortieth of GloVe's 2.2 million lines, and of the 30,000 words of a vocabulary."""
ROUNDS = 5


def write_file(path: Path) -> None:
    rng = random.Random(0)
    numbers = [" ".join(f"{rng.gauss(0, 0.4):.5f}" for _ in range(DIMENSIONS)) for _ in range(97)]
    with open(path, "w", encoding="utf-8") as file:
        for line in range(LINES):
            file.write(f"word{line} {numbers[line % len(numbers)]}\n")


def split_lines(path: Path) -> int:
    """The limit: the bytes, cut into lines."""
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    wanted = {f"word{line}" for line in range(0, LINES, LINES // WANTED)}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "vectors.txt")
        write_file(path)
        rounds = [
            (cpu(lambda: split_lines(path)), cpu(lambda: read_vectors(path, wanted))) for _ in range(ROUNDS)
        ]
        size = path.stat().st_size / 2**20
    limit, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(one / other for one, other in rounds)
    print(f"{size:.0f} MiB, {LINES:,} lines, {len(wanted):,} words wanted")
    print(f"lines alone {limit * 1000:6.0f} ms CPU, with vectors {ours * 1000:6.0f} ms CPU")
    print(f"share of the speed of cutting lines: {ratio:.2f}   goal >= 0.5")


if __name__ == "__main__":
    main()
