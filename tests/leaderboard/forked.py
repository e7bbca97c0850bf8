"""The grader as a fork of the tests' process, which has imported what it needs, and without its limits.

It costs a tenth of the processor time. Tests of the process itself ask for the fixture `own_grader`.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import IO, Any

from gluebench import analysis, scoring, submission  # noqa: F401  (so that a fork need not import them)
from gluebench.leaderboard.serving import grader


class Forked:
    """What is used of `subprocess.Popen`, for a child that does one job and ends."""

    def __init__(self, job: Mapping[str, Any], answer: IO[bytes]) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                sys.stdin = io.StringIO(json.dumps(job))
                sys.stdout = io.TextIOWrapper(io.FileIO(answer.fileno(), "w", closefd=False))
                grader._limit = lambda *limits: None  # this process is larger, and has more open files
                status = grader.main()
                sys.stdout.flush()
            finally:
                os._exit(status)

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self) -> int | None:
        return self._reap(0)

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode
