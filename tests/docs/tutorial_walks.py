"""Following the tutorials, in this environment or in another."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from docs.walking import ROOT, Walk
from outside import environment

PAGES = ROOT / "docs/tutorials"
ADDRESS = "http://127.0.0.1:8000"
TOKEN = """
from datetime import timedelta
import sys
import django
django.setup()
from gluebench.leaderboard.apps.accounts.models import issue
from gluebench.leaderboard.apps.accounts.trust import account, vouch
vouch(sys.argv[1])
print(issue(account(sys.argv[1]), "tutorial", ["read", "submit"], timedelta(days=1))[1])
"""


def follow_student(home: Path, programs: Path | None = None) -> None:
    """Follow the student's."""
    Walk(PAGES / "student.md", home, programs=programs).rest()
    assert (home / "pairs.zip").exists()


def follow_organizer(home: Path, programs: Path | None = None) -> None:
    """Follow the organizer's, with a served site and a token where the page has a browser."""
    walk = Walk(PAGES / "organize.md", home, programs=programs)
    walk.until("gluebench submit")  # what comes before hands the account over, which ends its tokens
    _submit(walk, home / "site")
    assert (home / "backup.tar").exists()


def follow_submitter(home: Path, programs: Path | None = None) -> None:
    """Follow the submitter's, with a board of the sample for the demo's, which takes a minute to make."""
    walk = Walk(PAGES / "submit.md", home, programs=programs)
    walk.until("gluebench submit")
    site = str(home / "site")
    for line in (
        ["init", "--site", site],
        ["add", "sample", "--gold", str(home / "data/sample/gold"), "--site", site],
    ):
        _run(walk.variables, "gluebench", "leaderboard", *line)
    _submit(walk, home / "site")
    assert (home / "mine.zip").exists()


def _submit(walk: Walk, site: Path) -> None:
    """Do the rest of a page, which submits to the site."""
    with _served(site, walk.variables) as address:
        walk.variables["GLUEBENCH_TOKEN"] = _token(site, "ada@example.org", walk.variables)
        walk.replacing = {ADDRESS: address}
        walk.rest()


@contextmanager
def _served(site: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """The address of a running board; it has a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["gluebench", "leaderboard", "serve", "--site", str(site), "--port", str(port)]
    process = subprocess.Popen(
        ["/usr/bin/env", *command],
        env=environment(**variables),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.match(r"The leaderboard is at http", line), line
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _token(site: Path, email: str, variables: Mapping[str, str]) -> str:
    """A token of a confirmed account, as the page /account/tokens gives it."""
    settings = {"DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings", "GLUEBENCH_SITE": str(site)}
    return _run({**variables, **settings}, "python", "-c", TOKEN, email).strip()


def _run(variables: Mapping[str, str], *command: str) -> str:
    done = subprocess.run(
        ["/usr/bin/env", *command], env=environment(**variables), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
