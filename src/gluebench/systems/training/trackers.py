"""Trackers of experiments: TensorBoard, Weights & Biases, MLflow, trackio and what else Accelerate knows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gluebench.benchmark.lookup import UnknownNameError

TENSORBOARD = "tensorboard"
NONE = "none"
PROJECT = "gluebench"
"""Under which a tracker files the runs, unless a variable of its own says otherwise."""


def choose_trackers(names: Sequence[str]) -> tuple[str, ...]:
    """The trackers to use: TensorBoard, if that is installed, where none is named; `none` for none.

    Raises UnknownNameError, and ModuleNotFoundError for one whose package is not installed.
    """
    if not names:
        return (TENSORBOARD,) if find_spec(TENSORBOARD) else ()
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

    chosen = tuple(name for name in dict.fromkeys(names) if name != NONE)
    for name in chosen:
        if name not in LOGGER_TYPE_TO_CLASS:
            raise UnknownNameError(name, [*LOGGER_TYPE_TO_CLASS, NONE], what="tracker")
        if name not in get_available_trackers():
            raise ModuleNotFoundError(f"{name} is not installed: pip install {name}")
    return chosen


class Trackers:
    """The trackers of one run, told of each check."""

    def __init__(self, names: Sequence[str], folder: Path, settings: Mapping[str, Any]) -> None:
        self._names = names
        self._folder = folder
        self._settings = settings
        self._started: list[Any] = []

    def log(self, row: Mapping[str, Any]) -> None:
        """Tell all of a check; the first one starts them."""
        step = row["update"]
        if self._names and not self._started:
            self._started = [self._start(name, step) for name in self._names]
        values = {}
        for name, value in row.items():
            if name not in {"check", "update"} and value is not None and not math.isnan(value):
                task, _, what = name.rpartition(" ")
                values[f"{what}/{task}" if task else what] = value
        for tracker in self._started:
            tracker.log(values, step=step)

    def _start(self, name: str, step: int) -> Any:
        from accelerate.tracking import LOGGER_TYPE_TO_CLASS

        kind = LOGGER_TYPE_TO_CLASS[name]
        if name == TENSORBOARD:
            # It hides later checks that an earlier, killed process wrote.
            tracker = kind(TENSORBOARD, self._folder, purge_step=step)
        elif kind.requires_logging_directory:
            tracker = kind(PROJECT, self._folder)
        else:
            tracker = kind(PROJECT)
        tracker.start()
        if name != TENSORBOARD:  # which would make a second run of the settings, named by the time
            tracker.store_init_configuration({"folder": str(self._folder), **self._settings})
        return tracker

    def close(self) -> None:
        """End what was started."""
        for tracker in self._started:
            tracker.finish()
        self._started = []
