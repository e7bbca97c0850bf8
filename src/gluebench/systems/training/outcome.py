"""What a run came to: scores and where the weights are, as kept in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError

FILE = "outcome.json"
SCHEMA = "gluebench.training/1"


class TaskOutcome(NamedTuple):
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


def write_outcome(outcome: Outcome, identity: Mapping[str, Any]) -> None:
    """Write it into the run's folder: from then on the run is finished."""
    write_json(
        outcome.folder / FILE,
        {
            "schema": SCHEMA,
            "seed": outcome.seed,
            "score": outcome.score,
            "tasks": {name: task._asdict() for name, task in outcome.tasks.items()},
            "checks": outcome.checks,
            "updates": outcome.updates,
            "stopped": outcome.stopped,
            "seconds": outcome.seconds,
            "run": dict(identity),
        },
    )


class Finished(NamedTuple):
    """A finished run, and what it was a run of."""

    outcome: Outcome
    identity: Mapping[str, Any]


def read_outcome(folder: Path) -> Finished | None:
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
    identity = values.pop("run")
    tasks = {name: TaskOutcome(**task) for name, task in values.pop("tasks").items()}
    return Finished(Outcome(folder=folder, tasks=tasks, **values), identity)
