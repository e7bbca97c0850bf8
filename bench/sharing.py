"""Where sharing one BiLSTM among tasks pays: separate models against shared ones, by `gluebench train`.

    python bench/sharing.py --data DATA --out OUT [--vectors FILE] [--tasks A,B] [--helpers A,B] [--rows N]
        [--small TASK=N]... [--hidden N] [--layers N] [--updates N] [--checks N] [--seeds N,N] [--report]

Trains for each seed one model for each task, and models of all tasks that sample them in different ways, all
on the same training rows and with as many updates in all: `--updates` for each task. Every task keeps the
weights of its best check on dev, and all systems have the same number of checks. Helpers are tasks that only
the shared models are trained on, and that are not scored. Then compares each shared system with the separate
models, the seeds of both as runs of one system (`gluebench compare`). A finished run is not repeated;
`--report` only compares the seeds that are finished.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gluebench.benchmark import load_benchmark
from gluebench.systems.training.data import dev_splits

GLUE = load_benchmark("glue")
SINGLE = "separate"
SHARED = {
    "paper": ["sampling=examples", "scaling=examples"],
    "proportional": ["sampling=examples", "scaling=none"],
    "temperature": ["sampling=temperature", "temperature=5", "scaling=none"],
}
"""Name of each shared system to its settings; the paper's loss makes up for how often a task is drawn."""
TASKS = "SST-2,CoLA,STS-B,MRPC,RTE"
HELPERS = "MNLI,QQP"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder that `gluebench data get` wrote")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, help="GloVe's file")
    parser.add_argument("--tasks", default=TASKS)
    parser.add_argument("--helpers", default=HELPERS, help="of the shared models only")
    parser.add_argument("--rows", type=int, default=10_000, help="training rows of a task, at most")
    parser.add_argument("--small", action="append", default=[], metavar="TASK=N", help="fewer for this task")
    parser.add_argument("--hidden", type=int, default=150, help="per direction")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--updates", type=int, default=400, help="for each task, of 32 examples")
    parser.add_argument("--checks", type=int, default=8)
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--systems", default="paper,temperature", help=f"of {', '.join(SHARED)}")
    parser.add_argument("--report", action="store_true", help="compare what is finished, train nothing")
    options = parser.parse_args()
    tasks = options.tasks.split(",")
    helpers = options.helpers.split(",") if options.helpers else []
    systems = [SINGLE, *options.systems.split(",")]
    seeds = [int(seed) for seed in options.seeds.split(",")]
    if not options.report:
        data = options.out / "data"
        limits = dict.fromkeys([*tasks, *helpers], options.rows)
        for pair in options.small:
            task, _, count = pair.partition("=")
            limits[task] = int(count)
        for task, limit in limits.items():
            draw_rows(options.data / "glue" / task, data / "glue" / task, limit, dev_splits(GLUE.task(task)))
        # Seeds outermost: whenever it is stopped, all systems have the same finished seeds.
        for seed in seeds:
            for system in systems:
                train(system, seed, tasks, helpers, options)
    for system in systems[1:]:
        report(system, seeds, options.out)


def draw_rows(source: Path, target: Path, limit: int, dev: Sequence[str]) -> None:
    """Copy a task's dev splits, and at most so many of its training rows: the same in every call."""
    target.mkdir(parents=True, exist_ok=True)
    table = pq.read_table(source / "train.parquet")
    positions: Sequence[int] = range(table.num_rows)
    if table.num_rows > limit:
        positions = sorted(random.Random(0).sample(positions, limit))
    pq.write_table(table.take(pa.array(positions)), target / "train.parquet")
    for split in dev:
        shutil.copyfile(source / f"{split}.parquet", target / f"{split}.parquet")


def train(
    system: str, seed: int, tasks: Sequence[str], helpers: Sequence[str], options: argparse.Namespace
) -> None:
    """Train one system with one seed and write its dev predictions, unless that is done."""
    data = options.out / "data"
    folder = options.out / system / f"{seed}"
    predictions = predictions_of(options.out, system, seed)
    if predictions.is_file():
        return
    # A model of one task has its updates; a shared one those of all its tasks.
    shared_by = 1 if system == SINGLE else len(tasks) + len(helpers)
    every = options.updates * shared_by // options.checks
    settings = [f"check_every={every}", f"max_checks={options.checks}", "stop_rule=none", "best=task"]
    # The rate is constant, so that it depends on no task's progress.
    settings += ["decay=0.999", "minimum_learning_rate=0", "lower=yes", *SHARED.get(system, [])]
    settings += [f"layers={options.layers}"]
    command = ["train", "--data", data, "--out", folder, "--tasks", ",".join(tasks), "--preset", "small"]
    command += ["--hidden", options.hidden, "--seed", seed, "--threads", 1]
    command += ["--single-task" if system == SINGLE else "--multi-task"]
    for helper in helpers if system != SINGLE else []:
        command += ["--auxiliary", helper]
    if options.vectors:
        command += ["--vectors", options.vectors]
    for setting in settings:
        command += ["--set", setting]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    gluebench(command)
    minutes = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) / 60
    answered = ["--split", "dev", "--tasks", ",".join(tasks), "--out", predictions]
    gluebench(["run", folder, "--data", data, *answered])
    print(f"{system}, seed {seed}: {minutes:.1f} minutes of CPU", flush=True)


def predictions_of(out: Path, system: str, seed: int) -> Path:
    """The dev predictions of a system's seed."""
    return out / f"{system}-{seed}.zip"


def gluebench(arguments: Sequence[Any]) -> str:
    """Run a command of gluebench, print it, and return its output."""
    words = [str(argument) for argument in arguments]
    print("gluebench", *words, file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "gluebench", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def report(system: str, seeds: Sequence[int], out: Path) -> None:
    """Compare the seeds of a shared system with those of the separate models."""
    shared = [path for seed in seeds if (path := predictions_of(out, system, seed)).is_file()]
    separate = [path for seed in seeds if (path := predictions_of(out, SINGLE, seed)).is_file()]
    if len(shared) < 2 or len(separate) < 2:
        print(f"{system}: fewer than two seeds are finished")
        return
    command = ["compare", *shared, "--against", *separate, "--data", out / "data", "--split", "dev"]
    command += ["--allow-partial-gold", "--markdown"]
    print(f"\n{system} ({len(shared)} seeds) against {SINGLE} ({len(separate)})\n")
    print(gluebench(command))


if __name__ == "__main__":
    main()
