"""A benchmark's questions as tasks of lm-evaluation-harness: a YAML file and its examples, without code.

    lm_eval --include_path tasks/ --tasks glue_RTE_dev --model hf --model_args pretrained=gpt2 --log_samples

Each answer is chosen by its likelihood after the prompt, as by `gluebench run causal:`. The examples that are
shown are in the prompt, since the harness would draw others.
"""

from __future__ import annotations

import json
from pathlib import Path

from gluebench.systems.harnesses.questions import QuestionSet

_TASK = """\
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {file}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{prompt}}}}"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: target
target_delimiter: " "
num_fewshot: 0
metric_list:
  - metric: acc
metadata:
  version: 1
"""


def write_task(question_set: QuestionSet, folder: Path) -> Path:
    """Write the two files of one test file into a folder; returns the YAML file."""
    folder.mkdir(parents=True, exist_ok=True)
    examples = folder / f"{question_set.task_name}.jsonl"
    with examples.open("w", encoding="utf-8", newline="\n") as file:
        for row in question_set.continuations():
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    task = folder / f"{question_set.task_name}.yaml"
    # JSON's text is valid YAML, whatever stands in the path.
    text = _TASK.format(name=question_set.task_name, file=json.dumps(str(examples.absolute())))
    task.write_text(text, encoding="utf-8")
    return task
