"""A first pass over a file: its size, its hash, how its lines end, and what else it is than its name says."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from gluebench.data.dataset import SourceFile
from gluebench.data.errors import DataError

BLOCK = 1 << 19
SIGNS = {
    b"<!doctype": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "an XML document",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"version https://git-lfs": "a Git LFS pointer, not the file it stands for",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
"""How files begin that are often saved under another's name."""


class Survey(NamedTuple):
    """What one pass over a file tells."""

    bytes: int
    sha256: str
    crlf: bool
    """Whether no line feed is without a carriage return before it."""
    sign: str
    """What the file is by its first bytes; empty if nothing in SIGNS."""

    def source(self, name: str) -> SourceFile:
        """The entry of `dataset.json`."""
        return SourceFile(name, self.bytes, self.sha256)


def survey(path: Path) -> Survey:
    """Read a file once. Raises DataError where it is empty, OSError where it cannot be read."""
    whole = hashlib.sha256()
    size = 0
    head = tail = b""
    crlf = True
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            head = head or block[:64]
            size += len(block)
            whole.update(block)
            crlf = crlf and _only_crlf(tail + block)
            tail = b"\r" if block.endswith(b"\r") else b""
    if not size:
        raise DataError([f"{path}: the file is empty; fetch it again"])
    return Survey(size, whole.hexdigest(), crlf, _sign(head))


def _only_crlf(block: bytes) -> bool:
    if b"\r" not in block:
        return b"\n" not in block
    return block.count(b"\n") == block.count(b"\r\n")


def _sign(head: bytes) -> str:
    start = head.lstrip().lower() if head.lstrip().startswith(b"<") else head
    return next((meaning for sign, meaning in SIGNS.items() if start.startswith(sign)), "")
