"""Answers of a server on disk, by request: what was asked once, in whatever run, is not asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from gluebench.systems.adapters.endpoint import Reply


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
        """The answer to a request; None if it was never asked."""
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
        except (ValueError, KeyError, TypeError):  # cut short: it will be asked again
            return
