"""Client of an OpenAI-compatible server: retries, a hidden key, a cache of answers, the batch API's files."""

import hashlib
import json
import os
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError

from gluebench.data.sources.http import proxy
from gluebench.systems.adapters import ModelError
from gluebench.version import __version__

CHAT = "/chat/completions"
COMPLETIONS = "/completions"
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses that are worth a retry."""
OK = 200
LONGEST_WAIT = 60.0
QUOTA = "insufficient_quota"
"""The error code of a 429 that waiting does not cure."""
FILTERS = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
"""Error codes of a prompt that a content filter blocks."""
FILTERED = "content_filter"
REFUSAL = "refusal"
CUT_OFF = "length"
"""Values of `Reply.finish` other than "stop"."""
HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class Reply(NamedTuple):
    """A model's answer, how it ended, and how many tokens it took."""

    text: str
    likely: dict[str, float]
    """The likeliest first tokens, or the choices, with log-probabilities; empty where the server has none."""
    tokens_in: int
    tokens_out: int
    finish: str = "stop"
    """The server's finish_reason, or "refusal" if the model declined to answer."""
    reasoned: bool = False
    """Whether the server returned the model's reasoning in a field of its own."""
    tokens_reasoning: int = 0
    """Of `tokens_out`, those of the reasoning."""


class UnsupportedError(Exception):
    """The server's answer lacks what was requested, and would lack it again."""


Reader = Callable[[Mapping[str, Any]], Reply]
"""Reads the JSON of a server's answer. Raises KeyError or similar if it has another form."""


