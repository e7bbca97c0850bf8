"""Many runs over many processes or machines, by joblib: what is finished stays finished, whoever dies."""

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
"""How often the unfinished jobs are begun again after a worker died."""
DEATHS = (
    "TerminatedWorkerError",
    "BrokenProcessPool",
    "KilledWorker",
    "ActorDiedError",
    "WorkerCrashedError",
)
"""How loky, Dask and Ray say that a worker is gone."""


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
    lost = [job.name for job in todo if job.name not in {*errors, *finished}]
    return Swept(finished, errors | dict.fromkeys(lost, f"its worker died {ATTEMPTS} times"))


def job_folder(folder: Path, job: Job) -> Path:
    """Where a job's results are."""
    return folder / quote(job.name, safe=" ,")


def _finished(folder: Path, job: Job) -> bool:
    return (job_folder(folder, job) / DONE).is_file()


def _round(left: Sequence[Job], folder: Path, workers: int) -> str | None:
    """Run the jobs once; the name of the error by which joblib says that a worker died."""
    from joblib import Parallel, delayed

    try:
        Parallel(n_jobs=workers, batch_size=1)(delayed(_call)(job, job_folder(folder, job)) for job in left)
    except Exception as error:
        if type(error).__name__ not in DEATHS:
            raise
        return type(error).__name__
    return None


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
    there = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()}
    return {name: json.loads(text)["error"] for name, text in there.items()}


@contextmanager
def _backend(backend: Backend, workers: int, address: str | None) -> Iterator[None]:
    """The workers of a backend, for as long as they are needed."""
    joblib = _needed("joblib", "A sweep")
    with ExitStack() as stack:
        options: dict[str, Any] = {}
        if backend == "loky":
            options["inner_max_num_threads"] = 1
        elif backend == "dask":
            distributed = _needed("distributed", "The backend dask")
            own = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
            options["client"] = stack.enter_context(distributed.Client(address, **({} if address else own)))
        else:
            ray = _needed("ray", "The backend ray", extra="ray")
            ray.init(address=address)
            stack.callback(ray.shutdown)
            import_module("ray.util.joblib").register_ray()
        stack.enter_context(joblib.parallel_config(backend, **options))
        yield


def _needed(module: str, what: str, *, extra: str = "sweep") -> Any:
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
