"""Environments outside the tree: the wheel, or nothing, and with it only what an install line names."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSIDE = ("PYTHONPATH", "DJANGO_SETTINGS_MODULE", "GLUEBENCH_SITE")
OUTSIDE = {key: value for key, value in os.environ.items() if key not in INSIDE}
"""The environment of the processes there."""
CONSTRAINTS = ROOT / "constraints.txt"


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree, in a folder."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, env=OUTSIDE)
    return next(folder.glob("*.whl"))


def pip(folder: Path, *words: str | Path) -> str:
    """What pip prints when it works on the environment in a folder."""
    python = folder / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=OUTSIDE).stdout


def installed(wheel: Path, folder: Path, *options: str | Path, extra: str = "") -> Path:
    """The bin folder of a new environment with the wheel and its own requirements only."""
    venv.create(folder, with_pip=False)
    pip(folder, "install", "-qq", "--constraint", CONSTRAINTS, *options, f"{wheel}{extra}")
    return folder / "bin"
