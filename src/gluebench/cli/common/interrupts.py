"""Commands that are stopped: SIGTERM ends them as Ctrl-C does, and they say what is kept."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gluebench.cli.common.output import notice

TERMINATED = 128 + signal.SIGTERM
"""Exit code of a command that SIGTERM ended."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise SystemExit at SIGTERM within the block, so that it is left as at Ctrl-C."""
    # Only the main thread may set handlers, and a handler that is set already stays.
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def kept_if_stopped(kept: Callable[[], str]) -> Iterator[None]:
    """Print what is kept, and how to go on, if Ctrl-C or SIGTERM ends the block."""
    with terminable():
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            notice(f"\nStopped. {kept()}")
            raise
