"""The organizers' pages: every command of theirs is run, in order, in a copy of the example they use."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from outside import environment

from gluebench.analysis.lint.labels import DISAGREEMENTS, examples_needed, smallest_difference
from gluebench.benchmark import load_benchmark

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def commands(page: str) -> list[str]:
    return re.findall(
        r"^```sh\n(.*?)^```", (DOCS / "how-to" / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )


def run(page: str, home: Path, without: str = "nothing") -> str:
    """What the page's commands print, where all of them succeed; `gluebench` is this checkout's.

    Blocks of commands that begin with `without` are left out.
    """
    place = home / "german"
    shutil.copytree(DOCS / "example/german", place)
    tool = home / "bin/gluebench"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gluebench "$@"\n')
    tool.chmod(0o755)
    path = os.pathsep.join([str(tool.parent), os.environ["PATH"]])
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    blocks = [block for block in commands(page) if not block.startswith(without)]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)],
        cwd=place,
        env=environment(PATH=path, PYTHONPATH=source),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "without", ["gluebench leaderboard", pytest.param("nothing", marks=pytest.mark.slow)]
)
def test_from_csv_to_a_board(tmp_path: Path, without: str) -> None:
    said = run("organize.md", tmp_path, without)
    assert "Hotels" in said
    assert load_benchmark(tmp_path / "german/hotels/hotels.toml").task("Stimmung").splits["train"].size == 44
    assert "Nothing was written." not in said
    assert (tmp_path / "german/site").exists() == (without == "nothing")


@pytest.mark.slow
def test_a_benchmark_in_another_language(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    said = run("another-language.md", tmp_path)
    made = load_benchmark(tmp_path / "german/deutsch/deutsch.toml")
    assert [task.name for task in made.tasks] == ["Antwort", "Bezug", "Stimmung"]
    train = (tmp_path / "german/deutsch/data/Bezug/train.tsv").read_text("utf-8")
    assert "denn er ist zu groß.\tDer Koffer ist zu groß.\tja" in train
    assert "Built by the recipe wnli from schemata." in made.task("Bezug").notes
    graded = said[said.index("macro-average") :]
    assert re.search(r"50\.0", graded)
    assert "12 rows" in said


def test_the_table_of_test_sizes_is_what_the_formula_gives() -> None:
    page = (DOCS / "how-to" / "organize.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for count, *points in rows:
        found = [smallest_difference(int(count.replace(",", "")), share) for share in DISAGREEMENTS]
        assert [f"{100 * (each or 0):.1f}" for each in found] == points
    needed = [f"{examples_needed(0.01, share):,}" for share in DISAGREEMENTS]
    assert f"{needed[0]}, {needed[1]} or {needed[2]} rows" in page
