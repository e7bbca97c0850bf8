"""Which of a task's label words a model means by its own: by word, gloss or synonym, never by number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.systems.adapters import ModelError


def meant(task: Task, text: str) -> str | None:
    """The task's word whose word, synonym or gloss a text is; None where it is none, or of several."""
    folded = _fold(text)
    named = [label.word for label in task.labels if folded in map(_fold, (label.word, *label.synonyms))]
    explained = [label.word for label in task.labels if folded == _fold(label.gloss)]
    return next((words[0] for words in (named, explained) if folded and len(words) == 1), None)


def mentioned(task: Task, name: str) -> str | None:
    """The task's word in whose gloss alone a model's label is mentioned.

    By RTE's gloss ("it does not: neutral or contradiction"), contradiction is its not_entailment. Of labels
    only: a word of any text stands too easily in some gloss.
    """
    folded = _fold(name)
    words = [label.word for label in task.labels if folded in map(_fold, re.findall(r"\w+", label.gloss))]
    return words[0] if len(words) == 1 and not folded.isdigit() else None


def mapped(task: Task, names: Sequence[str], given: Mapping[str, str], *, model: str) -> dict[str, str]:
    """Each label of a model to the task's word for it. Raises ModelError where that is not clear.

    `given` is the user's own mapping: a model's label, or `task:label`, to a word.
    """
    words = {}
    for name in names:
        own = given.get(f"{task.name}:{name}", given.get(name))
        words[name] = own if own in task.words else meant(task, name) or mentioned(task, name)
    unclear = [name for name, word in words.items() if word is None]
    absent = [word for word in task.words if word not in words.values()]
    if unclear or absent:
        raise ModelError(_question(task, names, unclear, absent, model=model))
    return {name: word for name, word in words.items() if word is not None}


def _fold(text: str) -> str:
    """Normalize a text for comparison: also without a plural s and surrounding punctuation."""
    return fold(text.strip(" \t\r\n.,:;!?\"'`*()[]")).rstrip("s")


def _question(
    task: Task, names: Sequence[str], unclear: Sequence[str], absent: Sequence[str], *, model: str
) -> str:
    words = ", ".join(f"{label.word} ({label.gloss})" for label in task.labels)
    if unclear and len(names) >= len(task.words):
        example = " ".join(f"--label {name}={word}" for name, word in zip(names, task.words, strict=False))
        return (
            f"{task.name}: {model} answers {', '.join(names)}, and which of them are {words} is not clear; "
            f"say it, as {example}, or in whatever order it is"
        )
    missing = f"; nothing is {', '.join(absent)}" if absent else ""
    return (
        f"{task.name}: {model} answers {', '.join(names)}{missing}; expected {words}. "
        "Leave the task out (--tasks), or fine-tune the model on it (--fine-tune)"
    )
