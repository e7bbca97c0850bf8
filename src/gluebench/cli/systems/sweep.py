"""`gluebench sweep`: models, tasks, seeds and settings in parallel, each run as by `gluebench run`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.cli.common import option
from gluebench.cli.common.errors import as_click
from gluebench.cli.common.interrupts import kept_if_stopped
from gluebench.cli.common.output import Form, command_line, emit, notice

if TYPE_CHECKING:
    from gluebench.systems.scores import Scores
    from gluebench.systems.training.sweep import Job

SUBMISSION = "submission.zip"
SWEEP = "sweep.json"
"""What all runs of a sweep have in common."""


class System(NamedTuple):
    """A model with its settings: what has a row in the table."""

    model: str
    settings: tuple[tuple[str, str], ...]
    """Options of run with their values."""

    @property
    def name(self) -> str:
        """Its name in the table."""
        parts = [self.model]
        parts += [f"{key} {value}" for key, value in self.settings]
        return ", ".join(parts)


class Cell(NamedTuple):
    """One run: a system with one seed, on one task or on all together."""

    system: System
    tasks: tuple[str, ...]
    seed: int

    def arguments(self, rest: Sequence[str]) -> list[str]:
        """Those of its `gluebench run`, but for where to write."""
        arguments = [self.system.model, "--tasks", ",".join(self.tasks), "--seed", str(self.seed)]
        arguments += ["--split", "dev"]
        for key, value in self.system.settings:
            arguments += [f"--{key}", value]
        arguments += rest
        return arguments

    def job(self, rest: Sequence[str]) -> Job:
        """The job of this run."""
        from gluebench.systems.training.sweep import Job

        tasks = "together" if len(self.tasks) > 1 else self.tasks[0]
        name = f"{self.system.name}, {tasks}, seed {self.seed}"
        return Job(name, run_in, {"arguments": self.arguments(rest)})


def run_in(folder: Path, arguments: list[str]) -> None:
    """Be `gluebench run` in a job's folder, which also gets what it prints."""
    from gluebench.cli.systems.run import run

    given = [*arguments, "--out", str(folder / SUBMISSION), "--json"]
    sys.argv = ["gluebench", "run", *given]
    with (
        open(folder / "log.txt", "a", encoding="utf-8") as log,
        open(folder / "report.json", "w", encoding="utf-8") as report,
        redirect_stderr(log),
        redirect_stdout(report),
    ):
        try:
            run.main(given, standalone_mode=False)
        except click.Abort:  # a job that is interrupted has not failed: it is to go on
            raise KeyboardInterrupt from None
        except ImportError as error:
            raise as_click(error) or error from None


@click.command
@option.repeated("--row MODEL", "models", required=True, help="As of run; may be repeated.")
@option.text("--tasks A,B", default="", help="By default all that are scored.")
@option.text("--seeds N,N", default="1,2,3", callback=option.whole_numbers, help="One run for each.")
@option.settings("--vary OPTION=A,B", help="An option of run with several values; may be repeated.")
@option.flag("--together", help="One run for all tasks, as multi-task rows need it, not one for each.")
@option.new_folder("--out", required=True, help="Folder of the runs; a rerun goes on with what is in it.")
@option.data()
@option.choice(
    "--backend",
    of="local slurm dask ray",
    default="local",
    help="This machine, a Slurm job array, or workers of Dask or Ray.",
)
@option.number("--workers", least=1, help="Runs at a time [one for each GPU, else one].")
@click.option("--address", help="Of a Dask scheduler or a Ray cluster; by default one is started here.")
@option.settings("--submit", help="A parameter of Slurm jobs, as submitit names it; may be repeated.")
@option.named_benchmark(type=option.BenchmarkName())
@option.output
@click.argument("run_options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF RUN]")
def sweep(
    models: tuple[str, ...],
    tasks: str,
    seeds: tuple[int, ...],
    vary: Mapping[str, str],
    together: bool,
    out: str,
    data: Path,
    backend: Any,
    workers: int | None,
    address: str | None,
    submit: Mapping[str, str],
    benchmark: str,
    form: Form,
    run_options: tuple[str, ...],
) -> None:
    """Run models x tasks x seeds x settings in parallel; print means with intervals.

    Each run is a `gluebench run` on the dev split, in a folder of its own. Any number of sweeps on one
    folder, also on several machines, share the runs; a killed one goes on from its saved state. Options
    after -- go to every run.

    \b
    Example:
      gluebench sweep --row recipe:cbow --row recipe:single-bilstm --tasks RTE,MRPC --data data/ --out sweep/
      gluebench sweep --row hf:bert-base-cased --vary learning-rate=2e-5,5e-5 --tasks RTE --data data/
        --out sweep/ --backend slurm --submit slurm_gres=gpu:1 --submit timeout_min=60 -- --fine-tune
    """
    from gluebench.cli.systems.results import results_output
    from gluebench.cli.systems.run import run
    from gluebench.systems.scores import FILE, write_scores
    from gluebench.systems.training.sweep import Place
    from gluebench.systems.training.sweep import sweep as run_all

    suite = load_benchmark(benchmark)
    names = tuple(suite.task(name).name for name in option.listed(tasks))
    if not names:
        names = tuple(task.name for task in suite.scored)
    folder = Path(out).resolve()
    common = ["--benchmark", benchmark, "--data", str(data.resolve()), *run_options]
    tasks_of_runs = [names] if together else [(name,) for name in names]
    cells = list(_all_cells(models, tasks_of_runs, seeds, vary))
    for cell in cells:
        run.make_context("gluebench run", [*cell.arguments(common), "--out", SUBMISSION]).close()
    _check_same(folder / SWEEP, {"benchmark": benchmark, "options": list(run_options)})
    todo = [cell.job(common) for cell in cells]
    devices = _devices() if backend == "local" else ()
    parameters = {name: int(value) if value.isdigit() else value for name, value in submit.items()}
    place = Place(backend, workers or len(devices) or 1, devices, address, parameters)
    with kept_if_stopped(lambda: _what_is_kept(todo, folder)):
        swept = run_all(todo, folder, place, say=notice)
    done = {cell: job for cell, job in zip(cells, todo, strict=True) if job.name in swept.finished}
    if done:
        systems = list(_summaries(done, folder, data, suite))
        write_scores(folder / FILE, suite.name, "dev", systems)
        emit(results_output(systems, suite, "dev"), form)
    if swept.failed:
        lines = [f"{name}: {error}" for name, error in swept.failed.items()]
        lines.insert(0, f"{len(lines)} of {len(todo)} runs failed:")
        raise click.ClickException("\n".join(lines))


