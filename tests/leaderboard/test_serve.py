"""The real thing: a site from an empty folder, served by processes of its own."""

from __future__ import annotations

import gzip
import http.client
import http.cookiejar
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from leaderboard.served import Served

from gluebench.leaderboard.keeping.folder import SiteError, SiteFolder
from gluebench.leaderboard.serving import supervisor
from gluebench.leaderboard.serving.environment import RunSettings
from gluebench.leaderboard.serving.supervisor import _url, listen


class Visitor:
    """Somebody with cookies and without JavaScript."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        )

    def get(self, path: str) -> str:
        with self._opener.open(self.url + path, timeout=60) as answer:
            return str(answer.read().decode())

    def post(self, path: str, fields: dict[str, str], upload: bytes | None = None) -> str:
        """Send a form of the page at that path; returns the address it leads to."""
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', self.get(path))
        assert token
        fields = {"csrfmiddlewaretoken": token[1], **fields}
        body, kind = urllib.parse.urlencode(fields).encode(), "application/x-www-form-urlencoded"
        if upload is not None:
            body, kind = multipart(fields, upload)
        request = urllib.request.Request(self.url + path, body, {"Content-Type": kind})
        with self._opener.open(request, timeout=60) as answer:
            return urllib.parse.urlparse(answer.url).path


def multipart(fields: dict[str, str], upload: bytes) -> tuple[bytes, str]:
    edge = uuid.uuid4().hex
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = 'Content-Disposition: form-data; name="upload"; filename="own.zip"'
    parts.append(f"--{edge}\r\n{head}\r\nContent-Type: application/zip\r\n\r\n".encode())
    return b"".join([*parts, upload, f"\r\n--{edge}--\r\n".encode()]), f"multipart/form-data; boundary={edge}"


def until(true: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come true in time")


def children(site: Any) -> dict[str, int]:
    """The site's processes by module, from the system's list."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        for module in ("web", "worker"):
            if f"gluebench.leaderboard.serving.{module}".encode() in words and parent == site.process.pid:
                found[module] = int(folder.name)
    return found


def test_serving_prints_the_address_it_answers_at(served: Any) -> None:
    assert served.url in served.said
    assert "Ctrl-C" in served.said
    assert "A tiny benchmark" in Visitor(served.url).get("/")


def test_links_begin_with_the_address_that_it_is_served_at(served: Any) -> None:
    reset_path = "/account/password/reset/key/"
    folder = str(served.folder)
    confirmed = served.command("confirm", "ann@example.org", "--site", folder)
    assert confirmed.startswith(served.url + reset_path)
    # In a process that has set Django up: one whole process for each command takes seconds.
    run = "import sys; from gluebench.cli import main; main(sys.argv[1:])"
    link = served.python(run, "leaderboard", "links", "--password", "ann@example.org", "--site", folder)
    assert link.startswith(served.url + reset_path)
    words = ("leaderboard", "confirm", "ann@example.org", "--url", "https://a.example/", "--site", folder)
    named = served.python(run, *words)
    assert named.startswith("https://a.example" + reset_path), "the option takes precedence"
    proxied = {"GLUEBENCH_HTTPS": "1", "GLUEBENCH_HOSTS": "board.example.org,b.example.org"}
    behind = served.command("confirm", "ann@example.org", "--site", folder, environment=proxied)
    assert behind.startswith("https://board.example.org" + reset_path)


def test_static_files_are_served_compressed_and_for_long(served: Any) -> None:
    path = re.search(r'href="(/static/site/site\.[0-9a-f]+\.css)"', Visitor(served.url).get("/"))
    assert path
    request = urllib.request.Request(served.url + path[1], headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        assert "immutable" in answer.headers["Cache-Control"]
        assert b"color-scheme" in gzip.decompress(answer.read())


def test_who_has_the_page_already_keeps_the_connection(served: Any) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)

    def tag() -> str:
        connection.request("GET", "/benchmarks/tiny")
        answer = connection.getresponse()
        answer.read()
        return str(answer.headers["ETag"])

    until(lambda: tag() == tag())  # submissions of other tests may still be graded
    held = {"If-None-Match": tag()}
    kept = connection.sock
    for _ in range(2):
        connection.request("GET", "/benchmarks/tiny", headers=held)
        again = connection.getresponse()
        assert (again.status, again.read(), again.headers["Connection"]) == (304, b"", None)
        assert connection.sock is kept
    connection.request("GET", "/benchmarks/tiny", headers={**held, "Connection": "close"})
    assert connection.getresponse().headers["Connection"] == "close"


