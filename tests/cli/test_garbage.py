"""Garbage collection is off for commands that end at once, and on for all that run for long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from outside import environment

from gluebench.cli import COMMANDS

SHORT = {"benchmark", "check", "compare", "grade", "write"}
STATES = """
import gc, importlib, sys
sys.argv = ["gluebench"]
import gluebench.__main__ as program
for words in [[], ["--help"], ["--version"], *([word] for word in sys.stdin.read().split())]:
    gc.enable()
    sys.argv = ["gluebench", *words]
    importlib.reload(program)
    print(*words, gc.isenabled())
"""
AT_THE_END = """
import atexit, gc, runpy, sys
atexit.register(lambda: print("collecting:", gc.isenabled(), file=sys.stderr))
sys.argv = ["gluebench", *sys.argv[1:]]
runpy.run_module("gluebench", run_name="__main__")
"""


def python(code: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, env=environment(), input=given, capture_output=True, text=True)


def test_only_short_commands_go_without() -> None:
    done = python(STATES, given=" ".join(COMMANDS))
    assert done.returncode == 0, done.stderr
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    states = {words: state == "True" for words, _, state in lines}
    short = {"", "--help", "--version"} | SHORT
    assert {words for words, is_on in states.items() if not is_on} == short
    assert states.keys() == short | COMMANDS.keys()


@pytest.mark.parametrize("command", ["run", "mcp", "train", "check"])
def test_a_command_that_runs_for_long_collects(command: str, tmp_path: Path) -> None:
    """The state in which the program ends, since a command could switch it on its way."""
    words = {
        "run": [
            "system:majority",
            "--benchmark",
            "sample",
            "--data",
            "none",
            "--out",
            str(tmp_path / "a.zip"),
        ],
        "mcp": [],
        "train": ["--help"],
        "check": ["--help"],
    }
    if command == "mcp":
        pytest.importorskip("mcp")
    done = python(AT_THE_END, command, *words[command])
    assert f"collecting: {command not in SHORT}" in done.stderr


def test_what_a_long_command_leaves_is_freed() -> None:
    """A command that is not short, in the program itself: cycles do not add up."""
    code = """
import sys
sys.argv = ["gluebench", "train", "--help"]
import gluebench.__main__, weakref
class Cycle:
    def __init__(self): self.own = self
left = []
for _ in range(100_000):
    left = [alive for alive in left if alive() is not None] if len(left) > 5000 else left
    left.append(weakref.ref(Cycle()))
print(sum(alive() is not None for alive in left))
"""
    done = python(code)
    assert int(done.stdout) < 10_000, done.stderr
