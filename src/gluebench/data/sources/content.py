"""What a file holds, whatever its name says: a pass over all of it, or its first bytes."""

from __future__ import annotations

import hashlib
import html
import re
from pathlib import Path
from typing import NamedTuple

from gluebench.data.dataset import SourceFile
from gluebench.data.errors import DataError

HEAD = 4096
"""First bytes of a download by which a web page is recognized."""
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
_PAGE = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_NO_TEXT = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>|<[^>]*\Z", re.IGNORECASE | re.DOTALL)
_LONGEST = 80
"""Characters of a web page that a message shows."""


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
    """Read a file once. Raises DataError if it is empty, OSError if it cannot be read."""
    digest = hashlib.sha256()
    size = 0
    head = tail = b""
    crlf = True
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            head = head or block[:64]
            size += len(block)
            digest.update(block)
            text = tail + block
            crlf = crlf and text.count(b"\n") == (text.count(b"\r\n") if b"\r" in text else 0)
            tail = b"\r" if block.endswith(b"\r") else b""
    if not size:
        raise DataError(f"{path}: the file is empty; fetch it again")
    return Survey(size, digest.hexdigest(), crlf, sign(head))


def sign(head: bytes) -> str:
    """What a file is by its first bytes; empty if nothing in SIGNS."""
    start = head.lstrip().lower() if head.lstrip().startswith(b"<") else head
    return next((meaning for beginning, meaning in SIGNS.items() if start.startswith(beginning)), "")


def mistaken(head: bytes) -> str:
    """What a server sent in place of a file: a web page with its title, a pointer; empty if neither."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if _PAGE.match(head):
        words = _words(head.decode("utf-8", "replace"))
        return f'a web page, not the file: "{words}"' if words else "a web page, not the file"
    return sign(head) if head.startswith(b"version https://git-lfs") else ""


def _words(page: str) -> str:
    title = _TITLE.search(page)
    text = title[1] if title and title[1].strip() else page
    words = " ".join(html.unescape(_NO_TEXT.sub(" ", text)).split())
    words = "".join(letter if letter.isprintable() else "?" for letter in words)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."
