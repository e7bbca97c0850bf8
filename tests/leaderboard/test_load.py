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
