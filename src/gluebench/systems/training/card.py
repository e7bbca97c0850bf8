"""The card of a run: everything needed to repeat it, and what it came to."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from gluebench.systems.neural.heads import MultiTaskModel
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.outcome import Outcome
from gluebench.systems.training.settings import Settings
from gluebench.version import __version__

FILE = "card.json"
SCHEMA = "gluebench.run-card/1"
PACKAGES = ("torch", "numpy", "pyarrow", "accelerate", "h5py")


def card(
    model: MultiTaskModel,
    data: Mapping[str, TaskData],
    settings: Settings,
    outcome: Outcome,
    *,
    world: int,
    begun: str,
    ended: str,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """The card, JSON-ready; `about` is what the caller knows of the model and of the data."""
    return {
        "schema": SCHEMA,
        "about": dict(about),
        "settings": settings.as_dict(),
        "data": {name: _of_task(task_data) for name, task_data in data.items()},
        "model": {"class": type(model.body).__name__, **_parameters(model)},
        "software": _software(),
        "hardware": {**hardware(), "processes": world},
        "seed": settings.seed,
        "began": begun,
        "ended": ended,
        "seconds": outcome.seconds,
        "dev": {
            "score": outcome.score,
            "tasks": {name: task._asdict() for name, task in outcome.tasks.items()},
        },
        "checks": outcome.checks,
        "updates": outcome.updates,
        "stopped": outcome.stopped,
    }


def _of_task(data: TaskData) -> dict[str, Any]:
    return {
        "version": data.task.version,
        "auxiliary": data.auxiliary,
        "examples": {name: len(rows) for name, rows in data.splits().items()},
        "fingerprints": data.fingerprints(),
    }


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


def hardware() -> dict[str, Any]:
    """The machine's kind, never its name."""
    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpus": gpus,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        return platform.processor()
    return names[0] if names else platform.processor()
