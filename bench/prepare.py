"""From a folder of TSV files to prepared Parquet: our reader against pandas and Hugging Face's csv builder.

    python bench/prepare.py [--rounds N]

The files are the real ones where they are at hand (GLUEBENCH_REAL), else generated ones of the same sizes.
The peers read with their defaults, and so lose rows; where they give up they are told to take no quoting.
Every line is a ratio taken in turn in the same run, with its goal; memory is that of a process that does
nothing else.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

import datasets
import pandas as pd  # noqa: TID251 (the peer)

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data.get import Downloader, Options
from gluebench.data.sources.folder import find
from gluebench.data.sources.release import Release, load_release

REAL = Path(os.environ.get("GLUEBENCH_REAL") or Path(__file__).resolve().parents[2] / "shared" / "real")
TASKS = ("CoLA", "SST-2", "MRPC", "STS-B", "QNLI", "RTE", "WNLI", "AX")
LONG = 200 << 20
ROW_BYTES = 209


class Cost(NamedTuple):
    """What one run took."""

    cpu: float
    wall: float


def main() -> None:
    logging.getLogger("datasets").setLevel(logging.CRITICAL)  # that it gives up is expected
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    gc.collect()
    gc.freeze()  # what the peers' imports left is not walked again by whoever allocates
    glue, release = load_benchmark("glue"), load_release("glue")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = REAL / "glue"
        if not source.is_dir():
            source = folder / "glue_data"
            write_files(source, glue, release)
        files = released(source, glue, release)
        size = sum(path.stat().st_size for path in files)
        print(
            f"{len(files)} files, {size / 1e6:.1f} MB, {'real' if source == REAL / 'glue' else 'generated'}"
        )
        costs = interleaved(
            {
                "gluebench": lambda to: ours(source, to, glue, release),
                "pandas": lambda to: with_pandas(files, to),
                "datasets": lambda to: with_datasets(files, to),
            },
            folder,
            rounds,
        )
        for label, each in costs.items():
            cpu, wall = (statistics.median(values) for values in zip(*each, strict=True))
            print(f"{label:12} {cpu * 1000:8.0f} ms CPU {wall * 1000:8.0f} ms wall")
        for peer, goal in (("pandas", ">= 1"), ("datasets", ">= 5")):
            for at, what in enumerate(Cost._fields):
                times = statistics.median(
                    theirs[at] / own[at] for theirs, own in zip(costs[peer], costs["gluebench"], strict=True)
                )
                print(f"faster than {peer}, {what:4} {times:22.2f}   goal {goal}")
        more = memory(folder)
        print(f"200 MB of TSV: {more:.0f} MiB beyond the imports   goal <= 64")


def interleaved(
    runs: Mapping[str, Callable[[Path], object]], folder: Path, rounds: int
) -> dict[str, list[Cost]]:
    """Each run in turn, its files in a fresh folder; the first round is not counted."""
    costs: dict[str, list[Cost]] = {label: [] for label in runs}
    for _ in range(rounds + 1):
        for label, run in runs.items():
            with tempfile.TemporaryDirectory(dir=folder) as name:
                cpu, wall = time.process_time(), time.perf_counter()
                run(Path(name))
                costs[label].append(Cost(time.process_time() - cpu, time.perf_counter() - wall))
    return {label: each[1:] for label, each in costs.items()}


def released(source: Path, glue: Benchmark, release: Release) -> list[Path]:
    """The files that are read."""
    found = [find(source, glue, glue.task(name), release, partial=True) for name in TASKS]
    return [path for each in found for path in each.files.values()]


def ours(source: Path, to: Path, glue: Benchmark, release: Release) -> None:
    getter = Downloader(glue, release, to, options=Options(partial=True))
    for got in getter.from_folder([glue.task(name) for name in TASKS], source):
        assert got.dataset is not None, got.problems


def with_pandas(files: list[Path], to: Path) -> None:
    for number, path in enumerate(files):
        try:
            table = pd.read_csv(path, sep="\t", on_bad_lines="skip")
        except pd.errors.ParserError:
            table = pd.read_csv(path, sep="\t", on_bad_lines="skip", quoting=3)
        table.to_parquet(to / f"{number}.parquet")


def with_datasets(files: list[Path], to: Path) -> None:
    datasets.disable_progress_bars()
    for number, path in enumerate(files):
        options = {"sep": "\t", "on_bad_lines": "skip", "cache_dir": str(to / "cache")}
        try:
            table = datasets.Dataset.from_csv(str(path), **options)
        except datasets.exceptions.DatasetGenerationError:
            table = datasets.Dataset.from_csv(str(path), quoting=3, **options)
        table.to_parquet(to / f"{number}.parquet")


def write_files(source: Path, glue: Benchmark, release: Release) -> None:
    """Write files of the published sizes in the released layout, of made-up words."""
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(5000)]
    for name in TASKS:
        task = glue.task(name)
        (source / name).mkdir(parents=True)
        for split in task.splits.values():
            if name == "QNLI" and split.name == "train":
                continue
            header = release.tasks[name].splits[split.name].header or ("index", *task.columns, "label")
            with open(source / name / split.file, "w", encoding="utf-8") as file:
                if not release.tasks[name].splits[split.name].header:
                    file.write("\t".join(header) + "\n")
                for row in range(split.size):
                    values = {column: " ".join(rng.choices(words, k=16)) for column in task.columns}
                    values |= {"index": str(row), "label": rng.choice(task.words or ("2.5",))}
                    file.write("\t".join(values.get(column, "x") for column in header) + "\n")


PROBE = """
import resource, sys
from pathlib import Path
import numpy, pyarrow, pyarrow.compute, pyarrow.parquet
from gluebench.benchmark import load_benchmark
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release
glue, release = load_benchmark("glue"), load_release("glue")
task = glue.task("SST-2")
splits = {**task.splits, "train": task.splits["train"]._replace(size=int(sys.argv[3]))}
task = task._replace(splits=splits)
if sys.argv[4] == "work":
    prepare_from_folder(Path(sys.argv[1]), Path(sys.argv[2]), glue, task, release, partial=True)
"""


def memory(folder: Path) -> float:
    """MiB that preparing a file of 200 MB takes at its peak, beyond a process with the imports alone."""
    source = folder / "long"
    rows = write_long(source / "SST-2")
    peaks = {}
    for what in ("nothing", "work"):
        command = [sys.executable, "-c", PROBE, str(source), str(folder / "data"), str(rows), what]
        # From a small parent: a child's peak counts what its parent had when it was made.
        parent = (
            "import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:]); "
            "_, status, usage = os.wait4(child.pid, 0); print(status, usage.ru_maxrss)"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-S", "-c", parent, *command],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        status, peak = done.stdout.split()
        if status != "0":
            raise SystemExit(done.stderr)
        peaks[what] = int(peak) / 1024
    return peaks["work"] - peaks["nothing"]


def write_long(folder: Path) -> int:
    """Write a train split of 200 MB, and say how many examples it has."""
    folder.mkdir(parents=True)
    rng = random.Random(0)
    rows = LONG // ROW_BYTES
    with open(folder / "train.tsv", "w", encoding="utf-8") as file:
        file.write("sentence\tlabel\n")
        for _ in range(rows // 1000):
            noise = rng.randbytes(103).hex()
            turned = (noise[row % 100 :] + noise[: row % 100] for row in range(1000))
            file.writelines(f"{text}\t{row % 2}\n" for row, text in enumerate(turned))
    return rows // 1000 * 1000


if __name__ == "__main__":
    main()
