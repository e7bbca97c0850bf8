"""Claims of jobs on disk: any number of launchers on one folder run each job once.

A claim is a file that only one process can create. The claims of a job are numbered, and the last one counts.
The next number is taken only after the process of the last has died, so that one process wins, and nobody can
remove a living claim by mistake.
"""

import json
import os
import platform
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

LEASE = 180.0
"""Seconds without a heartbeat after which a process on another machine counts as dead.

More than a network file system's caches of times and names (60 s)."""
BEATS = 12
"""Heartbeats per lease."""


class Claim(NamedTuple):
    """A claim of this process on a job."""

    path: Path
    number: int

    def current(self) -> bool:
        """Whether no other process has taken the job since."""
        return _last(self.path.parent) == self.number

    def release(self) -> None:
        """Let another process take the job at once."""
        os.utime(self.path, (0, 0))


def claim_job(folder: Path, lease: float = LEASE) -> Claim | None:
    """Claim the job of a folder; None if another process has it."""
    folder.mkdir(parents=True, exist_ok=True)
    last = _last(folder)
    if _is_alive(folder, last, lease):
        return None
    claim = Claim(_path(folder, last + 1), last + 1)
    try:
        descriptor = os.open(claim.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return None
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(_holder(), file)
        file.flush()
        os.fsync(descriptor)
    return claim


def is_held(folder: Path, lease: float = LEASE) -> bool:
    """Whether a living process has the job of a folder, to the best of this machine's knowledge."""
    return _is_alive(folder, _last(folder), lease)


def _is_alive(folder: Path, number: int, lease: float) -> bool:
    path = _path(folder, number)
    try:
        beat = path.stat().st_mtime
        text = path.read_text(encoding="utf-8")
        if not beat:  # released
            return False
        theirs = json.loads(text)
        ours = _holder()
        if theirs["machine"] == ours["machine"]:
            return bool(_start_time(theirs["pid"]) == theirs["started"])
        if theirs["job"] and theirs["job"] == ours["job"] and theirs["restart"] != ours["restart"]:
            return False  # Slurm has put this very job back into the queue
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError):
        pass  # its process died, or is now, between creating and writing the file
    return _now(folder) - beat <= lease


@contextmanager
def beating(claim: Claim, lease: float = LEASE, *, parent: int | None = None) -> Iterator[None]:
    """Keep a claim alive; end this process if another one took the job, or if its `parent` dies."""
    stop = threading.Event()

    def beat() -> None:
        # A signal that this thread received would not wake the main one, which handles it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        waited = 0.0
        while not stop.wait(step := min(1.0, lease / BEATS)):
            if parent is not None and os.getppid() != parent:
                os._exit(1)
            waited += step
            if waited >= lease / BEATS:
                waited = 0.0
                if not claim.current():
                    os._exit(1)
                with suppress(OSError):  # the next beat may succeed
                    os.utime(claim.path)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _path(folder: Path, number: int) -> Path:
    return folder / f"claim-{number}.json"


def _last(folder: Path) -> int:
    """The number of the last claim; 0 if there is none."""
    numbers = (path.stem.removeprefix("claim-") for path in folder.glob("claim-*.json"))
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def _holder() -> dict[str, Any]:
    """This process, as a claim names it."""
    machine = platform.node()
    with suppress(OSError):  # processes of two containers may have one number
        machine += os.readlink("/proc/self/ns/pid")
    array = [os.environ.get(f"SLURM_ARRAY_{part}", "") for part in ("JOB_ID", "TASK_ID")]
    return {
        "machine": machine,
        "pid": os.getpid(),
        "started": _start_time(os.getpid()),
        "job": "_".join(array).strip("_") or os.environ.get("SLURM_JOB_ID", ""),
        "restart": os.environ.get("SLURM_RESTART_COUNT", "0"),
    }


def _start_time(pid: int) -> str | None:
    """When a process of this machine started, since numbers are used again; None if it does not run."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else fields[18]
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "unknown"


def _now(folder: Path) -> float:
    """The time by the clock of the folder's file system, which gives the claims theirs."""
    clock = folder / ".clock"
    clock.touch()
    return clock.stat().st_mtime
