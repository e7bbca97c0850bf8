"""Everything a run needs to go on, in files that are whole or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from gluebench.data import DataError

STATE = "state.pt"


def save(path: Path, values: Any) -> None:
    """Write tensors and plain values; a reader finds the file before or the file after, never a part."""
    scratch = path.with_name(f".{path.name}.part")
    with scratch.open("wb") as file:
        torch.save(values, file)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def load(path: Path) -> Any:
    """What `save` wrote, on the CPU; no code in the file is run. Raises DataError for a damaged file."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, UnpicklingError, ValueError) as error:
        raise DataError(
            [f"{path}: cannot be read as a saved run ({type(error).__name__}); remove it to begin anew"]
        ) from error


def same_run(path: Path, saved: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raises DataError with a line for all in which a saved run differs from the one to go on with."""
    problems = [
        f"{path}: the run there has {name} {_brief(saved.get(name))}, this one {_brief(wanted.get(name))}; "
        "name another folder, or remove that one"
        for name in sorted({*saved, *wanted})
        if saved.get(name) != wanted.get(name)
    ]
    if problems:
        raise DataError(problems)


def _brief(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
