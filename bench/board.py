"""The board under load, beside a view that does nothing, on the same server in the same run.

    python bench/board.py [--entries 1000] [--benchmarks 1] [--seconds 2] [--rounds 3] [--no-browser]

Requests/s are ratios to the empty view's, of rounds in turn, while eight uploads are stalled half-way.
The load comes from `wrk`, which has to be installed for that part; it shares the cores with the server.
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
STALLED = 8
LEAST = {"board": 0.6, "304": 0.6}
MOST_BYTES = {"first 100 rows": 16_500, "all rows with intervals": 110_000}
MOST_MS = {100: 30, 1000: 150}
PATHS = {
    "first 100 rows": "/benchmarks/glue",
    "by RTE, page 3": "/benchmarks/glue?sort=RTE&page=3",
    "a search": "/benchmarks/glue?q=deep",
    "all rows": "/benchmarks/glue?rows=all",
    "all rows with intervals": "/benchmarks/glue?rows=all&intervals=1",
    "API, 100 rows": "/api/v1/benchmarks/glue/board",
    "one task": "/benchmarks/glue/tasks/CoLA",
    "diagnostics": "/benchmarks/glue/diagnostics/AX",
    "home": "/",
}


class Client:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)

    def get(self, path: str, tag: str = "") -> tuple[bytes, bytes]:
        """Head and body of an answer."""
        self.socket.sendall(request(path, tag))
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._more()
        head, _, body = got.partition(b"\r\n\r\n")
        found = re.search(rb"(?i)content-length: (\d+)", head)
        length = int(found[1]) if found and b" 304 " not in head[:13] else 0
        while len(body) < length:
            body += self._more()
        return head, body

    def _more(self) -> bytes:
        got = self.socket.recv(262144)
        if not got:
            raise ConnectionError("the server hung up")
        return got


def request(path: str, tag: str = "") -> bytes:
    known = f"If-None-Match: {tag}\r\n" if tag else ""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n{known}\r\n".encode()


def rate(port: int, path: str, tag: str, *, connections: int, seconds: int) -> float:
    """Answers a second, as `wrk` counts them."""
    headers = ["-H", "Accept-Encoding: gzip", *(["-H", f"If-None-Match: {tag}"] if tag else [])]
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "20s", *headers]
    ran = subprocess.run(
        [*command, f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True
    )
    found = re.search(r"Requests/sec:\s*([\d.]+)", ran.stdout)
    assert found is not None, ran.stdout
    assert "Non-2xx" not in ran.stdout, ran.stdout
    return float(found[1])


def stall(port: int, stop: threading.Event) -> None:
    """Half an upload, again whenever the server has had enough of it."""
    while not stop.is_set():
        with socket.create_connection(("127.0.0.1", port), timeout=20) as upload:
            upload.sendall(
                b"POST /account/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n"
            )
            upload.sendall(b"x" * 2_000_000)
            stop.wait(8)


def load(port: int, options: argparse.Namespace) -> None:
    head, _ = Client(port).get("/benchmarks/glue")
    tag = re.search(rb"(?i)etag: (\S+)", head)
    assert tag is not None, head
    asked = {"empty": ("/empty", ""), "board": ("/benchmarks/glue", "")}
    asked["304"] = ("/benchmarks/glue", tag[1].decode())
    for connections in (8, 64):
        found: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(options.rounds):
            for name, (path, known) in asked.items():
                found[name].append(rate(port, path, known, connections=connections, seconds=options.seconds))
        empty = statistics.median(found["empty"])
        print(f"{connections} connections: empty view {empty:.0f}/s", end="")
        for name, least in LEAST.items():
            ratios = [one / none for one, none in zip(found[name], found["empty"], strict=True)]
            got = statistics.median(ratios)
            print(f"; {name} {empty * got:.0f}/s, {got:.0%} (at least {least:.0%})", end="")
        print()


def pages(port: int) -> None:
    """What each page weighs, and takes when nobody asked for it before and when somebody did."""
    print(f"{'page':26} {'bytes, gzip':>12} {'first ms':>9} {'again ms':>9}")
    client = Client(port)
    for name, path in PATHS.items():
        times = []
        for _ in range(3):
            start = time.perf_counter()
            _, body = client.get(path)
            times.append(1000 * (time.perf_counter() - start))
        most = f"  at most {MOST_BYTES[name]:,}" if name in MOST_BYTES else ""
        print(f"{name:26} {len(body):12,} {times[0]:9.0f} {min(times):9.1f}{most}")


def sorting(port: int) -> None:
    """What a sort takes in Chromium with layout: until the next frame, and until all rows are in it."""
    from playwright.sync_api import sync_playwright

    script = """async () => {
      const buttons = [...document.querySelectorAll(".heads button")].slice(2);
      const times = [];
      for (const button of buttons) {
        const start = performance.now();
        button.click();
        document.body.getBoundingClientRect();
        const first = performance.now() - start;
        do await new Promise(requestAnimationFrame);
        while (document.querySelector("#board .later"));
        document.body.getBoundingClientRect();
        times.push([first, performance.now() - start]);
      }
      return times;
    }"""
    with sync_playwright() as driver:
        found = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = found.new_page(base_url=f"http://127.0.0.1:{port}")
        page.goto("/benchmarks/glue?rows=all")
        rows = page.locator("#board tbody tr").count()
        times = page.evaluate(script)
        if times:
            took, whole = map(statistics.median, zip(*times, strict=True))
            most = next((most for size, most in MOST_MS.items() if rows <= size + 10), None)
            goal = f" (about {most})" if most else ""
            print(f"a sort of {rows} rows in Chromium: {took:.0f} ms{goal}, with all rows {whole:.0f} ms")
        found.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=1000)
    parser.add_argument("--benchmarks", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        script = [sys.executable, str(HERE / "board_site.py"), f"{scratch}/site"]
        subprocess.run([*script, str(options.entries), str(options.benchmarks)], check=True)
        server = subprocess.Popen(script, stdout=subprocess.PIPE, text=True)
        stop = threading.Event()
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            print(f"{options.entries:,} entries, {options.benchmarks} benchmarks")
            pages(port)
            if not options.no_browser:
                sorting(port)
            if shutil.which("wrk") is None:
                print("the load is not measured: wrk is not installed")
                return
            stalled = [threading.Thread(target=stall, args=(port, stop)) for _ in range(STALLED)]
            for thread in stalled:
                thread.start()
            load(port, options)
        finally:
            stop.set()
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
