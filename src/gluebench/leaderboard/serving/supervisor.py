"""Keeps a site's processes running: starts, restarts, stops them. Imports no Django, to stay small."""

import errno
import http.client
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import gluebench
from gluebench.leaderboard.keeping import folder
from gluebench.leaderboard.keeping.folder import SiteError, SiteFolder
from gluebench.leaderboard.serving import checks
from gluebench.leaderboard.serving.environment import RunSettings

GLANCE_SECONDS = 0.1
STOP_SECONDS = 3.0
"""Time that a child has to stop, beyond its own `stop_seconds`."""
RESTART_SECONDS = 1.0
"""Least time between two starts of a child, so that one that cannot start does not use up the CPU."""
LONGEST_RESTART_SECONDS = 16.0
"""That time doubles each time that a child ends earlier than this; after a longer run it is reset."""
STARTS = 4
"""Times that the web process may end before the site has answered."""
HELD_SECONDS = 10.0
"""How long to wait for a port: the processes of a site that was killed hold it until they have ended."""
WATCHDOG = "GLUEBENCH_WATCHDOG"
"""Environment variable with the pipe that closes when a child's supervisor ends for any reason."""
REFUSED = 3
"""Exit status of the process that prepares a site when standard error says what to fix."""
AS_IT_IS = "--as-it-is"
"""Option by which that process refuses a database that is behind."""
WITHOUT_WEB = "--without-web"
"""Option by which that process leaves static files alone."""
ANY_HOST = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses that stand for all of a machine, and by which it then reaches itself."""


class ChildProcess:
    """One process of the site and how to start it again; `stop_seconds` is how long it may take to stop."""

    def __init__(self, start: Callable[[], subprocess.Popen[bytes]], stop_seconds: float = 0.0) -> None:
        self._start = start
        self.stop_seconds = stop_seconds
        self.deaths = 0
        self._pause = RESTART_SECONDS
        self._begin()

    def _begin(self) -> None:
        self.process = self._start()
        self._started = time.monotonic()
        self._again: float | None = None

    def revive(self) -> None:
        """Start it again if it ended, after a pause that grows while it ends soon after each start."""
        if self.process.poll() is None:
            return
        now = time.monotonic()
        if self._again is None:
            self.deaths += 1
            if now - self._started > LONGEST_RESTART_SECONDS:
                self._pause = RESTART_SECONDS
            self._again = self._started + self._pause
            self._pause = min(2 * self._pause, LONGEST_RESTART_SECONDS)
        elif now > self._again:
            self._begin()

    def has_ended(self, deadline: float) -> bool:
        """Wait until the deadline at most, and return whether it has ended."""
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def ending(self) -> str:
        """How it ended, as the end of a sentence."""
        status = self.process.returncode
        return f"by signal {-status}" if status < 0 else f"with exit status {status}"


def listen(host: str, port: int) -> socket.socket:
    """The socket the site answers on, open over restarts so that no visitor is refused. Raises SiteError.

    A port that is in use is tried for `HELD_SECONDS`.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        _bind(listening, (host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise SiteError(
            f"Cannot listen on {host} port {port}: {error.strerror}. "
            "Another program may use it; choose another port with --port."
        ) from None
    return listening


def _bind(listening: socket.socket, address: tuple[str, int]) -> None:
    deadline = None
    while True:
        try:
            return listening.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or (deadline and time.monotonic() > deadline):
                raise
        if deadline is None:
            notice = f"Port {address[1]} is in use; trying for {HELD_SECONDS:.0f} more seconds."
            print(notice, file=sys.stderr, flush=True)
            deadline = time.monotonic() + HELD_SECONDS
        time.sleep(GLANCE_SECONDS)


def prepare(site: SiteFolder, *, change: bool = True, web: bool = True) -> None:
    """Check what a site needs and bring its database and static files up to date. Raises SiteError.

    Without `change`, a database that is behind is refused; without `web`, static files are left alone.
    """
    checks.require(checks.examine(site))
    options = []
    if not change:
        options.append(AS_IT_IS)
    if not web:
        options.append(WITHOUT_WEB)
    child = _spawn(site, "gluebench.leaderboard.commands", *options, quiet=True)
    complaint = child.communicate()[1].decode().strip()
    if child.returncode == REFUSED:
        raise SiteError(complaint)
    if child.returncode:
        raise SiteError(f"{site.root} could not be prepared:\n{complaint}")


def run(
    site: SiteFolder, listening: socket.socket | None, running: RunSettings, ready: Callable[[str], None]
) -> None:
    """Keep its processes running until SIGINT or SIGTERM; `ready` is called with its address when it answers.

    Without a socket there are workers only, and no address.
    """
    host = ""
    port = 0
    if listening:
        host, port = listening.getsockname()[:2]
    shutil.rmtree(site.metrics, ignore_errors=True)
    folder.make_private(site.metrics)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    reading, writing = os.pipe()
    children: list[ChildProcess] = []
    try:
        if listening:
            fds = [reading, listening.fileno()]
            web_module = ("gluebench.leaderboard.serving.web", str(listening.fileno()))
            serve = partial(_spawn, site, *web_module, fds=fds, host=host)
            children += [ChildProcess(serve, running.stop_seconds) for _ in range(running.web)]
        work = partial(_spawn, site, "gluebench.leaderboard.serving.worker", fds=[reading], host=host)
        children += [ChildProcess(work) for _ in range(running.workers)]
        if listening:
            _await_answer(host, port, children)
        ready(f"{_url(host, port)}{running.path}/" if listening else "")
        while True:
            _revive(children)
    except KeyboardInterrupt:
        pass
    finally:
        if listening:
            listening.close()
        _stop_all(children, writing)


def _url(host: str, port: int) -> str:
    """Return how a browser on this machine reaches it, without a path."""
    return f"http://{_in_brackets(ANY_HOST.get(host, host))}:{port}"


def _in_brackets(host: str) -> str:
    """A host as it stands in an address: one of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def _revive(children: Sequence[ChildProcess]) -> None:
    time.sleep(GLANCE_SECONDS)
    for child in children:
        child.revive()


def _stop_all(children: Sequence[ChildProcess], writing: int) -> None:
    start = time.monotonic()
    try:
        for child in children:
            child.process.terminate()
        late = [
            child for child in children if not child.has_ended(start + STOP_SECONDS) and child.stop_seconds
        ]
        if late:
            print(
                f"Requests under way are finished first, for at most {late[0].stop_seconds:.0f} seconds. "
                "Ctrl-C again stops at once.",
                flush=True,
            )
        for child in late:
            child.has_ended(start + child.stop_seconds + STOP_SECONDS)
    except KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for child in children:  # killing a worker is safe: its lease runs out
        child.process.kill()
        child.process.wait()
    os.close(writing)


def _await_answer(host: str, port: int, children: Sequence[ChildProcess]) -> None:
    """Wait until the site answers anything at all. Raises SiteError if its web process cannot start."""
    web = children[0]
    host = ANY_HOST.get(host, host)
    while web.deaths < STARTS:
        connection = http.client.HTTPConnection(host, port, timeout=10)
        try:
            connection.request("HEAD", "/healthz")
            # If the process ends before it accepts the connection, its successor accepts it.
            while web.deaths < STARTS and not select.select([connection.sock], [], [], 0)[0]:
                _revive(children)
            if web.deaths < STARTS:
                connection.getresponse()
                return
        except (OSError, http.client.HTTPException):
            _revive(children)
        finally:
            connection.close()
    raise SiteError(
        f"The web process ended {web.deaths} times while starting, the last time {web.ending}; "
        "what it said is above."
    )


def _spawn(
    site: SiteFolder,
    module: str,
    *arguments: str,
    fds: Sequence[int] = (),
    host: str = "",
    quiet: bool = False,
) -> subprocess.Popen[bytes]:
    variables = environment(site, host)
    if fds:
        variables[WATCHDOG] = str(fds[0])
    command = [sys.executable, "-P", "-m", module]
    command += arguments
    return subprocess.Popen(
        command,
        env=variables,
        pass_fds=fds,
        # Ctrl-C reaches the supervisor alone, which then stops its children in order.
        start_new_session=True,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.PIPE if quiet else None,
    )


def environment(site: SiteFolder, host: str = "") -> dict[str, str]:
    """A child's environment: this one's, the site's folder, and the host it is served as."""
    name = "" if host in ANY_HOST else _in_brackets(host)
    home = str(Path(gluebench.__file__).parents[1])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return {
        **os.environ,
        "PYTHONPATH": path,
        "DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings",
        "GLUEBENCH_HOSTS": ",".join(filter(None, (os.environ.get("GLUEBENCH_HOSTS", ""), name))),
        # The server keeps large requests here while they arrive: /tmp may be memory.
        "TMPDIR": str(site.uploads),
        folder.METRICS: str(site.metrics),
        folder.VARIABLE: str(site.root),
    }


def watch() -> None:
    """Stop this process once its supervisor is gone; without a supervisor, do nothing."""
    number = os.environ.pop(WATCHDOG, "")
    if number:
        threading.Thread(target=_wait, args=(int(number),), daemon=True).start()


def _wait(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
