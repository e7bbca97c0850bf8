"""The grader in the tests' process, which has imported what it needs, and without its limits.

It costs a small part of the processor time. Tests of the process itself ask for the fixture `own_grader`.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Mapping
from typing import IO, Any

import pytest

from gluebench.leaderboard.serving import grader
from gluebench.submission import archive

_turn = threading.Lock()
"""Held during a job, which sets for this whole process how large submissions may be."""


class InProcess:
    """What is used of `subprocess.Popen`: a child that does its job when it is first looked at."""

    def __init__(self, job: Mapping[str, Any], answer: IO[bytes]) -> None:
        self.returncode: int | None = None
        self._job = json.loads(json.dumps(job))
        self._answer = answer

    def poll(self) -> int:
        if self.returncode is None:
            result = self._result()
            self._answer.write(json.dumps(result, allow_nan=False).encode())
            self.returncode = 1 if "failed" in result else 0
        return self.returncode

    wait = poll

    def kill(self) -> None:
        if self.returncode is None:
            self.returncode = -signal.SIGKILL

    def _result(self) -> dict[str, Any]:
        with _turn, pytest.MonkeyPatch.context() as patch:
            patch.setattr(archive, "_usual", archive._usual)  # so that it is set back
            archive.limit_uploads(self._job["upload_bytes"])
            try:
                return grader._result(self._job)
            except Exception as error:
                return {"failed": grader._describe(error)}
