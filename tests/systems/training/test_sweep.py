"""Sweeps: whoever dies, what is finished stays finished, the rest is done, and nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from systems.training.swept import (
    calls,
    count_up,
    die_always,
    die_once,
    fail,
    note,
    show_device,
    train_slowly,
)

from gluebench.data import DataError
from gluebench.systems.training import claims
from gluebench.systems.training.sweep import Job, Place, attempt, job_folder, jobs, sweep

QUICK = Place(workers=2, lease=2.0, poll=0.1)


@pytest.fixture(autouse=True, scope="module")
def importable_in_processes() -> Iterator[None]:
    """Other processes import the jobs' module by its name, wherever the tests were started."""
    tests, source = Path(__file__).resolve().parents[2], Path(__file__).resolve().parents[3] / "src"
    with pytest.MonkeyPatch.context() as patched:
        paths = [str(source), str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
        patched.setenv("PYTHONPATH", os.pathsep.join(paths))
        yield


def test_rows_times_seeds_in_their_order() -> None:
    found = jobs({"one": note, "two": note}, [1, 2])
    assert [job.name for job in found] == ["one, seed 1", "one, seed 2", "two, seed 1", "two, seed 2"]
    assert found[1].options == {"seed": 2}


def test_finished_runs_stay_a_dead_one_starts_again_and_a_failed_one_stops_no_other(tmp_path: Path) -> None:
    attempt(Job("row, seed 1", note, {"seed": 1}), tmp_path)
    lines: list[str] = []
    todo = [*jobs({"row": die_once}, [1, 2, 3]), Job("bad", fail, {"seed": 7})]
    swept = sweep(todo, tmp_path, QUICK, say=lines.append)
    assert swept.finished == ("row, seed 1", "row, seed 2", "row, seed 3")
    assert swept.failed == {"bad": "ValueError: no luck with 7"}
    assert "no luck with 7" in (tmp_path / "bad" / "failed.json").read_text()
    assert [calls(job_folder(tmp_path, job)) for job in todo] == [1, 2, 1, 1]
    assert "row, seed 2: its process died (start 1 of 3)" in lines


def test_two_jobs_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two jobs have one name"):
        sweep([*jobs({"row": note}, [1]), *jobs({"row": note}, [1])], tmp_path)


@pytest.mark.slow
def test_a_job_whose_process_always_dies_is_given_up(tmp_path: Path) -> None:
    swept = sweep([Job("deadly", die_always, {"seed": 1})], tmp_path, QUICK)
    assert swept == ((), {"deadly": "its process died 3 times"})
    assert calls(tmp_path / "deadly") == 3


@pytest.mark.slow
def test_each_worker_has_its_device(tmp_path: Path) -> None:
    place = Place(workers=2, devices=("4", "7"), poll=0.1)
    todo = jobs({"row": show_device}, [1, 2])
    sweep(todo, tmp_path, place)
    assert [(job_folder(tmp_path, job) / "device.txt").read_text() for job in todo] == ["4", "7"]


def test_a_claim_is_one_processs_until_it_ends_or_lets_go(tmp_path: Path) -> None:
    first = claims.claim_job(tmp_path)
    assert first is not None
    assert claims.is_held(tmp_path)
    assert claims.claim_job(tmp_path) is None
    first.release()
    second = claims.claim_job(tmp_path)
    assert second is not None
    assert (first.current(), second.current()) == (False, True)


def holder(folder: Path, **changes: Any) -> Path:
    """A claim like one of this process, with some of its fields changed."""
    claim = claims.claim_job(folder)
    assert claim is not None
    claim.path.write_text(json.dumps({**json.loads(claim.path.read_text()), **changes}))
    return claim.path


@pytest.mark.parametrize(
    ("changes", "age", "held"),
    [
        ({"pid": 2**22 + 1}, 0, False),  # a process of this machine that has ended
        ({"started": "1"}, 0, False),  # its number is another process's now
        ({}, 9999, True),  # this machine's processes need no heartbeat
        ({"machine": "another"}, 0, True),
        ({"machine": "another"}, 9999, False),
        ({"machine": "another", "job": "7_1", "restart": "1"}, 0, True),
        ({"machine": "another", "job": "7_1", "restart": "0"}, 0, False),  # Slurm's second start of 7_1
        ({"machine": "another", "job": "7_2", "restart": "0"}, 0, True),
    ],
)
def test_whose_claim_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], age: float, held: bool
) -> None:
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "7")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "1")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    path = holder(tmp_path, **changes)
    then = time.time() - age
    os.utime(path, (then, then))
    assert claims.is_held(tmp_path) == held


