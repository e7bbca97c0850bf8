"""Starts the process that opens submitted files and labels, apart from the site and limited."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from django.conf import settings

import gluebench
from gluebench.leaderboard.apps.common.kinds import Facts
from gluebench.leaderboard.apps.common.problems import ProblemError

if TYPE_CHECKING:  # the supervisor reads a constant of this file before Django is set up
    from gluebench.leaderboard.apps.submissions.models import Submission

SIGN_OF_LIFE_SECONDS = 2.0
_GLANCE_SECONDS = 0.05
FILE_BYTES = 32 * 1024**2
"""Bytes of a file that the grader may write, its answer included, unless the job says otherwise or uploads
may be larger than half of it."""
CHECKS_QUEUED = 6
"""Free checks that may run or wait at a time; each holds a thread of the web process."""
BUILDS_QUEUED = 4
"""Benchmarks being built from an organizer's files, as above."""
WAITING_OF_ACCOUNT = 2
"""Those of one account."""
CHECK_SECONDS = 10
"""Processor time of a free check; a full GLUE zip takes less than one second."""
BUSY_SECONDS = 5
"""After how long a refused caller should try again."""
LETTERS = 60
"""Letters of a file's name that are used, the last ones; a name may have 255 bytes."""

logger = logging.getLogger(__name__)


class GraderError(Exception):
    """The grader's process ended without a result; the message may be shown."""


class KilledGraderError(GraderError):
    """The grader's process ended before it could answer; another try may succeed."""


class SlowGraderError(GraderError):
    """The grader's process reached its time limit."""


class UnreadableFileError(GraderError):
    """The storage does not return a submitted file; this is not its author's fault."""


class InterruptedGradingError(Exception):
    """The worker is stopping, or another one has taken over."""


class Turns:
    """Jobs of one kind that people wait for: one runs at a time in this process, and few others wait."""

    def __init__(self, what: str, most: int) -> None:
        self.what = what
        self.most = most
        self.accounts: list[int] = []
        """The account of each job that runs or waits."""
        self.free = threading.Semaphore(1)
        self._lock = threading.Lock()

    @contextmanager
    def wait_for_turn(self, account: int) -> Iterator[None]:
        """Wait for the turn of a job. Raises ProblemError (429) if too many wait."""
        with self._lock:
            if self.accounts.count(account) >= WAITING_OF_ACCOUNT:
                busy = f"{WAITING_OF_ACCOUNT} {self.what} of yours are not done yet. Wait for one of them."
            elif len(self.accounts) >= self.most:
                busy = f"Many {self.what} are under way at the moment. Try again in a few seconds."
            else:
                busy = ""
                self.accounts.append(account)
        if busy:
            raise ProblemError(429, "rate", busy, headers={"Retry-After": str(BUSY_SECONDS)})
        try:
            with self.free:
                yield
        finally:
            with self._lock:
                self.accounts.remove(account)


CHECKS = Turns("checks", CHECKS_QUEUED)
BUILDS = Turns("builds", BUILDS_QUEUED)


def grader_limits(cpu_seconds: int | None = None) -> dict[str, int]:
    """What a grader may use: processor time, by default that of a submission, memory, and bytes of files."""
    return {
        "seconds": cpu_seconds or settings.GRADER_SECONDS,
        "bytes": settings.GRADER_BYTES,
        "file_bytes": max(FILE_BYTES, 2 * settings.UPLOAD_BYTES),
        "upload_bytes": settings.UPLOAD_BYTES,
    }


def run_grader(
    job: Facts,
    *,
    alive: Callable[[], bool] = lambda: True,
    stop: threading.Event | None = None,
    seconds: int | None = None,
    cpu_seconds: int | None = None,
) -> Facts:
    """Check and grade in a child; `alive` is called every few seconds and returns whether to go on.

    `seconds` is its time limit; by default that of a submission. `cpu_seconds` limits its processor time,
    by default to the same number.

    Raises GraderError (KilledGraderError where it ended without an answer), or InterruptedGradingError when
    `stop` is set or `alive` says no.
    """
    seconds = seconds or settings.GRADER_SECONDS
    with tempfile.TemporaryFile() as answer:
        child = _start({**grader_limits(cpu_seconds or seconds), **job}, answer)
        try:
            _wait(child, alive, stop or threading.Event(), seconds)
        finally:
            child.kill()
            child.wait()
        answer.seek(0)
        try:
            result: Facts = json.load(answer)
        except ValueError:
            # Without a signal it may be that the disk is full: the next time it may have room.
            code = child.returncode
            if code == -signal.SIGXCPU:
                spent = f"This took more than {cpu_seconds} seconds of processor time and was stopped."
                raise GraderError(spent) from None
            killed = f"was stopped by {signal.Signals(-code).name}" if code < 0 else ""
            reason = killed or f"stopped without a result (exit status {code})"
            raise KilledGraderError(f"The grader {reason}. Ask the organizer.") from None
    if "failed" in result:
        raise GraderError(f"The grader stopped: {result['failed']}. Ask the organizer.")
    return result


