"""A task as a question to a chat model, in the words of the manifest, and how its answer is read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems.adapters.label_words import meant

Message = dict[str, str]
Likely = Mapping[str, float]
"""Token to its natural log-probability."""
MAJORITY = 0.5


def messages(task: Task, example: Example, shots: Sequence[Example] = ()) -> list[Message]:
    """The conversation: the task, some examples with their answers, and the example to answer."""
    conversation = [{"role": "system", "content": instruction(task)}]
    for shot in shots:
        conversation.append({"role": "user", "content": _texts(shot)})
        conversation.append({"role": "assistant", "content": _answer(shot.label)})
    return [*conversation, {"role": "user", "content": _texts(example)}]


def instruction(task: Task) -> str:
    """The question, in the words of the manifest."""
    inputs = ", ".join(column.capitalize() for column in task.columns)
    lines = [f"{task.title}: {task.summary}.", f"You are given: {inputs}."]
    if task.labels:
        lines += [
            "Answer with one of these words and nothing else:",
            *(f"{label.word} ({label.gloss})" for label in task.labels),
        ]
    else:
        low, high = task.score_range or (0.0, 1.0)
        lines.append(f"Answer with a number from {low:g} (lowest) to {high:g} (highest) and nothing else.")
    return "\n".join(lines)


def understood(task: Task, text: str, likely: Likely) -> str | float | None:
    """The task's word, or the score, that an answer gives; None where it gives none.

    `likely` are the likeliest first tokens, where the server gives them. If those that begin a label have
    most of the probability, the likeliest label is the answer, however the text goes on; else the text is
    read; and where it cannot be, the likeliest label among those tokens.
    """
    if not task.labels:
        return _number(task, text)
    scores = _scores(task, likely)
    best = max(scores, key=lambda word: scores[word]) if scores else None
    if sum(scores.values()) > MAJORITY:
        return best
    return _word(task, text) or best


def _texts(example: Example) -> str:
    return "\n".join(f"{column.capitalize()}: {text}" for column, text in example.inputs.items())


def _answer(label: str | float | None) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


def _scores(task: Task, likely: Likely) -> dict[str, float]:
    """Label word to the probability of the tokens that begin it and no other label."""
    scores: dict[str, float] = {}
    for token, logarithm in likely.items():
        start = token.strip().casefold()
        words = [word for word in task.words if start and word.casefold().startswith(start)]
        if len(words) == 1:
            scores[words[0]] = scores.get(words[0], 0.0) + math.exp(min(logarithm, 0.0))
    return scores


def _word(task: Task, text: str) -> str | None:
    """The label of the whole answer, else the one label that is named in it."""
    whole = meant(task, text)
    if whole is not None:
        return whole
    longest = sorted(task.words, key=len, reverse=True)
    pattern = "|".join(re.escape(word.casefold()) for word in longest)
    named = set(re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", text.casefold()))
    matches = [word for word in task.words if word.casefold() in named]
    return matches[0] if len(matches) == 1 else None


def _number(task: Task, text: str) -> float | None:
    """The one number in it that lies in the task's range."""
    low, high = task.score_range or (-math.inf, math.inf)
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    values = {float(number) for number in numbers[:1] if low <= float(number) <= high}
    return values.pop() if values else None
