"""Limits hold when many send at the same moment, on either database, and nothing is left lying about."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from leaderboard.material import MANIFEST, PREDICTIONS, tsv, write_gold, zip_bytes
from leaderboard.postgres import database
from leaderboard.race import INVITATION, LIMIT, POLICIES
from leaderboard.race_labels import SENT

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.benchmarks.adding import digest_of
from gluebench.leaderboard.keeping.folder import VARIABLE, SiteFolder
from gluebench.scoring import grade, read_gold
from gluebench.scoring.feedback import rounded_report
from gluebench.submission import check

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"


def race(home: Path, kind: str, trials: int, at_once: int, address: str = "") -> list[dict[str, Any]]:
    return run("race.py", home, address, kind, str(trials), str(at_once))


def run(program: str, home: Path, address: str, *arguments: str) -> list[dict[str, Any]]:
    """The lines of JSON that a program prints of a new site."""
    SiteFolder(home).create()
    environment = {
        **os.environ,
        VARIABLE: str(home),
        "DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings",
        "GLUEBENCH_DATABASE": address,
        "PYTHONPATH": f"{SOURCE}:{HERE.parent}",
    }
    done = subprocess.run(
        [sys.executable, str(HERE / program), *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def require_exact(results: list[dict[str, Any]], at_once: int) -> None:
    for result in results:
        assert result["said"] == ["refused"] * (at_once - LIMIT) + ["taken"] * LIMIT
        assert result["kept"] == {"rows": LIMIT, "tasks": LIMIT, "files": LIMIT, "orphans": 0}


@pytest.mark.slow
def test_a_day_s_limit_holds_when_many_send_at_once(tmp_path: Path) -> None:
    require_exact(race(tmp_path / "site", "day", trials=3, at_once=16), 16)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_an_invitation_admits_no_more_people_than_it_is_for(engine: str, tmp_path: Path) -> None:
    if engine == "sqlite":
        results = race(tmp_path / "site", INVITATION, trials=5, at_once=16)
    else:
        with database() as address:
            results = race(tmp_path / "site", INVITATION, trials=5, at_once=16, address=address)
    for result in results:
        assert result["said"] == ["refused"] * (16 - LIMIT) + ["taken"] * LIMIT
        assert result["kept"] == {"guests": LIMIT}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_labels_and_tasks_that_change_during_gradings_leave_the_scores_of_the_last(
    engine: str, tmp_path: Path
) -> None:
    folders = [write_gold(tmp_path / name) for name in ("first", "second")]
    (folders[1] / "Para.tsv").write_text(tsv("000111", "label"))
    arguments = (str(MANIFEST), "30", *map(str, folders))
    if engine == "sqlite":
        (left,) = run("race_labels.py", tmp_path / "site", "", *arguments)
    else:
        with database() as address:
            (left,) = run("race_labels.py", tmp_path / "site", address, *arguments)
    assert left["ended"] == [0] * 5
    part = tmp_path / "part.toml"
    part.write_text(f'[benchmark]\nname = "part"\nextends = "{MANIFEST}"\ntasks = {left["tasks"]}\n')
    benchmark = load_benchmark(str(part if left["tasks"] else MANIFEST))
    (folder,) = {folder for folder in folders if digest_of(folder) == left["labels"]}
    file = tmp_path / "predictions.zip"
    file.write_bytes(zip_bytes(PREDICTIONS))
    score = rounded_report(grade(check(file, benchmark), read_gold(folder, benchmark)), benchmark).score
    assert score is not None
    assert left["rows"] == [["graded", "", score.value]] * SENT


@pytest.mark.slow
@pytest.mark.parametrize("kind", POLICIES)
def test_no_limit_is_ever_passed_on_sqlite(kind: str, tmp_path: Path) -> None:
    results = race(tmp_path / "site", kind, trials=50, at_once=64)
    assert len(results) == 50
    require_exact(results, 64)


@pytest.mark.slow
@pytest.mark.parametrize("kind", POLICIES)
def test_no_limit_is_ever_passed_on_postgresql(kind: str, tmp_path: Path) -> None:
    with database() as address:
        results = race(tmp_path / "site", kind, trials=50, at_once=64, address=address)
    assert len(results) == 50
    require_exact(results, 64)
