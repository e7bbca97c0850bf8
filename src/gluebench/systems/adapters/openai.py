"""A chat model behind an OpenAI-compatible API as a system: one request per example, no training.

Prompts use the manifest's words. An answer is read from token probabilities, else from its text.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters.endpoint import AnswerCache, Endpoint, RefusedError, Reply
from gluebench.systems.adapters.label_words import meant
from gluebench.systems.protocols import Counting, silent
from gluebench.systems.run import Answers, quiet

LOGPROBS = {"logprobs": True, "top_logprobs": 20}
UNPROCESSABLE = (400, 422)
"""HTTP status codes with which servers refuse an unknown field."""
REFUSED = {
    "logprobs": "the server tells no probabilities: answers are read as text",
    "max_tokens": "the server wants the length of answers as max_completion_tokens",
    "temperature": "the server takes no temperature: answers may differ from one time to the next",
}
"""Fields to leave out when the server refuses them, and the message for each."""
COUNTED = ("asked", "from_cache", "tokens_in", "tokens_out", "not_understood")
"""Names of the counts kept for a task; requests and tokens are summed over all threads."""
MAJORITY = 0.5
"""Labels whose first tokens have more of the probability are answered without reading the text."""


class PromptOptions(NamedTuple):
    """How a chat model is prompted."""

    shots: int = 0
    """Training examples shown before each question, drawn once for each task."""
    scored: bool = True
    """Whether log-probabilities of the first token are requested, to score the label words by."""
    most_tokens: int = 16
    concurrency: int = 8
    price_in: float | None = None
    """Price of a million prompt tokens, in any currency."""
    price_out: float | None = None


class ChatModel:
    """A chat model; answers it cannot read become the train split's typical label and are marked."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        cache: AnswerCache,
        options: PromptOptions | None = None,
        *,
        seed: int = 0,
        counting: Counting = silent,
        say: Callable[[str], None] = quiet,
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._cache = cache
        self._options = options = options or PromptOptions()
        self._refused = set() if options.scored else {"logprobs"}
        self._seed = seed
        self._counting = counting
        self._say = say
        self._typical: dict[str, str | float] = {}
        self._shots: dict[str, list[Example]] = {}
        self._lock = Lock()
        self._counts = dict.fromkeys(COUNTED, 0)

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Draw the examples to show, and note the label that stands in for an answer not understood."""
        self._typical[task.name] = targets.typical(task, train)
        draw = random.Random(f"{self._seed}/{task.name}")
        self._shots[task.name] = draw.sample(list(train), min(self._options.shots, len(train)))
        self._counts = dict.fromkeys(COUNTED, 0)

    def predict(self, task: Task, examples: Sequence[Example]) -> Answers:
        """Answer each example, in order, with up to `concurrency` parallel requests. Raises ModelError."""
        if not examples:
            return Answers([])
        replies = self._all_replies(task, examples)
        answers = [understood(task, reply.text, reply.likely) for reply in replies]
        unanswered = [position for position, value in enumerate(answers) if value is None]
        self._counts["not_understood"] += len(unanswered)
        typical = self._typical[task.name]
        return Answers([typical if value is None else value for value in answers], unanswered)

    def notes(self) -> dict[str, Any]:
        """Return the last fitted task's counts: requests, tokens, cost, and answers not understood."""
        notes = dict(self._counts)
        price_in, price_out = self._options.price_in, self._options.price_out
        if price_in is None and price_out is None:
            return notes
        cost = notes["tokens_in"] * (price_in or 0.0) + notes["tokens_out"] * (price_out or 0.0)
        return {**notes, "cost": cost / 1e6}

    def _all_replies(self, task: Task, examples: Sequence[Example]) -> list[Reply]:
        """Request all replies; the first alone, to learn which fields the server accepts."""
        advance = self._counting("answered", "examples")
        replies = [self._reply(task, examples[0])]
        advance(1, len(examples))
        with ThreadPoolExecutor(self._options.concurrency) as pool:
            jobs = [pool.submit(self._reply, task, example) for example in examples[1:]]
            try:
                for job in jobs:
                    replies.append(job.result())
                    advance(len(replies), len(examples))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return replies

    def _reply(self, task: Task, example: Example) -> Reply:
        """Request one reply; send the request again without a field that the server refuses."""
        while True:
            without = frozenset(self._refused)  # a copy: other threads may add fields meanwhile
            try:
                return self._reply_to(self._request(task, example, without))
            except RefusedError as error:
                field = _field_refused(error, without)
                if field is None:
                    raise
                if field not in self._refused:
                    self._refused.add(field)
                    self._say(REFUSED[field])

    def _reply_to(self, request: Mapping[str, Any]) -> Reply:
        cached = self._cache.get(self._endpoint.base, request)
        reply = self._endpoint.ask(request) if cached is None else cached
        if cached is None:
            self._cache.put(self._endpoint.base, request, reply)
        with self._lock:  # several threads count; a cached reply uses no tokens
            self._counts["asked" if cached is None else "from_cache"] += 1
            self._counts["tokens_in"] += reply.tokens_in if cached is None else 0
            self._counts["tokens_out"] += reply.tokens_out if cached is None else 0
        return reply

    def _request(self, task: Task, example: Example, without: Container[str]) -> dict[str, Any]:
        length = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
        return {
            "model": self._model,
            "messages": messages(task, example, self._shots[task.name]),
            length: self._options.most_tokens,
            **({} if "temperature" in without else {"temperature": 0}),
            **(LOGPROBS if task.labels and "logprobs" not in without else {}),
        }


