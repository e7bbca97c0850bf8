"""The tutorials: every command runs as it stands, and prints what the page shows."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from docs.walking import ROOT, Walk, follow
from outside import environment

PAGES = ROOT / "docs/tutorials"
ADDRESS = "http://127.0.0.1:8000"
TOKEN = """
from datetime import timedelta
import sys
import django
django.setup()
from gluebench.leaderboard.accounts.models import issue
from gluebench.leaderboard.accounts.trust import account, vouch
vouch(sys.argv[1])
print(issue(account(sys.argv[1]), "tutorial", ["read", "submit"], timedelta(days=1))[1])
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def test_the_student_s(home: Path) -> None:
    pytest.importorskip("pyarrow")
    follow(PAGES / "student.md", home)
    assert (home / "pairs.zip").exists()


@pytest.mark.slow
def test_the_organizer_s(home: Path) -> None:
    walk = Walk(PAGES / "organize.md", home)
    walk.until("gluebench submit")  # what comes before hands the account over, which ends its tokens
    with served(home / "site") as address:
        walk.variables["GLUEBENCH_TOKEN"] = token(home / "site", "ada@example.org")
        walk.replacing = {ADDRESS: address}
        walk.rest()
    assert (home / "backup.tar").exists()


@pytest.mark.slow
def test_the_submitter_s(home: Path) -> None:
    """With a board of the sample in place of the demo's, whose systems take a minute to train."""
    pytest.importorskip("pyarrow")
    walk = Walk(PAGES / "submit.md", home)
    walk.until("gluebench submit")
    site = str(home / "site")
    for line in (
        ["init", "--site", site],
        ["add", "sample", "--gold", str(home / "data/sample/gold"), "--site", site],
    ):
        python("-m", "gluebench", "leaderboard", *line)
    with served(home / "site") as address:
        walk.variables["GLUEBENCH_TOKEN"] = token(home / "site", "ada@example.org")
        walk.replacing = {ADDRESS: address}
        walk.rest()
    assert (home / "mine.zip").exists()


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of a running board; it has a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "gluebench",
        "leaderboard",
        "serve",
        "--site",
        str(site),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(
        command, env=variables(), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.match(r"The leaderboard is at http", line), line
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def token(site: Path, email: str) -> str:
    """A token of a confirmed account, as the page /account/tokens gives it."""
    return python("-c", TOKEN, email, GLUEBENCH_SITE=str(site)).strip()


def python(*arguments: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env=variables(**more), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def variables(**more: str) -> dict[str, str]:
    settings = {"DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings"} if more else {}
    return environment(PYTHONPATH=os.pathsep.join([str(ROOT / "src")]), **settings, **more)