def test_a_claim_cut_short_is_over_after_the_lease(tmp_path: Path) -> None:
    path = holder(tmp_path)
    path.write_text('{"machine": ')
    assert claims.is_held(tmp_path)
    os.utime(path, (1e9, 1e9))
    assert not claims.is_held(tmp_path)


def test_of_many_that_see_a_dead_claim_one_wins(tmp_path: Path) -> None:
    """Also if all of them have looked before the first acts: the number they saw is the one they follow."""
    holder(tmp_path, pid=2**22 + 1)
    child = "import sys; from pathlib import Path; from gluebench.systems.training.claims import claim_job\n"
    child += "sys.stdin.readline(); print(claim_job(Path(sys.argv[1])) is not None); sys.stdin.readline()"
    pipe = subprocess.PIPE
    racers = [
        subprocess.Popen([sys.executable, "-c", child, tmp_path], stdin=pipe, stdout=pipe, text=True)
        for _ in range(3)
    ]
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("\n")
        racer.stdin.flush()
    won = [racer.stdout.readline().strip() for racer in racers if racer.stdout]
    for racer in racers:
        racer.communicate("\n")
    assert sorted(won) == ["False", "False", "True"]


LAUNCH = """
import sys
from pathlib import Path
from gluebench.systems.training.sweep import Place, jobs, sweep
from systems.training import swept
if __name__ == "__main__":
    place = Place(workers=2, lease=2.0, poll=0.1)
    run = getattr(swept, sys.argv[3])
    sweep(jobs({"row": run}, range(int(sys.argv[2]))), Path(sys.argv[1]), place)
"""


def launch(folder: Path, number: int, run: str = "count_up") -> subprocess.Popen[str]:
    script = folder.parent / "launch.py"
    script.write_text(LAUNCH)
    command = [sys.executable, script, folder, str(number), run]
    # A process that a shell runs in the background is deaf to Ctrl-C.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(
        command, start_new_session=True, preexec_fn=heed, stderr=subprocess.DEVNULL, text=True
    )


def results(folder: Path) -> dict[str, str]:
    return {path.parent.name: path.read_text() for path in folder.glob("*/result.txt")}


def check_all_done_once(folder: Path, number: int) -> None:
    assert sorted(path.parent.name for path in folder.glob("*/done.json")) == sorted(results(folder))
    assert not list(folder.glob("*/failed.json"))
    assert results(folder) == {f"row, seed {seed}": str(seed * 8) for seed in range(number)}


def test_two_launchers_at_once_run_each_job_once(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    folder.mkdir()
    launchers = [launch(folder, 3) for _ in range(2)]
    assert [launcher.wait(120) for launcher in launchers] == [0, 0]
    check_all_done_once(folder, 3)


@pytest.mark.slow
def test_a_hundred_kills_of_launchers_and_jobs_lose_and_repeat_nothing(tmp_path: Path) -> None:
    # Each job takes 0.8 s on any machine, and four run at once: more than the time of a hundred kills.
    folder, number, chance = tmp_path / "sweep", 160, random.Random(27)
    folder.mkdir()
    launchers = [launch(folder, number) for _ in range(2)]
    kills = 0
    while kills < 100:
        time.sleep(chance.uniform(0.05, 0.6))
        launchers = [launch(folder, number) if each.poll() is not None else each for each in launchers]
        holders = [json.loads(path.read_text() or "{}") for path in folder.glob("*/claim-*.json")]
        alive = [
            each["pid"] for each in holders if each and claims._start_time(each["pid"]) == each["started"]
        ]
        if alive and chance.random() < 0.7:
            with suppress(ProcessLookupError):  # it has ended since
                os.kill(chance.choice(alive), signal.SIGKILL)
        else:  # without its jobs, which end when they see it
            chance.choice(launchers).kill()
        kills += 1
        assert len(results(folder)) < number or kills > 90
    for launcher in launchers:
        launcher.wait(300)
    assert launch(folder, number).wait(300) == 0
    check_all_done_once(folder, number)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_is_ended_at_random_moments_comes_to_the_same_weights(
    tmp_path: Path, number: signal.Signals
) -> None:
    """As a terminal ends it, with its jobs; SIGKILL may lose the update that was not yet saved."""
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install 'gluebench[train]'")
    folder, seeds, chance = tmp_path / "sweep", 3, random.Random(number)
    folder.mkdir()
    ended = 0
    while ended < 5:
        before = lines(folder)
        launcher = launch(folder, seeds, "train_slowly")
        while launcher.poll() is None and lines(folder) == before:  # until a job trains
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 0.4))
        assert launcher.poll() is None, "the sweep was done too early"
        os.killpg(launcher.pid, number)
        launcher.wait(60)
        ended += 1
    assert launch(folder, seeds, "train_slowly").wait(300) == 0
    for seed in range(seeds):
        job, alone = folder / f"row, seed {seed}", tmp_path / f"alone-{seed}"
        alone.mkdir()
        train_slowly(alone, seed=seed, seconds=0)
        updates = [int(line) for line in (job / "updates.txt").read_text().split()]
        repeated = len(updates) - len(set(updates))
        assert sorted(set(updates)) == list(range(1, 37))
        assert repeated == 0 if number == signal.SIGINT else repeated <= 5
        assert all(later >= earlier for earlier, later in pairwise(updates))  # never back by more than one
        assert (job / "run" / "log.csv").read_bytes() == (alone / "run" / "log.csv").read_bytes()
        (weights,) = (alone / "run").glob("best-*.safetensors")
        assert (job / "run" / weights.name).read_bytes() == weights.read_bytes()


