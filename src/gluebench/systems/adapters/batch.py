"""Requests as a file of the batch API, and the file of its results back into the cache of answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.endpoint import AnswerCache, RefusedError, chat_reply, reply_of


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
