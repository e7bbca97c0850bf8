"""Makes the marks that come with the package, from prepared data whose fingerprints are the manifest's.

python -m gluebench.data.verify.publish DATA [BENCHMARK] > src/gluebench/data/verify/glue.marks
"""

from __future__ import annotations

import sys
from pathlib import Path

from gluebench.benchmark import load_benchmark
from gluebench.data.table import load
from gluebench.data.verify.check import fingerprints
from gluebench.data.verify.marks import Marks, marks, packed


def published_marks(data: Path, name: str) -> dict[tuple[str, str], Marks]:
    """The marks of every split whose fingerprint the manifest has. Raises ValueError for other data."""
    benchmark = load_benchmark(name)
    found = {}
    for task in benchmark.tasks:
        for split in (each for each in task.splits.values() if each.fingerprint):
            table = load(task.name, split.name, data, benchmark=benchmark)
            if fingerprints(table)[0] != split.fingerprint:
                raise ValueError(f"{task.name}, {split.name}: not the published rows")
            found[task.name, split.name] = marks(task, table)
    return found


if __name__ == "__main__":
    sys.stdout.buffer.write(packed(published_marks(Path(sys.argv[1]), (sys.argv[2:] or ["glue"])[0])))
