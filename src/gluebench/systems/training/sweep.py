"""Training runs in parallel, over processes or machines, with joblib; finished runs survive a crash."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError
from gluebench.systems.training.log import Say

Backend = Literal["loky", "dask", "ray"]
DONE = "done.json"
FAILED = "failed.json"
ATTEMPTS = 3
"""Maximum number of attempts; another follows only if a worker has died."""
DEATHS = (
    "TerminatedWorkerError",
    "BrokenProcessPool",
    "KilledWorker",
    "ActorDiedError",
    "WorkerCrashedError",
)
"""Names of the errors that loky, Dask and Ray raise when a worker has died."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep: `run(folder, **options)` is called in a worker, with a folder of the job's own.

    The function and its options must be picklable, to reach the worker; results go into the folder.
    """

    name: str
    run: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)


class Swept(NamedTuple):
    """The outcome of a sweep, by job name."""

    finished: tuple[str, ...]
    """Jobs that finished in this sweep or an earlier one."""
    failed: Mapping[str, str]
    """Job name to the error that ended it."""


def jobs(rows: Mapping[str, Callable[..., Any]], seeds: Sequence[int]) -> list[Job]:
    """One job for each row and seed, named "row, seed 111"; `run` gets the option `seed`."""
    return [
        Job(f"{row}, seed {seed}", run, {"seed": seed}) for (row, run), seed in product(rows.items(), seeds)
    ]


def sweep(
    todo: Sequence[Job],
    folder: Path,
    *,
    backend: Backend = "loky",
    workers: int = 2,
    address: str | None = None,
    say: Say | None = None,
) -> Swept:
    """Run all jobs that are not finished in `folder` yet; a failed job stops no other.

    `address` is that of a Dask scheduler or a Ray cluster; by default one is started here. A job whose worker
    dies starts again and continues from its saved state. Raises DataError if the
    backend is not installed.
    """
    tell = say or (lambda line: None)
    if len({job.name for job in todo}) < len(todo):
        raise ValueError("two jobs have one name; expected a name for each")
    for job in todo:
        (job_folder(folder, job) / FAILED).unlink(missing_ok=True)
    with _backend(backend, workers, address):
        for attempt in range(1, ATTEMPTS + 1):
            failed = _errors(folder, todo)
            unfinished = [job for job in todo if not _finished(folder, job) and job.name not in failed]
            if not unfinished:
                break
            tell(f"{len(todo) - len(unfinished)} of {len(todo)} runs done, {len(unfinished)} to do")
            death = _run_once(unfinished, folder, workers)
            if death:
                tell(f"a worker died ({death}); attempt {attempt} of {ATTEMPTS} is over")
    errors = _errors(folder, todo)
    finished = tuple(job.name for job in todo if _finished(folder, job))
    lost = [job.name for job in todo if job.name not in {*errors, *finished}]
    return Swept(finished, errors | dict.fromkeys(lost, f"its worker died {ATTEMPTS} times"))


def job_folder(folder: Path, job: Job) -> Path:
    """Where a job's results are."""
    return folder / quote(job.name, safe=" ,")


def _finished(folder: Path, job: Job) -> bool:
    return (job_folder(folder, job) / DONE).is_file()


def _run_once(unfinished: Sequence[Job], folder: Path, workers: int) -> str | None:
    """Run the jobs once; return the name of joblib's error if a worker died, else None."""
    from joblib import Parallel, delayed

    try:
        Parallel(n_jobs=workers, batch_size=1)(
            delayed(_run_job)(job, job_folder(folder, job)) for job in unfinished
        )
    except Exception as error:
        if type(error).__name__ not in DEATHS:
            raise
        return type(error).__name__
    return None


def _run_job(job: Job, folder: Path) -> None:
    """Run a job in a worker; write the outcome to disk, since joblib returns nothing if any worker dies.

    DONE is written last, when all results are in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        job.run(folder, **job.options)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        write_json(folder / FAILED, {"error": message, "traceback": traceback.format_exc()})
    else:
        write_json(folder / DONE, {"job": job.name})


def _errors(folder: Path, todo: Sequence[Job]) -> dict[str, str]:
    """Job name to error, for the jobs that failed."""
    paths = {job.name: job_folder(folder, job) / FAILED for job in todo}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()}
    return {name: json.loads(text)["error"] for name, text in texts.items()}


@contextmanager
def _backend(backend: Backend, workers: int, address: str | None) -> Iterator[None]:
    """Start a backend's workers and make joblib use them; stop them on exit."""
    joblib = _import_optional("joblib", "A sweep")
    with ExitStack() as stack:
        options: dict[str, Any] = {}
        if backend == "loky":
            options["inner_max_num_threads"] = 1
        elif backend == "dask":
            distributed = _import_optional("distributed", "The backend dask")
            local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
            options["client"] = stack.enter_context(distributed.Client(address, **({} if address else local)))
        else:
            ray = _import_optional("ray", "The backend ray", extra="ray")
            ray.init(address=address)
            stack.callback(ray.shutdown)
            import_module("ray.util.joblib").register_ray()
        stack.enter_context(joblib.parallel_config(backend, **options))
        yield


def _import_optional(module: str, feature: str, *, extra: str = "sweep") -> Any:
    """Import an optional module. Raises DataError that names the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise DataError(
            [
                f"{feature} needs {module}, which is not installed: pip install 'gluebench[{extra}]'. "
                "Runs that are finished are on disk, and a rerun does only the others"
            ]
        ) from None
