"""inspect_ai and lm-evaluation-harness run on tasks without a network, and gluebench reads their logs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from systems.adapters import tiny
from systems.adapters.chat_server import chatting

import gluebench
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.systems.harnesses.questions import questions_of

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


def with_entry_points(folder: Path) -> dict[str, str]:
    """The environment of a process in which gluebench is installed, as far as inspect_ai can see."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]
    facts = folder / "site/gluebench_here-1.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: gluebench\nVersion: 1\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (facts / "entry_points.txt").write_text(f"[inspect_ai]\n{lines}")
    paths = [str(ROOT / "src"), str(folder / "site"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect_ai is not installed")
@pytest.mark.parametrize("folder", ["scores", ""])
def test_the_hook_of_inspect_writes_a_table_where_a_folder_is_named(folder: str, tmp_path: Path) -> None:
    variables = with_entry_points(tmp_path) | {"GLUEBENCH_SCORES": folder}
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


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect_ai is not installed")
@pytest.mark.skipif(find_spec("openai") is None, reason="openai is not installed")
def test_inspect_asks_our_questions_and_its_log_becomes_a_submission(
    sample_folder: Path, tmp_path: Path
) -> None:
    def script(request: dict[str, Any]) -> str:
        """An answer that depends on all of the question, and now and then none."""
        text = request["messages"][-1]["content"]
        return ("Yes.", "no", "Answer: no", "I cannot say")[len(text) % 4]

    variables = with_entry_points(tmp_path)
    arguments = ["--benchmark", "sample", "--data", str(sample_folder), "--split", "dev"]
    arguments += ["--tasks", "RTE,QNLI"]
    with chatting(script) as server:
        of_server = variables | {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": server.address}
        for name in ("RTE", "QNLI"):
            command = [sys.executable, "-m", "inspect_ai", "eval", "gluebench/questions"]
            for pair in (f"file={name}", "benchmark=sample", f"data={sample_folder}", "split=dev", "shots=2"):
                command += ["-T", pair]
            command += ["--model", "openai-api/local/m", "--log-dir", "logs", "--display", "plain"]
            done = subprocess.run(command, cwd=tmp_path, env=of_server, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[-3000:]
        asked = len(server.requests)
        for model, out in (("log:logs", "logged.zip"), (f"api:m@{server.address}", "api.zip")):
            command = [sys.executable, "-m", "gluebench", "run", model, *arguments, "--out", out]
            if model.startswith("api:"):
                command += ["--shots", "2", "--answer-by", "text", "--cache", "answers"]
            subprocess.run(command, cwd=tmp_path, env=variables, check=True)
    sample = load_benchmark("sample")
    assert asked == sum(sample.file(name).size("dev") for name in ("RTE", "QNLI"))
    with zipfile.ZipFile(tmp_path / "logged.zip") as ours, zipfile.ZipFile(tmp_path / "api.zip") as other:
        for name in ("RTE.tsv", "QNLI.tsv"):
            assert ours.read(name) == other.read(name)


@pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm_eval is not installed")
def test_lm_eval_answers_our_questions_as_a_causal_model_does_here(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    questions = questions_of(sample, sample.file("RTE"), sample_folder, "dev", shots=2)
    tiny.causal(tmp_path / "gpt", [row["prompt"] for row in questions.continuations()], longest=1024)
    data = ["--benchmark", "sample", "--data", str(sample_folder), "--tasks", "RTE", "--split", "dev"]
    ours = [sys.executable, "-m", "gluebench"]
    subprocess.run([*ours, "questions", *data, "--shots", "2", "--to", "tasks"], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "lm_eval", "--include_path", "tasks", "--tasks", questions.task_name]
    command += ["--model", "hf", "--model_args", "pretrained=gpt,dtype=float32", "--device", "cpu"]
    command += ["--log_samples", "--output_path", "logs", "--batch_size", "16"]
    variables = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for model in ("log:logs", "causal:gpt"):
        shots = ["--shots", "2"] if model.startswith("causal") else []
        name = model.partition(":")[0]
        run = [*ours, "run", model, *data, *shots, "--out", f"{name}.zip"]
        subprocess.run(run, cwd=tmp_path, check=True)
    with zipfile.ZipFile(tmp_path / "log.zip") as logged, zipfile.ZipFile(tmp_path / "causal.zip") as here:
        assert logged.read("RTE.tsv") == here.read("RTE.tsv")
