"""A site that a process of its own serves."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from leaderboard.material import MANIFEST

from gluebench.leaderboard.keeping.folder import VARIABLE

_HOME = str(Path(__file__).parents[2] / "src")
_IMPORTS = "from gluebench.leaderboard import commands; import sys\n"
_SHELL = """
import json, os, sys, tempfile, traceback
from gluebench.leaderboard import commands
commands.open_site(sys.argv[1], ready=False)
from django.db import connections
for line in sys.stdin:
    code, arguments = json.loads(line)
    connections.close_all()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaints:
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(complaints.fileno(), 2)
            sys.argv[1:] = arguments
            status = 1
            try:
                exec(code, {"__name__": "__main__"})
                status = 0
            except SystemExit as end:
                status = int(end.code or 0)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for file in (out, complaints):
            file.seek(0)
        print(json.dumps([status, out.read(), complaints.read()]), flush=True)
"""
"""Sets Django up once, which takes a second, and runs each piece of code in a fork."""


def new_site(folder: Path) -> None:
    """Copy a site with an SQLite database that `init` made once; its tables take seconds to make."""
    shutil.copytree(made_once(), folder)


@cache
def made_once() -> Path:
    """The folder of a site without benchmarks, made by `init`; to read, not to change."""
    home = Path(tempfile.mkdtemp(prefix="gluebench-made-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    mine = {key: value for key, value in os.environ.items() if not key.startswith("GLUEBENCH_")}
    command = [sys.executable, "-c", f"{_IMPORTS}commands.init(sys.argv[1])", str(home / "site")]
    environment = {**mine, "PYTHONPATH": _HOME}
    subprocess.run(command, env=environment, umask=0o022, check=True, capture_output=True)
    return home / "site"


class Served:
    """One of them, from its making to its end."""

    def __init__(
        self,
        folder: Path,
        gold: Path | None = None,
        environment: Mapping[str, str] | None = None,
        data: Path | None = None,
        archive: Path | None = None,
    ) -> None:
        """Serve a new site: with the tiny benchmark and these labels, an export, or no benchmark."""
        self.folder = folder
        self._shell: subprocess.Popen[str] | None = None
        mine = {key: value for key, value in os.environ.items() if key != VARIABLE}
        self._environment = {**mine, "PYTHONPATH": _HOME, **(environment or {})}
        if archive is not None:
            self.command("import", str(archive), "--site", str(folder))
        elif not self._environment.get("GLUEBENCH_DATABASE"):
            new_site(folder)
        else:
            self.command("init", "--site", str(folder))
        if gold is not None:
            self.python(
                f"{_IMPORTS}commands.add(*sys.argv[1:4], None, *sys.argv[4:])",
                *map(str, (folder, MANIFEST, gold, *([] if data is None else [data]))),
            )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self.again()
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()

    def again(self) -> subprocess.Popen[str]:
        """Serve it, by another process if one does already."""
        code = f"{_IMPORTS}commands.serve(sys.argv[1], ('127.0.0.1', int(sys.argv[2])), change=True)"
        return subprocess.Popen(
            [sys.executable, "-c", code, str(self.folder), str(self.port)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def python(self, code: str, *arguments: str) -> str:
        """Run code in a process of its own that may import the site's models; returns its output."""
        if self._shell is None:
            self._shell = subprocess.Popen(
                [sys.executable, "-c", _SHELL, str(self.folder)],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(json.dumps([code, arguments]) + "\n")
        self._shell.stdin.flush()
        status, out, complaints = json.loads(self._shell.stdout.readline())
        assert status == 0, complaints
        return str(out)

    def command(self, *words: str, environment: Mapping[str, str] | None = None) -> str:
        """Standard output of `gluebench leaderboard` with these words."""
        done = subprocess.run(
            [sys.executable, "-m", "gluebench", "leaderboard", *words],
            env={**self._environment, **(environment or {})},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def submit(self, file: Path, *names: str) -> str:
        """Submit a file under each name, all in one process, and grade it; returns the last one's key."""
        return self.python(
            f"{_IMPORTS}for name in sys.argv[3:]: print(commands.submit_local(sys.argv[1], 'tiny',"
            " 'demo@example.org', sys.argv[2], model='a model', name=name))",
            str(self.folder),
            str(file),
            *names,
        ).split()[-1]

    def stop(self) -> None:
        """Ask it to stop as Ctrl-C does. An idle site stops at once; one that serves may take six minutes."""
        if self._shell is not None:
            self._shell.communicate()
            self._shell = None
        self.process.send_signal(2)
        self.process.wait(timeout=60)
