"""Where a model works, and by what its files are known from one run to the next."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gluebench.systems.adapters.errors import ModelError


def device(named: str | None) -> str:
    """Where PyTorch is to work: what was named, else a GPU where there is one. Raises ModelError."""
    import torch

    if named is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=named)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"the device {named} cannot be used: {reason}") from None
    return named


def files_digest(name: str) -> str | None:
    """A digest of names, sizes and times of a model's files; None for one that is no folder."""
    folder = Path(name)
    if not folder.is_dir():
        return None
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    told = [f"{path.relative_to(folder)} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in found]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def file_option(text: str) -> str:
    """An option's value; that of a file with the file's size and time."""
    path = Path(text)
    if not path.is_file():
        return text
    return f"{text} ({path.stat().st_size} bytes, {path.stat().st_mtime_ns})"
