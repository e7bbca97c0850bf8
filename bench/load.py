"""What opening a split costs before its first row is touched, beyond the import that reading Parquet needs.

    python bench/load.py

The split has QQP's 390,965 test rows. Time is CPU of a process of its own; memory is what it holds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = 390_965
ROUNDS = 7
MOST_MS, MOST_MIB = 50, 30
MANIFEST = f"""
[benchmark]
name = "mine"

[tasks.Pairs]
columns = ["question1", "question2"]
labels = {{ 0 = "no", 1 = "yes" }}
metrics = [{{ name = "accuracy" }}]
splits.test.size = {ROWS}
"""
CHILD = """
import json, os, sys, time
import pyarrow.parquet
# What is resident now: the peak would be that of the process this one was forked from.
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
before, start = resident(), time.process_time()
import gluebench
table = gluebench.load("Pairs", "test", sys.argv[1], benchmark=sys.argv[2])
assert len(table) == int(sys.argv[3])
opened, rows = time.process_time() - start, resident() - before
start = time.process_time()
first = table[0]
print(json.dumps([1000 * opened, rows, 1000 * (time.process_time() - start)]))
"""


def write_split(folder: Path) -> Path:
    """A prepared split of QQP's size in generated words; the path of its manifest."""
    import pyarrow as pa

    from gluebench.benchmark import load_benchmark
    from gluebench.data.dataset import Origin
    from gluebench.data.prepared import prepare

    manifest = folder / "mine.toml"
    manifest.write_text(MANIFEST)
    benchmark = load_benchmark(manifest)
    texts = [f"what is the {row}th of {row % 977} things and why?" for row in range(ROWS)]
    table = pa.table(
        {"index": pa.array(range(ROWS), pa.int64()), "question1": texts, "question2": texts[::-1]}
    )
    batches = {"test": table.to_batches(max_chunksize=10_000)}
    prepare(folder, benchmark, benchmark.task("Pairs"), batches, origin=Origin("folder", "generated"))
    return manifest


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        manifest = write_split(Path(scratch))
        command = [sys.executable, "-c", CHILD, scratch, str(manifest), str(ROWS)]
        rounds = [
            json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(ROUNDS)
        ]
    opened, memory, first = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"load of {ROWS:,} rows, beyond import pyarrow.parquet, medians of {ROUNDS} processes")
    print(f"  CPU until the first row is touched  {opened:6.1f} ms    at most {MOST_MS}")
    print(f"  memory                              {memory:6.1f} MiB   at most {MOST_MIB}")
    print(f"  the first row, one row group        {first:6.1f} ms")


if __name__ == "__main__":
    main()
