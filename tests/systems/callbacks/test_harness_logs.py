"""inspect_ai and lm-evaluation-harness run on tasks without a network, and gluebench reads their logs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import gluebench

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.slow

INSPECT = """
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver

@solver
def answer():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", "yes")
        return state
    return solve

@task
def quiz():
    targets = ["no", "yes", "yes", "yes"] * 15
    samples = [Sample(id=f"q{at}", input=f"Question {at}?", target=word) for at, word in enumerate(targets)]
    return Task(dataset=samples, solver=answer(), scorer=match())

eval(quiz(), model="none/none", log_dir="logs", display="plain")
"""


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect_ai is not installed")
@pytest.mark.parametrize("folder", ["scores", ""])
def test_the_hook_of_inspect_writes_a_table_where_a_folder_is_named(folder: str, tmp_path: Path) -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]
    facts = tmp_path / "site/gluebench_here-1.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: gluebench-here\nVersion: 1\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (facts / "entry_points.txt").write_text(f"[inspect_ai]\n{lines}")
    paths = [str(ROOT / "src"), str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "GLUEBENCH_SCORES": folder}
    command = [sys.executable, "-c", INSPECT]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "logs").iterdir())
    if not folder:
        assert "gluebench:" not in done.stdout
        return
    (table,) = (tmp_path / folder).glob("*.csv")
    read = gluebench.read_results(table)
    assert [sum(scores) for scores in read.scores.values()] == [45]
    assert "gluebench: quiz, none/none: 75.0 [" in done.stdout


LM_EVAL_TASK = """
task: quiz
dataset_path: json
dataset_kwargs: {data_files: {test: quiz.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: ["yes", "no"]
doc_to_target: "{{label}}"
metric_list: [{metric: acc}]
"""


@pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm_eval is not installed")
def test_the_samples_of_lm_eval_are_read_in_one_command(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/quiz.yaml").write_text(LM_EVAL_TASK)
    rows = [{"question": f"Question {at}?", "label": at % 2} for at in range(40)]
    (tmp_path / "quiz.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    command = [sys.executable, "-m", "lm_eval", "--model", "dummy", "--tasks", "quiz", "--log_samples"]
    command += ["--include_path", "tasks", "--output_path", "out"]
    variables = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    read = [sys.executable, "-m", "gluebench", "read", "out", "--out", "scores.csv"]
    subprocess.run(read, cwd=tmp_path, check=True)
    table = gluebench.read_results(tmp_path / "scores.csv")
    (result,) = (tmp_path / "out").rglob("results_*.json")
    accuracy = json.loads(result.read_text())["results"]["quiz"]["acc,none"]
    (scores,) = table.scores.values()
    assert len(scores) == 40
    assert sum(scores) / 40 == pytest.approx(accuracy)
