"""The worked example of docs/how-to/wnli.md, as a reader would follow it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from gluebench import load
from gluebench.cli import main

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "how-to" / "wnli.md").read_text(encoding="utf-8")
EXAMPLE = PAGE[PAGE.index("## In another language") :]


def block(pattern: str) -> str:
    found = re.search(rf"```{pattern}```", EXAMPLE, re.DOTALL)
    assert found
    return found.group(1)


def test_the_worked_example_gives_the_table_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLUEBENCH_DATA", str(tmp_path / "data"))
    Path("schemata").mkdir()
    Path("schemata/bezug.jsonl").write_text(block("json\n(.*?)"), encoding="utf-8")
    Path("bezug.toml").write_text(block("toml\n(.*?)"), encoding="utf-8")
    command = shlex.split(block("sh\ngluebench (.*?)").replace("\\\n", " "))
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    rows = [
        [split, *row.inputs.values(), row.label]
        for split in ("train", "dev")
        for row in load("WNLI", split=split, benchmark="bezug.toml")
    ]
    assert rows == table()


def table() -> list[list[str]]:
    lines = [line for line in EXAMPLE.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
