"""The questions of a test file, as a chat or as texts to continue, with training examples before each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Role, Task, TestFile
from gluebench.data import Example
from gluebench.systems.adapters.prompts import Template, choices, draw_balanced, template_called
from gluebench.systems.run import examples_to_answer, fit_data


class QuestionSet(NamedTuple):
    """Everything that is asked about one test file."""

    benchmark: Benchmark
    file: TestFile
    role: Role
    task: Task
    """The task as which it is answered: MNLI for the diagnostic set."""
    template: Template
    shots: list[Example]
    examples: list[Example]
    """In the order of their indices; with labels where the split has them."""

    @property
    def task_name(self) -> str:
        """What a harness calls the task: `sample_RTE_dev`."""
        return f"{self.benchmark.name}_{self.file.name}_{self.role}".replace("-", "_")

    def facts(self) -> dict[str, str]:
        """By what the questions are found again in a log."""
        return {"benchmark": self.benchmark.name, "task": self.task.name, "template": self.template.name}

    def continuations(self) -> Iterator[dict[str, Any]]:
        """For each example the text to be continued, the possible answers, and which of them is right.

        A score is right in no answer: of such a task `target` is the first.
        """
        answers = choices(self.task, self.template)
        words = list(self.template.answers)
        for example in self.examples:
            yield {
                **self.facts(),
                "index": example.index,
                "question": self.template.question(example),
                "prompt": self.template.text(example, self.shots),
                "choices": answers,
                "target": words.index(str(example.label)) if example.label in words else 0,
            }


def questions_of(
    benchmark: Benchmark,
    file: TestFile,
    folder: Path,
    role: Role,
    *,
    shots: int = 0,
    template: str | None = None,
    templates: Path | None = None,
    seed: int = 0,
) -> QuestionSet:
    """Ask each example of a test file.

    `shots` training examples are drawn once, balanced over the labels. Raises DataError for missing examples,
    and ModelError for a template that there is not.
    """
    task = benchmark.task(file.task)
    if task.predict_with:
        task = benchmark.task(task.predict_with)
    shown: list[Example] = []
    if shots:
        train, _ = fit_data(benchmark, task.name, folder)
        shown = draw_balanced(task, train, shots, seed=seed)
    examples = examples_to_answer(benchmark, file, folder, role)
    return QuestionSet(
        benchmark, file, role, task, template_called(task, template, templates), shown, examples
    )