class RefusedError(ModelError):
    """The server refuses a request, and would refuse it again."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class _RetryableError(Exception):
    """A response that is no answer, but may be one next time."""

    def __init__(self, fault: str, retry_after: str = "") -> None:
        super().__init__(fault)
        self.retry_after = retry_after


class Endpoint:
    """One server; several threads may use it at once."""

    def __init__(
        self,
        url: str,
        *,
        key_variable: str | None = None,
        retries: int = 6,
        timeout: float = 120.0,
        connections: int = 8,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`key_variable` names the environment variable that holds the API key. Raises ModelError."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelError(f"{url}: no address of a server; expected one as http://localhost:8000/v1")
        if parts.username or parts.password:
            raise ModelError(
                "the address holds a password; name the variable of a key with --key-from instead"
            )
        self.base = url.removesuffix(CHAT).rstrip("/")
        self._key = os.environ.get(key_variable, "").strip() if key_variable else ""
        if key_variable and not self._key:
            raise ModelError(f"the environment variable {key_variable} holds no key")
        if self._key and parts.scheme == "http" and parts.hostname not in HERE:
            raise ModelError(
                f"{url}: a key would be sent unencrypted; expected https:// or a server of this machine"
            )
        self._retries = retries
        self._stopped = Event()
        self._sleep = sleep or self._stopped.wait
        pooling: dict[str, Any] = {
            "maxsize": connections,
            "block": True,
            "timeout": urllib3.Timeout(connect=min(timeout, 30.0), read=timeout),
            "retries": urllib3.Retry(0, redirect=False, raise_on_redirect=False),
        }
        proxy_url = proxy(self.base)
        self._pool = (
            urllib3.ProxyManager(proxy_url, **pooling) if proxy_url else urllib3.PoolManager(**pooling)
        )

    def stop(self) -> None:
        """End the waits of other threads, and request nothing again."""
        self._stopped.set()

    def ask(self, request: Mapping[str, Any], read: Reader | None = None, *, path: str = CHAT) -> Reply:
        """The server's answer; whatever is no answer is requested again.

        Raises RefusedError, UnsupportedError from `read`, or ModelError after the last retry.
        """
        wait = 0.0
        for attempt in range(1, self._retries + 2):
            if wait:
                self._sleep(wait)
            if self._stopped.is_set():
                raise ModelError("the run was stopped")
            try:
                return self._once(request, read or chat_reply, self.base + path)
            except _RetryableError as error:
                fault = str(error)
                wait = _wait(attempt, error.retry_after)
        raise ModelError(f"{self.base}{path}: {fault}; asked {self._retries + 1} times")

    def _once(self, request: Mapping[str, Any], read: Reader, address: str) -> Reply:
        key = {}
        if self._key:
            key["Authorization"] = f"Bearer {self._key}"
        headers = {"User-Agent": f"gluebench/{__version__}", **key}
        try:
            response = self._pool.request("POST", address, json=dict(request), headers=headers)
        except HTTPError as error:  # also a body that ends too early
            raise _RetryableError(f"cannot be reached ({self._without_key(str(error))})") from None
        retry_after = response.headers.get("Retry-After", "")
        try:
            return reply_of(response.status, response.data, read)
        except RefusedError as error:
            fault = self._without_key(str(error))
            quota = QUOTA in _codes(response.data)
            if error.status == OK or (error.status in PASSING and not quota):
                raise _RetryableError(fault, retry_after) from None
            raise RefusedError(f"{address}: {fault}", status=error.status) from None

    def _without_key(self, text: str) -> str:
        if not self._key:
            return text
        return text.replace(self._key, "***")


def reply_of(status: int, body: bytes, read: Reader) -> Reply:
    """The reply in a response; a prompt that a content filter blocks has an empty one.

    Raises RefusedError for a response without an answer.
    """
    if status == OK:
        try:
            return read(_answer_in(body))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            shown = body[:200].decode("utf-8", "replace")
            raise RefusedError(f"no answer of a chat completion: {shown!r}", status=status) from None
    if FILTERS & _codes(body):
        return Reply("", {}, 0, 0, FILTERED)
    raise RefusedError(f"status {status}: {_message(body)}", status=status)


def _answer_in(body: bytes) -> Any:
    """Return the JSON of a response; that of a stream, which some servers send unasked, is put together.

    Raises ValueError for a stream that breaks off.
    """
    if not body.lstrip().startswith((b"data:", b"event:", b":")):
        return json.loads(body)
    message: dict[str, str] = {}
    tokens: list[Any] = []
    finish = None
    usage = None
    for line in body.decode().split("\n"):  # not splitlines: a text may have other ends of lines
        field, _, data = line.partition(":")
        if field != "data":
            continue
        if data.strip() == "[DONE]":  # some servers give no other sign of the end
            finish = finish or "stop"
            continue
        chunk = json.loads(data)
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            if choice.get("index"):  # another answer than the first
                continue
            for name in ("content", "reasoning", "reasoning_content", "refusal"):
                message[name] = message.get(name, "") + (choice["delta"].get(name) or "")
            tokens += (choice.get("logprobs") or {}).get("content") or ()
            finish = choice.get("finish_reason") or finish
    if finish is None:
        raise ValueError("the stream breaks off")
    whole = {"message": message, "finish_reason": finish, "logprobs": {"content": tokens}}
    return {"choices": [whole], "usage": usage}


def chat_reply(answer: Mapping[str, Any]) -> Reply:
    """Read the answer of a chat completion: the choice of index 0, wherever it stands."""
    choice = min(answer["choices"], key=lambda choice: choice.get("index") or 0)
    message = choice["message"]
    tokens = (choice.get("logprobs") or {}).get("content") or [{}]
    likely = {token["token"]: float(token["logprob"]) for token in tokens[0].get("top_logprobs") or ()}
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    finish = choice.get("finish_reason") or "stop"
    if message.get("refusal"):
        finish = REFUSAL
    reasoned = bool(message.get("reasoning") or message.get("reasoning_content"))
    tokens_in, tokens_out, tokens_reasoning = _usage(answer)
    return Reply(text, likely, tokens_in, tokens_out, finish, reasoned, tokens_reasoning)


def completion_reply(answer: Mapping[str, Any], choices: Sequence[str]) -> Reply:
    """Read the likelihood of each prompt of a completion: its log-probability, but for what all share.

    Raises UnsupportedError if the answer has no log-probabilities of the prompts, each with its index.
    """
    by_index = {row["index"]: _prompt_tokens(row) for row in answer["choices"]}
    if set(by_index) != set(range(len(choices))):
        raise UnsupportedError
    rows = [by_index[index] for index in range(len(choices))]
    if not all(rows):
        raise UnsupportedError
    shared = 0
    while all(len(row) > shared for row in rows) and len({row[shared][0] for row in rows}) == 1:
        shared += 1
    if not any(row[shared:] for row in rows):  # the answers themselves are not among the tokens
        raise UnsupportedError
    sums = (sum(value for _, value in row[shared:]) for row in rows)
    return Reply("", dict(zip(choices, sums, strict=True)), *_usage(answer)[:2])


def _prompt_tokens(choice: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The tokens of a prompt with their log-probabilities (the first has none); empty if they are not given.

    By echo they are followed by the one token generated; vLLM's prompt_logprobs are a field of their own.
    """
    given = choice.get("prompt_logprobs")
    if given:
        tokens = [next(iter(token.items())) if token else ("", {}) for token in given]
        return [(str(name), float(value.get("logprob", 0.0))) for name, value in tokens]
    logprobs = choice.get("logprobs") or {}
    pairs = list(zip(logprobs.get("tokens") or (), logprobs.get("token_logprobs") or (), strict=False))[:-1]
    return [(name, float(value or 0.0)) for name, value in pairs]


