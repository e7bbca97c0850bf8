"""Answers that inspect_ai or lm-evaluation-harness logged, as a system: nothing is asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.data.errors import parsing
from gluebench.data.results.harnesses import inspect_archive
from gluebench.systems import targets
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.answers import likeliest, read
from gluebench.systems.adapters.endpoint import CUT_OFF, FILTERED, Reply
from gluebench.systems.adapters.prompts import Template, templates_of
from gluebench.systems.run import Answers

ENDINGS = (".eval", ".json", ".jsonl")
NOT_ASKED = "not in the log"
FAILED = "failed"
FACTS = {"task", "template", "question"}
"""By what an example finds its answer."""
FINISHES = {"max_tokens": CUT_OFF, "content_filter": FILTERED}
"""How inspect_ai says that a reply ended, where it is not its own end."""


class LoggedReply(NamedTuple):
    """What a model said to one question."""

    task: str
    template: str
    question: str
    reply: Reply | None
    """None where the request failed."""
    by_likelihood: bool = False
    """Whether it has the log-probabilities of all answers, and no text."""


class LoggedAnswers:
    """The answers in logs of the questions that `gluebench` gave to a harness."""

    def __init__(self, place: Path, templates: Path | None = None) -> None:
        """Read a log, or all logs in a folder. Raises ModelError if none has questions of gluebench's."""
        self._file_of_templates = templates
        self._place = place
        self._typical: dict[str, str | float] = {}
        self._templates: dict[str, Sequence[Template]] = {}
        self._replies: dict[tuple[str, str, str], LoggedReply] = {}
        paths = [place] if place.is_file() else sorted(place.rglob("*"))
        for path in paths:
            if path.suffix in ENDINGS:
                for logged in _replies(path):
                    # A later log of the same question is one that was run again.
                    self._replies[logged.task, logged.template, logged.question] = logged
        if not self._replies:
            raise ModelError(
                f"{place}: expected logs of inspect_ai (.eval, .json) or lm-evaluation-harness "
                "(samples_….jsonl, by --log_samples) of questions that gluebench gave them"
            )

    @property
    def digest(self) -> str:
        """A digest of all answers."""
        return hashlib.sha256(repr(sorted(self._replies.items())).encode()).hexdigest()[:16]

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Note the label, or the mean score, that stands in for a missing answer, and the templates."""
        self._typical[task.name] = targets.typical(task, train)
        self._templates[task.name] = list(templates_of(task, self._file_of_templates).values())

    def predict(self, task: Task, examples: Sequence[Example]) -> Answers:
        """Answer each example, in order. Raises ModelError if the logs have none of them."""
        values: list[str | float] = []
        unanswered = []
        reasons = []
        for place, example in enumerate(examples):
            value, reason = self._answer(task, example)
            if value is None:
                value = self._typical[task.name]
                unanswered.append(place)
                reasons.append(reason)
            values.append(value)
        if examples and reasons.count(NOT_ASKED) == len(examples):
            raise ModelError(
                f"{self._place}: has no answer to any of {len(examples):,} questions of {task.name}; name "
                "the split that was asked (--split dev), and the tasks (--tasks)"
            )
        return Answers(values, unanswered, reasons)

    def _answer(self, task: Task, example: Example) -> tuple[str | float | None, str]:
        for template in self._templates[task.name]:
            logged = self._replies.get((task.name, template.name, template.question(example)))
            if logged is None:
                continue
            if logged.reply is None:
                return None, FAILED
            if logged.by_likelihood:
                return likeliest(task, template, logged.reply.likely), ""
            return read(task, template, logged.reply)
        return None, NOT_ASKED


def _replies(path: Path) -> Iterator[LoggedReply]:
    """The replies in a log to questions that gluebench gave. Raises DataError if it is damaged."""
    with parsing(path, "a log of inspect_ai or lm-evaluation-harness", "copy it again"):
        if path.suffix == ".jsonl":
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    yield from _lm_eval_reply(json.loads(line))
            return
        log = inspect_archive(path) if path.suffix == ".eval" else json.loads(path.read_bytes())
        if isinstance(log, dict):
            for sample in log.get("samples") or ():
                yield from _inspect_reply(sample)


def _lm_eval_reply(line: Mapping[str, Any]) -> Iterator[LoggedReply]:
    document = line.get("doc")
    if not isinstance(document, dict) or not document.keys() >= FACTS:
        return
    likely = {}
    for choice, response in zip(document["choices"], line["filtered_resps"], strict=True):
        likely[choice] = float(response[0])
    reply = Reply("", likely, 0, 0)
    yield LoggedReply(document["task"], document["template"], document["question"], reply, True)


def _inspect_reply(sample: Mapping[str, Any]) -> Iterator[LoggedReply]:
    facts = sample.get("metadata") or {}
    if not facts.keys() >= FACTS:
        return
    reply = None
    if not sample.get("error"):
        reply = reply_of(sample["output"])
    yield LoggedReply(facts["task"], facts["template"], facts["question"], reply)


def reply_of(output: Mapping[str, Any]) -> Reply | None:
    """The reply in the output of inspect_ai's model, JSON-ready; None if it made none."""
    if not output.get("choices"):
        return None
    choice = output["choices"][0]
    likely = {}
    logprobs = (choice.get("logprobs") or {}).get("content")
    if logprobs:
        for token in logprobs[0].get("top_logprobs") or ():
            likely[token["token"]] = token["logprob"]
    content = choice["message"]["content"]
    text = content
    reasoned = False
    if not isinstance(content, str):
        text = "".join(part["text"] for part in content if part["type"] == "text")
        reasoned = any(part["type"] == "reasoning" for part in content)
    finish = FINISHES.get(choice.get("stop_reason"), "stop")
    return Reply(text, likely, 0, 0, finish, reasoned)
