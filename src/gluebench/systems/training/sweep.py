"""Many runs over many processes or machines, by joblib: what is finished stays finished, whoever dies."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
"""How often the unfinished jobs are begun again after a worker died."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep: `run(folder, **options)` is called in a worker, with a folder of the job's own.

    The function and its options travel to the worker, so they can be pickled; results go into the folder.
    """

    name: str
    run: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)


class Swept(NamedTuple):
    """What became of the jobs, by name."""

    finished: tuple[str, ...]
    """Finished now or before."""
    failed: Mapping[str, str]
    """Job to the error that ended it."""


def jobs(rows: Mapping[str, Callable[..., Any]], seeds: Sequence[int]) -> list[Job]:
    """One job for each row and seed, named "row, seed 111"; `run` is given the `seed`."""
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
    dies is begun again, and goes on from what it saved. Raises DataError for a backend that is not installed.
    """
    tell = say or (lambda line: None)
    if len({job.name for job in todo}) < len(todo):
        raise ValueError("two jobs have one name; expected a name for each")
    for job in todo:
        (job_folder(folder, job) / FAILED).unlink(missing_ok=True)
    with _backend(backend, workers, address):
        for attempt in range(1, ATTEMPTS + 1):
            failed = _errors(folder, todo)
            left = [job for job in todo if not _finished(folder, job) and job.name not in failed]
            if not left:
                break
            tell(f"{len(todo) - len(left)} of {len(todo)} runs done, {len(left)} to do")
            died = _round(left, folder, workers)
            if died:
                tell(f"a worker died ({died}); attempt {attempt} of {ATTEMPTS} is over")
    errors = _errors(folder, todo)
    finished = tuple(job.name for job in todo if _finished(folder, job))
    lost = {
        job.name: f"its worker died {ATTEMPTS} times"
        for job in todo
        if job.name not in errors and job.name not in finished
    }
    return Swept(finished, errors | lost)


def job_folder(folder: Path, job: Job) -> Path:
    """Where a job's results are."""
    return folder / quote(job.name, safe=" ,")


def _finished(folder: Path, job: Job) -> bool:
    return (job_folder(folder, job) / DONE).is_file()


def _round(left: Sequence[Job], folder: Path, workers: int) -> str | None:
    """Run the jobs once; the name of the error by which joblib says that a worker died."""
    from joblib import Parallel, delayed

    calls = [delayed(_call)(job, job_folder(folder, job)) for job in left]
    try:
        Parallel(n_jobs=workers, batch_size=1)(calls)
    except Exception as error:
        if type(error).__name__ not in _DEATHS:
            raise
        return type(error).__name__
    return None


_DEATHS = {
    "TerminatedWorkerError",
    "BrokenProcessPool",
    "KilledWorker",
    "ActorDiedError",
    "WorkerCrashedError",
}
"""How loky, Dask and Ray say that a worker is gone."""


def _call(job: Job, folder: Path) -> None:
    """Run in the worker. The outcome goes to disk, since the death of another worker loses all answers.

    The mark is made last, when the results are all there.
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
    """The jobs that failed, each with its error."""
    paths = {job.name: job_folder(folder, job) / FAILED for job in todo}
    return {
        name: json.loads(path.read_text(encoding="utf-8"))["error"]
        for name, path in paths.items()
        if path.is_file()
    }


@contextmanager
def _backend(backend: Backend, workers: int, address: str | None) -> Iterator[None]:
    """The workers of a backend, for as long as they are needed."""
    if backend == "dask":
        with _dask(workers, address):
            yield
        return
    joblib = _needed("joblib", "A sweep")
    if backend == "ray":
        _needed("ray", "The backend ray", extra="ray")
        with _ray(address):
            yield
        return
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        yield


@contextmanager
def _dask(workers: int, address: str | None) -> Iterator[None]:
    joblib = _needed("joblib", "A sweep")
    distributed = _needed("distributed", "The backend dask")
    started = {} if address else {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(address, **started) as client, joblib.parallel_config("dask", client=client):
        yield


@contextmanager
def _ray(address: str | None) -> Iterator[None]:
    import joblib
    import ray
    from ray.util.joblib import register_ray

    ray.init(address=address)
    register_ray()
    try:
        with joblib.parallel_config("ray"):
            yield
    finally:
        ray.shutdown()


def _needed(module: str, what: str, *, extra: str = "sweep") -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise DataError(
            [
                f"{what} needs {module}, which is not installed: pip install 'gluebench[{extra}]'. "
                "Runs that are finished are on disk, and a rerun does only the others"
            ]
        ) from None
