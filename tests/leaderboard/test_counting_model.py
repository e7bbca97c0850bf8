"""A plain model of what counts against the real site: every act, at every moment, in any order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import Phase as Stage
from leaderboard.counting_machine import Counting, World, focused, run
from leaderboard.counting_mutants import MUTANTS
from leaderboard.material import MANIFEST, tsv, write_gold

from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.phases.table import TABLE, ActError, Moment
from gluebench.leaderboard.apps.submissions import grading
from gluebench.leaderboard.serving import grader
from gluebench.scoring.gold import KEY_BYTES, KEY_FILE

STEPS = int(os.environ.get("GLUEBENCH_MODEL_STEPS", "100000"))
"""Steps of the long run, each an act and a comparison."""
SPLIT = bytes([93]) * KEY_BYTES
"""Divides the rows so that the files have other orders on the public share than on the rest."""
MUTANT_STEPS = int(os.environ.get("GLUEBENCH_MUTANT_STEPS", "20000"))
OF_SENT = {*TABLE} - {"upload", "join", "leave", "merge", "extend", "move", "rule", "settle"}
"""Acts on something that was sent: before a phase there is nothing."""


def labels_of(folder: Path, para: str) -> Path:
    """The labels of all tasks, of one of them these."""
    write_gold(folder)
    (folder / "Para.tsv").write_text(tsv(para, "label"))
    return folder


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Any) -> World:
    other = labels_of(tmp_path / "second", "011110")
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(f'[benchmark]\nname = "other"\nextends = "{MANIFEST}"\ntasks = ["Sim", "Para"]\n')
    golds: dict[str, list[Path]] = {"own": [], "other": []}
    versions = {
        "own": [write_gold(tmp_path / "first"), other],
        "other": [labels_of(tmp_path / "third", "110100"), labels_of(tmp_path / "fourth", "001111")],
    }
    manifests = {"own": MANIFEST, "other": elsewhere}
    for name, folders in versions.items():
        # As on the site, the key that divides the rows lies beside each version of the labels.
        for folder in (*folders, folders[0]):
            kept = Benchmark.objects.get(name=add_benchmark(str(manifests[name]), folder)).gold_path
            golds[name].append(Path(kept))
    made = World({name: kept[:2] for name, kept in golds.items()}, elsewhere, tmp_path)
    for folder in golds["own"] + golds["other"]:
        (folder / KEY_FILE).write_bytes(SPLIT)
    monkeypatch.setattr(timezone, "now", lambda: made.now)
    results: dict[Any, Any] = {}

    def graded(job: dict[str, Any], **_: Any) -> Any:
        """The grader's result in this process, once for each file and job."""
        content = Path(job["submission"]).read_bytes()
        key = (content, job["manifest"], job["gold"], job.get("rows"), job.get("also"))
        if key not in results:
            results[key] = grader._result(job)
        return results[key]

    monkeypatch.setattr(grading, "run_grader", graded)
    return made


def test_the_site_counts_as_the_model_says(world: World) -> None:
    assert run(world, 200, same=True) > 150


@pytest.mark.slow
def test_the_site_counts_as_the_model_says_for_long(world: World) -> None:
    print(f"{run(world, STEPS)} steps")
    possible = {
        (act, str(moment))
        for act in TABLE
        for moment in Moment
        if not (moment == Moment.BEFORE and act in OF_SENT)
    }
    missing = sorted(possible - {*Counting.covered})
    print(f"{len(missing)} of {len(possible)} cells of the table were not met: {missing}")


@pytest.mark.slow
@pytest.mark.parametrize("fix", MUTANTS)
def test_the_model_finds_what_is_wrong_without_a_fix(
    fix: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = MUTANTS[fix]
    mutant.take_out(monkeypatch)
    with pytest.raises((AssertionError, ActError)):
        run(world, MUTANT_STEPS, [Stage.generate], machine=focused(mutant.acts, mutant.given))
    print(f"{fix}: after {Counting.steps} steps")