def _field_refused(error: RefusedError, without: Container[str]) -> str | None:
    """The field that the server refuses, if it was sent and can be left out."""
    if error.status not in UNPROCESSABLE:
        return None
    return next((field for field in REFUSED if field in str(error) and field not in without), None)


def messages(task: Task, example: Example, shots: Sequence[Example] = ()) -> list[dict[str, str]]:
    """The conversation: the task, some examples with their answers, and the example to answer."""
    conversation = [{"role": "system", "content": instruction(task)}]
    for shot in shots:
        answer = f"{shot.label:g}" if isinstance(shot.label, float) else str(shot.label)
        conversation.append({"role": "user", "content": _texts(shot)})
        conversation.append({"role": "assistant", "content": answer})
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


def understood(task: Task, text: str, likely: Mapping[str, float]) -> str | float | None:
    """Return the label word or the score that an answer gives, or None.

    `likely` maps the likeliest first tokens to their log-probabilities. If those that begin a label have more
    than half of the probability, the likeliest label is the answer; else the text is read.
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


def _scores(task: Task, likely: Mapping[str, float]) -> dict[str, float]:
    """Label word to the probability of the tokens that begin it and no other label."""
    scores: dict[str, float] = {}
    for token, logarithm in likely.items():
        start = token.strip().casefold()
        words = [word for word in task.words if start and word.casefold().startswith(start)]
        if len(words) == 1:
            scores[words[0]] = scores.get(words[0], 0.0) + math.exp(min(logarithm, 0.0))
    return scores


def _word(task: Task, text: str) -> str | None:
    """Return the label that is the whole answer, else the only label named in it, else None."""
    whole = meant(task, text)
    if whole is not None:
        return whole
    longest = sorted(task.words, key=len, reverse=True)
    pattern = "|".join(re.escape(word.casefold()) for word in longest)
    named = set(re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", text.casefold()))
    matches = [word for word in task.words if word.casefold() in named]
    return matches[0] if len(matches) == 1 else None


def _number(task: Task, text: str) -> float | None:
    """Return the first number in the text if it is within the task's range, else None."""
    low, high = task.score_range or (-math.inf, math.inf)
    number = re.search(r"-?\d+(?:\.\d+)?", text)
    return float(number[0]) if number and low <= float(number[0]) <= high else None
