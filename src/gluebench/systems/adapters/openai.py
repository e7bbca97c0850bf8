"""A model behind an OpenAI-compatible API as a system: requests per example, no training.

`prompts.py` has the questions, `answers.py` reads the replies.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters.answers import REASONS, likeliest, read, vote, without_reasoning
from gluebench.systems.adapters.endpoint import (
    CHAT,
    COMPLETIONS,
    AnswerCache,
    Endpoint,
    Reader,
    RefusedError,
    Reply,
    UnsupportedError,
    chat_reply,
    completion_reply,
)
from gluebench.systems.adapters.prompts import Template, choices, draw_balanced, template_called
from gluebench.systems.protocols import Counting, silent
from gluebench.systems.run import Answers, quiet

Method = Literal["first-token", "text", "choice", "likelihood"]
LOGPROBS = {"logprobs": True, "top_logprobs": 20}
FEWER = 5
"""Log-probabilities of a first token that are requested where the server refuses 20."""
UNPROCESSABLE = (400, 403, 422)
"""HTTP statuses with which servers refuse a field."""
ABSENT = UNPROCESSABLE + (404, 405, 501)
"""HTTP statuses with which servers lack a form of request."""
REFUSED = {
    "context length": "the model's context is shorter than --max-tokens: no length is requested",
    "top_logprobs": "the server gives five log-probabilities: if no answer is among them, the text is read",
    "logprobs": "the server has no probabilities: answers are read as text",
    "max_tokens": "the server wants the length of answers as max_completion_tokens",
    "temperature": "the server takes no temperature: answers may differ from one time to the next",
    "top_p": "the server takes no top_p",
    "seed": "the server takes no seed: answers may differ from one time to the next",
}
"""Words in a server's refusal, by which a field is left out, and the message for each."""
STRUCTURED = ("response_format", "structured_outputs", "guided_choice")
"""Fields that restrict an answer to the choices, in the order of trial."""
PROMPT_LOGPROBS: Mapping[str, Mapping[str, Any]] = {
    "echo": {"echo": True, "logprobs": 1},
    "prompt_logprobs": {"prompt_logprobs": 1},
}
"""Fields that make a server return the log-probabilities of a prompt, in the order of trial."""
FALLBACK: Mapping[Method, Method] = {"likelihood": "first-token", "choice": "text"}
UNABLE: Mapping[Method, str] = {
    "likelihood": "the server has no log-probabilities of a prompt: those of the first token decide",
    "choice": "the server does not restrict answers to the choices: they are read as text",
}
REASONS_FIRST = "the model reasons before it answers: answers are read as text"
PROBE = Template("probe", "Is ice cold? Answer yes or no.", {"1": "blue", "0": "green"})
"""Only a server that restricts answers to the choices gives one of these."""
SAMPLED = 0.7
"""Temperature of several samples."""


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How a language model is prompted."""

    shots: int = 0
    """Training examples shown before each question, drawn once for each task, balanced over its labels."""
    method: Method = "first-token"
    """How an answer is chosen: by the first token's probabilities, else the text; by the text; by a text that
    the server restricts to the answers; by the likelihood of each answer."""
    templates: Path | None = None
    template: str | None = None
    """Name of a template; None for a task's first."""
    most_tokens: int = 4096
    """Of an answer, reasoning included."""
    concurrency: int = 8
    temperature: float | None = None
    """None for 0, or for 0.7 with several samples."""
    top_p: float | None = None
    samples: int = 1
    """Answers per example; they vote."""
    chat: bool = False
    """Whether a local model's chat template is applied."""
    price_in: float | None = None
    """Price of a million prompt tokens, in any currency."""
    price_out: float | None = None
    collect: Callable[[str, str, Mapping[str, Any]], None] | None = None
    """Called with key, address and body of each request without a cached answer, instead of sending it."""
    batches: tuple[Path, ...] = ()
    """Results of the batch API, to be put into the cache first."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Fields that join the body of each request, instead of those of the same names; None leaves one out."""

    def identity(self) -> dict[str, Any]:
        """The settings that results depend on."""
        names = ("shots", "method", "template", "most_tokens", "temperature", "top_p", "samples", "chat")
        return {name: getattr(self, name) for name in names} | self.own_fields()

    def own_fields(self) -> dict[str, Any]:
        """The fields of the user's own by the option's name; empty without any, as in earlier versions."""
        return {"extra_body": dict(self.extra_body)} if self.extra_body else {}


