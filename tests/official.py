"""The official validator of Every Eval Ever, run from its wheel: it cannot be installed beside gluebench."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

PACKAGE = "every-eval-ever==0.3.0"
"""It needs Python 3.12 and an older huggingface_hub, but its validator does not."""


@cache
def _wheel() -> Path | None:
    folder = tempfile.mkdtemp(prefix="gluebench-wheel-")
    options = ["--quiet", "--no-deps", "--ignore-requires-python", "--only-binary", ":all:", "--dest", folder]
    command = [sys.executable, "-m", "pip", "download", "--retries", "0", "--timeout", "5", *options, PACKAGE]
    subprocess.run(command, capture_output=True, check=False)
    return next(Path(folder).glob("*.whl"), None)


def validate_records(folder: Path) -> str | None:
    """Check the schemas, the paths, and both files against each other; returns the report of a failure.

    Skips the test if the package cannot be downloaded.
    """
    wheel = _wheel()
    if wheel is None:
        pytest.skip(f"{PACKAGE} cannot be downloaded")
    files = [str(path.relative_to(folder)) for path in folder.rglob("*.json*")]
    done = subprocess.run(
        [sys.executable, "-m", "every_eval_ever.validate", *files],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(wheel), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    passed = f"{len(files)} passed, 0 warning-only, 0 failed" in done.stdout
    return None if passed and not done.returncode else done.stdout + done.stderr
