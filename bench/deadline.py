"""Many people send a GLUE-sized file in the last minutes before a deadline: all answered, in time, graded?

    python bench/deadline.py [--people 1000] [--seconds 120] [--after 10] [--minutes M]

Each person has an account, a token and an address of their own, and sends one file at a random moment of the
last seconds of a phase; some send just after it, which must be late. Each then reads the bound that the site
gives: the number in the queue. Stops waiting for grades after that many minutes, with what it has. Runs on
GLUEBENCH_DATABASE where that is set.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from material import write_material
from soak import FULL, serve_site

MINUTE = timedelta(minutes=1)
TRIES = 5
EDGE = "edge-of-the-form"


@dataclass
class Sender:
    """A person who sends one file, and what they were answered."""

    number: int
    token: str
    at: float
    """When to send, in seconds since 1970."""
    status: int = 0
    key: str = ""
    position: int = 0
    read: float = 0.0
    """When it read its number in the queue."""
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def send(self, port: int, body: bytes) -> None:
        """Send at the moment, again after a broken connection; then read the number in the queue."""
        time.sleep(max(0.0, self.at - time.time()))
        headers = {
            "Content-Type": f"multipart/form-data; boundary={EDGE}",
            "Idempotency-Key": f"deadline-{self.number}",
        }
        start = time.monotonic()
        for pause in range(TRIES):
            try:
                self.status, facts = self._ask(port, "POST", "/benchmarks/glue/submissions", body, headers)
            except OSError as error:
                self.failures.append(type(error).__name__)
                time.sleep(pause)
                continue
            self.seconds, self.key = time.monotonic() - start, facts.get("key", "")
            break
        if self.key:
            _, facts = self._ask(port, "GET", f"/submissions/{self.key}/status", None, {})
            self.position, self.read = facts["position"], time.time()

    def _ask(self, port: int, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
        address = f"127.{1 + self.number // 62_500}.{self.number // 250 % 250}.{2 + self.number % 250}"
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=300, source_address=(address, 0))
        try:
            link.request(method, f"/api/v1{path}", body, {"Authorization": f"Bearer {self.token}", **headers})
            answer = link.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            link.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=120, help="before the deadline in which they send")
    parser.add_argument("--after", type=int, default=10, help="people who send in the five seconds after it")
    parser.add_argument("--minutes", type=float, default=math.inf, help="to wait for grades")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the site is stopped with us
    with tempfile.TemporaryDirectory(prefix="gluebench-deadline-") as name:
        scratch = Path(name)
        port, server = serve_site(scratch / "site")
        try:
            tokens = _prepare(scratch, options.people + options.after)
            _burst(port, tokens, (scratch / FULL / "good.zip").read_bytes(), options)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


def _prepare(scratch: Path, people: int) -> list[str]:
    """GLUE on the site, without limits, and a token for each of so many accounts."""
    from gluebench.leaderboard import commands

    write_material(scratch / FULL)
    commands.add(os.environ["GLUEBENCH_SITE"], FULL, scratch / FULL / "gold")
    from gluebench.leaderboard.apps.accounts.models import User, issue
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    Benchmark.objects.update(settings=dict.fromkeys(("per_day", "at_once", "invalid_per_day")))
    users = [User(email=f"sender{number}@example.org", password="!") for number in range(people)]
    made = User.objects.bulk_create(users)
    return [issue(user, "deadline", ["read", "submit"], timedelta(days=1))[1] for user in made]


def _deadline(seconds: int) -> datetime:
    """The first end of a minute that leaves so many seconds; a phase with that end is open now."""
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.limits.phase_acts import save_phase
    from gluebench.leaderboard.apps.phases.models import Phase

    now = datetime.now(UTC)
    end = (now + timedelta(seconds=seconds + 5) + MINUTE).replace(second=0, microsecond=0)
    save_phase(
        Phase(
            benchmark=Benchmark.objects.get(), name="Test", opens=now - timedelta(days=1), closes=end - MINUTE
        )
    )
    return end


def _burst(port: int, tokens: list[str], data: bytes, options: argparse.Namespace) -> None:
    end, rng = _deadline(options.seconds).timestamp(), random.Random(0)
    times = [end - rng.uniform(0.05, options.seconds) for _ in range(options.people)]
    times += [end + rng.uniform(0.05, 5) for _ in range(options.after)]
    senders = [Sender(at, token, times[at]) for at, token in enumerate(tokens)]
    body = _form(data)
    threads = [threading.Thread(target=sender.send, args=(port, body)) for sender in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _report_answers(senders, options.people, len(data))
    start = time.monotonic()
    _wait(options.minutes * 60)
    _report_rows(senders, options.people, time.monotonic() - start)


def _form(data: bytes) -> bytes:
    fields = {"name": "At the deadline", "model": "A model"}
    parts = [
        f'--{EDGE}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = 'Content-Disposition: form-data; name="file"; filename="mine.zip"\r\nContent-Type: application/zip'
    return b"".join([*parts, f"--{EDGE}\r\n{head}\r\n\r\n".encode(), data, f"\r\n--{EDGE}--\r\n".encode()])


def _wait(seconds: float) -> None:
    from gluebench.leaderboard.apps.submissions.models import Submission

    end = time.monotonic() + seconds
    while Submission.objects.waiting().exists() and time.monotonic() < end:
        time.sleep(1)


def _report_answers(senders: list[Sender], people: int, size: int) -> None:
    times = sorted(sender.seconds for sender in senders if sender.key)
    middle, high, last = (times[math.ceil(share * len(times)) - 1] for share in (0.5, 0.95, 1))
    broken = Counter(failure for sender in senders for failure in sender.failures)
    print(f"{people} people before the deadline, {len(senders) - people} after it, {size / 1e6:.1f} MB each")
    print(f"  answers by status: {dict(Counter(sender.status for sender in senders))}   goal: all 201")
    print(f"  connections that broke and were tried again: {dict(broken) or 'none'}   goal: none")
    print(f"  seconds to the answer: median {middle:.2f}, p95 {high:.2f}, longest {last:.2f}")


def _report_rows(senders: list[Sender], people: int, seconds: float) -> None:
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.submissions.queries import Status

    rows = {row.key: row for row in Submission.objects.defer("report", "problems").order_by("submitted")}
    early = [rows[sender.key] for sender in senders[:people] if sender.key in rows]
    after = [rows[sender.key] for sender in senders[people:] if sender.key in rows]
    print(f"  lost: {sum(sender.key not in rows for sender in senders)}   goal: 0")
    print(f"  sent in time and called late: {sum(row.late for row in early)}   goal: 0")
    print(f"  sent after it and not called late: {sum(not row.late for row in after)}   goal: 0")
    graded = [row for row in early if row.status == Status.GRADED]
    ends = {row.key: row.finished for row in graded if row.finished is not None}
    first = min(row.submitted for row in early)
    span = (max(ends.values()) - first).total_seconds() if ends else math.inf
    print(f"  graded: {len(ends)} of {people} by {seconds:.0f} s after the last answer   goal: all")
    print(f"  {len(ends) / span:.2f} a second, from the first that was sent to the last that was graded")
    print(f"  graded later than the number that the site gave: {_behind(senders, ends)}   goal: 0")


def _behind(senders: list[Sender], finished: Mapping[str, datetime]) -> int:
    """How many had more submissions graded between reading their number and their own end than it said."""
    ends = {key: at.timestamp() for key, at in finished.items()}
    graded = [sender for sender in senders if sender.key in ends]
    return sum(
        sum(sender.read < end <= ends[sender.key] for end in ends.values()) > sender.position
        for sender in graded
    )


if __name__ == "__main__":
    main()
