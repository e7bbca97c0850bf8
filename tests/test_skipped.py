"""The run of the tests ends with what was skipped, and why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_with_a_package(number):
    pytest.importorskip("no_such_package")

def test_with_a_device():
    pytest.skip("there is no GPU")

def test_itself():
    pass
"""


def test_the_last_line_counts_what_was_skipped_by_reason(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    (tmp_path / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-n", "2", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    expected = "4 skipped (3: no_such_package is not installed; 1: there is no GPU)"
    assert done.stdout.splitlines()[-1] == expected, done.stdout + done.stderr


def test_nothing_is_said_where_nothing_was_skipped(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    (tmp_path / "test_some.py").write_text("def test_itself():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "1 passed" in done.stdout.splitlines()[-1]
