"""Sweeps: whoever dies, what is finished stays finished and the rest is done."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from gluebench.data import DataError
from gluebench.systems.training.sweep import Job, job_folder, jobs, sweep

pytest.importorskip("joblib", reason="joblib is not installed; pip install 'gluebench[sweep]'")


def note(folder: Path, *, seed: int) -> None:
    """Leave a line for each time it is called."""
    with (folder / "calls.txt").open("a") as file:
        file.write(f"{seed}\n")


def die_once(folder: Path, *, seed: int) -> None:
    """Take the worker down the first time it is called with seed 2."""
    note(folder, seed=seed)
    if seed == 2 and calls(folder) == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def die_always(folder: Path, *, seed: int) -> None:
    note(folder, seed=seed)
    os.kill(os.getpid(), signal.SIGKILL)


def fail(folder: Path, *, seed: int) -> None:
    note(folder, seed=seed)
    raise ValueError(f"no luck with {seed}")


def calls(folder: Path) -> int:
    path = folder / "calls.txt"
    return len(path.read_text().splitlines()) if path.is_file() else 0


@pytest.fixture(autouse=True, scope="module")
def importable_in_workers() -> Iterator[None]:
    """Workers import this module by its name, wherever the tests were started."""
    tests, source = Path(__file__).resolve().parents[2], Path(__file__).resolve().parents[3] / "src"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", f"{source}{os.pathsep}{tests}")
        yield
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def test_rows_times_seeds_in_their_order() -> None:
    found = jobs({"one": note, "two": note}, [1, 2])
    assert [job.name for job in found] == ["one, seed 1", "one, seed 2", "two, seed 1", "two, seed 2"]
    assert found[1].options == {"seed": 2}


def test_finished_runs_are_not_run_again(tmp_path: Path) -> None:
    first = jobs({"row": note}, [1, 2])
    assert sweep(first, tmp_path).finished == ("row, seed 1", "row, seed 2")
    more = jobs({"row": note}, [1, 2, 3])
    assert sweep(more, tmp_path).finished == ("row, seed 1", "row, seed 2", "row, seed 3")
    assert [calls(job_folder(tmp_path, job)) for job in more] == [1, 1, 1]


def test_a_worker_that_dies_loses_nothing(tmp_path: Path) -> None:
    lines: list[str] = []
    todo = jobs({"row": die_once}, [1, 2, 3, 4])
    swept = sweep(todo, tmp_path, say=lines.append)
    assert swept == (tuple(job.name for job in todo), {})
    assert calls(job_folder(tmp_path, todo[1])) == 2
    assert any("a worker died" in line for line in lines)


def test_a_job_that_fails_stops_no_other_and_is_named(tmp_path: Path) -> None:
    todo = [Job("bad", fail, {"seed": 7}), *jobs({"row": note}, [1, 2])]
    swept = sweep(todo, tmp_path)
    assert swept.finished == ("row, seed 1", "row, seed 2")
    assert swept.failed == {"bad": "ValueError: no luck with 7"}
    assert "no luck with 7" in (tmp_path / "bad" / "failed.json").read_text()
    assert calls(tmp_path / "bad") == 1


@pytest.mark.slow
def test_a_job_that_always_takes_its_worker_down_is_given_up(tmp_path: Path) -> None:
    swept = sweep([Job("deadly", die_always, {"seed": 1})], tmp_path)
    assert swept.finished == ()
    assert swept.failed == {"deadly": "its worker died 3 times"}


@pytest.mark.slow
def test_a_dask_cluster_loses_nothing_with_a_worker_killed(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed; pip install 'gluebench[sweep]'")
    todo = jobs({"row": die_once}, [1, 2, 3, 4])
    swept = sweep(todo, tmp_path, backend="dask")
    assert swept == (tuple(job.name for job in todo), {})
    assert [calls(job_folder(tmp_path, job)) for job in todo][1] == 2


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_a_sweep_says_so_and_a_rerun_does_the_missing_runs(tmp_path: Path) -> None:
    sweep(jobs({"row": note}, [1]), tmp_path)
    todo = jobs({"row": note}, [1, 2])
    with pytest.raises(DataError, match=r"The backend ray needs ray, which is not installed"):
        sweep(todo, tmp_path, backend="ray")
    assert sweep(todo, tmp_path).finished == ("row, seed 1", "row, seed 2")
    assert calls(job_folder(tmp_path, todo[0])) == 1


def test_two_jobs_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two jobs have one name"):
        sweep([*jobs({"row": note}, [1]), *jobs({"row": note}, [1])], tmp_path)


@pytest.mark.slow
def test_a_ray_cluster_loses_nothing_with_a_worker_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed; pip install 'gluebench[ray]'")
    todo = jobs({"row": die_once}, [1, 2, 3, 4])
    lines: list[str] = []
    swept = sweep(todo, tmp_path, backend="ray", say=lines.append)
    assert swept == (tuple(job.name for job in todo), {}), lines
    assert [calls(job_folder(tmp_path, job)) for job in todo] == [1, 2, 1, 1]
