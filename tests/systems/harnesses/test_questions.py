"""Questions that go to another harness, and a submission from what it logged."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gluebench.benchmark import Benchmark
from gluebench.cli import main
from gluebench.systems.adapters import ModelError
from gluebench.systems.harnesses.logs import LoggedAnswers
from gluebench.systems.harnesses.questions import QuestionSet, questions_of
from gluebench.systems.run import examples_to_answer


def asked(sample: Benchmark, folder: Path, name: str, **options: Any) -> QuestionSet:
    return questions_of(sample, sample.file(name), folder, "dev", **options)


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert "Traceback" not in result.output
    return result


def samples(rows: Sequence[dict[str, Any]], chosen: Sequence[int]) -> str:
    """The samples that lm-evaluation-harness would log if these answers were the likeliest."""
    lines = []
    for row, choice in zip(rows, chosen, strict=True):
        responses = [[-1.0 if place == choice else -9.0, False] for place in range(len(row["choices"]))]
        lines.append(json.dumps({"doc_id": row["index"], "doc": row, "filtered_resps": responses}))
    return "\n".join(lines) + "\n"


def inspect_sample(row: dict[str, Any], content: Any, **more: Any) -> dict[str, Any]:
    choice = {"message": {"content": content}, "stop_reason": "stop", **more}
    return {"id": row["index"], "metadata": row, "output": {"choices": [choice]}}


def test_each_example_is_asked_with_the_shown_ones_before_it(sample: Benchmark, sample_folder: Path) -> None:
    questions = asked(sample, sample_folder, "RTE", shots=3, seed=4)
    examples = examples_to_answer(sample, sample.file("RTE"), sample_folder, "dev")
    rows = list(questions.continuations())
    assert [row["index"] for row in rows] == [example.index for example in examples]
    for row, example in zip(rows, examples, strict=True):
        assert row["prompt"].endswith(row["question"] + "\nAnswer:")
        assert all(text in row["question"] for text in example.inputs.values())
        assert row["prompt"].count("\nAnswer:") == 4
        assert list(questions.template.answers)[row["target"]] == example.label
    assert len({row["prompt"][: -len(row["question"]) - 8] for row in rows}) == 1


def test_the_diagnostic_set_is_asked_as_the_task_whose_model_answers_it(
    sample: Benchmark, sample_folder: Path
) -> None:
    file = sample.file("AX")
    questions = questions_of(sample, file, sample_folder, "test")
    assert questions.task.name == sample.task(file.task).predict_with
    assert len(questions.examples) == file.size("test")


def test_a_run_of_the_harness_becomes_a_submission(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    data = ["--benchmark", "sample", "--data", sample_folder, "--split", "dev"]
    written = run("questions", *data, "--tasks", "RTE,STS-B", "--to", tmp_path / "tasks")
    assert written.exit_code == 0, written.output
    assert "--tasks sample_STS_B_dev,sample_RTE_dev" in written.output
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed (gluebench[dev])")
    logs = tmp_path / "logs"
    logs.mkdir()
    for name, choose in {"sample_RTE_dev": 2, "sample_STS_B_dev": 6}.items():
        task = yaml.safe_load((tmp_path / f"tasks/{name}.yaml").read_text())
        assert (task["task"], task["output_type"]) == (name, "multiple_choice")
        lines = Path(task["dataset_kwargs"]["data_files"]["test"]).read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        chosen = [row["index"] % choose for row in rows]
        (logs / f"samples_{name}_2026-01-01T00-00-00.jsonl").write_text(samples(rows, chosen))
    out = tmp_path / "logged.zip"
    result = run("run", f"log:{logs}", *data, "--tasks", "RTE,STS-B", "--out", out)
    assert result.exit_code == 0, result.output
    words = list(asked(sample, sample_folder, "RTE").template.answers)
    with zipfile.ZipFile(out) as archive:
        lines = archive.read("RTE.tsv").decode().splitlines()[1:]
        scores = archive.read("STS-B.tsv").decode().splitlines()[1:]
    assert [line.split("\t")[1] for line in lines] == [words[at % 2] for at in range(len(lines))]
    # The likeliest number has nearly all of the probability, so the mean is near it.
    for at, line in enumerate(scores):
        assert float(line.split("\t")[1]) == pytest.approx(at % 6, abs=0.01)


def test_replies_are_read_as_those_of_a_server_and_faults_are_counted(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    questions = asked(sample, sample_folder, "RTE")
    rows = list(questions.continuations())
    words = questions.template.answers
    first, second = words
    thought = [{"type": "reasoning", "reasoning": "no"}, {"type": "text", "text": words[first]}]
    logprobs = {"content": [{"top_logprobs": [{"token": words[second], "logprob": -0.1}]}]}
    failed = {"id": rows[3]["index"], "metadata": rows[3], "error": {"message": "429"}, "output": {}}
    log = {
        "eval": {"model": "m"},
        "samples": [
            inspect_sample(rows[0], f"{words[second]}."),
            inspect_sample(rows[1], thought),
            inspect_sample(rows[2], "Well", logprobs=logprobs),
            failed,
            inspect_sample(rows[4], "", stop_reason="content_filter"),
            {"id": 5, "metadata": {"from": "elsewhere"}, "output": {}},
        ],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    model = LoggedAnswers(path)
    model.fit(questions.task, questions.examples, [])
    answers = model.predict(questions.task, questions.examples[:6])
    assert answers[:3] == [second, first, second]
    assert answers.unanswered == (3, 4, 5)
    assert answers.reasons == ("failed", "filtered", "not in the log")


def test_logs_without_an_answer_to_any_question_are_refused(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.jsonl").write_text('{"doc_id": 1, "doc": {"question": "?"}}\n')
    with pytest.raises(ModelError, match="expected logs of inspect_ai"):
        LoggedAnswers(tmp_path)
    rows = list(asked(sample, sample_folder, "RTE").continuations())
    (tmp_path / "samples.jsonl").write_text(samples(rows, [0] * len(rows)))
    data = ["--benchmark", "sample", "--data", sample_folder, "--tasks", "CoLA"]
    result = run("run", f"log:{tmp_path}", *data, "--split", "dev", "--out", tmp_path / "x.zip")
    assert result.exit_code == 1
    assert "has no answer to any of" in result.output
    missing = run("run", f"log:{tmp_path / 'none'}", *data, "--out", tmp_path / "x.zip")
    assert "there is no such file or folder" in missing.output
    (tmp_path / "cut.jsonl").write_text('{"doc_id": 1, "do')
    damaged = run("run", f"log:{tmp_path / 'cut.jsonl'}", *data, "--out", tmp_path / "x.zip")
    assert damaged.exit_code == 1
    assert "cut.jsonl" in damaged.output
