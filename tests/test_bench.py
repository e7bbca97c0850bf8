"""Each script in bench/ runs in its smallest form, and none is forgotten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
IMPORTED = {"board_site", "material", "worlds"}
"""Modules of the scripts; board_site is run by board and slow."""
SMALLEST = {
    "decided_bits": "--labelings 60 --uploads 4",
    "ladder": "--uploads 3 --repetitions 1",
    "vectors": "",
}
"""The arguments of each script's smallest form, of about a second."""
LONG = {
    "audit": "--rounds 1",
    "board": "--entries 20 --seconds 1 --rounds 1 --no-browser",
    "calibration": "--worlds 1 --resamples 20 --only macro",
    "deadline": "--people 3 --seconds 3 --after 1 --minutes 1",
    "forms": "--examples 20 --systems 2 --rounds 1",
    "grade": "--rounds 1",
    "load": "",
    "many": "--submissions 2 --singles 1",
    "permutation": "--rounds 1 --resamples 20",
    "prepare": "--rounds 1",
    "probe": "--share 0.002",
    "process": "--rounds 1",
    "qnli": "--rounds 1",
    "rank": "--systems 3 --more 4 --many 50 --units 500",
    "rank_coverage": "--worlds 4 --only 20",
    "rare": "--worlds 2 --rows 1000",
    "rows": "--small --updates 1 --batch 8",
    "slow": "--connections 8 --seconds 2 --entries 10",
    "soak": "--count 2 --full 1 --minutes 1 --clients 1",
    "step": "--rounds 1 --batches 1 --small",
}
"""Those whose smallest form takes longer."""
NEEDED = {"finetune": "a checkpoint", "mutate": "hours", "sharing": "prepared data"}
"""Those that cannot run by themselves, and what they need."""
SHOW_OPTIONS = """
import contextlib, io, runpy, sys
folder, *names = sys.argv[1:]
for name in names:
    sys.argv = [name, "--help"]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        runpy.run_path(f"{folder}/{name}.py", run_name="__main__")
    assert shown.getvalue().startswith(f"usage: {name}"), name
"""


def test_every_script_is_listed() -> None:
    listed = [*IMPORTED, *SMALLEST, *LONG, *NEEDED]
    assert sorted(listed) == sorted(path.stem for path in BENCH.glob("*.py"))


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(BENCH.parent / "src"), str(BENCH)])
    return {**os.environ, "PYTHONPATH": path, "GLUEBENCH_REAL": "", "GLUEBENCH_DATABASE": ""}


def run(name: str, arguments: str) -> None:
    command = [sys.executable, str(BENCH / f"{name}.py"), *arguments.split()]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    # Such a form may miss its goals, which a script says by its status; a fault has a traceback.
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.strip(), f"{name} printed nothing: {done.stderr}"


@pytest.mark.parametrize("name", SMALLEST)
def test_a_script_runs(name: str) -> None:
    run(name, SMALLEST[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_script_runs(name: str) -> None:
    run(name, LONG[name])


def test_scripts_that_are_not_run_by_default_show_their_options() -> None:
    """All in one process: their imports take most of the time."""
    names = [name for name, arguments in LONG.items() if arguments]
    command = [sys.executable, "-c", SHOW_OPTIONS, str(BENCH), *names, *NEEDED]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
