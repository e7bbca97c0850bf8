"""An OpenAI-compatible server: requests with retries, its key never shown, and a cache of its answers."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from gluebench.data.sources.http import proxy
from gluebench.systems.adapters import ModelError
from gluebench.version import __version__

if TYPE_CHECKING:
    from urllib3 import PoolManager

PATH = "/chat/completions"
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that may change on a retry."""
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
    """The server does not take a request as it is."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class Endpoint:
    """Where to ask; may be used by several threads at once."""

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
        """The key is read from the environment variable named, if one is. Raises ModelError."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelError(f"{url}: no address of a server; expected one as http://localhost:8000/v1")
        if parts.username or parts.password:
            raise ModelError(
                "the address holds a password; name the variable of a key with --key-from instead"
            )
        self.address = url if parts.path.endswith(PATH) else url.rstrip("/") + PATH
        self._key = _key(key_variable)
        if self._key and parts.scheme == "http" and parts.hostname not in HERE:
            raise ModelError(
                f"{url}: a key would be sent unencrypted; expected https:// or a server of this machine"
            )
        self._retries = retries
        self._timeout = timeout
        self._connections = connections
        self._sleep = sleep
        self._pool = self._connected()

    def ask(self, request: Mapping[str, Any]) -> Reply:
        """The server's answer. Raises RefusedError, or ModelError after the last retry."""
        from urllib3.exceptions import HTTPError

        retry_after = ""
        for attempt in range(self._retries + 1):
            if attempt:
                self._sleep(self._wait(attempt, retry_after))
            try:
                response = self._pool.request(
                    "POST", self.address, json=dict(request), headers=self._headers()
                )
            except HTTPError as error:
                fault, retry_after = f"cannot be reached ({self._hidden(str(error))})", ""
                continue
            if response.status == 200:
                return self._read(response.data)
            fault = f"status {response.status}: {self._hidden(_message(response.data))}"
            if response.status not in PASSING:
                raise RefusedError(f"{self.address}: {fault}", status=response.status)
            retry_after = response.headers.get("Retry-After", "")
        raise ModelError(f"{self.address}: {fault}; asked {self._retries + 1} times")

    def _read(self, data: bytes) -> Reply:
        try:
            return _reply(json.loads(data))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            shown = self._hidden(data[:200].decode("utf-8", "replace"))
            raise ModelError(f"{self.address}: no answer of a chat completion: {shown!r}") from None

    def _wait(self, attempt: int, retry_after: str) -> float:
        """Seconds: as the server's header gives, else twice as long each time, less a random part."""
        try:
            return min(max(float(retry_after), 0.0), LONGEST_WAIT)
        except ValueError:  # nothing, or a date
            return min(2.0 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.5, 1.0)

    def _headers(self) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {"User-Agent": f"gluebench/{__version__}", **key}

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _connected(self) -> PoolManager:
        import urllib3

        options: dict[str, Any] = {
            "maxsize": self._connections,
            "block": True,
            "timeout": urllib3.Timeout(connect=min(self._timeout, 30.0), read=self._timeout),
            "retries": urllib3.Retry(0, redirect=False, raise_on_redirect=False),
        }
        through = proxy(self.address)
        return urllib3.ProxyManager(through, **options) if through else urllib3.PoolManager(**options)


def _reply(answer: Mapping[str, Any]) -> Reply:
    """The parts of a server's answer that are used. Raises KeyError and the like for what is none."""
    choice = answer["choices"][0]
    usage = answer.get("usage") or {}
    tokens = (choice.get("logprobs") or {}).get("content") or [{}]
    likely = {token["token"]: float(token["logprob"]) for token in tokens[0].get("top_logprobs") or ()}
    text = choice["message"]["content"] or ""
    return Reply(text, likely, int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))


def _key(variable: str | None) -> str:
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(f"the environment variable {variable} holds no key")
    return key


def _message(data: bytes) -> str:
    """What the server says of an error, on one line."""
    text = data.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):  # no JSON of that form: shown as it is
        return " ".join(text.split())[:300]
    return " ".join(text.split())[:300]


class _Line(NamedTuple):
    """Where in the file an answer stands."""

    start: int
    length: int


def key_of(address: str, request: Mapping[str, Any]) -> str:
    """What a request is known by; a key to the server has no part in it."""
    text = json.dumps([address, request], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class AnswerCache:
    """A file of JSON lines that only grows; a line that a kill cut short is passed over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._lines: dict[str, _Line] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0)
            start, last = 0, b"\n"
            for last in file:
                self._take(last, start)
                start += len(last)
            if not last.endswith(b"\n"):
                file.write(b"\n")

    def get(self, key: str) -> Reply | None:
        """The answer to a request; None if it was never sent."""
        line = self._lines.get(key)
        if line is None:
            return None
        with self.path.open("rb") as file:
            file.seek(line.start)
            return Reply(**json.loads(file.read(line.length))["answer"])

    def put(self, key: str, answer: Reply) -> None:
        """Keep an answer."""
        line = (json.dumps({"key": key, "answer": answer._asdict()}, ensure_ascii=False) + "\n").encode()
        with self._lock, self.path.open("ab") as file:
            file.write(line)
            file.flush()
            self._lines[key] = _Line(file.tell() - len(line), len(line))

    def _take(self, line: bytes, start: int) -> None:
        try:
            row = json.loads(line)
            if set(row["answer"]) == set(Reply._fields):
                self._lines[row["key"]] = _Line(start, len(line))
        except (ValueError, KeyError, TypeError):  # cut short: the request will be sent again
            return
