"""What a run leaves in its folder: its outcome and its card, with everything needed to repeat it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError
from gluebench.systems.training.settings import Settings
from gluebench.version import __version__

if TYPE_CHECKING:
    from gluebench.systems.neural.model import MultiTaskModel
    from gluebench.systems.training.data import TaskData

FILE = "outcome.json"
SCHEMA = "gluebench.training/1"
CARD = "card.json"
CARD_SCHEMA = "gluebench.run-card/1"
PACKAGES = ("torch", "numpy", "pyarrow", "accelerate", "h5py")


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The dev score of one task with the weights that were kept for it."""

    score: float
    """As a fraction; by `Settings.validation`."""
    metrics: Mapping[str, float]
    check: int
    weights: str
    """File in the run's folder."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One finished run."""

    folder: Path
    seed: int
    score: float
    """The best macro-average of a check."""
    tasks: Mapping[str, TaskOutcome]
    checks: int
    updates: int
    stopped: str
    """Why it ended."""
    seconds: float
    run: Mapping[str, Any]
    """What it was a run of, JSON-ready."""


def write_outcome(outcome: Outcome) -> None:
    """Write it into the run's folder: from then on the run is finished."""
    values = asdict(outcome)
    del values["folder"]
    write_json(outcome.folder / FILE, {"schema": SCHEMA, **values})


def read_outcome(folder: Path) -> Outcome | None:
    """The finished run in a folder; None where there is none. Raises DataError for a damaged file."""
    path = folder / FILE
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError([f"{path}: no JSON ({error}); remove the file to go on with the run"]) from None
    if not isinstance(values, dict) or values.pop("schema", None) != SCHEMA:
        raise DataError([f"{path}: not the outcome of a run ({SCHEMA}); remove it or name another folder"])
    tasks = {name: TaskOutcome(**task) for name, task in values.pop("tasks").items()}
    return Outcome(folder=folder, tasks=tasks, **values)


def write_card(
    outcome: Outcome,
    model: MultiTaskModel,
    data: Mapping[str, TaskData],
    settings: Settings,
    *,
    began: str,
    ended: str,
    about: Mapping[str, Any],
) -> None:
    """Write the run's card; `about` is what the caller knows of the model and of the data."""
    values = {
        "schema": CARD_SCHEMA,
        "about": dict(about),
        "settings": settings.as_dict(),
        "data": {
            name: {
                "version": task_data.task.version,
                "auxiliary": task_data.auxiliary,
                "examples": {split: len(rows) for split, rows in task_data.splits().items()},
                "fingerprints": task_data.fingerprints(),
            }
            for name, task_data in data.items()
        },
        "model": {"class": type(model.body).__name__, **_parameters(model)},
        "software": _software(),
        "hardware": {**_hardware(), "processes": outcome.run["processes"]},
        "seed": settings.seed,
        "began": began,
        "ended": ended,
        "seconds": outcome.seconds,
        "dev": {
            "score": outcome.score,
            "tasks": {name: asdict(task) for name, task in outcome.tasks.items()},
        },
        "checks": outcome.checks,
        "updates": outcome.updates,
        "stopped": outcome.stopped,
    }
    write_json(outcome.folder / CARD, values)


def _parameters(model: MultiTaskModel) -> dict[str, int]:
    counts = {True: 0, False: 0}
    for parameter in model.parameters():
        counts[parameter.requires_grad] += parameter.numel()
    return {"trained_parameters": counts[True], "frozen_parameters": counts[False]}


def _software() -> dict[str, str]:
    versions = {"gluebench": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _hardware() -> dict[str, Any]:
    """The machine's kind, never its name."""
    import torch

    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())],
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        return platform.processor()
    return names[0] if names else platform.processor()