class PromptedModel:
    """What every prompted model does: choose templates, draw shots, count, stand in for missing answers."""

    def __init__(self, options: PromptOptions, *, seed: int | None, counting: Counting) -> None:
        self._options = options
        self._seed = seed
        self._counting = counting
        self._typical: dict[str, str | float] = {}
        self._shots: dict[str, list[Example]] = {}
        self._templates: dict[str, Template] = {}
        self._lock = Lock()
        self._counts: dict[str, int] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Draw the examples to show, and note the label that stands in for an answer not understood."""
        options = self._options
        self._typical[task.name] = targets.typical(task, train)
        self._templates[task.name] = template_called(task, options.template, options.templates)
        self._shots[task.name] = draw_balanced(task, train, options.shots, seed=self._seed or 0)
        self._counts = {}

    def _count(self, **counts: int) -> None:
        with self._lock:  # several threads count
            for name, count in counts.items():
                self._counts[name] = self._counts.get(name, 0) + count


class ChatModel(PromptedModel):
    """A model of a server; answers it cannot read become the train split's typical label and are marked."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        cache: AnswerCache,
        options: PromptOptions | None = None,
        *,
        seed: int | None = None,
        counting: Counting = silent,
        say: Callable[[str], None] = quiet,
    ) -> None:
        super().__init__(options or PromptOptions(), seed=seed, counting=counting)
        self._model = model
        self._endpoint = endpoint
        self._cache = cache
        self._method = self._options.method
        self._form = ""
        """Which of STRUCTURED or PROMPT_LOGPROBS the server takes."""
        self._refused: dict[str, str] = {}
        """What the server cannot do, among it keys of REFUSED, with a message for each."""
        self._probed = False
        self._say = say

    def predict(self, task: Task, examples: Sequence[Example]) -> Answers:
        """Answer each example, in order, with up to `concurrency` parallel requests. Raises ModelError."""
        if not examples:
            return Answers([])
        if not self._probed:
            self._probe()
        results = self._all_results(task, examples)
        unanswered = [position for position, (value, _) in enumerate(results) if value is None]
        reasons = [results[position][1] for position in unanswered]
        self._count(**{reason.replace(" ", "_"): reasons.count(reason) for reason in REASONS})
        typical = self._typical[task.name]
        values = [typical if value is None else value for value, _ in results]
        return Answers(values, unanswered, reasons)

    @property
    def answers(self) -> Path:
        """The file that keeps the server's answers."""
        return self._cache.path

    def notes(self) -> dict[str, Any]:
        """Return the last fitted task's counts: requests, tokens, cost, and answers missing by reason."""
        names = ["asked", "from_cache", "tokens_in", "tokens_out", "tokens_reasoning"]
        names += [reason.replace(" ", "_") for reason in REASONS]
        notes: dict[str, Any] = {name: self._counts.get(name, 0) for name in names}
        notes["method"] = self._method
        price_in = self._options.price_in
        price_out = self._options.price_out
        if price_in is None and price_out is None:
            return notes
        cost = notes["tokens_in"] * (price_in or 0.0) + notes["tokens_out"] * (price_out or 0.0)
        return {**notes, "cost": cost / 1e6}

    def _all_results(self, task: Task, examples: Sequence[Example]) -> list[tuple[str | float | None, str]]:
        advance = self._counting("answered", "examples")
        results = []
        with ThreadPoolExecutor(self._options.concurrency) as pool:
            jobs = [pool.submit(self._result, task, example) for example in examples]
            try:
                for job in jobs:
                    results.append(job.result())
                    advance(len(results), len(examples))
            except BaseException:
                self._endpoint.stop()  # open requests end, and their answers are kept
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return results

    def _result(self, task: Task, example: Example) -> tuple[str | float | None, str]:
        """The answer to an example, or None and why there is none."""
        template = self._templates[task.name]
        shots = self._shots[task.name]
        if self._method == "likelihood":
            answers = choices(task, template)
            reply = self._likelihood(template.text(example, shots), answers)
            if not reply.likely:
                return None, "filtered"
            return likeliest(task, template, reply.likely), ""
        messages = template.messages(example, shots)
        results = []
        for sample in range(self._options.samples):
            reply = self._chat(template, messages, sample, scores=not task.labels)
            results.append(read(task, template, reply))
        value = vote(task, [value for value, _ in results])
        if value is not None:
            return value, ""
        return None, results[0][1]

    def _likelihood(self, text: str, answers: Sequence[str]) -> Reply:
        request = {
            "model": self._model,
            "prompt": [f"{text} {answer}" for answer in answers],
            "max_tokens": 1,
            "temperature": 0,
            **PROMPT_LOGPROBS[self._form],
        }
        request = self._with_own_fields(request)
        return self._reply_to(request, partial(completion_reply, choices=answers), path=COMPLETIONS)

    def _chat(
        self, template: Template, messages: list[dict[str, str]], sample: int = 0, *, scores: bool = False
    ) -> Reply:
        """Request one reply; send the request again without a field that the server refuses."""
        while True:
            fields = self._fields(scores=scores, sample=sample)
            restriction = _restriction(self._form, list(template.answers.values()))
            sent = {"model": self._model, "messages": messages, **fields, **restriction}
            request = self._with_own_fields(sent)
            try:
                return self._reply_to(request, sample=sample)
            except RefusedError as error:
                refused = _field_refused(error, request)
                if refused is None or refused in self._options.extra_body:
                    raise
                self._learn(refused, REFUSED[refused])

    def _with_own_fields(self, request: Mapping[str, Any]) -> dict[str, Any]:
        fields = {**request, **self._options.extra_body}
        return {name: value for name, value in fields.items() if value is not None}

    def _fields(self, *, scores: bool, sample: int) -> dict[str, Any]:
        """The settings of a request, but for those that the server refuses."""
        options = self._options
        refused = dict(self._refused)  # a copy: other threads may add some meanwhile
        temperature = SAMPLED if options.samples > 1 else 0
        fields = {
            "temperature": temperature if options.temperature is None else options.temperature,
            "top_p": options.top_p,
            "seed": None if self._seed is None else self._seed + sample,
        }
        if "context length" not in refused:
            limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
            fields[limit] = options.most_tokens
        if (
            self._method == "first-token"
            and options.samples == 1
            and not scores
            and "logprobs" not in refused
        ):
            fields |= LOGPROBS
        sent = {name: value for name, value in fields.items() if value is not None and name not in refused}
        if "logprobs" in sent and "top_logprobs" in refused:
            sent["top_logprobs"] = FEWER
        return sent

    def _reply_to(
        self, request: Mapping[str, Any], reader: Reader = chat_reply, *, path: str = CHAT, sample: int = 0
    ) -> Reply:
        """The cached reply, or the server's."""
        address = self._endpoint.base + path
        if sample:
            address += f" {sample}"
        cached = self._cache.get(address, request)
        if cached is not None:
            self._count(from_cache=1)
            return cached
        if self._options.collect is not None and self._probed:
            self._options.collect(self._cache.key(address, request), self._endpoint.base + path, request)
            return Reply("", {}, 0, 0)
        reply = self._endpoint.ask(request, reader, path=path)
        self._cache.put(address, request, reply)
        used = {"tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out}
        self._count(asked=1, tokens_reasoning=reply.tokens_reasoning, **used)
        return reply

    def _probe(self) -> None:
        """Learn from small requests what the server cannot do, unless the cache has it, and report it."""
        kept = self._cache.get(self._endpoint.base, self._setting())
        if kept is None:
            self._try_forms()
            if self._method in ("first-token", "text"):
                reply = self._chat(PROBE, [{"role": "user", "content": PROBE.prompt}])
                if reply.reasoned or without_reasoning(reply.text) != reply.text.strip():
                    self._learn("reasoning", REASONS_FIRST)
                elif "logprobs" in self._fields(scores=False, sample=0) and not reply.likely:
                    self._learn("logprobs", REFUSED["logprobs"])
                elif len(reply.likely) == FEWER:  # a server that gives fewer than requested, without a word
                    self._learn("top_logprobs", REFUSED["top_logprobs"])
            self._probed = True
            self._remember()
        else:
            self._method, self._form, self._refused = json.loads(kept.text)
            self._probed = True
            for message in self._refused.values():
                self._say(message)

    def _try_forms(self) -> None:
        """Find the form of request for the method, or fall back to another method."""
        method = self._method
        forms: Mapping[Method, Iterable[str]] = {"likelihood": PROMPT_LOGPROBS, "choice": STRUCTURED}
        for self._form in forms.get(method, ()):
            try:
                if method == "likelihood":
                    self._likelihood("Ice is", ["cold", "hot"])
                    return
                reply = self._chat(PROBE, [{"role": "user", "content": PROBE.prompt}])
                if any(answer in without_reasoning(reply.text) for answer in PROBE.answers.values()):
                    return
            except UnsupportedError:
                continue
            except RefusedError as error:
                if error.status not in ABSENT:
                    raise
        if method in FALLBACK:
            self._method = FALLBACK[method]
            self._form = ""
            self._learn(method, UNABLE[method])

    def _learn(self, name: str, message: str) -> None:
        """Note and report what the server cannot do."""
        with self._lock:
            if name in self._refused:
                return
            self._refused[name] = message
            self._say(message)
            if self._probed:
                self._remember()

    def _remember(self) -> None:
        learned = json.dumps([self._method, self._form, self._refused])
        self._cache.put(self._endpoint.base, self._setting(), Reply(learned, {}, 0, 0))

    def _setting(self) -> dict[str, Any]:
        """What the server's abilities depend on."""
        names = ("samples", "method", "most_tokens", "temperature", "top_p")
        settings = {name: getattr(self._options, name) for name in names}
        return {"model": self._model, **settings, **self._options.own_fields()}


def _field_refused(error: RefusedError, request: Mapping[str, Any]) -> str | None:
    """The key of REFUSED for a field that was sent and that the server refuses."""
    text = str(error)
    if error.status not in UNPROCESSABLE:
        return None
    if "context length" in text and {"max_tokens", "max_completion_tokens"} & request.keys():
        return "context length"
    named = [name for name in REFUSED if name in text and name in request]
    if named[:1] == ["top_logprobs"] and request["top_logprobs"] <= FEWER:
        return "logprobs"
    return named[0] if named else None


def _restriction(form: str, answers: list[str]) -> dict[str, Any]:
    """The field that restricts an answer to some words, or for scores to a number."""
    if form == "response_format":
        kind = {"type": "string", "enum": answers} if answers else {"type": "number"}
        schema = {
            "type": "object",
            "properties": {"answer": kind},
            "required": ["answer"],
            "additionalProperties": False,
        }
        named = {"name": "answer", "strict": True, "schema": schema}
        return {form: {"type": "json_schema", "json_schema": named}}
    if not answers or form not in STRUCTURED:
        return {}
    if form == "structured_outputs":
        return {form: {"choice": answers}}
    return {form: answers}
