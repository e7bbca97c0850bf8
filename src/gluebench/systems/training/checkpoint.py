"""Files of a training run: state, weights, outcome, and a card with all that repeats the run.

Every file is written atomically.
"""

import json
import math
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_safetensors
from torch import Tensor

from gluebench.benchmark.atomic import replacing, write_json
from gluebench.data import DataError
from gluebench.data.errors import differences, expect_schema, parsing, refuse
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.settings import Settings
from gluebench.version import __version__

STATE = "state.pt"
OUTCOME = "outcome.json"
OUTCOME_SCHEMA = "gluebench.training/1"
CARD = "card.json"
CARD_SCHEMA = "gluebench.run-card/1"
PACKAGES = ("torch", "numpy", "pyarrow", "accelerate", "h5py")


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The dev score of one task with the weights that were kept for it."""

    score: float
    """As a fraction; by `Settings.validation`. NaN, in files null, without dev examples."""
    metrics: Mapping[str, float]
    check: int
    weights: str
    """File in the run's folder."""
    constant: bool = False
    """Whether these weights give every dev example the same answer."""


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
    """The run's identity, ready for JSON."""


def save(path: Path, values: Any) -> None:
    """Write tensors and plain values atomically: a reader finds the old or the new file, never a part."""
    with replacing(path) as file:
        try:
            torch.save(values, file)
        except RuntimeError as error:  # what PyTorch makes of an error in writing
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise


def load(path: Path) -> Any:
    """Load what `save` wrote, on the CPU, without running its code. Raises DataError for a damaged file."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, UnpicklingError, ValueError) as error:
        raise DataError(
            f"{path}: cannot be read as a saved run ({type(error).__name__}); remove it to begin anew"
        ) from error


def save_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Write weights atomically, as safetensors."""
    tensors = {}
    for name, values in weights.items():
        # The format refuses tensors that share memory, as tied weights do.
        tensors[name] = values.detach().cpu().clone(memory_format=torch.contiguous_format)
    with replacing(path) as file:  # save_file of the library would give the file other permissions
        file.write(to_safetensors(tensors, metadata={"format": "pt"}))


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read the weights that a run kept, on the CPU. Raises DataError for a file missing or damaged."""
    anew = "remove the run's folder to train it anew"
    if not path.is_file():
        raise DataError(f"{path}: the weights of this run are gone; {anew}")
    if path.suffix == ".pt":  # as runs kept them before
        weights: dict[str, Tensor] = load(path)
        return weights
    try:
        return load_file(path)
    except SafetensorError as error:
        raise DataError(f"{path}: cannot be read as safetensors ({error}); {anew}") from None


def take_weights(model: MultiTaskModel, outcome: Outcome, task: str | None = None) -> None:
    """Load the weights that a run kept for a task (by default its first), and end training mode.

    Raises DataError if they are gone, or were trained on top of another encoder than the model has.
    """
    path = outcome.folder / outcome.tasks[task or next(iter(outcome.tasks))].weights
    weights = read_weights(path)
    if outcome.run.get("base") != model.base_digest():
        raise DataError(
            f"{path}: was trained on top of an encoder with other weights than the one that is loaded; "
            "put back the encoder of that time, or train again into another folder"
        )
    model.load_saved(weights)
    model.eval()


def same_run(path: Path, saved: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raise DataError with a line for each value in which a saved run differs from the expected one."""
    way = "name another folder, or remove that one"
    refuse([f"{path}: another run: {line}; {way}" for line in differences(saved, expected)])


def write_outcome(outcome: Outcome) -> None:
    """Write the outcome into the run's folder, which marks the run as finished."""
    values = {"schema": OUTCOME_SCHEMA, **_without_nan(asdict(outcome))}
    del values["folder"]
    write_json(outcome.folder / OUTCOME, values)


def _without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """The outcome of a run, or of a task, with null for a score that is not a number, as JSON wants it."""
    if math.isnan(values["score"]):
        values["score"] = None
    for task in values.get("tasks", {}).values():
        _without_nan(task)
    return values


def _with_nan(values: dict[str, Any]) -> dict[str, Any]:
    if values["score"] is None:
        values["score"] = math.nan
    return values


def read_outcome(folder: Path) -> Outcome | None:
    """The finished run in a folder; None where there is none. Raises DataError for a damaged file."""
    path = folder / OUTCOME
    if not path.is_file():
        return None
    with parsing(path, "the outcome of a run", "remove the file to go on with the run"):
        values = json.loads(path.read_text(encoding="utf-8"))
        expect_schema(values, OUTCOME_SCHEMA)
        del values["schema"]
        tasks = {name: TaskOutcome(**_with_nan(task)) for name, task in values.pop("tasks").items()}
        return Outcome(folder=folder, tasks=tasks, **_with_nan(values))


def _data_facts(data: TaskData) -> dict[str, Any]:
    """What a card says of a task's data."""
    return {
        "version": data.task.version,
        "auxiliary": data.auxiliary,
        "examples": {split: len(rows) for split, rows in data.splits().items()},
        "fingerprints": data.fingerprints(),
    }


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
    sizes = {True: 0, False: 0}
    for parameter in model.parameters():
        sizes[parameter.requires_grad] += parameter.numel()
    dev = _without_nan(asdict(outcome))
    values = {
        "schema": CARD_SCHEMA,
        "about": dict(about),
        "settings": asdict(settings),
        "data": {name: _data_facts(task_data) for name, task_data in data.items()},
        "model": {
            "class": type(model.body).__name__,
            "trained_parameters": sizes[True],
            "frozen_parameters": sizes[False],
        },
        "software": _software(),
        "hardware": {**_hardware(), "processes": outcome.run["processes"]},
        "seed": settings.seed,
        "began": began,
        "ended": ended,
        "seconds": outcome.seconds,
        "dev": {name: dev[name] for name in ("score", "tasks")},
        "checks": outcome.checks,
        "updates": outcome.updates,
        "stopped": outcome.stopped,
    }
    write_json(outcome.folder / CARD, values)


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
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):  # another system, or another kind of processor
        processor = platform.processor()
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())],
    }