def _what_is_kept(todo: Sequence[Job], folder: Path) -> str:
    """What of a sweep is on disk, for who stopped it."""
    from gluebench.systems.training.sweep import DONE, job_folder

    finished = sum((job_folder(folder, job) / DONE).is_file() for job in todo)
    return (
        f"{finished} of {len(todo)} runs finished, in {folder}, with what the others saved: "
        "the same command goes on from there."
    )


def _check_same(path: Path, common: Mapping[str, Any]) -> None:
    """Keep what the runs of a folder have in common. Raises DataError if it holds others."""
    from gluebench.benchmark.atomic import write_json
    from gluebench.data import DataError

    if path.is_file():
        there = json.loads(path.read_text(encoding="utf-8"))
        if there != common:
            problem = f"a sweep with other options: {json.dumps(there)}, not {json.dumps(common)}"
            raise DataError(f"{path.parent}: holds {problem}; name another folder with --out")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, common)


def _all_cells(
    models: Sequence[str], tasks: Sequence[tuple[str, ...]], seeds: Sequence[int], vary: Mapping[str, str]
) -> Iterator[Cell]:
    """A run for each model, choice of the varied options, tasks and seed; each once."""
    choices = []
    for name, values in vary.items():
        choices.append([(name, value) for value in values.split(",")])
    systems = [System(model, chosen) for model, chosen in product(models, product(*choices))]
    for system, of_run, seed in dict.fromkeys(product(systems, tasks, seeds)):
        yield Cell(system, of_run, seed)


def _devices() -> tuple[str, ...]:
    """Numbers of the GPUs that this process may use."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return tuple(filter(None, given.split(",")))
    if find_spec("torch") is None:
        return ()
    import torch

    return tuple(map(str, range(torch.cuda.device_count())))


def _summaries(done: Mapping[Cell, Job], folder: Path, data: Path, suite: Benchmark) -> Iterator[Scores]:
    """The means of each system; its runs of one seed on several tasks are one run.

    Answers that a system could not give count as in `run`.
    """
    from gluebench.data.gold import gold_from_data
    from gluebench.scoring import grade_runs
    from gluebench.systems.adapters.dev_scores import with_wrong
    from gluebench.systems.adapters.session import answers_in
    from gluebench.systems.scores import Scores
    from gluebench.systems.training.sweep import job_folder, seconds

    gold = gold_from_data(data, suite, role="dev", partial=True)
    for system in dict.fromkeys(cell.system for cell in done):
        own = {cell: job_folder(folder, job) for cell, job in done.items() if cell.system == system}
        runs: dict[int, dict[str, Any]] = {}
        for cell, place in own.items():
            answers = answers_in((place / SUBMISSION).with_suffix(".run"), suite, "dev")
            runs.setdefault(cell.seed, {}).update(with_wrong(answers, gold))
        summary = grade_runs(list(runs.values()), gold)[1]
        yield Scores.of(system.name, summary, sum(map(seconds, own.values())), command_line())
