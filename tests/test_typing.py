"""The types that a user's project sees: mypy over a file that uses gluebench, with no settings of ours but
one: mypy does not read large packages of which no public type is made."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gluebench

pytest.importorskip("mypy", reason="mypy is not installed; the dev extra brings it")
HERE = Path(__file__).resolve().parent
SOURCE = Path(gluebench.__file__).parents[1]
SETTINGS = "[mypy]\n[mypy-torch.*,IPython.*,matplotlib.*]\nfollow_imports = skip\n"


def test_the_public_names_have_the_types_that_users_rely_on(tmp_path: Path) -> None:
    """Both files in one run, with a cache: later runs take a third of the first's time."""
    names = sorted(set(gluebench.__all__) - {"__version__"})
    revealed = "\n".join(["import gluebench", *(f"reveal_type(gluebench.{name})" for name in names)])
    (tmp_path / "revealed.py").write_text(revealed + "\n")
    (tmp_path / "surface.py").write_text((HERE / "typing_surface.py").read_text())
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    cache = HERE.parent / ".mypy_cache" / "surface"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=mypy.ini", f"--cache-dir={cache}"]
    done = subprocess.run(
        [*command, "--follow-imports=silent", "--ignore-missing-imports", "revealed.py", "surface.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    types = dict(re.findall(r'revealed.py:(\d+): note: Revealed type is "(.*)"', done.stdout))
    assert [line for line in done.stdout.splitlines() if "error:" in line] == []
    assert len(types) == len(names), done.stdout + done.stderr
    unknown = [names[int(line) - 2] for line, type_ in types.items() if type_ == "Any"]
    assert unknown == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(gluebench.__file__).parent / "py.typed").is_file()
