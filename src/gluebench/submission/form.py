"""A multipart form with one file, sent in pieces so that the file's size does not matter."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

PIECE = 64 * 1024

Progress = Callable[[int, int], None]
"""Receives the bytes sent and their total; starts again with each try."""


class FileChangedError(Exception):
    """The file became longer or shorter while it was sent."""


class Form:
    """The form: its type, its length, and its body as often as it is wanted."""

    def __init__(self, file: Path, fields: Mapping[str, Any]) -> None:
        edge = secrets.token_hex(16)
        self._file = file
        self.kind = f"multipart/form-data; boundary={edge}"
        parts = [_part(edge, name, _text(value)) for name, value in fields.items() if value is not None]
        name = file.name.encode("ascii", "replace").decode().replace('"', "_").replace("\\", "_")
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        self._head = b"".join([*parts, f"{head}Content-Type: application/zip\r\n\r\n".encode()])
        self._tail = f"\r\n--{edge}--\r\n".encode()
        self.size = os.path.getsize(file)
        self.length = len(self._head) + self.size + len(self._tail)

    def open(self) -> IO[bytes]:
        """The file, from its start."""
        return self._file.open("rb")

    def pieces(self, opened: IO[bytes], progress: Progress | None) -> Iterator[bytes]:
        """The whole body. Raises FileChangedError."""
        yield self._head
        sent = 0
        while piece := opened.read(PIECE):
            sent += len(piece)
            if sent > self.size:
                break
            yield piece
            if progress is not None:
                progress(sent, self.size)
        if sent != self.size:
            raise FileChangedError(f"{self._file} changed while it was sent. Send it again.")
        yield self._tail


def _part(edge: str, name: str, value: str) -> bytes:
    return f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
