"""A child ends when its supervisor does, however that ended: the pipe between them closes."""

from __future__ import annotations

import os
import signal
import threading

VARIABLE = "GLUEBENCH_LIFELINE"


def watch() -> None:
    """Stop this process once the supervisor is gone; without a supervisor, do nothing."""
    number = os.environ.pop(VARIABLE, "")
    if number:
        threading.Thread(target=_wait, args=(int(number),), daemon=True).start()


def _wait(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
