"""Signals that ask a training run to end: it saves its state first."""

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Notes SIGINT (Ctrl-C) and SIGTERM within the context instead of ending the process.

    A second signal ends it at once. Only the main thread can receive signals; elsewhere nothing is noted.
    """

    received: int | None = None
    """The first signal."""

    def __enter__(self) -> "Interrupts":
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if handler is not signal.SIG_IGN:  # as of a command that a shell runs in the background
                    self._handlers[number] = handler or signal.SIG_DFL
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            self._restore()
            signal.raise_signal(number)
            return
        self.received = number
        if sys.stderr.isatty():  # not by print, which a signal may find in the middle of a line
            os.write(2, b"\nSaving; press again to end at once.\n")