def lines(folder: Path) -> int:
    """Updates of all jobs so far."""
    return sum(len(path.read_text().splitlines()) for path in folder.glob("*/updates.txt"))


def missing(package: str) -> bool:
    return find_spec(package) is None


@pytest.mark.parametrize(
    ("backend", "package", "extra"),
    [("slurm", "submitit", "sweep"), ("dask", "distributed", "sweep"), ("ray", "ray", "ray")],
)
def test_a_backend_that_is_not_installed_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: Any, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    expected = (
        rf"backend {backend} needs {package}, which is not installed: pip install 'gluebench\[{extra}\]'"
    )
    with pytest.raises(DataError, match=expected):
        sweep(jobs({"row": note}, [1]), tmp_path, Place(backend))


@pytest.mark.slow
@pytest.mark.skipif(missing("submitit"), reason="submitit is not installed; pip install 'gluebench[sweep]'")
def test_a_job_array_by_submitits_local_executor_starts_a_dead_job_again(tmp_path: Path) -> None:
    todo = [*jobs({"row": die_once}, [1, 2, 3]), Job("bad", fail, {"seed": 7})]
    submit = {"cluster": "local", "timeout_min": 5}
    swept = sweep(todo, tmp_path, Place("slurm", submit=submit, lease=2.0, poll=0.1))
    assert swept.finished == tuple(job.name for job in todo[:3])
    assert swept.failed == {"bad": "ValueError: no luck with 7"}
    assert [calls(job_folder(tmp_path, job)) for job in todo] == [1, 2, 1, 1]


@pytest.mark.slow
@pytest.mark.skipif(missing("submitit"), reason="submitit is not installed; pip install 'gluebench[sweep]'")
def test_a_preempted_job_is_put_back_and_goes_on(tmp_path: Path) -> None:
    import submitit

    from gluebench.systems.training.sweep import _Cell

    job = Job("long", count_up, {"seed": 3})
    executor = submitit.LocalExecutor(tmp_path / "slurm", max_num_timeout=2)
    executor.update_parameters(timeout_min=5)
    submitted = executor.submit(_Cell(job, tmp_path, 1.0))
    while not (tmp_path / "long" / "count.txt").exists():
        time.sleep(0.01)
    submitted._interrupt()
    submitted.result()
    sweep([job], tmp_path, QUICK)
    assert (tmp_path / "long" / "result.txt").read_text() == "24"
    assert (tmp_path / "long" / "done.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_loses_nothing_with_a_worker_killed(tmp_path: Path, backend: Any, package: str) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed; pip install 'gluebench[sweep,ray]'")
    todo = jobs({"row": die_once}, [1, 2, 3, 4])
    lines: list[str] = []
    swept = sweep(todo, tmp_path, Place(backend, workers=2, lease=2.0, poll=0.1), say=lines.append)
    assert swept == (tuple(job.name for job in todo), {}), lines
    assert [calls(job_folder(tmp_path, job)) for job in todo] == [1, 2, 1, 1]
