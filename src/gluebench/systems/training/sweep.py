"""Many training runs on this machine's devices, as a Slurm job array, on Dask or on Ray.

What is done, failed or under way is in the folder of each run, so that a sweep that is killed goes on, and
several launchers of one sweep share it.
"""

import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import connection, get_context, resource_tracker
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError
from gluebench.systems.run import Say, quiet
from gluebench.systems.training import claims

Backend = Literal["local", "slurm", "dask", "ray"]
DONE = "done.json"
FAILED = "failed.json"
ATTEMPTS = 3
"""How often one sweep starts a job; another attempt follows only if its process has died."""
DEATHS = (
    "TerminatedWorkerError",
    "BrokenProcessPool",
    "KilledWorker",
    "ActorDiedError",
    "WorkerCrashedError",
)
"""Names of the errors that Dask and Ray raise when a worker has died."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep: `run(folder, **options)` is called in a process of its own, with its own folder.

    The function and its options must be picklable, to reach that process; results go into the folder.
    """

    name: str
    run: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)


class SweepOutcome(NamedTuple):
    """The outcome of a sweep, by job name."""

    finished: tuple[str, ...]
    """Jobs that finished, in this sweep, an earlier one or another launcher's."""
    failed: Mapping[str, str]
    """Job name to the error that ended it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where jobs run."""

    backend: Backend = "local"
    workers: int = 1
    """Jobs at a time."""
    devices: tuple[str, ...] = ()
    """Numbers of this machine's GPUs; local workers use them in turn."""
    address: str | None = None
    """Of a Dask scheduler or a Ray cluster; by default one is started here."""
    submit: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of Slurm jobs, as submitit names them (`timeout_min`, `slurm_partition`), and `cluster`."""
    lease: float = claims.LEASE
    poll: float = 2.0
    """Seconds between two looks at jobs of others."""


def jobs(rows: Mapping[str, Callable[..., Any]], seeds: Sequence[int]) -> list[Job]:
    """One job for each row and seed, named "row, seed 111"; `run` gets the option `seed`."""
    jobs = []
    for row, run in rows.items():
        jobs += [Job(f"{row}, seed {seed}", run, {"seed": seed}) for seed in seeds]
    return jobs


def sweep(todo: Sequence[Job], folder: Path, place: Place | None = None, *, say: Say = quiet) -> SweepOutcome:
    """Run all jobs that are not finished in `folder` yet; a failed job stops no other.

    Waits for jobs that another launcher has, and takes them over if it dies. A job whose process dies starts
    again and continues from its saved state. Raises DataError if the backend is not installed.
    """
    place = place or Place()
    if len({job.name for job in todo}) < len(todo):
        raise ValueError("two jobs have one name; expected a name for each")
    for job in todo:
        (job_folder(folder, job) / FAILED).unlink(missing_ok=True)
    starts: Counter[str] = Counter()
    shown = ""
    with _ways(place) as run_all:
        while waiting := [job for job in todo if not _has_ended(folder, job) and starts[job.name] < ATTEMPTS]:
            free = [job for job in waiting if not claims.is_held(job_folder(folder, job), place.lease)]
            line = f"{len(todo) - len(waiting)} of {len(todo)} runs ended, {len(waiting)} to do"
            if len(free) < len(waiting):
                line += f", {len(waiting) - len(free)} by other launchers"
            if line != shown:
                say(shown := line)
            if not free:
                time.sleep(place.poll)
                continue
            run_all(free, folder, place)
            for job in free:
                # A living claim is another launcher's.
                if not _has_ended(folder, job) and not claims.is_held(job_folder(folder, job), place.lease):
                    starts[job.name] += 1
                    say(f"{job.name}: its process died (start {starts[job.name]} of {ATTEMPTS})")
    finished = tuple(job.name for job in todo if (job_folder(folder, job) / DONE).is_file())
    paths = {job.name: job_folder(folder, job) / FAILED for job in todo}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()}
    errors = {name: json.loads(text)["error"] for name, text in texts.items()}
    lost = [job.name for job in todo if job.name not in errors and job.name not in finished]
    return SweepOutcome(finished, errors | dict.fromkeys(lost, f"its process died {ATTEMPTS} times"))


def job_folder(folder: Path, job: Job) -> Path:
    """Where a job's results are."""
    return folder / quote(job.name, safe=" ,")


def seconds(folder: Path) -> float:
    """How long the job of a folder took, the part of a process that died not counted."""
    value: float = json.loads((folder / DONE).read_text(encoding="utf-8"))["seconds"]
    return value


