"""Everything a run needs to go on, in files that are whole or not there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import nn

from gluebench.benchmark.atomic import replacing
from gluebench.data import DataError
from gluebench.systems.training.outcome import Outcome

STATE = "state.pt"


def save(path: Path, values: Any) -> None:
    """Write tensors and plain values; a reader finds the file before or the file after, never a part."""
    with replacing(path) as file:
        torch.save(values, file)


def load(path: Path) -> Any:
    """What `save` wrote, on the CPU; no code in the file is run. Raises DataError for a damaged file."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, UnpicklingError, ValueError) as error:
        raise DataError(
            [f"{path}: cannot be read as a saved run ({type(error).__name__}); remove it to begin anew"]
        ) from error


def take_weights(model: nn.Module, outcome: Outcome, task: str | None = None) -> None:
    """Load the weights that a run kept for a task (by default its first), and end training mode."""
    path = outcome.folder / outcome.tasks[task or next(iter(outcome.tasks))].weights
    if not path.is_file():
        raise DataError([f"{path}: the weights of this run are gone; remove its folder to train it anew"])
    model.load_state_dict(load(path))
    model.eval()


def same_run(path: Path, saved: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raises DataError with a line for all in which a saved run differs from the one to go on with."""
    there, here = _flat(saved), _flat(expected)
    problems = [
        f"{path}: the run there has {name} {_json(there, name)}, this one {_json(here, name)}; "
        "name another folder, or remove that one"
        for name in dict.fromkeys([*there, *here])
        if there.get(name) != here.get(name)
    ]
    if problems:
        raise DataError(problems)


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Values by the path of their names: "settings clip", "data MNLI train"."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{before}{name} ") if isinstance(value, Mapping) else {before + name: value}
    return flat


def _json(values: Mapping[str, Any], name: str) -> str:
    return json.dumps(values[name]) if name in values else "none"