def run_check(manifest: Path, submission: Path, *, account: int, fixed: Path | None = None) -> Facts:
    """The validator's check of a file, without labels, under "check"; for the free check.

    If it is not valid and can be fixed, the fixed copy is written to `fixed`, and "fixed" lists the changes.
    Raises GraderError, and ProblemError where too many wait. The grader runs at the lowest priority, so that
    pages stay fast, one at a time per process; the others wait.
    """
    job = {"manifest": str(manifest), "gold": None, "submission": str(submission)}
    if fixed is not None:
        job["fixed"] = str(fixed)
    with CHECKS.wait_for_turn(account):
        return run_grader({**job, "nice": 19}, cpu_seconds=CHECK_SECONDS)


def run_build(job: Facts, *, account: int) -> Facts:
    """Build a benchmark from an organizer's files, apart from the checks; otherwise as `run_check`."""
    with BUILDS.wait_for_turn(account):
        return run_grader({"build": job, "nice": 19})


def _start(job: Facts, answer: IO[bytes]) -> subprocess.Popen[bytes]:
    package_home = str(Path(gluebench.__file__).parents[1])
    # The child does not get the site's environment, and its standard error is discarded:
    # a message about a label must not reach a log.
    environment = {"PYTHONPATH": package_home, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment["PATH"] = os.environ.get("PATH", os.defpath)
    child = subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", "gluebench.leaderboard.serving.grader"],
        stdin=subprocess.PIPE,
        stdout=answer,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert child.stdin is not None
    try:
        child.stdin.write(json.dumps(job).encode())
        child.stdin.close()
    except BrokenPipeError:
        child.wait()
    return child


def _wait(
    child: subprocess.Popen[bytes], alive: Callable[[], bool], stop: threading.Event, seconds: int
) -> None:
    end = time.monotonic() + seconds
    sign = time.monotonic() + SIGN_OF_LIFE_SECONDS
    while child.poll() is None:
        if stop.wait(_GLANCE_SECONDS):
            raise InterruptedGradingError
        now = time.monotonic()
        if now > end:
            raise SlowGraderError(f"Grading took longer than {seconds} seconds and was stopped.")
        if now > sign:
            sign = now + SIGN_OF_LIFE_SECONDS
            if not alive():
                raise InterruptedGradingError


@contextmanager
def local_path(submission: Submission) -> Iterator[Path]:
    """The path of its file for the grader, under its sender's name. Raises errors as `_path_to_read`."""
    with _path_to_read(submission) as path, under_own_name(path, submission.filename) as link:
        yield link


@contextmanager
def _path_to_read(submission: Submission) -> Iterator[Path]:
    """The path of its file: the stored file or a temporary copy.

    Raises UnreadableFileError if it cannot be read, which the validator would call invalid. Raises
    GraderError where its SHA-256 is no longer that of the row.
    """
    with ExitStack() as opened:
        try:
            path = Path(submission.file.path)
        except NotImplementedError:  # kept in a bucket
            # Closed at once, as a board has more files than a process may have open. The grader keeps what it
            # measured of a file by its name and content, so that the name must be the same the next time.
            folder = opened.enter_context(tempfile.TemporaryDirectory(dir=settings.FOLDER.uploads))
            path = Path(folder, submission.key)
            with path.open("wb") as copy, submission.file.open("rb") as kept:
                shutil.copyfileobj(kept, copy)
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UnreadableFileError("The submitted file cannot be read now. Ask the organizer.") from error
        if digest != submission.sha256:
            logger.error("The file of submission %s is not the one that was sent.", submission.key)
            raise GraderError("A stored file changed after it was sent. Ask the organizer.")
        yield path


@contextmanager
def local_paths(submissions: Iterable[Submission]) -> Iterator[list[str]]:
    """The paths of several submissions' files in the same order; of a zip, the grader needs no name."""
    paths = []
    with ExitStack() as files:
        for submission in submissions:
            is_zip = submission.filename.casefold().endswith(".zip")
            open_path = _path_to_read if is_zip else local_path
            paths.append(str(files.enter_context(open_path(submission))))
        yield paths


@contextmanager
def under_own_name(path: Path, filename: str) -> Iterator[Path]:
    """A link with the sender's file name: it identifies the task of a single table, and problems name it."""
    with tempfile.TemporaryDirectory(dir=settings.FOLDER.uploads) as folder:
        link = Path(folder, Path(filename).name[-LETTERS:] or "submission")
        link.symlink_to(path.absolute())
        yield link