def test_from_sign_up_to_score_without_javascript(served: Any, good_zip: bytes) -> None:
    visitor = Visitor(served.url)
    visitor.post("/account/signup/", {"email": "walker@example.org", "password1": "a long password"})
    form = {"name": "Walked", "model": "CBoW", "regime": "frozen", "public": "on", "action": "submit"}
    page = visitor.post("/benchmarks/tiny/submit", form, good_zip)
    until(lambda: served.json(f"{page}/status.json")["final"] if visible(served, page) else False)
    assert "Walked" in Visitor(served.url).get("/")
    assert any(row["name"] == "Walked" for row in served.json("/benchmarks/tiny.json")["rows"])


def visible(served: Any, page: str) -> bool:
    try:
        served.json(f"{page}/status.json")
    except urllib.error.HTTPError:
        return False
    return True


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to find the site's processes")
@pytest.mark.parametrize("module", ["web", "worker"])
def test_a_killed_process_is_started_again(served: Any, module: str) -> None:
    before = until(lambda: children(served).get(module))
    os.kill(before, signal.SIGKILL)
    until(lambda: children(served).get(module) not in (None, before))
    assert "A tiny benchmark" in Visitor(served.url).get("/")


def test_what_was_submitted_on_the_side_shows_at_once(served: Any, tmp_path: Path, good_zip: bytes) -> None:
    (tmp_path / "own.zip").write_bytes(good_zip)
    key = served.submit(tmp_path / "own.zip", "From a command")
    assert key in Visitor(served.url).get("/")


def test_a_body_over_the_limit_is_refused_by_the_server(served: Any) -> None:
    request = urllib.request.Request(
        f"{served.url}/account/login/", b"x", {"Content-Length": str(10**9)}, method="POST"
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == 413


def test_a_taken_port_is_told_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "HELD_SECONDS", 0.3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SiteError, match="choose another port"):
            listen("127.0.0.1", taken.getsockname()[1])


def test_a_port_that_is_held_for_a_moment_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    """The processes of a site that was killed hold it until they have ended."""
    held = socket.create_server(("127.0.0.1", 0))
    port = held.getsockname()[1]
    threading.Timer(0.5, held.close).start()
    with listen("127.0.0.1", port) as listening:
        assert listening.getsockname()[1] == port
    assert f"Port {port} is in use; trying for 10 more seconds." in capsys.readouterr().err


WEB = """
import os, socket, sys
if os.path.getsize(sys.argv[1]) <= int(sys.argv[2]):
    sys.exit(3)
listening = socket.socket(fileno=int(sys.argv[3]))
while True:
    with listening.accept()[0] as visitor:
        visitor.recv(1000)
        visitor.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n")
"""


@pytest.mark.parametrize(("deaths", "starts"), [(1, True), (3, True), (99, False)])
def test_a_web_process_that_dies_at_the_start_is_started_again(
    deaths: int, starts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "starts"

    def spawn(site: object, module: str, *arguments: str, fds: list[int], **_: object) -> object:
        with log.open("a") as file:
            file.write("x")
        command = [sys.executable, "-S", "-c", WEB, str(log), str(deaths), *arguments]
        return subprocess.Popen(command, pass_fds=fds)

    monkeypatch.setattr(supervisor, "_spawn", spawn)
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", 0.01)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    expected = pytest.raises(
        SiteError, match=r"ended 4 times while starting, the last time with exit status 3"
    )
    try:
        with nullcontext() if starts else expected, listen("127.0.0.1", 0) as listening:
            supervisor.run(
                SiteFolder(tmp_path),
                listening,
                RunSettings(workers=0, stop_seconds=0),
                ready=lambda address: signal.raise_signal(signal.SIGTERM),
            )
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert len(log.read_text()) == min(deaths + 1, supervisor.STARTS)


def test_addresses_are_for_a_browser() -> None:
    assert _url("0.0.0.0", 80) == "http://127.0.0.1:80"
    assert _url("::1", 8000) == "http://[::1]:8000"


def test_it_stops_when_asked_and_its_processes_with_it(tmp_path: Path) -> None:
    site = Served(tmp_path / "site")
    running = until(lambda: children(site) if len(children(site)) == 2 else None)
    site.stop()
    assert site.process.returncode == 0
    for number in running.values():
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_its_processes_do_not_outlive_a_killed_supervisor(tmp_path: Path) -> None:
    site = Served(tmp_path / "site")
    running = until(lambda: children(site) if len(children(site)) == 2 else None)
    site.process.kill()
    site.process.wait()
    until(lambda: not any(Path(f"/proc/{number}").exists() for number in running.values()))
