"""What a file begins with: an error page under the name of a file is told as what it is."""

from __future__ import annotations

import html
import re

HEAD = 4096
"""Bytes that are looked at."""
_PAGE = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_NO_TEXT = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>|<[^>]*\Z", re.IGNORECASE | re.DOTALL)
_POINTER = b"version https://git-lfs.github.com/spec/"
_SHOWN = 80


def mistaken(head: bytes) -> str:
    """What the server sent in place of the file: a web page with its title, a pointer; empty if neither."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if _PAGE.match(head):
        return f"a web page, not the file{_quoted(_words(head.decode('utf-8', 'replace')))}"
    if head.startswith(_POINTER):
        return "a Git LFS pointer, not the file it stands for"
    return ""


def beginning(head: bytes) -> str:
    """The first bytes as a reader may be shown them."""
    return ascii(head[:16])[1:]


def _words(page: str) -> str:
    title = _TITLE.search(page)
    text = title[1] if title and title[1].strip() else page
    words = " ".join(html.unescape(_NO_TEXT.sub(" ", text)).split())
    words = "".join(letter if letter.isprintable() else "?" for letter in words)
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."


def _quoted(words: str) -> str:
    return f': "{words}"' if words else ""
