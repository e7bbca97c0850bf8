"""Benchmarks that are named by their address on a leaderboard: `https://host/benchmarks/NAME`.

The manifest is kept in the user's cache, compared by ETag at each use, and used as it was while offline.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark.atomic import write_text
from gluebench.submission.client import Client, write_manifest
from gluebench.submission.transport import Answer, SendError, UnreachableError

TRIES = 2
TIMEOUT = 15.0
ANSWER = "answer.json"
_PAGE = re.compile(r"(.*)/benchmarks/([\w-]+)(?:/data)?/?", re.ASCII)


class Address(NamedTuple):
    """Where a benchmark is."""

    site: str
    """Address of the leaderboard."""
    name: str

    @property
    def page(self) -> str:
        """Address of the benchmark."""
        return f"{self.site}/benchmarks/{self.name}"


class Remote(NamedTuple):
    """A benchmark of a leaderboard, as it is now or was when the leaderboard last answered."""

    address: Address
    manifest: Path
    """Its manifest as a file in the cache."""
    facts: dict[str, Any]
    """What the leaderboard says of it (docs/reference/api.md)."""


def address_of(url: str) -> Address:
    """The leaderboard and the name in an address. Raises SendError."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:  # half of an IPv6 address
        parts = urllib.parse.urlsplit("")
    match = _PAGE.fullmatch(f"{parts.scheme}://{parts.netloc}{parts.path}")
    if parts.scheme not in ("http", "https") or not match:
        raise SendError(
            f"{url!r} is not the address of a benchmark; one looks like "
            "https://board.example.org/benchmarks/hotels."
        )
    return Address(match[1], match[2])


def remote(url: str, say: Callable[[str], None] = lambda line: None) -> Remote:
    """The benchmark at an address; `say` hears that the cached one is used. Raises SendError."""
    address = address_of(url)
    home = cache_folder() / hashlib.sha256(address.page.encode()).hexdigest()[:32]
    kept = _read(home / ANSWER)
    try:
        client = Client(address.site, tries=TRIES, timeout=TIMEOUT)
        answer = client.facts(address.name, kept.etag if kept else "")
    except UnreachableError as error:
        if kept is None:
            raise
        when = time.strftime("%Y-%m-%d", time.localtime((home / ANSWER).stat().st_mtime))
        say(f"{error} Using {address.page} as it was on {when}.")
        return Remote(address, write_manifest(kept.data, home, url=address.page), kept.data)
    answer = kept if kept and answer.status == 304 else answer
    home.mkdir(parents=True, exist_ok=True)
    manifest = write_manifest(answer.data, home, url=address.page)
    write_text(home / ANSWER, json.dumps({"etag": answer.etag, "facts": answer.data}))
    return Remote(address, manifest, answer.data)


def _read(path: Path) -> Answer | None:
    """The last answer; None where there is none that can be used."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Answer(200, kept["facts"], str(kept["etag"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def cache_folder() -> Path:
    """The folder of cached manifests, in the user's cache ($XDG_CACHE_HOME)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gluebench" / ".manifests"
