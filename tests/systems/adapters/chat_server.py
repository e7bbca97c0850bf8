"""An OpenAI-compatible server on this machine that says what a test scripts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Script = Callable[[dict[str, Any]], "str | dict[str, Any] | Fault"]
"""From a request to the text of the answer, to the whole of it, or to another response."""
Fault = tuple[int, str, dict[str, str]]
"""Status, body and headers of a response."""


class ChatServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.lock = Lock()
        self.faults: list[Fault] = []
        """Status, body and headers that the next requests meet; status 0 closes the connection."""
        self.latency = 0.0
        self.refuses: dict[str, str] = {}
        """Field to what is said of a request that has it."""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.paths: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """Nothing: a killed client is what one test is about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ChatServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(request)
            self.server.keys.append(self.headers.get("Authorization"))
            self.server.paths.append(self.path)
            fault = self.server.faults.pop(0) if self.server.faults else None
        time.sleep(self.server.latency)
        if fault and fault[0] == 0:
            self.close_connection = True
            return
        if fault:
            self._answer(fault[0], fault[1], fault[2])
            return
        for field, message in self.server.refuses.items():
            if field in request:
                self._answer(400, json.dumps({"error": {"message": message}}), {})
                return
        said = self.server.script(request)
        if isinstance(said, tuple):
            self._answer(*said)
            return
        self._answer(200, json.dumps(said if isinstance(said, dict) else chat(said)), {})

    def _answer(self, status: int, text: str, headers: dict[str, str]) -> None:
        body = text.encode()
        self.send_response(status)
        headers = {"Content-Length": str(len(body)), **headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.close_connection = int(headers["Content-Length"]) > len(body)  # a body that ends too early
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read what the command says."""


def chat(
    text: str | None, likely: dict[str, float] | None = None, *, finish: str = "stop", **message: Any
) -> dict[str, Any]:
    """The answer of a chat completion."""
    told = [{"token": token, "logprob": value} for token, value in (likely or {}).items()]
    logprobs = {"logprobs": {"content": [{"token": text, "top_logprobs": told}]}} if likely else {}
    message = {"role": "assistant", "content": text, **message}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, **logprobs}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 2, "total_tokens": 52},
    }


@contextmanager
def chatting(script: Script) -> Iterator[ChatServer]:
    with ChatServer(script) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
