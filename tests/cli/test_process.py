"""The command as a process of its own: what it imports, how it leaves, what it prints to a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gluebench.cli import COMMANDS, main

HEAVY = {"scipy", "sklearn", "pandas", "pyarrow", "torch", "django"}
PROBE = """
import json, sys
from gluebench.cli import main
try:
    main({words!r}, prog_name="gluebench")
except SystemExit as end:
    code = end.code
names = sorted({{name.partition(".")[0] for name in sys.modules}} | set(sys.modules))
print(json.dumps([code, names]), file=sys.stderr)
"""

HELP = """
import json, sys
from gluebench.cli import main
bad = {{}}
for name in {names}:
    try:
        main([name, "--help"], prog_name="gluebench")
    except SystemExit as end:
        loaded = {heavy} & {{module.partition(".")[0] for module in sys.modules}}
        if end.code or loaded:
            bad[name] = [end.code, sorted(loaded)]
print(json.dumps(bad), file=sys.stderr)
"""
"""Prints which commands fail to show their help, or had loaded one of the heavy modules by then."""


def probe(*words: object) -> tuple[int, set[str]]:
    """Exit code of the command and the modules that were loaded by its end."""
    code = PROBE.format(words=[str(word) for word in words])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, set(names)


def command(*words: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gluebench", *map(str, words)], capture_output=True, text=True, **options
    )


def test_help_imports_no_numpy_and_no_room():
    code, loaded = probe("--help")
    assert code == 0
    assert not loaded & {*HEAVY, "numpy", "gluebench.submission", "gluebench.scoring", "gluebench.analysis"}


def test_the_help_of_each_command_imports_no_numpy():
    code = HELP.format(names=sorted(COMMANDS), heavy={*HEAVY, "numpy"})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stderr.splitlines()[-1]) == {}


def test_a_site_is_set_up_without_torch(tmp_path):
    """Its installation has none, and every process of a site would take seconds longer to start."""
    django = "import django, json, sys; django.setup(); print(json.dumps(sorted(sys.modules)))"
    site = {"GLUEBENCH_SITE": str(tmp_path), "DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings"}
    done = subprocess.run(
        [sys.executable, "-c", django], capture_output=True, text=True, check=True, env=os.environ | site
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "django" in loaded
    assert not loaded & {"torch", "sklearn", "pandas", "matplotlib"}


def test_check_imports_nothing_heavy(world):
    code, loaded = probe("check", world.right, "--benchmark", world.manifest)
    assert code == 0
    assert not loaded & {*HEAVY, "numpy", "gluebench.scoring"}


def test_grading_without_intervals_needs_no_numpy(world):
    code, loaded = probe(
        "grade", world.right, "--gold", world.gold, "--no-intervals", "--benchmark", world.manifest
    )
    assert code == 0
    assert not loaded & {*HEAVY, "numpy", "gluebench.analysis"}


def test_grading_and_comparing_need_numpy_alone(world):
    for words in (("grade", world.right), ("compare", world.right, world.worse)):
        code, loaded = probe(*words, "--gold", world.gold, "--benchmark", world.manifest)
        assert code == 0
        assert not loaded & HEAVY


def test_the_module_runs_as_the_command():
    done = command("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("gluebench, version ")


def test_a_reader_of_the_pipe_that_leaves_early_is_no_error_on_the_screen():
    done = subprocess.run(
        f"{sys.executable} -m gluebench benchmark show --json | head -c 1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "{"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_there(shell):
    if shell == "bash" and not os.path.exists("/bin/bash"):
        pytest.skip("bash completion asks bash for its version")
    result = CliRunner().invoke(main, env={"_GLUEBENCH_COMPLETE": f"{shell}_source"}, prog_name="gluebench")
    assert "_GLUEBENCH_COMPLETE" in result.stdout


def test_piped_output_has_no_color():
    assert "\x1b" not in command("benchmark", "show").stdout


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("extra", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_color_is_for_terminals_that_want_it(extra, colored):
    import pty

    controller, terminal = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    env |= {"TERM": "xterm", "COLUMNS": "60", **extra}
    words = [sys.executable, "-m", "gluebench", "benchmark", "list"]
    done = subprocess.Popen(words, stdout=terminal, env=env)
    os.close(terminal)
    text = b""
    while True:
        try:
            part = os.read(controller, 4096)
        except OSError:  # how a closed terminal ends on Linux
            break
        if not part:
            break
        text += part
    os.close(controller)
    assert done.wait() == 0
    assert (b"\x1b[1m" in text) is colored


def test_the_leaderboard_without_its_packages_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "django", None)
    result = CliRunner().invoke(main, ["leaderboard", "init", "--site", str(tmp_path)])
    assert result.exit_code == 1
    assert "pip install 'gluebench[leaderboard]'" in result.stderr


def test_the_leaderboards_commands_are_called_with_what_was_typed(monkeypatch, tmp_path):
    called = []

    class Room:
        def __getattr__(self, name):
            return lambda *words, **options: called.append((name, *words, options))

    monkeypatch.setattr("gluebench.cli.leaderboard.site.commands", Room())
    monkeypatch.setattr("gluebench.leaderboard.demo.demo", Room().demo)
    site, gold = str(tmp_path / "site"), str(tmp_path)
    (tmp_path / "site").mkdir()
    typed = [["add", "glue", "--gold", gold], ["serve", "--port", "9"], ["demo"]]
    for words in typed:
        assert CliRunner().invoke(main, ["leaderboard", *words, "--site", site]).exit_code == 0
    assert called == [
        ("add", site, "glue", gold, None, None, {}),
        ("serve", site, ("127.0.0.1", 9), {"change": True}),
        ("demo", site, {"host": "127.0.0.1", "port": 8000}),
    ]


def test_a_fault_of_the_program_is_not_passed_off_as_the_users(monkeypatch):
    def fault(_name):
        raise ValueError("a fault")

    monkeypatch.setattr("gluebench.cli.common.option.load_benchmark", fault)
    result = CliRunner().invoke(main, ["benchmark", "show"])
    assert isinstance(result.exception, ValueError)
