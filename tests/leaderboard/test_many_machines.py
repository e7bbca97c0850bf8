"""Two web and two local processes, and two machines that grade over HTTPS: killed, and cut off for a minute.

The machines' benchmark has its labels with them alone; the local workers' has other labels, on the site.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from leaderboard.material import CANARIES, GOLD, MANIFEST, write_gold
from leaderboard.served import Served
from leaderboard.test_soak import KILLS, Killer
from leaderboard.test_submit import made_token
from leaderboard.test_work_kills import family, holds_a_label

from gluebench.submission.client import Client

NUMBER = int(os.environ.get("GLUEBENCH_SHOW_SUBMISSIONS", "500"))
"""Submissions, half of them for each benchmark."""
CUT = float(os.environ.get("GLUEBENCH_SHOW_CUT", "60"))
"""Seconds without a network between the machines and the site."""
MAKE = """
import sys; from datetime import timedelta; from gluebench.leaderboard import commands
commands.add(sys.argv[1], sys.argv[2], None)
commands.add(sys.argv[1], sys.argv[3], sys.argv[4])
from gluebench.leaderboard.apps.accounts.models import User, issue
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
user = User.objects.create_user("organizer@example.org")
Benchmark.objects.get(name="tiny").organizers.add(user)
print(issue(user, "a machine", ["grade"], timedelta(days=1))[1])
"""
LOOK = """
import json, sys; from gluebench.leaderboard import commands; commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.submissions.models import Submission
facts = [[row.name, row.status, row.results.count(), row.attempts] for row in Submission.objects.all()]
print(json.dumps(facts))
"""


class Cable:
    """The network between the machines and the site, with TLS at the site's end; it can be cut."""

    def __init__(self, folder: Path, port: int) -> None:
        self._port, self._links, self.certificate = port, set[socket.socket](), folder / "site.pem"
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj"]
        command += ["/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout"]
        command += [folder / "key.pem", "-out", self.certificate]
        subprocess.run(command, check=True, capture_output=True)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(self.certificate, folder / "key.pem")
        self.whole = True
        self.refused = self.carried = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all connections, and refuse new ones."""
        self.whole = False
        for link in tuple(self._links):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        """Let new connections through again."""
        self.whole = True

    def _accept(self) -> None:
        while True:
            outside, _ = self._server.accept()
            threading.Thread(target=self._carry, args=(outside,), daemon=True).start()

    def _carry(self, outside: socket.socket) -> None:
        if not self.whole:
            self.refused += 1
            outside.close()
            return
        with contextlib.suppress(OSError):
            outside.settimeout(120)
            near = self._tls.wrap_socket(outside, server_side=True)
            far = socket.create_connection(("127.0.0.1", self._port), timeout=120)
            self._links |= {near, far}
            self.carried += 1
            threading.Thread(target=self._pump, args=(far, near), daemon=True).start()
            self._pump(near, far)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            self._links.discard(end)


class Machines(threading.Thread):
    """Two machines with the labels at home, each killed at random and started again."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        super().__init__()
        self._command, self._environment = command, environment
        self.running = [self._start(), self._start()]
        self.kills = [0, 0]

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def stop(self) -> list[int]:
        """Ask them to end; their exit statuses."""
        for machine in self.running:
            machine.terminate()
        return [machine.wait(60) for machine in self.running]

    def run(self) -> None:
        generator = random.Random(4)
        while min(self.kills) < KILLS:
            time.sleep(generator.uniform(2.0, 5.0))
            at = generator.choice([at for at in (0, 1) if self.kills[at] < KILLS])
            os.killpg(self.running[at].pid, signal.SIGKILL)
            self.running[at].wait()
            self.running[at] = self._start()
            self.kills[at] += 1


def send_all(url: str, token: str, file: Path, numbers: Iterator[int]) -> None:
    client = Client(url, token, tries=60, timeout=30)
    for number in numbers:
        benchmark = ("tiny", "local")[number % 2]
        details = {"name": f"System {number}", "model": "any"}
        client.submit(benchmark, file, details, retry_key=f"many-{number}")


