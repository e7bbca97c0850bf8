"""A repository of the Hugging Face Hub on this machine: what the hub's client asks for an upload."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class HubServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.created: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.tokens: set[str | None] = set()
        self.refusal = 0
        """Status with which commits are refused; 0 for none."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self._body()
        answer: dict[str, Any] = {}
        if self.path == "/api/repos/create":
            self.server.created.append(json.loads(body))
            self.server.tokens.add(self.headers.get("Authorization"))
            answer = {"url": f"{self.server.address}/me/paper"}
        elif "/preupload/" in self.path:
            # The hub decides how a file comes; by "regular" it comes in the commit.
            modes = []
            for file in json.loads(body)["files"]:
                modes.append({"path": file["path"], "uploadMode": "regular", "shouldIgnore": False})
            answer = {"files": modes}
        elif "/commit/" in self.path:
            if self.server.refusal:
                self._answer({"error": "You may not write here"}, status=self.server.refusal)
                return
            self._commit(body)
            answer = {"commitUrl": f"{self.server.address}/me/paper/commit/1", "commitOid": "1"}
        self._answer(answer)

    def _commit(self, body: bytes) -> None:
        for line in body.splitlines():
            entry = json.loads(line)
            if entry["key"] == "file":
                self.server.files[entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, values: dict[str, Any], *, status: int = 200) -> None:
        data = json.dumps(values).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serving_hub() -> Iterator[HubServer]:
    server = HubServer()
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
