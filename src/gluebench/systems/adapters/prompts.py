"""Prompts as data: the templates of a task, read from a TOML file, and the training examples shown with them.

docs/reference/templates.md describes the file.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems.adapters import ModelError

SHIPPED = files("gluebench.systems.adapters") / "prompts.toml"
FIELDS = ("prompt", "answers", "system", "cue")
ALL = "all"
"""In place of a template's name: every template of a task, one after the other."""


@dataclass(frozen=True, slots=True)
class Template:
    """One way to ask a task's question."""

    name: str
    prompt: str
    """The question; {premise} stands for the text of the column `premise`."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Label word to the answer that means it, in the order in which ties are decided; empty for scores."""
    system: str = ""
    """A chat's system message, and the first paragraph of a text to be continued."""
    cue: str = "Answer:"
    """Written after the prompt where the answer continues it, and not in a chat."""

    def question(self, example: Example) -> str:
        """The prompt with an example's texts."""
        return re.sub(r"\{(\w+)\}", lambda match: example.inputs[match[1]], self.prompt).strip()

    def answer(self, example: Example) -> str:
        """The answer to a labeled example."""
        label = example.label
        return f"{label:g}" if isinstance(label, float) else self.answers[str(label)]

    def messages(self, example: Example, shots: Sequence[Example] = ()) -> list[dict[str, str]]:
        """A chat that ends with the question about an example, after some with their answers."""
        chat = []
        if self.system:
            chat.append({"role": "system", "content": self.system})
        for shot in shots:
            chat.append({"role": "user", "content": self.question(shot)})
            chat.append({"role": "assistant", "content": self.answer(shot)})
        chat.append({"role": "user", "content": self.question(example)})
        return chat

    def text(self, example: Example, shots: Sequence[Example] = ()) -> str:
        """A text for a model to continue with a space and the answer; a blank line separates examples."""
        paragraphs = []
        if self.system:
            paragraphs.append(self.system)
        for shot in shots:
            paragraphs.append(f"{self.question(shot)}\n{self.cue} {self.answer(shot)}")
        paragraphs.append(f"{self.question(example)}\n{self.cue}")
        return "\n\n".join(paragraphs)


def templates_of(task: Task, path: Path | None = None) -> dict[str, Template]:
    """The templates of a task by name: the file's, else those of the package, else one from the manifest.

    Raises ModelError if the file is invalid or has none for the task.
    """
    tables = _tables(path).get(task.name, {})
    faults = []
    for name, values in tables.items():
        place = f"{path or SHIPPED.name}: [{task.name}.{name}]"
        faults += [f"{place}: {fault}" for fault in _faults(task, values)]
    if path is None and (faults or not tables):  # another benchmark's task, perhaps of the same name
        return {"manifest": _from_manifest(task)}
    if faults or not tables:
        raise ModelError("\n".join(faults) or f"{path}: has no template for {task.name}: [{task.name}.NAME]")
    return {name: Template(name, **values) for name, values in tables.items()}


def template_called(task: Task, name: str | None, path: Path | None = None) -> Template:
    """The template of that name, or the first one. Raises ModelError."""
    by_name = templates_of(task, path)
    if name is not None and name not in by_name:
        raise ModelError(f"{task.name} has no template {name!r}; its templates: {', '.join(by_name)}")
    if name is None:
        return next(iter(by_name.values()))
    return by_name[name]


def choices(task: Task, template: Template) -> list[str]:
    """The answers between which likelihood decides; for scores the whole numbers of the range."""
    if task.labels:
        return list(template.answers.values())
    low, high = task.score_range or (0.0, 1.0)
    return [str(number) for number in range(int(low), int(high) + 1)]


def draw_balanced(task: Task, train: Sequence[Example], count: int, *, seed: int) -> list[Example]:
    """Draw examples to show: as many of each label, or one from each of as many equal parts of the scores."""
    draw = random.Random(f"{seed}/{task.name}")
    groups = []
    if task.labels:
        for word in task.words:
            groups.append([example for example in train if example.label == word])
        draw.shuffle(groups)
    else:
        by_score = sorted(train, key=lambda example: float(example.label or 0.0))
        for part in range(count):
            groups.append(by_score[len(train) * part // count : len(train) * (part + 1) // count])
    drawn = [draw.sample(group, min(count, len(group))) for group in groups]
    # The first of each group, then the second of each: so that every group has as many as the others.
    shown: list[Example] = []
    for examples in zip_longest(*drawn):
        shown += filter(None, examples)
    shown = shown[:count]
    draw.shuffle(shown)
    return shown


def _tables(path: Path | None) -> dict[str, Any]:
    try:
        return tomllib.loads((path or SHIPPED).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: no file of templates ({error})") from None


def _faults(task: Task, values: object) -> Iterator[str]:
    """What is wrong with a template."""
    if not isinstance(values, dict):
        yield "expected a table with a prompt, and texts in it"
        return
    texts = [values.get(name, "") for name in FIELDS if name != "answers"]
    if not all(isinstance(text, str) for text in texts):
        yield "expected a table with a prompt, and texts in it"
        return
    for name in values.keys() - set(FIELDS):
        yield f"has no field {name!r}; expected {', '.join(FIELDS)}"
    names = set(re.findall(r"\{(\w+)\}", values.get("prompt", "")))
    if names != set(task.columns):
        shown = ", ".join(f"{{{column}}}" for column in task.columns)
        yield f"its prompt has to contain {shown}, and nothing else in braces"
    answers = values.get("answers", {})
    if not isinstance(answers, dict) or set(answers) != set(task.words):
        yield f"its answers have to be for {', '.join(task.words) or 'nothing: the task has scores'}"
    elif len({str(answer).casefold() for answer in answers.values()}) < len(answers):
        yield "has the same answer for two labels"


def _from_manifest(task: Task) -> Template:
    """A prompt in the words of the manifest, for a task without templates."""
    titles = {column: column.capitalize() for column in task.columns}
    lines = [f"{task.title}: {task.summary}.", f"You are given: {', '.join(titles.values())}."]
    if task.labels:
        lines.append("Answer with one of these words and nothing else:")
        lines += [f"{label.word} ({label.gloss})" for label in task.labels]
    else:
        low, high = task.score_range or (0.0, 1.0)
        lines.append(f"Answer with a number from {low:g} (lowest) to {high:g} (highest) and nothing else.")
    prompt = "\n".join(f"{title}: {{{column}}}" for column, title in titles.items())
    return Template("manifest", prompt, {word: word for word in task.words}, system="\n".join(lines))
