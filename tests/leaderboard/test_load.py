"""Many uploads at once, and uploads that stop half-way: neither may take the site down."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from leaderboard.test_serve import Visitor, children, multipart, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to measure the site's processes"),
]
MIB = 1024 * 1024


@contextlib.contextmanager
def stalled(port: int, number: int) -> Iterator[None]:
    """Uploads that sent half of what they announced."""
    head = f"POST /account/login/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {4 * MIB}\r\n\r\n"
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(head.encode() + b"x" * (2 * MIB))
        yield


def test_eight_stalled_uploads_block_nobody(served: Any) -> None:
    visitor = Visitor(served.url)
    visitor.get("/")
    with stalled(served.port, 8):
        assert "A tiny benchmark" in visitor.get(
            "/"
        )  # the visitor gives up long before a stalled upload ends


def trickle(port: int, first: bytes, number: int, until: threading.Event, addresses: int) -> None:
    """That many connections that send a byte a second, and connect again when they are dropped."""

    def connect(at: int) -> socket.socket:
        made = socket.socket()
        made.settimeout(5)
        with contextlib.suppress(OSError):
            made.bind((f"127.0.{at % addresses + 1}.2", 0))
            made.connect(("127.0.0.1", port))
            made.sendall(first)
        made.setblocking(False)
        return made

    slow = [connect(at) for at in range(number)]
    while not until.wait(1):
        for at, each in enumerate(slow):
            try:
                each.send(b"a")
            except OSError:
                each.close()
                slow[at] = connect(at)
    for each in slow:
        each.close()


HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = b"POST /account/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000000\r\n\r\n"


@pytest.mark.parametrize("addresses", [1, 100])
@pytest.mark.parametrize("first", [HEAD, BODY], ids=["heads", "bodies"])
def test_a_thousand_trickling_connections_block_nobody(served: Any, first: bytes, addresses: int) -> None:
    over = threading.Event()
    attack = threading.Thread(target=trickle, args=(served.port, first, 1000, over, addresses))
    attack.start()
    try:
        for _ in range(30):  # the visitor gives up after ten seconds
            assert "A tiny benchmark" in Visitor(served.url).get("/")
            time.sleep(0.5)
    finally:
        over.set()
        attack.join()


def upload(port: int) -> tuple[socket.socket, bytes]:
    """An upload of which one half is on its way, and the other half."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(BODY + b"x" * 1_000_000)
    time.sleep(1)
    return connection, b"x" * 1_000_000


def test_an_upload_under_way_arrives_although_the_site_is_stopped(
    served: Any, tmp_path: Path, gold_folder: Path
) -> None:
    site = type(served)(tmp_path / "site", gold_folder)
    connection, rest = upload(site.port)
    site.process.terminate()
    until(lambda: refused(site.port))
    with connection:
        connection.sendall(rest)
        assert connection.recv(100).startswith(b"HTTP/1.1 403")
    assert site.process.wait(timeout=20) == 0


def test_asked_twice_a_site_stops_at_once(served: Any, tmp_path: Path, gold_folder: Path) -> None:
    site = type(served)(tmp_path / "site", gold_folder)
    connection, _ = upload(site.port)
    with connection:
        site.process.terminate()
        until(lambda: "Ctrl-C again" in site.process.stdout.readline())
        site.process.terminate()
        assert site.process.wait(timeout=20) == 0


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_killed_site_is_served_again_on_its_port(served: Any, tmp_path: Path, gold_folder: Path) -> None:
    """Its web process still holds the port, with an upload that is under way."""
    site = type(served)(tmp_path / "site", gold_folder)
    connection, rest = upload(site.port)
    with connection:
        site.process.kill()
        site.process.wait()
        again = site.again()
        try:
            until(lambda: site.url in again.stdout.readline())  # it may first say that it waits for the port
            connection.sendall(rest)
            assert connection.recv(100).startswith(b"HTTP/1.1 403")
        finally:
            again.terminate()
            again.wait(timeout=20)


def private_memory(process: int) -> float:
    """What a process alone holds, in MiB."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def test_uploads_go_to_disk_and_not_to_memory(served: Any) -> None:
    """24 of 4 MB at once raise the web process by less than 30 MB."""
    uploads, size = 24, 4 * MIB
    visitor = Visitor(served.url)
    visitor.post("/account/signup/", {"email": "heavy@example.org", "password1": "a long password"})
    body, kind = multipart({"name": "Heavy"}, os.urandom(size))
    web = until(lambda: children(served).get("web"))

    def send() -> None:
        request = urllib.request.Request(f"{served.url}/account/login/", body, {"Content-Type": kind})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=60)
        statuses.append(refused.value.code)

    statuses: list[int] = []
    send()
    before, peak = private_memory(web), 0.0
    threads = [threading.Thread(target=send) for _ in range(uploads)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        peak = max(peak, private_memory(web))
        time.sleep(0.01)
    assert statuses == [403] * (uploads + 1)  # read in full, then refused for want of a form's token
    assert peak - before < 30