def attempt(job: Job, folder: Path, lease: float = claims.LEASE, *, parent: int | None = None) -> None:
    """Run a job here, unless it has ended or another process has it; write the outcome into its folder.

    DONE is written last, when all results are there.
    """
    own = job_folder(folder, job)
    if _has_ended(folder, job):
        return
    claim = claims.claim_job(own, lease)
    if claim is None or _has_ended(folder, job):
        return
    began = time.time()
    outcome: tuple[str, dict[str, Any]]
    try:
        with claims.beating(claim, lease, parent=parent):
            job.run(own, **job.options)
        outcome = DONE, {"job": job.name, "claim": claim.number, "seconds": round(time.time() - began, 3)}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        outcome = FAILED, {"error": message, "traceback": traceback.format_exc()}
    except BaseException:
        claim.release()
        raise
    if claim.current():
        write_json(own / outcome[0], outcome[1])


def _has_ended(folder: Path, job: Job) -> bool:
    own = job_folder(folder, job)
    return (own / DONE).is_file() or (own / FAILED).is_file()


_RunAll = Callable[[Sequence[Job], Path, Place], None]
"""Attempts each job once and returns when all these attempts have ended, well or not."""


def _run_local(todo: Sequence[Job], folder: Path, place: Place) -> None:
    """Each job in a process of its own, which sees one device."""
    queue = list(todo)
    running = dict[int, SpawnProcess]()
    try:
        while queue or running:
            for slot in range(place.workers):
                if queue and slot not in running:
                    running[slot] = _start(queue.pop(0), folder, place, slot)
            connection.wait([process.sentinel for process in running.values()])
            running = {slot: process for slot, process in running.items() if process.is_alive()}
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.join()


def _start(job: Job, folder: Path, place: Place, slot: int) -> SpawnProcess:
    threads = str(max(1, (os.cpu_count() or 1) // place.workers))
    environment = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads)}
    if place.devices:
        environment["CUDA_VISIBLE_DEVICES"] = place.devices[slot % len(place.devices)]
    arguments = (job, folder, place.lease, os.getpid(), environment)
    process = get_context("spawn").Process(target=_child, args=arguments, name=job.name)
    # A terminal sends Ctrl-C to all processes: only this one hears it, and ends the others by SIGTERM.
    resource_tracker.ensure_running()  # which unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _child(job: Job, folder: Path, lease: float, parent: int, environment: Mapping[str, str]) -> None:
    os.environ.update(environment)  # before the job imports PyTorch
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the claim is released
    attempt(job, folder, lease, parent=parent)


class _Cell:
    """A job of a Slurm array; after preemption or at its time limit, Slurm starts it again."""

    def __init__(self, job: Job, folder: Path, lease: float) -> None:
        self._arguments = (job, folder, lease)

    def __call__(self) -> None:
        attempt(*self._arguments)

    def checkpoint(self) -> Any:
        """What submitit puts back into the queue."""
        return import_module("submitit.helpers").DelayedSubmission(self)


def _run_slurm(todo: Sequence[Job], folder: Path, place: Place) -> None:
    submitit = _import_optional("submitit", "The backend slurm")
    options = {"cluster": "slurm", "slurm_array_parallelism": place.workers, **place.submit}
    try:
        executor = submitit.AutoExecutor(folder / "slurm", cluster=options.pop("cluster"))
        executor.update_parameters(**options)
    except (RuntimeError, NameError) as error:  # no Slurm here, or no such parameter
        raise DataError(f"The backend slurm cannot be used: {error}") from None
    with executor.batch():
        submitted = [executor.submit(_Cell(job, folder.resolve(), place.lease)) for job in todo]
    while not all(job.done() for job in submitted):
        time.sleep(place.poll)


def _run_joblib(todo: Sequence[Job], folder: Path, place: Place) -> None:
    from joblib import Parallel, delayed

    try:
        Parallel(n_jobs=place.workers, batch_size=1)(
            delayed(attempt)(job, folder, place.lease) for job in todo
        )
    except Exception as error:
        if type(error).__name__ not in DEATHS:
            raise


@contextmanager
def _ways(place: Place) -> Iterator[_RunAll]:
    """Start a backend's workers, and stop them on exit."""
    if place.backend in ("local", "slurm"):
        yield _run_local if place.backend == "local" else _run_slurm
        return
    joblib = _import_optional("joblib", "A sweep")
    with ExitStack() as stack:
        options: dict[str, Any] = {}
        if place.backend == "dask":
            distributed = _import_optional("distributed", "The backend dask")
            local = {"n_workers": place.workers, "threads_per_worker": 1, "dashboard_address": None}
            client = distributed.Client(place.address, **({} if place.address else local))
            options["client"] = stack.enter_context(client)
        else:
            ray = _import_optional("ray", "The backend ray", extra="ray")
            ray.init(address=place.address)
            stack.callback(ray.shutdown)
            import_module("ray.util.joblib").register_ray()
        stack.enter_context(joblib.parallel_config(place.backend, **options))
        yield _run_joblib


def _import_optional(module: str, feature: str, *, extra: str = "sweep") -> Any:
    """Import an optional module. Raises DataError that names the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise DataError(
            f"{feature} needs {module}, which is not installed: pip install 'gluebench[{extra}]'. "
            "Runs that are finished are on disk, and a rerun does only the others"
        ) from None
