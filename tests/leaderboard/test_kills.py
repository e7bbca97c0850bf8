"""kill -9 around each statement of taking a submission in and of grading it: none lost, none scored twice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from leaderboard.material import MANIFEST, PREDICTIONS, tsv, write_copy, write_gold, zip_bytes
from leaderboard.served import new_site

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.benchmarks.adding import digest_of
from gluebench.scoring import grade, read_gold
from gluebench.scoring.feedback import rounded_report
from gluebench.submission import check

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, gold_folder: Path) -> dict[str, str]:
    """Of a site in a folder of its own, with the tiny benchmark."""
    site = tmp_path_factory.mktemp("killed") / "site"
    new_site(site)
    code = "from gluebench.leaderboard import commands; import sys; commands.add(*sys.argv[1:])"
    found = {**os.environ, "GLUEBENCH_SITE": str(site), "PYTHONPATH": f"{SOURCE}:{Path(__file__).parents[1]}"}
    found.pop("GLUEBENCH_DATABASE", None)  # the site's own SQLite, also where the suite runs on another
    command = [sys.executable, "-c", code, str(site), str(MANIFEST), str(gold_folder)]
    done = subprocess.run(command, env=found, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return found


def killed(environment: dict[str, str], act: str, points: list[int]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "leaderboard.kills", act, *map(str, points)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge(outcome: dict[str, Any]) -> None:
    assert outcome["open"] == 0, outcome
    assert outcome["files"] == outcome["rows"], outcome
    assert set(outcome["statuses"]) <= {"graded"}, outcome
    assert all(number == 1 for number in outcome["results"]), outcome
    if outcome["act"] == "grade":
        assert outcome["rows"] == 1, outcome
    elif not outcome["killed"]:
        assert outcome["rows"] == 1, "it was answered"


@pytest.mark.parametrize(("act", "points"), [("accept", [2, -2, -99]), ("grade", [4, -4, 8])])
def test_a_kill_loses_nothing_and_scores_nothing_twice(
    environment: dict[str, str], act: str, points: list[int]
) -> None:
    found = killed(environment, act, points)
    for outcome in found:
        judge(outcome)
    assert any(outcome["killed"] for outcome in found)


@pytest.mark.slow
@pytest.mark.parametrize("act", ["accept", "grade"])
def test_a_kill_at_every_statement_ten_times(environment: dict[str, str], act: str) -> None:
    points = [sign * number for number in range(1, 25) for sign in (1, -1)]
    seen: set[int] = set()
    for _ in range(10):
        for outcome in killed(environment, act, points):
            judge(outcome)
            if outcome["killed"]:
                seen.add(outcome["point"])
        points = sorted(seen)  # the others are beyond its last statement
    assert len(seen) >= (8 if act == "accept" else 18), seen


ELSEWHERE = """
import sys; from datetime import timedelta
from gluebench.leaderboard import commands
commands.open_site(sys.argv[1], ready=False)
from django.utils import timezone
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.phases.models import Phase
from pathlib import Path
Benchmark.objects.update(added=timezone.now() - timedelta(days=9))
host = Benchmark.objects.get(name=add_benchmark(sys.argv[2], Path(sys.argv[3])))
tiny = Benchmark.objects.get(name="tiny")
save_phase(Phase(benchmark=host, name="Elsewhere", opens=timezone.now() - timedelta(days=1), tasks_of=tiny))
"""


@pytest.mark.slow
@pytest.mark.parametrize("act", ["accept", "grade", "relabel"])
def test_a_kill_loses_nothing_where_a_phase_uses_another_benchmark_s_labels(
    environment: dict[str, str], gold_folder: Path, tmp_path: Path, act: str
) -> None:
    site = tmp_path / "site"
    shutil.copytree(environment["GLUEBENCH_SITE"], site)
    manifest = write_copy(tmp_path / "host.toml")
    labels = [write_gold(tmp_path / name) for name in ("first", "second")]
    (labels[1] / "Para.tsv").write_text(tsv("000111", "label"))
    there = environment | {"GLUEBENCH_SITE": str(site), "LABELS": f"{labels[0]}:{labels[1]}"}
    command = [sys.executable, "-c", ELSEWHERE, str(site), str(manifest), str(labels[1])]
    done = subprocess.run(command, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    benchmark = load_benchmark(str(MANIFEST))
    file = tmp_path / "predictions.zip"
    file.write_bytes(zip_bytes(PREDICTIONS))
    expected = {}
    for folder in labels:
        report = grade(check(file, benchmark), read_gold(folder, benchmark))
        score = rounded_report(report, benchmark).score
        assert score is not None
        expected[digest_of(folder)] = score.value
    seen = set()
    for outcome in killed(there, act, [sign * number for number in range(1, 60, 3) for sign in (1, -1)]):
        if act != "relabel":
            judge(outcome)
        assert (outcome["open"], outcome["statuses"]) in ((0, ["graded"]), (0, [])), outcome
        assert set(outcome["values"]) <= {expected[outcome["labels"]]}, outcome
        if outcome["killed"]:
            seen.add(outcome["point"])
    assert len(seen) >= 8, seen
