"""The board while slow clients keep connections open, as a ratio to the same idle site in the same run.

    python bench/slow.py [--connections 1000] [--addresses 0] [--seconds 60] [heads] [bodies] [readers]

Heads and bodies come by a byte a second; readers take a long page at 2.5 kB a second.

Slow clients connect again when they are dropped, at most `--rate` of them a second. Visitors open a new
connection for each page. With addresses the attack comes from as many, of 127.0.0.0/8 (Linux); without, from
the visitors' own. The site counts the connections of an address as it does without a proxy.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import math
import multiprocessing
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MOST = 2.0
GIVE_UP = 20.0
BOARD = b"GET /benchmarks/glue HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
BODY = (
    b"POST /account/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
)
FIRST = {
    "heads": b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    "bodies": BODY,
    "readers": b"GET /benchmarks/glue?rows=all HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


class Times(NamedTuple):
    """Milliseconds, and how many visits came to nothing."""

    median: float
    p95: float
    per_second: float
    failed: int


def attack(port: int, kind: str, options: argparse.Namespace, connected: object) -> None:
    """Keep that many slow connections open, until this process is ended."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    selector = selectors.DefaultSelector()
    slow: list[socket.socket | None] = [None] * options.connections
    due, at, turn = 0.0, 0, 0
    while True:
        due = min(due + options.rate * 0.05, options.rate)
        start = time.monotonic()
        for _ in range(len(slow)):
            at = (at + 1) % len(slow)
            if slow[at] is None and due >= 1:
                due -= 1
                slow[at] = connect(port, kind, at, options, selector)
        for key, events in selector.select(0):
            touch(key, events, kind, slow, selector)
        share = max(1, len(slow) // 20)  # each of them every second
        for number in range(turn, turn + share):
            move(kind, slow, number % len(slow), selector)
        turn = (turn + share) % len(slow)
        connected.value = sum(each is not None for each in slow)  # type: ignore[attr-defined]
        time.sleep(max(0.0, 0.05 - (time.monotonic() - start)))


def connect(
    port: int, kind: str, number: int, options: argparse.Namespace, selector: selectors.BaseSelector
) -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    if kind == "readers":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    if options.addresses:
        made.bind(
            (f"127.0.{number % options.addresses // 250 + 1}.{number % options.addresses % 250 + 2}", 0)
        )
    if made.connect_ex(("127.0.0.1", port)) not in (0, errno.EINPROGRESS):
        made.close()
        return made
    selector.register(made, selectors.EVENT_WRITE, number)
    return made


def touch(
    key: selectors.SelectorKey,
    events: int,
    kind: str,
    slow: list[socket.socket | None],
    selector: selectors.BaseSelector,
) -> None:
    """Send the beginning once connected; note when the server closed."""
    made = key.fileobj
    assert isinstance(made, socket.socket)
    try:
        if events & selectors.EVENT_WRITE:
            made.send(FIRST[kind])
            if kind == "readers":
                selector.unregister(made)
            else:
                selector.modify(made, selectors.EVENT_READ, key.data)
            return
        if made.recv(4096):
            return
    except BlockingIOError:
        return
    except OSError:
        pass
    lose(slow, key.data, selector)


def move(kind: str, slow: list[socket.socket | None], number: int, selector: selectors.BaseSelector) -> None:
    """One second's step of a slow client."""
    made = slow[number]
    if made is None:
        return
    try:
        if kind != "readers":
            made.send(b"a")
        elif not made.recv(2500):
            lose(slow, number, selector)
    except BlockingIOError:
        pass
    except OSError:
        lose(slow, number, selector)


def lose(slow: list[socket.socket | None], number: int, selector: selectors.BaseSelector) -> None:
    made = slow[number]
    if made is not None:
        with contextlib.suppress(KeyError, ValueError):
            selector.unregister(made)
        made.close()
        slow[number] = None


def visit(port: int, until: float, found: list[float]) -> None:
    """The board again and again; a visit that came to nothing counts as endless."""
    while (start := time.monotonic()) < until:
        found.append(1000 * (time.monotonic() - start) if seen(port) else math.inf)
        time.sleep(0.05)


def seen(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=GIVE_UP) as visitor:
            visitor.sendall(BOARD)
            answer = b""
            while got := visitor.recv(262144):
                answer += got
    except OSError:
        return False
    return answer.startswith(b"HTTP/1.1 200") and b"</html>" in answer[-99:]


def measure(port: int, seconds: float, visitors: int) -> Times:
    found: list[float] = []
    start = time.monotonic()
    threads = [threading.Thread(target=visit, args=(port, start + seconds, found)) for _ in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ordered = sorted(found)
    p95 = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return Times(
        statistics.median(found), p95, len(found) / (time.monotonic() - start), found.count(math.inf)
    )


def told(name: str, times: Times) -> str:
    failed = f", {times.failed} without an answer" if times.failed else ""
    return f"{name}: p50 {times.median:.0f}, p95 {times.p95:.0f} ms, {times.per_second:.0f}/s{failed}"


def run(port: int, options: argparse.Namespace) -> None:
    measure(port, 2, options.visitors)
    idle = measure(port, options.seconds / 2, options.visitors)
    print(told("idle", idle), flush=True)
    for kind in options.kinds:
        connected = multiprocessing.Value("i", 0)
        attacker = multiprocessing.Process(target=attack, args=(port, kind, options, connected), daemon=True)
        attacker.start()
        time.sleep(1)
        slow = measure(port, options.seconds, options.visitors)
        held = connected.value
        attacker.kill()
        attacker.join()
        again = measure(port, options.seconds / 4, options.visitors)
        base = max(idle.p95, again.p95)
        print(
            f"{told(kind, slow)}; p95 {slow.p95 / base:.2f} times idle (at most {MOST}); "
            f"{held} slow connections at the end; {told('idle again', again)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=list(FIRST), help="heads, bodies, readers")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--addresses", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--visitors", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1000, help="new slow connections in a second, at most")
    parser.add_argument("--entries", type=int, default=200)
    parser.add_argument("--site", help="a site that bench/board_site.py made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        script = [sys.executable, str(HERE / "board_site.py"), options.site or f"{scratch}/site"]
        if not options.site:
            subprocess.run([*script, str(options.entries), "1"], check=True)
        server = subprocess.Popen(script, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            run(int(server.stdout.readline()), options)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
