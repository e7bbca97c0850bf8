"""Location of prepared data, and replacement of their folders."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gluebench.benchmark import Benchmark, Split, Task, load_benchmark
from gluebench.benchmark.manifest import installed
from gluebench.data.errors import DataError

VARIABLE = "GLUEBENCH_DATA"


def data_folder(named: str | os.PathLike[str] | None = None) -> Path:
    """The named folder; else $GLUEBENCH_DATA; else `gluebench` in the user's cache ($XDG_CACHE_HOME)."""
    if named is not None:
        return Path(named)
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gluebench"


def task_folder(folder: Path, benchmark: Benchmark, task: Task) -> Path:
    """The folder of a task's files: `<folder>/<benchmark>/<Task>`, or `<folder>/<Task>` if that exists.

    A benchmark that extends another also uses the data of that; for tasks that it adds, they are its own.

    Raises DataError if there is none, with the folders searched and how to get the data.
    """
    places = [folder / name / task.name for name in benchmark.lineage]
    places.append(folder / task.name)
    for place in places:
        if place.is_dir():
            return place
    get = f"gluebench data get {benchmark.lineage[-1]} --task {task.name}"
    if benchmark.extends and not _is_packaged(task, benchmark.lineage[-1]):
        get = f"gluebench data get MANIFEST --task {task.name} --from FOLDER (MANIFEST: of {benchmark.name})"
    raise DataError(
        f"no data of {task.name} at {' nor '.join(map(str, places))}; get them with: {get}, "
        f"or name the folder that has them (data=, --data or ${VARIABLE})"
    )


def _is_packaged(task: Task, name: str) -> bool:
    """Whether a packaged benchmark of that name has the task."""
    if name not in installed():
        return False
    return any(known.name == task.name for known in load_benchmark(name).tasks)


def split_file(home: Path, split: Split) -> Path | None:
    """The file of a split in its task's folder, Parquet before plain TSV; None if neither exists."""
    for name in (f"{split.name}.parquet", split.file):
        path = home / name
        if path.is_file():
            return path
    return None


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def hold_lock(path: Path, busy: str | None = None) -> Iterator[None]:
    """Have the lock of a folder, or of a file that is made for it; the system ends that of a killed process.

    Waits for another process that has it, or raises DataError with the message `busy`.
    """
    # NFS locks only what is open for writing, which no folder can be.
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    operation = fcntl.LOCK_EX if busy is None else fcntl.LOCK_EX | fcntl.LOCK_NB
    handle = os.open(path, flags, 0o666)
    try:
        try:
            fcntl.flock(handle, operation)
        except BlockingIOError:
            raise DataError(busy or "") from None
        yield
    finally:
        os.close(handle)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new folder to write into; it replaces the target if the block ends without an error.

    Its files are flushed to disk before they replace others. After an error, the target is unchanged.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
        new = Path(scratch, "new")
        old = Path(scratch, "old")
        new.mkdir()
        yield new
        if target.exists():
            for path in filter(Path.is_file, new.rglob("*")):
                with open(path, "rb") as file:
                    os.fsync(file.fileno())
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
