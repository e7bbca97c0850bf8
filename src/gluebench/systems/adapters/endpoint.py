"""Client of an OpenAI-compatible server: retries, a key that is never shown, and a cache of answers."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gluebench.data.sources.http import proxy
from gluebench.systems.adapters import ModelError
from gluebench.version import __version__

PATH = "/chat/completions"
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses that are worth a retry."""
LONGEST_WAIT = 60.0
HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class Reply(NamedTuple):
    """A model's answer, and how many tokens it took."""

    text: str
    likely: dict[str, float]
    """The likeliest first tokens with their log-probabilities; empty where the server gives none."""
    tokens_in: int
    tokens_out: int


class RefusedError(ModelError):
    """The server refuses a request, and would refuse it again."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class Endpoint:
    """The chat completions of one server; several threads may use it at once."""

    def __init__(
        self,
        url: str,
        *,
        key_variable: str | None = None,
        retries: int = 6,
        timeout: float = 120.0,
        connections: int = 8,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`key_variable` names the environment variable that holds the API key. Raises ModelError."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelError(f"{url}: no address of a server; expected one as http://localhost:8000/v1")
        if parts.username or parts.password:
            raise ModelError(
                "the address holds a password; name the variable of a key with --key-from instead"
            )
        self.address = url if parts.path.endswith(PATH) else url.rstrip("/") + PATH
        self._key = os.environ.get(key_variable, "").strip() if key_variable else ""
        if key_variable and not self._key:
            raise ModelError(f"the environment variable {key_variable} holds no key")
        if self._key and parts.scheme == "http" and parts.hostname not in HERE:
            raise ModelError(
                f"{url}: a key would be sent unencrypted; expected https:// or a server of this machine"
            )
        import urllib3

        self._retries, self._sleep = retries, sleep
        pooling: dict[str, Any] = {
            "maxsize": connections,
            "block": True,
            "timeout": urllib3.Timeout(connect=min(timeout, 30.0), read=timeout),
            "retries": urllib3.Retry(0, redirect=False, raise_on_redirect=False),
        }
        proxy_url = proxy(self.address)
        self._pool = (
            urllib3.ProxyManager(proxy_url, **pooling) if proxy_url else urllib3.PoolManager(**pooling)
        )

    def ask(self, request: Mapping[str, Any]) -> Reply:
        """The server's answer. Raises RefusedError, or ModelError after the last retry."""
        from urllib3.exceptions import HTTPError

        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        headers = {"User-Agent": f"gluebench/{__version__}", **key}
        retry_after = ""
        for attempt in range(self._retries + 1):
            if attempt:
                self._sleep(self._wait(attempt, retry_after))
            try:
                response = self._pool.request("POST", self.address, json=dict(request), headers=headers)
            except HTTPError as error:
                fault, retry_after = f"cannot be reached ({self._without_key(str(error))})", ""
                continue
            if response.status == 200:
                return self._read(response.data)
            fault = f"status {response.status}: {self._without_key(_message(response.data))}"
            if response.status not in PASSING:
                raise RefusedError(f"{self.address}: {fault}", status=response.status)
            retry_after = response.headers.get("Retry-After", "")
        raise ModelError(f"{self.address}: {fault}; asked {self._retries + 1} times")

    def _read(self, data: bytes) -> Reply:
        try:
            return _reply(json.loads(data))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            shown = self._without_key(data[:200].decode("utf-8", "replace"))
            raise ModelError(f"{self.address}: no answer of a chat completion: {shown!r}") from None

    def _wait(self, attempt: int, retry_after: str) -> float:
        """Seconds to wait: the server's Retry-After, else exponential backoff with jitter."""
        try:
            return min(max(float(retry_after), 0.0), LONGEST_WAIT)
        except ValueError:  # no header, or a date
            return min(2.0 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.5, 1.0)

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _reply(answer: Mapping[str, Any]) -> Reply:
    """The parts of a server's answer that are used. Raises KeyError or similar for another form."""
    choice = answer["choices"][0]
    usage = answer.get("usage") or {}
    tokens = (choice.get("logprobs") or {}).get("content") or [{}]
    likely = {token["token"]: float(token["logprob"]) for token in tokens[0].get("top_logprobs") or ()}
    text = choice["message"]["content"] or ""
    return Reply(text, likely, int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))


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
            start, last = 0, b"\n"
            for last in file:
                self._index(last, start)
                start += len(last)
            if not last.endswith(b"\n"):  # the next answer needs a line of its own
                file.write(b"\n")

    def get(self, address: str, request: Mapping[str, Any]) -> Reply | None:
        """The answer to a request; None if it was never sent."""
        place = self._places.get(_digest(address, request))
        if place is None:
            return None
        with self.path.open("rb") as file:
            file.seek(place[0])
            return Reply(**json.loads(file.read(place[1]))["answer"])

    def put(self, address: str, request: Mapping[str, Any], answer: Reply) -> None:
        """Append an answer; the API key is not part of its cache key."""
        key = _digest(address, request)
        line = (json.dumps({"key": key, "answer": answer._asdict()}, ensure_ascii=False) + "\n").encode()
        with self._lock, self.path.open("ab") as file:
            file.write(line)
            file.flush()
            self._places[key] = (file.tell() - len(line), len(line))

    def _index(self, line: bytes, start: int) -> None:
        """Note where the answer of a line is."""
        with suppress(ValueError, KeyError, TypeError):  # cut short: the request will be sent again
            row = json.loads(line)
            if set(row["answer"]) == set(Reply._fields):
                self._places[row["key"]] = (start, len(line))


def _digest(address: str, request: Mapping[str, Any]) -> str:
    text = json.dumps([address, request], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
