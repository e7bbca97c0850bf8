"""The pages for contributors: each is followed to the letter, and what it adds works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from docs.walking import ROOT, blocks, copy_of_the_repository, edit, files_of, follow
from outside import environment

from gluebench.benchmark import load_benchmark

PAGES = ROOT / "docs/contribute"
FILES = {"metric": 8, "task": 2, "benchmark": 2, "encoder": 4, "submission-field": 2, "page": 6}
"""Files that each page writes or edits by hand."""


def page(name: str) -> Path:
    return next(PAGES.glob(f"adding-a*-{name}.md"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the repository that a page may change."""
    return copy_of_the_repository(tmp_path / "repository")


@pytest.mark.parametrize("name", FILES)
def test_every_edit_of_a_page_fits_the_code(name: str, tmp_path: Path) -> None:
    """The short form of the walks below: edits find their lines, and the resulting code can be read."""
    for block in blocks(page(name)):
        if not block.file:
            continue
        file = tmp_path / block.file
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() and (ROOT / block.file).exists():
            file.write_bytes((ROOT / block.file).read_bytes())
        elif block.appends:
            file.touch()
        edit(file, block)
        if file.suffix == ".py":
            compile(file.read_text(), file.name, "exec")
        elif file.suffix == ".toml" and not block.appends:
            tomllib.loads(file.read_text())
    assert len(files_of(page(name))) == FILES[name]


@pytest.mark.slow
def test_adding_a_benchmark_and_a_task(copy: Path) -> None:
    """In the order in which the second page goes on from the first."""
    follow(page("benchmark"), copy, copy / "src")
    printed = follow(page("task"), copy, copy / "src")
    made = load_benchmark(copy / "mood/mood.toml")
    assert [task.name for task in made.scored] == ["Mood", "Alike"]
    assert "macro-average of 2 tasks" in " ".join(printed.split())
    assert list((copy / "site").rglob("Mood.tsv")), "the site has the gold labels"


@pytest.mark.slow
def test_adding_a_metric(copy: Path) -> None:
    assert "2 passed" in follow(page("metric"), copy, copy / "src")
    lint(copy, "metric")
    program = (
        "from scipy.stats import gmean\n"
        "from sklearn.metrics import recall_score\n"
        "import gluebench\n"
        "from gluebench.scoring import measure\n"
        "gold = ['good'] * 90 + ['bad'] * 30\n"
        "predicted = ['good'] * 80 + ['bad'] * 10 + ['good'] * 12 + ['bad'] * 18\n"
        "report = gluebench.grade({'Mood': predicted}, 'gold', benchmark='built-in.toml')\n"
        "score = report.tasks['Mood'].metrics['g_mean']\n"
        "assert abs(score.value - gmean(recall_score(gold, predicted, average=None))) < 1e-12\n"
        "assert abs(measure('g_mean', gold, predicted) - score.value) < 1e-12\n"
        "assert score.low < score.value < score.high\n"
    )
    manifest = (copy / "mood.toml").read_text().replace("g_recall", "g_mean")
    (copy / "built-in.toml").write_text(manifest)
    run(copy, "-c", program)


@pytest.mark.slow
def test_adding_an_encoder(copy: Path) -> None:
    pytest.importorskip("torch")
    printed = follow(page("encoder"), copy, copy / "src")
    scores = [line for line in printed.splitlines() if re.match(r"WNLI +acc", line)]
    assert len(scores) == 2, "both ways are probed"
    assert "7 passed" in printed
    lint(copy, "encoder")


@pytest.mark.slow
def test_adding_a_submission_field(copy: Path, tmp_path: Path) -> None:
    follow(page("submission-field"), copy, copy / "src")
    lint(copy, "submission-field")
    places = json.loads(
        run(copy, str(copy / "tests/docs/field_site.py"), str(tmp_path / "site")).splitlines()[-1]
    )
    assert places.pop("refused") == "422"
    assert {name for name, content in places.items() if "energy" not in content.lower()} == set()
    assert {name for name, content in places.items() if "12.5" in content} == {
        "page",
        "JSON view",
        "API",
        "export",
    }
    assert "12.5 kWh" in places["page"]
    assert "What the training took from the grid." in places["form"]


@pytest.mark.slow
def test_adding_a_page(copy: Path) -> None:
    printed = follow(page("page"), copy, copy / "src")
    assert "passed" in printed
    assert "failed" not in printed
    lint(copy, "page")


def lint(copy: Path, name: str) -> None:
    """Whether what the page has you write keeps the project's style."""
    files = [
        file for file in files_of(page(name)) if file.startswith(("src/", "tests/")) and file.endswith(".py")
    ]
    for command in (["check"], ["format", "--check"]):
        run(copy, "-m", "ruff", *command, *files)


def run(copy: Path, *arguments: str) -> str:
    """What Python prints in the copy, with its gluebench and its tests on the path."""
    path = os.pathsep.join([str(copy / "src"), str(copy / "tests")])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
