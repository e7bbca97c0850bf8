"""A local causal model under lm-evaluation-harness, and here with the same prompts: the same labels.

python -m venv --system-site-packages ENV && ENV/bin/pip install lm_eval transformers
ENV/bin/python -m pytest tests/systems/adapters/test_lm_eval.py -m slow
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from real import REAL, needs_real
from systems.adapters import tiny

from gluebench.benchmark import load_benchmark
from gluebench.data import Example

pytestmark = [pytest.mark.slow, needs_real]
COUNT = 500
GLUE = load_benchmark("glue")


class Of(NamedTuple):
    """A task: the harness's name for it, its columns there, and its prompt there as a template of ours."""

    name: str
    columns: Sequence[str]
    prompt: str
    answers: dict[str, str]
    """In the harness's order, by which it decides ties."""


NEITHER = {"entailment": "True", "neutral": "Neither", "contradiction": "False"}
OF = {
    "CoLA": Of(
        "cola", ["sentence"], "{sentence}\nQuestion: Does this sentence make sense?", {"0": "no", "1": "yes"}
    ),
    "SST-2": Of(
        "sst2",
        ["sentence"],
        "{sentence}\nQuestion: Is this sentence positive or negative?",
        {"0": "negative", "1": "positive"},
    ),
    "MRPC": Of(
        "mrpc",
        ["sentence1", "sentence2"],
        "Sentence 1: {sentence1}\nSentence 2: {sentence2}\nQuestion: Do both sentences mean the same thing?",
        {"0": "no", "1": "yes"},
    ),
    "QQP": Of(
        "qqp",
        ["question1", "question2"],
        "Question 1: {question1}\nQuestion 2: {question2}\nQuestion: Do both questions ask the same thing?",
        {"0": "no", "1": "yes"},
    ),
    "MNLI": Of(
        "mnli",
        ["premise", "hypothesis"],
        "{premise}\nQuestion: {hypothesis} True, False or Neither?",
        NEITHER,
    ),
    "QNLI": Of(
        "qnli",
        ["question", "sentence"],
        "{question}\n{sentence}\nQuestion: Does this response answer the question?",
        {"entailment": "yes", "not_entailment": "no"},
    ),
    "RTE": Of(
        "rte",
        ["sentence1", "sentence2"],
        "{premise}\nQuestion: {hypothesis} True or False?",
        {"entailment": "True", "not_entailment": "False"},
    ),
    "WNLI": Of(
        "wnli",
        ["sentence1", "sentence2"],
        "{premise}\nQuestion: {hypothesis} True or False?",
        {"0": "False", "1": "True"},
    ),
}


def texts(task: str) -> list[list[str]]:
    """The texts of 500 real examples."""
    folder = REAL / "glue" / task
    rows: list[list[str]] = []
    if (folder / "glue_pretrain.dev.json").is_file():
        given = json.loads((folder / "glue_pretrain.dev.json").read_text())
        rows = [[row["text_a"], row["text_b"]] for row in given.values()]
    else:
        place = {"CoLA": slice(3, 4), "SST-2": slice(0, 1), "MRPC": slice(3, 5)}.get(task, slice(1, 3))
        for split in ("dev", "train"):
            lines = (folder / f"{split}.tsv").read_text("utf-8").splitlines()
            rows += [line.split("\t")[place] for line in lines[task != "CoLA" :]]
    rows = [[text.strip() for text in row] for row in rows[:COUNT]]
    if task == "MNLI":  # there a full stop is added
        rows = [[first, second if second.endswith(".") else second + "."] for first, second in rows]
    assert len(rows) == COUNT
    assert {len(row) for row in rows} == {len(OF[task].columns)}
    return rows


def theirs(task: str, rows: list[list[str]], model: Path, folder: Path) -> list[str]:
    """The answers that lm-evaluation-harness finds likeliest, by its own task file on these texts."""
    harness = pytest.importorskip("lm_eval", reason="lm_eval is not installed (pip install lm_eval)")
    from lm_eval.tasks import TaskManager

    of = OF[task]
    default = Path(harness.__file__).parent / "tasks" / "glue" / of.name / "default.yaml"
    lines = [
        json.dumps({**dict(zip(of.columns, row, strict=True)), "label": 0, "idx": at})
        for at, row in enumerate(rows)
    ]
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "own.yaml").write_text(
        f"include: {default}\ntask: own_{of.name}\ntag: null\ndataset_path: json\ndataset_name: null\n"
        f"dataset_kwargs: {{data_files: {{validation: {folder / 'rows.jsonl'}}}}}\n"
        "training_split: null\nvalidation_split: validation\n"
    )
    found = harness.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(model), "dtype": "float32"},
        tasks=[f"own_{of.name}"],
        task_manager=TaskManager(include_path=str(folder)),
        device="cpu",
        batch_size=16,
        bootstrap_iters=0,
        log_samples=True,
    )
    samples: list[dict[str, Any]] = sorted(found["samples"][f"own_{of.name}"], key=lambda row: row["doc_id"])
    answers = []
    for sample in samples:
        logs = [float(response[0]) for response in sample["filtered_resps"]]
        answers.append(sample["arguments"][logs.index(max(logs))][1].strip())
    return answers


@pytest.mark.parametrize("name", OF)
def test_the_harness_chooses_the_same_label_on_all_of_500_examples(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("lm_eval", reason="lm_eval is not installed (pip install lm_eval)")
    for variable in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(variable, "1")
    from gluebench.systems.adapters.causal import CausalModel
    from gluebench.systems.adapters.openai import PromptOptions

    task, of, rows = GLUE.task(name), OF[name], texts(name)
    words = [
        "True False Neither yes no negative positive Question Answer",
        *(" ".join(row) for row in rows[:200]),
    ]
    model = tiny.causal(tmp_path / "gpt", words, longest=1024)
    answers = ", ".join(f'{label} = "{answer}"' for label, answer in of.answers.items())
    (tmp_path / "same.toml").write_text(
        f"[{name}.same]\nprompt = {json.dumps(of.prompt)}\nanswers = {{ {answers} }}\n"
    )
    ours = CausalModel(str(model), PromptOptions(templates=tmp_path / "same.toml"))
    examples = [
        Example(at, dict(zip(task.columns, row, strict=True)), task.words[at % len(task.words)])
        for at, row in enumerate(rows)
    ]
    ours.fit(task, examples, [])
    chosen = [of.answers[label] for label in ours.predict(task, examples)]
    expected = theirs(name, rows, model, tmp_path)
    assert len(set(expected)) > 1
    assert chosen == expected