def local_benchmark(folder: Path) -> tuple[Path, Path]:
    """A second benchmark, whose labels are on the site: they differ from those at home in every canary."""
    manifest, gold = folder / "local.toml", write_gold(folder / "local-gold")
    manifest.write_text(MANIFEST.read_text().replace('name = "tiny"', 'name = "local"', 1))
    text = (gold / "Sim.tsv").read_text()
    for at, label in enumerate(GOLD["Sim"]):
        text = text.replace(label, f"{at}.5")
    (gold / "Sim.tsv").write_text(text)
    return manifest, gold


@pytest.fixture
def ending() -> Iterator[contextlib.ExitStack]:
    """What ends processes, also after a failure."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="reads the memory of processes by /proc")
@pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate with openssl")
def test_nothing_is_lost_or_double_and_no_label_comes_to_the_site(
    tmp_path: Path, good_zip: bytes, postgres: str, ending: contextlib.ExitStack
) -> None:
    gold, file = write_gold(tmp_path / "gold"), tmp_path / "mine.zip"
    file.write_bytes(good_zip)
    many = {"GLUEBENCH_WEB": "2", "GLUEBENCH_WORKERS": "2", "GLUEBENCH_API_PER_MINUTE": "100000"}
    site = Served(tmp_path / "site", environment={"GLUEBENCH_DATABASE": postgres, **many})
    ending.callback(site.stop)
    grade = site.python(MAKE, str(site.folder), str(MANIFEST), *map(str, local_benchmark(tmp_path))).strip()
    token = made_token(site, "read submit")
    cable = Cable(tmp_path, site.port)
    command = [sys.executable, "-m", "gluebench", "leaderboard", "work", f"{cable.url}/benchmarks/tiny"]
    own = {"GLUEBENCH_TOKEN": grade, "SSL_CERT_FILE": str(cable.certificate)}
    environment = {**os.environ, **own, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    machines = Machines([*command, "--gold", str(gold)], environment)
    ending.callback(machines.stop)
    killer = Killer(site.process.pid)
    shares = [iter(range(first, NUMBER, 4)) for first in range(4)]
    senders = [threading.Thread(target=send_all, args=(site.url, token, file, each)) for each in shares]
    begun = time.monotonic()
    for thread in (killer, machines, *senders):
        thread.start()
    time.sleep(15)
    cable.cut()
    time.sleep(CUT)
    cable.join()
    for thread in (*senders, killer, machines):
        thread.join()
    rows = finished(site)
    seconds = time.monotonic() - begun
    print(f"{len(rows)} graded in {seconds:.0f} s; kills of the site's processes: {killer.places.values()}")
    print(f"{machines.kills} of the machines; {cable.carried} connections carried, {cable.refused} refused")
    print(f"gradings begun anew after a death: {sum(row[3] - 1 for row in rows)}")
    assert sorted(row[0] for row in rows) == sorted(f"System {number}" for number in range(NUMBER))
    assert {tuple(row[1:3]) for row in rows} == {("graded", 1)}
    assert min(*killer.places.values(), *machines.kills) >= KILLS
    assert cable.refused
    pids = all_processes(site)
    assert not any(map(holds_a_label, pids))
    files = [path for path in site.folder.rglob("*") if path.is_file()]
    assert not any(canary.encode() in path.read_bytes() for path in files for canary in CANARIES)
    assert not any(canary in dump(postgres) for canary in CANARIES)
    assert machines.stop() == [0, 0]
    assert holds_a_label(os.getpid()), "it would be found"


def finished(site: Served) -> list[Any]:
    """The rows of all submissions, once none waits any more."""
    rows: list[Any] = []
    for _ in range(240):
        rows = json.loads(site.python(LOOK, str(site.folder)))
        if all(row[1] in ("graded", "failed", "invalid") for row in rows):
            break
        time.sleep(3)
    return rows


def all_processes(site: Served) -> list[int]:
    """The site's processes, once those that were killed last are back."""
    for _ in range(60):
        pids = [*family(site.process.pid)]
        if len(pids) >= 5:
            break
        time.sleep(1)
    assert len(pids) >= 5, "the supervisor, two web and two local processes"
    return pids


def dump(address: str) -> str:
    """All rows of all tables."""
    return subprocess.run(["pg_dump", address], check=True, capture_output=True, text=True).stdout