def _usage(answer: Mapping[str, Any]) -> tuple[int, int, int]:
    """Tokens of the prompt, of the answer, and among the latter those of the reasoning."""
    usage = answer.get("usage") or {}
    details = usage.get("completion_tokens_details") or {}
    counts = usage.get("prompt_tokens"), usage.get("completion_tokens"), details.get("reasoning_tokens")
    return int(counts[0] or 0), int(counts[1] or 0), int(counts[2] or 0)


def _wait(attempt: int, retry_after: str) -> float:
    """Seconds to wait: the server's Retry-After (seconds or a date), else exponential backoff with jitter."""
    seconds = 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)
    with suppress(ValueError):
        seconds = float(retry_after)
    if retry_after and not retry_after.strip()[0].isdigit():
        with suppress(ValueError):
            seconds = (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _codes(body: bytes) -> set[str]:
    """The codes and types in a server's error message."""
    with suppress(ValueError, KeyError, TypeError, AttributeError):  # not an error in OpenAI's form
        error = json.loads(body)["error"]
        inner = error.get("innererror") or {}
        return {str(error.get("code")), str(error.get("type")), str(inner.get("code"))}
    return set()


def _message(data: bytes) -> str:
    """The server's error message on one line, at most 300 characters."""
    text = data.decode("utf-8", "replace")
    with suppress(ValueError, KeyError, TypeError):  # not JSON of that form: keep the text
        error = json.loads(text)["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    return " ".join(text.split())[:300]


class AnswerCache:
    """An append-only file of JSON lines; a line that is cut short is ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._places: dict[str, tuple[int, int]] = {}
        """Where each answer starts in the file, and its length."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0)
            start = 0
            last = b"\n"
            for last in file:
                with suppress(ValueError, KeyError, TypeError):  # cut short: it will be requested again
                    row = json.loads(last)
                    Reply(**row["answer"])
                    self._places[row["key"]] = (start, len(last))
                start += len(last)
            if not last.endswith(b"\n"):  # the next answer needs a line of its own
                file.write(b"\n")

    @staticmethod
    def key(address: str, request: Mapping[str, Any]) -> str:
        """The key of a request's answer."""
        text = json.dumps([address, request], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def get(self, address: str, request: Mapping[str, Any]) -> Reply | None:
        """The answer to a request; None if it was never sent."""
        place = self._places.get(self.key(address, request))
        if place is None:
            return None
        with self.path.open("rb") as file:
            file.seek(place[0])
            return Reply(**json.loads(file.read(place[1]))["answer"])

    def put(self, address: str, request: Mapping[str, Any], answer: Reply) -> None:
        """Append an answer; the API key is not part of its cache key."""
        self.put_at(self.key(address, request), answer)

    def put_at(self, key: str, answer: Reply) -> None:
        """Append an answer under its key."""
        line = (json.dumps({"key": key, "answer": answer._asdict()}, ensure_ascii=False) + "\n").encode()
        with self._lock, self.path.open("ab") as file:
            file.write(line)
            file.flush()
            self._places[key] = (file.tell() - len(line), len(line))


class BatchWriter:
    """Writes each request as a line, once; several threads may call it at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys: set[str] = set()
        """Of the requests written; each is also its line's `custom_id`."""
        self._lock = Lock()
        path.write_text("")

    def __call__(self, key: str, address: str, body: Mapping[str, Any]) -> None:
        """Append a request."""
        line = {"custom_id": key, "method": "POST", "url": urlsplit(address).path, "body": body}
        with self._lock, self.path.open("a") as file:
            if key not in self.keys:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                self.keys.add(key)


def read_batch(path: Path, cache: AnswerCache) -> tuple[int, int]:
    """Put the answers of a results file into the cache; return how many, and how many requests failed.

    Raises ModelError for a line of another form.
    """
    kept = failed = 0
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            response = row.get("response") or {}
            body = json.dumps(response.get("body")).encode()
            cache.put_at(row["custom_id"], reply_of(int(response.get("status_code") or 0), body, chat_reply))
            kept += 1
        except RefusedError:
            failed += 1
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ModelError(f"{path}, line {number}: not a result of the batch API") from None
    return kept, failed
