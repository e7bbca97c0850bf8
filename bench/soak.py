"""A served site under a long stream of submissions: none lost, memory flat, how long each takes.

    python bench/soak.py [--count 10000] [--full 100] [--minutes M] [--clients 4]

Submissions go through the page, as a browser sends them: first full zips of GLUE's sizes one at a time, then
sample-sized ones from several clients that keep a few in the queue. Stops early, with what it has, after
that many minutes. Runs on GLUEBENCH_DATABASE where that is set.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import io
import math
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import uuid
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from material import write_material, write_zip

SAMPLE, FULL = "sample", "glue"
QUEUED_AT_MOST = 6
OWN = "Pss_Anon"
"""Memory that a process alone holds: the database's file, which SQLite maps, grows with what is in it."""
PASSWORD = "a long password for the soak"


class Sizes(NamedTuple):
    """Memory of a site's processes, in MiB."""

    supervisor: float
    web: float
    worker: float


class Client:
    """Somebody who signed up and submits through the page."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies)
        self._send("/account/signup/", {"email": f"{name}@example.org", "password1": PASSWORD})

    def submit(self, benchmark: str, data: bytes) -> str:
        """Send a submission; returns the address of its page."""
        fields = {"name": "Soak", "model": "A model", "regime": "other", "public": "on", "action": "submit"}
        file = io.BytesIO(data)
        with zipfile.ZipFile(file, "a") as archive:
            archive.comment = uuid.uuid4().bytes  # the same file again is asked about first
        return self._send(f"/benchmarks/{benchmark}/submit", fields, file.getvalue())

    def _send(self, path: str, fields: dict[str, str], upload: bytes | None = None) -> str:
        with self._opener.open(self._url + path, timeout=60) as page:
            token = re.search(rb'csrfmiddlewaretoken" value="([^"]+)', page.read())
        if token is None:
            raise SystemExit(f"{path} has no form.")
        fields = {"csrfmiddlewaretoken": token[1].decode(), **fields}
        edge = uuid.uuid4().hex
        parts = [
            f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        if upload is not None:
            head = 'Content-Disposition: form-data; name="upload"; filename="soak.zip"'
            parts.append(f"--{edge}\r\n{head}\r\nContent-Type: application/zip\r\n\r\n".encode())
            parts += [upload, b"\r\n"]
        body = b"".join([*parts, f"--{edge}--\r\n".encode()])
        request = urllib.request.Request(
            self._url + path, body, {"Content-Type": f"multipart/form-data; boundary={edge}"}
        )
        with self._opener.open(request, timeout=60) as answer:
            return str(urllib.parse.urlparse(answer.url).path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="sample-sized submissions")
    parser.add_argument("--full", type=int, default=100, help="full submissions")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the site is stopped with us
    with tempfile.TemporaryDirectory(prefix="gluebench-soak-") as name:
        scratch = Path(name)
        start = time.monotonic()
        port, server = serve_site(scratch / "site")
        try:
            print(f"set-up and first page from an empty folder: {time.monotonic() - start:.1f} s   goal <= 5")
            print(f"proportional memory at the start: {_told(_sizes(server.pid))}   goal <= 200 in all")
            zips = _material(scratch)
            _soak(f"http://127.0.0.1:{port}", server, zips, options)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=15)


def serve_site(site: Path) -> tuple[int, subprocess.Popen[str]]:
    """A site in a new folder, made and served by the command line."""
    os.environ.update(GLUEBENCH_SITE=str(site), PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    subprocess.run(
        [sys.executable, "-m", "gluebench", "leaderboard", "init"], check=True, stdout=subprocess.DEVNULL
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gluebench", "leaderboard", "serve", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    if not server.stdout.readline():
        raise SystemExit("The site did not start.")
    return port, server


def _material(scratch: Path) -> dict[str, bytes]:
    """Both benchmarks on the site, without limits, and a submission of each as bytes."""
    import gluebench.data.sample
    from gluebench.benchmark import load_benchmark
    from gluebench.leaderboard import commands

    write_material(scratch / FULL)
    gluebench.data.sample.build(scratch / SAMPLE)
    for name in (FULL, SAMPLE):
        commands.add(os.environ["GLUEBENCH_SITE"], name, scratch / name / "gold")
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    Benchmark.objects.update(settings=dict.fromkeys(("per_day", "at_once", "invalid_per_day")))
    rng = random.Random(0)
    sample = load_benchmark(SAMPLE)
    rows = {
        file.name: [_any_label(sample.task(file.task), rng) for _ in range(file.size())]
        for file in sample.files()
    }
    write_zip(scratch / "sample.zip", rows, lambda lines: lines)
    return {FULL: (scratch / FULL / "good.zip").read_bytes(), SAMPLE: (scratch / "sample.zip").read_bytes()}


def _any_label(task: Any, rng: random.Random) -> str:
    return rng.choice(task.words) if task.words else f"{rng.uniform(0, 5):.3f}"


def _soak(
    url: str, server: subprocess.Popen[str], zips: dict[str, bytes], options: argparse.Namespace
) -> None:
    end = time.monotonic() + options.minutes * 60
    clients = [Client(url, f"soak{number}") for number in range(options.clients)]
    sent = {FULL: 0, SAMPLE: 0}
    while sent[FULL] < options.full and time.monotonic() < end:
        clients[0].submit(FULL, zips[FULL])
        sent[FULL] += 1
        _wait_until_below(1)
    first = _sizes(server.pid, OWN)
    sizes: list[Sizes] = []
    every = max(1, min(500, options.count // 10))
    while sent[SAMPLE] < options.count and time.monotonic() < end:
        _wait_until_below(QUEUED_AT_MOST)
        clients[sent[SAMPLE] % len(clients)].submit(SAMPLE, zips[SAMPLE])
        sent[SAMPLE] += 1
        if sent[SAMPLE] % every == 0:
            sizes.append(_sizes(server.pid, OWN))
            print(f"  after {sent[SAMPLE]:6}: {_told(sizes[-1])}", flush=True)
    _wait_until_below(1)
    print(f"before the sample-sized ones: {_told(first)}")
    if len(sizes) > 1:
        half = len(sizes) // 2
        early, late = (statistics.median(sum(each) for each in part) for part in (sizes[:half], sizes[half:]))
        print(f"memory, second half over first: {late - early:+.1f} MiB   goal: flat, within 10")
    for name, number in sent.items():
        _report(name, number)


def _wait_until_below(number: int) -> None:
    from gluebench.leaderboard.apps.submissions.models import Submission

    while Submission.objects.waiting().count() >= number:
        time.sleep(0.02)


def _report(benchmark: str, sent: int) -> None:
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.submissions.queries import Status

    rows = Submission.objects.filter(benchmark__name=benchmark)
    graded = rows.filter(status=Status.GRADED)
    times = graded.filter(finished__isnull=False).values_list("submitted", "finished")
    seconds = sorted((late - early).total_seconds() for early, late in times if late is not None)
    print(f"{benchmark}: {sent} sent, {rows.count()} there, {graded.count()} graded   goal: all three alike")
    if seconds:
        middle, high = (seconds[math.ceil(share * len(seconds)) - 1] for share in (0.5, 0.95))
        goal = "p95 < 3 s" if benchmark == FULL else f"p95 <= 10 s with up to {QUEUED_AT_MOST} in the queue"
        print(f"  from sent to graded: median {middle:.2f} s, p95 {high:.2f} s   goal: {goal}")


def _sizes(supervisor: int, kind: str = "Pss") -> Sizes:
    """Proportional memory, from the system's list of processes (Linux)."""
    found = {"web": 0.0, "worker": 0.0}
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes().split(b"\0")
            if parent != supervisor:
                continue
            for module in found:
                if f"gluebench.leaderboard.serving.{module}".encode() in command:
                    found[module] += _size(folder, kind)
        except (OSError, ValueError, IndexError):
            continue
    return Sizes(_size(Path("/proc") / str(supervisor), kind), **found)


def _size(folder: Path, kind: str) -> float:
    lines = (folder / "smaps_rollup").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{kind}:"))
    return int(line.split()[1]) / 1024


def _told(sizes: Sizes) -> str:
    parts = ", ".join(f"{name} {value:.0f}" for name, value in sizes._asdict().items())
    return f"{parts}; {sum(sizes):.0f} MiB in all"


if __name__ == "__main__":
    main()
