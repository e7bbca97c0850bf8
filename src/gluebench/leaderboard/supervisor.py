"""Keeps a site's processes running: starts, restarts, stops them. Imports no Django, to stay small."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import gluebench
from gluebench.leaderboard import checks, folder, lifeline
from gluebench.leaderboard.folder import SiteError, SiteFolder
from gluebench.leaderboard.prepare import REFUSED

GLANCE_SECONDS = 0.1
STOP_SECONDS = 3.0
RESTART_SECONDS = 1.0
"""Least time between two starts of a child, so that one that cannot start does not eat the machine."""


class Address(NamedTuple):
    """Where a site listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """What to type into a browser on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}/"


class Child:
    """One process of the site and how to start it again."""

    def __init__(self, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self._start = start
        self.process = start()
        self._started = time.monotonic()

    def revive(self) -> None:
        """Start it again if it ended."""
        if self.process.poll() is not None and time.monotonic() - self._started > RESTART_SECONDS:
            self.process = self._start()
            self._started = time.monotonic()

    def stop(self, deadline: float) -> None:
        """Wait for it to end by itself until the deadline, then end it; leases make that safe."""
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _StopError(Exception):
    """A signal asked the supervisor to stop."""


def listen(host: str, port: int) -> socket.socket:
    """The socket the site answers on, open over restarts so that no visitor is refused. Raises SiteError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise SiteError(
            f"Cannot listen on {host} port {port}: {error.strerror}. "
            "Another program may use it; choose another port with --port."
        ) from None
    listening.listen(128)
    return listening


def prepare(site: SiteFolder, *, change: bool = True, web: bool = True) -> None:
    """Check what a site needs and bring its database and static files up to date. Raises SiteError.

    Without `change`, a database that is behind is refused; without `web`, static files are left alone.
    """
    checks.require(site)
    with collected(site) if web else nullcontext():
        _finish(_spawn(site, "prepare", [] if change else ["--as-it-is"], quiet=True), "prepare", site)


@contextmanager
def collected(site: SiteFolder) -> Iterator[None]:
    """While this lasts, a site's static files are brought up to date. Raises SiteError."""
    task = ["collectstatic", "--no-input", "--clear"]
    child = _spawn(site, "manage", task, quiet=True)
    try:
        yield
    except BaseException:
        child.kill()
        child.communicate()
        raise
    _finish(child, task[0], site)


def _finish(child: subprocess.Popen[bytes], name: str, site: SiteFolder) -> None:
    complaint = child.communicate()[1].decode().strip()
    if child.returncode == REFUSED:
        raise SiteError(complaint)
    if child.returncode:
        raise SiteError(f"{name} failed on {site.root}:\n{complaint}")


def run(
    site: SiteFolder,
    listening: socket.socket | None,
    *,
    web: int = 1,
    workers: int = 1,
    ready: Callable[[Address | None], None],
) -> None:
    """Keep that many processes until SIGINT or SIGTERM; `ready` is called when the site first answers.

    Without a socket there are workers only.
    """
    address = Address(*listening.getsockname()[:2]) if listening else None
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    reading, writing = os.pipe()
    fds = [reading, *([listening.fileno()] if listening else [])]
    host = address.host if address else ""

    def child(module: str, *arguments: str) -> Child:
        return Child(lambda: _spawn(site, module, arguments, fds=fds, host=host))

    children: list[Child] = []
    try:
        if listening and address:
            children += [child("web", str(listening.fileno())) for _ in range(web)]
        children += [child("worker") for _ in range(workers)]
        if address:
            _await_answer(address, children[0])
        ready(address)
        while True:
            time.sleep(GLANCE_SECONDS)
            for each in children:
                each.revive()
    except _StopError:
        pass
    finally:
        _end(children, writing)


def _end(children: Sequence[Child], lifeline_end: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for child in children:
        child.process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        child.stop(deadline)
    os.close(lifeline_end)


def _stop(number: int, frame: FrameType | None) -> None:
    raise _StopError


def _await_answer(address: Address, web: Child) -> None:
    """Until the site answers anything at all. Raises SiteError if its process cannot start."""
    while True:
        connection = http.client.HTTPConnection(
            "127.0.0.1" if address.host == "0.0.0.0" else address.host, address.port, timeout=10
        )
        try:
            connection.request("HEAD", "/")
            connection.getresponse()
        except (OSError, http.client.HTTPException):
            if web.process.poll() is not None:
                raise SiteError("The web process stopped while starting; what it said is above.") from None
            time.sleep(GLANCE_SECONDS)
        else:
            return
        finally:
            connection.close()


def _spawn(
    site: SiteFolder,
    module: str,
    arguments: Sequence[str],
    *,
    fds: Sequence[int] = (),
    host: str = "",
    quiet: bool = False,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", f"gluebench.leaderboard.{module}", *arguments],
        env=environment(site, host) | ({lifeline.VARIABLE: str(fds[0])} if fds else {}),
        pass_fds=fds,
        # Ctrl-C reaches the supervisor alone, which then stops its children in order.
        start_new_session=True,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.PIPE if quiet else None,
    )


def environment(site: SiteFolder, host: str = "") -> dict[str, str]:
    """A child's environment: this one's, the site's folder, and the host it is served as."""
    name = "" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    home = str(Path(gluebench.__file__).parents[1])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return {
        **os.environ,
        "PYTHONPATH": path,
        "DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings",
        "GLUEBENCH_HOSTS": ",".join(filter(None, (os.environ.get("GLUEBENCH_HOSTS", ""), name))),
        # The server keeps large requests here while they arrive: /tmp may be memory.
        "TMPDIR": str(site.uploads),
        folder.VARIABLE: str(site.root),
    }
