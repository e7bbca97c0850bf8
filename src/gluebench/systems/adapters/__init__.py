"""Any model as a system: what MODEL of `gluebench run` may name, and the runs that it makes."""

import hashlib
from pathlib import Path


class ModelError(ValueError):
    """A model that cannot be loaded or used. The message says why, what was expected and what to do."""


def files_digest(name: str) -> str | None:
    """A digest of names, sizes and times of a model's files; None if `name` is not a folder."""
    folder = Path(name)
    if not folder.is_dir():
        return None
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    stats = [(path.relative_to(folder), path.stat()) for path in paths]
    identity = [f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats]
    return hashlib.sha256("\n".join(identity).encode()).hexdigest()[:16]
