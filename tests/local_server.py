"""A file server on this machine whose faults are chosen: what each of the next requests for a path meets."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple

PAGE = b"<!DOCTYPE html>\n<html><head><title>Please sign in</title></head><body>Sign in.</body></html>"


class Request(NamedTuple):
    path: str
    range: str | None
    if_range: str | None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LocalServer

    def do_GET(self) -> None:
        self.server.requests.append(
            Request(self.path, self.headers.get("Range"), self.headers.get("If-Range"))
        )
        faults = self.server.faults.get(self.path, [])
        answer = faults.pop(0) if faults else whole
        content = self.server.files.get(self.path)
        if content is None and answer is whole:
            status(404)(self, b"")
        else:
            answer(self, content or b"")

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read what the command says."""

    def begin(self, code: int, length: int, **headers: str) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()


Answer = Callable[[Handler, bytes], None]


class LocalServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[Answer]] = {}
        """What the next requests for a path meet, in order; then the file itself."""
        self.requests: list[Request] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked(self, path: str) -> list[Request]:
        return [each for each in self.requests if each.path == path]

    def handle_error(self, *_: object) -> None:
        """Nothing: that the other side goes away is what some tests are about."""


@contextmanager
def serving() -> Iterator[LocalServer]:
    with LocalServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def whole(handler: Handler, content: bytes) -> None:
    """The file, or the rest of it that was asked for."""
    _serve(handler, content, len(content))


def cut(after: int) -> Answer:
    """The connection ends after so many bytes of the body."""
    return lambda handler, content: _serve(handler, content, after)


def _serve(handler: Handler, content: bytes, most: int) -> None:
    etag = _etag(content)
    asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    start = int(asked[1]) if asked and handler.headers.get("If-Range", etag) == etag else 0
    if start >= len(content) > 0:
        handler.begin(416, 0, Content_Range=f"bytes */{len(content)}")
        return
    end = len(content) - 1
    ranged = {"Content_Range": f"bytes {start}-{end}/{len(content)}"} if start else {}
    handler.begin(206 if start else 200, len(content) - start, ETag=etag, **ranged)
    body = content[start : start + most]
    handler.wfile.write(body)
    if len(body) < len(content) - start:
        handler.close_connection = True


def status(code: int, **headers: str) -> Answer:
    return lambda handler, _: handler.begin(code, 0, **headers)


def instead(content: bytes, **headers: str) -> Answer:
    """Something else, as if all were well."""

    def answer(handler: Handler, _: bytes) -> None:
        handler.begin(200, len(content), **headers)
        handler.wfile.write(content)

    return answer


def unranged(handler: Handler, content: bytes) -> None:
    """The whole file whatever was asked for, from a server that knows no ranges."""
    instead(content)(handler, content)


def unmeasured(handler: Handler, content: bytes) -> None:
    """The file without its length."""
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(content)
    handler.close_connection = True


def slow(seconds: float) -> Answer:
    """Half of the file, and then nothing for so long."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.begin(200, len(content), ETag=_etag(content))
        handler.wfile.write(content[: len(content) // 2])
        handler.wfile.flush()
        time.sleep(seconds)
        handler.close_connection = True

    return answer


def redirect(to: str) -> Answer:
    return status(302, Location=to)
