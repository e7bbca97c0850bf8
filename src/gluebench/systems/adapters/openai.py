"""A chat model behind an OpenAI-compatible address as a system: one request per example, never trained."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters.endpoint import AnswerCache, Endpoint, RefusedError, Reply, key_of
from gluebench.systems.adapters.prompt import messages, understood
from gluebench.systems.protocols import Counting, silent
from gluebench.systems.run import Answers

LOGPROBS = {"logprobs": True, "top_logprobs": 20}
UNPROCESSABLE = (400, 422)
"""How servers refuse a field that they do not know."""
REFUSED = {
    "logprobs": "the server tells no probabilities: answers are read as text",
    "max_tokens": "the server wants the length of answers as max_completion_tokens",
    "temperature": "the server takes no temperature: answers may differ from one time to the next",
}
"""Fields to leave out when the server refuses them, and the message for each."""


class PromptOptions(NamedTuple):
    """How a chat model is prompted."""

    shots: int = 0
    """Training examples shown before each question, drawn once for each task."""
    scored: bool = True
    """Whether log-probabilities of the first token are requested, to score the label words by."""
    most_tokens: int = 16
    concurrency: int = 8
    price_in: float | None = None
    """Of a million tokens of prompts, in whatever currency."""
    price_out: float | None = None


class Tally:
    """Requests and their tokens, counted over all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.asked = self.cached = self.tokens_in = self.tokens_out = 0

    def add(self, reply: Reply, *, cached: bool) -> None:
        """One more answer; one that was kept costs nothing."""
        with self._lock:
            self.cached += cached
            self.asked += not cached
            self.tokens_in += 0 if cached else reply.tokens_in
            self.tokens_out += 0 if cached else reply.tokens_out

    def cost(self, options: PromptOptions) -> float | None:
        """By the prices given; None without."""
        if options.price_in is None and options.price_out is None:
            return None
        return (
            self.tokens_in * (options.price_in or 0.0) + self.tokens_out * (options.price_out or 0.0)
        ) / 1e6


class ChatModel:
    """Answers by word. What cannot be understood is the train split's typical label, and is marked so."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        cache: AnswerCache,
        options: PromptOptions | None = None,
        *,
        seed: int = 0,
        counting: Counting = silent,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._cache = cache
        self._options = options = options or PromptOptions()
        self._refused = set() if options.scored else {"logprobs"}
        self._seed = seed
        self._counting = counting
        self._say = say or (lambda line: None)
        self._typical: dict[str, str | float] = {}
        self._shots: dict[str, list[Example]] = {}
        self._unanswered = 0
        self._tally = Tally()

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Draw the examples to show, and note the label that stands in for an answer not understood."""
        self._typical[task.name] = targets.typical(task, train)
        draw = random.Random(f"{self._seed}/{task.name}")
        self._shots[task.name] = draw.sample(list(train), min(self._options.shots, len(train)))
        self._unanswered, self._tally = 0, Tally()

    def predict(self, task: Task, examples: Sequence[Example]) -> Answers:
        """One answer for each example, in order; as many in parallel as is allowed. Raises ModelError."""
        if not examples:
            return Answers([])
        replies = self._all_replied(task, examples)
        answers = [understood(task, reply.text, reply.likely) for reply in replies]
        unanswered = [position for position, value in enumerate(answers) if value is None]
        self._unanswered += len(unanswered)
        typical = self._typical[task.name]
        return Answers([typical if value is None else value for value in answers], unanswered)

    def notes(self) -> dict[str, Any]:
        """Of the task it was last fitted to: requests, tokens, cost, and answers not understood."""
        tally = self._tally
        notes = {
            "asked": tally.asked,
            "from_cache": tally.cached,
            "tokens_in": tally.tokens_in,
            "tokens_out": tally.tokens_out,
            "not_understood": self._unanswered,
        }
        cost = tally.cost(self._options)
        return notes if cost is None else {**notes, "cost": cost}

    def _all_replied(self, task: Task, examples: Sequence[Example]) -> list[Reply]:
        """The first by itself, to learn which fields the server takes."""
        advance = self._counting("answered", "examples")
        replies = [self._replied(task, examples[0])]
        advance(1, len(examples))
        with ThreadPoolExecutor(self._options.concurrency) as pool:
            jobs = [pool.submit(self._replied, task, example) for example in examples[1:]]
            try:
                for job in jobs:
                    replies.append(job.result())
                    advance(len(replies), len(examples))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return replies

    def _replied(self, task: Task, example: Example) -> Reply:
        """The answer to one example; sends the request again without a field that the server refuses."""
        while True:
            without = frozenset(self._refused)  # other threads may learn of more meanwhile
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
        key = key_of(self._endpoint.address, request)
        kept = self._cache.get(key)
        reply = self._endpoint.ask(request) if kept is None else kept
        if kept is None:
            self._cache.put(key, reply)
        self._tally.add(reply, cached=kept is not None)
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
