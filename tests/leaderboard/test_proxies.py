"""A deadline is the same without a proxy, behind nginx and behind Caddy, with the blocks of deploy.md."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from leaderboard.material import PREDICTIONS, zip_bytes
from leaderboard.proxies import HOST, running
from leaderboard.served import Served

pytestmark = pytest.mark.slow
PROXIES = [name for name in ("nginx", "caddy") if shutil.which(name)]
SECONDS = 8
"""How long each upload takes."""
BEFORE = (12, 10, 7, 6, 5, 4, 3, -3, -5, -8)
"""For each upload, how many seconds before the deadline it begins: five times it ends after it."""
FORGED = f"X-Request-Start: {time.time() - 300:.3f}\r\n"
SETUP = """
import os, sys
os.environ["GLUEBENCH_SITE"] = sys.argv[1]
os.environ["DJANGO_SETTINGS_MODULE"] = "gluebench.leaderboard.settings"
from datetime import timedelta
import django
django.setup()
from django.utils import timezone
from gluebench.leaderboard.apps.accounts.models import User, issue
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.phases.models import Phase
"""


class Site(NamedTuple):
    served: Served
    ports: dict[str, int]
    """The port of each way to the site, by name."""
    token: str

    def python(self, code: str) -> str:
        """Run code with the site's models."""
        return self.served.python(SETUP + code, str(self.served.folder))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, gold_folder: Path) -> Iterator[Site]:
    if not PROXIES:
        pytest.skip("needs nginx or caddy in PATH")
    home = tmp_path_factory.mktemp("proxied")
    behind = {"GLUEBENCH_HOSTS": HOST, "GLUEBENCH_HTTPS": "1", "GLUEBENCH_REQUEST_START": "1"}
    with ExitStack() as stack:
        served = Served(home / "site", gold_folder, behind)
        stack.callback(served.stop)
        ports = {"direct": served.port}
        ports |= {name: stack.enter_context(running(name, home / name, served.port)) for name in PROXIES}
        made = Site(served, ports, "")
        token = made.python(
            "Benchmark.objects.update(settings={'per_day': None, 'at_once': None})\n"
            "user = User.objects.create_user('ada@example.org', 'a long password')\n"
            "print(issue(user, 'a test', ['read', 'submit'], timedelta(days=1))[1])"
        )
        yield made._replace(token=token.strip())


def deadline_in(site: Site, seconds: float) -> float:
    """Give the benchmark a phase that ends then; returns the moment."""
    end = time.time() + seconds
    site.python(
        "from datetime import datetime, UTC\n"
        f"closes = datetime.fromtimestamp({end - 60}, UTC)\n"
        "times = {'opens': closes - timedelta(9), 'closes': closes}\n"
        "Phase.objects.update_or_create(benchmark=Benchmark.objects.get(), name='Test', defaults=times)"
    )
    return end


def upload(site: Site, way: str, name: str, seconds: float, more: str = "") -> Any:
    """Send a file slowly; returns what the interface answers."""
    boundary = "----------boundary"
    parts = {"name": name, "model": "m"}
    body = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in parts.items()
    ).encode()
    file = zip_bytes(PREDICTIONS)
    body += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="p.zip"\r\n'.encode()
    body += b"Content-Type: application/zip\r\n\r\n" + file + f"\r\n--{boundary}--\r\n".encode()
    scheme = "X-Forwarded-Proto: https\r\n" if way == "direct" else ""
    head = (
        f"POST /api/v1/benchmarks/tiny/submissions HTTP/1.1\r\nHost: {HOST}\r\n{scheme}{more}"
        f"Authorization: Bearer {site.token}\r\nContent-Type: multipart/form-data; boundary={boundary}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", site.ports[way]), timeout=60) as client:
        client.sendall(head.encode())
        for part in range(10):
            client.sendall(body[len(body) * part // 10 : len(body) * (part + 1) // 10])
            time.sleep(seconds / 10)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def test_ten_moments_around_a_deadline_have_the_same_answer_on_every_way(site: Site) -> None:
    end = deadline_in(site, max(BEFORE) + 6)
    answers: dict[tuple[str, int], Any] = {}

    def send(way: str, before: int) -> None:
        time.sleep(max(0, end - before - time.time()))
        answers[way, before] = upload(site, way, f"{way} {before}", SECONDS)

    threads = [threading.Thread(target=send, args=(way, before)) for way in site.ports for before in BEFORE]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    late = {key: answer.get("late", answer) for key, answer in answers.items()}
    assert late == {(way, before): before < 0 for way in site.ports for before in BEFORE}


@pytest.mark.parametrize("name", PROXIES)
def test_a_client_cannot_say_through_a_proxy_when_it_began(site: Site, name: str) -> None:
    deadline_in(site, -30)
    assert upload(site, name, "forged", 0, FORGED)["late"] is True
