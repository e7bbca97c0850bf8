"""Send a submission to a leaderboard, follow it there, and load a benchmark by its address.

Uses only the standard library, and no gold labels. An interrupted upload is sent again under the same key, so
that the leaderboard counts one submission. The manifest of a benchmark named as
`https://host/benchmarks/NAME`, or with `?phase=ID`, is cached for the user, revalidated by ETag at each use,
and used from the cache while offline.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import tempfile
import time
import tomllib
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.benchmark.atomic import write_text
from gluebench.submission.transport import (
    ROOT,
    Answer,
    Form,
    Progress,
    RefusedByLeaderboardError,
    SendError,
    Transport,
    UnreachableError,
)

__all__ = ["Client", "RefusedByLeaderboardError", "SendError", "remote"]

TRIES = 2
TIMEOUT = 15.0
ANSWER = "answer.json"
NOT_FOUND = 404
_PAGE = re.compile(r"(.*)/benchmarks/([\w-]+)(?:/data)?/?", re.ASCII)


class Client(Transport):
    """One leaderboard, as the owner of one token sees it."""

    def about(self) -> dict[str, Any]:
        """The site's description of itself. Raises SendError if it is not a leaderboard."""
        answer = self._get("/")
        if answer.get("software") != "gluebench":
            raise SendError(f"{self.url} does not answer as a leaderboard of gluebench does.")
        return answer

    def benchmarks(self) -> list[dict[str, Any]]:
        """The benchmarks that the leaderboard has. Raises SendError."""
        items: list[dict[str, Any]] = self._get("/benchmarks?per_page=1000")["items"]
        return items

    def benchmark(self, name: str) -> Benchmark:
        """A benchmark with the tasks of a file that is sent now. Raises SendError, ManifestError."""
        manifest = self.facts(name, phase=self.phase_now(name)).data
        with tempfile.TemporaryDirectory(prefix="gluebench-") as folder:
            return load_benchmark(write_manifest(manifest, Path(folder), url=self.url))

    def phase_now(self, name: str) -> int:
        """The id of the phase that a file sent now is for; 0 for none. Raises SendError."""
        for phase in self._get(f"/benchmarks/{urllib.parse.quote(name, safe='')}/phases")["items"]:
            if phase.get("takes"):
                return int(phase["id"])
        return 0

    def facts(self, name: str, etag: str = "", *, phase: int = 0) -> Answer:
        """The leaderboard's record of a benchmark; no data (304) if it is unchanged since that ETag.

        `phase`: the id of one whose tasks, manifest and data it has. Raises SendError.
        """
        headers = {"If-None-Match": etag} if etag else {}
        path = f"/benchmarks/{urllib.parse.quote(name, safe='')}"
        if phase:
            path += f"?phase={phase}"
        return self.persist(lambda: self.ask(path, None, headers))

    def account(self) -> dict[str, Any]:
        """The account and the scopes of the token. Raises SendError."""
        return self._get("/account")

    def board(self, benchmark: str, page: int = 1, phase: int = 0) -> dict[str, Any]:
        """A page of a benchmark's board; `phase`: the id of another phase than its own. Raises SendError."""
        only = f"&phase={phase}" if phase else ""
        return self._get(f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/board?page={page}{only}")

    def quota(self, benchmark: str) -> dict[str, Any]:
        """How much may still be submitted. Raises SendError."""
        return self._get(f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/quota")

    def registration(self, benchmark: str, code: str = "") -> dict[str, Any]:
        """The rules, what registering asks for, and whether one may submit. Raises SendError.

        `code`: of an invitation.
        """
        query = f"?code={urllib.parse.quote(code, safe='')}" if code else ""
        return self._get(f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/registration{query}")

    def register(self, benchmark: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Accept the `version` of the rules, and register with what they ask for. Raises SendError."""
        path = f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/registration"
        facts: dict[str, Any] = self.post(path, values)
        return facts

    def check(self, benchmark: str, path: Path, *, progress: Progress | None = None) -> dict[str, Any]:
        """The result of a check, as from `Submission.as_dict`; it uses no quota. Raises SendError."""
        address = f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/check"
        result: dict[str, Any] = self._upload(address, path, {}, progress=progress).data
        return result

    def submit(
        self,
        benchmark: str,
        path: Path,
        details: Mapping[str, Any],
        *,
        retry_key: str | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Send a file and its details; when this returns, the leaderboard has stored them. Raises SendError.

        The same `retry_key` with the same file is the same submission, however often it is sent.
        """
        key = retry_key or secrets.token_hex(16)
        address = f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/submissions"
        headers = {"Idempotency-Key": key}
        answer = self._upload(address, path, details, headers=headers, progress=progress)
        submission: dict[str, Any] = answer.data
        return submission | {"new": answer.status == 201}

    def wait(
        self,
        key: str,
        *,
        on_change: Callable[[dict[str, Any]], None] = lambda status: None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Wait for the final state of a submission; `on_change` gets each new status. Raises SendError."""
        began = time.monotonic()
        previous = None
        pause = 0.2
        while True:
            status = self._get(f"/submissions/{urllib.parse.quote(key, safe='')}/status")
            if status != previous:
                on_change(status)
                previous = status
            if status["final"]:
                return self.submission(key)
            if seconds is not None and time.monotonic() - began > seconds:
                raise SendError(
                    f"{key} was not graded in {seconds:g} seconds; it will be. See {self.page(key)}"
                )
            time.sleep(pause)
            pause = min(pause * 1.3, 3.0)

    def submission(self, key: str) -> dict[str, Any]:
        """A submission with its report. Raises SendError."""
        return self._get(f"/submissions/{urllib.parse.quote(key, safe='')}")

    def page(self, key: str) -> str:
        """The address of a submission's page."""
        return f"{self.url}/submissions/{key}"

    def post(self, path: str, values: Mapping[str, Any]) -> Any:
        """Send a JSON object; returns the answer, None if it is empty. Raises SendError."""
        body = json.dumps(values).encode()
        headers = {"Content-Type": "application/json"}
        return self.persist(lambda: self.ask(path, body, headers)).data

    def _get(self, path: str) -> dict[str, Any]:
        data: dict[str, Any] = self.persist(lambda: self.ask(path, None, {})).data
        return data

    def _upload(
        self,
        path: str,
        file: Path,
        fields: Mapping[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        form = Form(file, fields)
        limit = self.about()["upload_bytes"]
        if form.size > limit:
            raise SendError(f"{file} is larger than the {limit // 1024**2} MB that {self.url} takes.")

        def send() -> Answer:
            all_headers = {"Content-Type": form.kind, "Content-Length": str(form.length)}
            all_headers |= headers or {}
            with form.open() as opened:
                return self.ask(path, form.pieces(opened, progress), all_headers)

        return self.persist(send)


def write_manifest(facts: Any, folder: Path, *, url: str) -> Path:
    """Write the manifest in a benchmark's facts and the manifests it extends; return the path of the first.

    Raises SendError if the facts have none, or if a manifest would read another file of this machine.
    """
    try:
        texts = {"manifest.toml": str(facts["manifest"])}
        texts |= {f"parent-{at}.toml": str(text) for at, text in enumerate(facts["parents"], start=1)}
    except (KeyError, TypeError):
        raise SendError(f"{url} does not give the manifest of this benchmark.") from None
    for name, text in reversed(texts.items()):
        try:
            head = tomllib.loads(text.removeprefix("\ufeff")).get("benchmark")
        except (ValueError, RecursionError):
            head = None
        parent = None
        if isinstance(head, dict):
            parent = head.get("extends")
        is_file = isinstance(parent, str) and ("/" in parent or "\\" in parent or parent.endswith(".toml"))
        if is_file and str(parent).removeprefix("./") not in texts:
            raise SendError(
                f"The manifest at {url} extends the file {parent!r}, which is not the leaderboard's."
            )
        write_text(folder / name, text)
    return folder / "manifest.toml"


class Address(NamedTuple):
    """Where a benchmark is."""

    site: str
    """Address of the leaderboard."""
    name: str
    phase: int = 0
    """The id of a phase, whose tasks are meant; 0 for all tasks."""

    @property
    def page(self) -> str:
        """Address of the benchmark."""
        query = f"?phase={self.phase}" if self.phase else ""
        return f"{self.site}/benchmarks/{self.name}{query}"

    @property
    def for_programs(self) -> str:
        """Address of the benchmark in the API, which takes a token."""
        return f"{self.site}{ROOT}/benchmarks/{self.name}"


class Remote(NamedTuple):
    """A benchmark of a leaderboard, as it is now, or as it was when the leaderboard last answered."""

    address: Address
    manifest: Path
    """Its manifest as a file in the cache."""
    facts: dict[str, Any]
    """What the leaderboard says of it (docs/reference/api.md)."""
    token: str = ""
    """The token that was needed; empty for a benchmark that everybody sees."""


def address_of(url: str) -> Address:
    """The leaderboard and the name in an address. Raises SendError."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:  # such as an IPv6 address without its closing bracket
        parts = urllib.parse.urlsplit("")
    match = _PAGE.fullmatch(f"{parts.scheme}://{parts.netloc}{parts.path}")
    if parts.scheme not in ("http", "https") or not match:
        raise SendError(
            f"{url!r} is not the address of a benchmark; one looks like "
            "https://board.example.org/benchmarks/hotels."
        )
    phase = urllib.parse.parse_qs(parts.query).get("phase", ["0"])[0]
    if not re.fullmatch("[0-9]{1,18}", phase):
        raise SendError(f"{url!r}: the phase {phase!r} is not a number, which its board's address has.")
    return Address(match[1], match[2], int(phase))


def remote(url: str, say: Callable[[str], None] = lambda line: None, *, token: str = "") -> Remote:
    """The benchmark at an address; `say` is called if the cached one is used. Raises SendError.

    `token`: of an account that sees it, where not everybody does. It is not sent where everybody does.
    """
    address = address_of(url)
    folder = cache_folder() / hashlib.sha256(address.page.encode()).hexdigest()[:32]
    try:
        stored = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
        cached = Answer(200, stored["facts"], str(stored["etag"]))
    except (OSError, ValueError, KeyError, TypeError):
        cached = None
    etag = cached.etag if cached else ""
    needed = ""
    try:
        try:
            answer = Client(address.site, tries=TRIES, timeout=TIMEOUT).facts(
                address.name, etag, phase=address.phase
            )
        except RefusedByLeaderboardError as refusal:
            if refusal.status != NOT_FOUND or not token:
                raise
            needed = token
            answer = _facts_for(address, token, etag, say)
    except UnreachableError as error:
        if cached is None:
            raise
        date = time.strftime("%Y-%m-%d", time.localtime((folder / ANSWER).stat().st_mtime))
        say(f"{error} Using {address.page} as it was on {date}.")
        return Remote(address, write_manifest(cached.data, folder, url=address.page), cached.data, needed)
    if cached and answer.status == 304:
        answer = cached
    folder.mkdir(parents=True, exist_ok=True)
    manifest = write_manifest(answer.data, folder, url=address.page)
    write_text(folder / ANSWER, json.dumps({"etag": answer.etag, "facts": answer.data}))
    return Remote(address, manifest, answer.data, needed)


def _facts_for(address: Address, token: str, etag: str, say: Callable[[str], None]) -> Answer:
    """The record of a benchmark that not everybody sees. Raises SendError."""
    client = Client(address.site, token, tries=TRIES, timeout=TIMEOUT)
    if client.is_open_to_readers:
        say(f"warning: {client.url} is not encrypted: the token can be read on the way.")
    return client.facts(address.name, etag, phase=address.phase)


def cache_folder() -> Path:
    """The folder of cached manifests, in the user's cache ($XDG_CACHE_HOME)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gluebench" / ".manifests"
