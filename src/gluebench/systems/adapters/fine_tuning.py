"""Settings of fine-tuning, and recipes: TOML files with settings for all tasks and for single ones."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import UnknownNameError, closest
from gluebench.systems.adapters import ModelError
from gluebench.systems.training.settings import FINE_TUNING, Settings

_SHIPPED = resources.files("gluebench.systems.adapters") / "recipes"


class FineTuning(NamedTuple):
    """How a checkpoint is trained on a task; the defaults are those of BERT (Devlin et al. 2019)."""

    learning_rate: float = 2e-5
    epochs: int = 3
    batch_size: int = 32
    """Examples for each step of the optimizer."""
    accumulate: int = 1
    """Number of parts in which a batch goes through the model, to save memory."""
    warm_up: float = 0.1
    """Share of the steps over which the rate rises; from 1, the number of these steps."""
    weight_decay: float = 0.01
    beta2: float = 0.999
    """AdamW's decay rate of the second moment."""
    max_length: int = 128
    """Tokens kept of an example."""
    best_on_dev: bool = False
    """Whether the epoch with the best dev score is kept, by the task's own metrics, instead of the last."""
    begin_with: str = ""
    """A task whose fine-tuned model is the start, or a folder with a checkpoint."""
    lora_rank: int = 0
    """Rank of the trained adapters (LoRA); 0 trains all weights."""
    lora_alpha: int = 16
    """Scale of the adapters, times the rank."""
    lora_dropout: float = 0.0
    patience: int = 0
    """Epochs without a better dev score that end the training; 0: all epochs are trained."""

    def training(self, *, seed: int, precision: str, has_dev: bool) -> Settings:
        """The settings of a run; without dev examples, the last epoch is kept."""
        names = ("learning_rate", "batch_size", "accumulate", "warm_up", "weight_decay", "beta2")
        changes: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.patience and has_dev:
            changes |= {"stop_rule": "textbook", "stop_after": self.patience}
        best = "task" if self.best_on_dev and has_dev else "last"
        changes |= {"best": best, "max_checks": self.epochs, "precision": precision, "seed": seed}
        return replace(FINE_TUNING, **changes)


class Recipe(NamedTuple):
    """Settings by task."""

    name: str = "default"
    settings: Mapping[str, Any] = {}
    tasks: Mapping[str, Mapping[str, Any]] = {}
    """Task to the settings that it has instead."""
    overrides: Mapping[str, Any] = {}
    """Settings that every task has, whatever the recipe says."""

    def of(self, task: str) -> FineTuning:
        """The settings for a task."""
        chosen = {**self.settings, **self.tasks.get(task, {}), **self.overrides}
        if chosen.get("begin_with") == task:
            chosen["begin_with"] = ""
        return FineTuning(**chosen)


def packaged_recipe_names() -> list[str]:
    """Names of the recipes of the package."""
    return sorted(file.name.removesuffix(".toml") for file in _SHIPPED.iterdir() if ".toml" in file.name)


def recipe_called(name: str) -> Recipe:
    """The recipe of the package, or of a TOML file. Raises UnknownNameError, ModelError."""
    path = Path(name)
    if name in packaged_recipe_names():
        text = (_SHIPPED / f"{name}.toml").read_text(encoding="utf-8")
    elif path.is_file():
        text = path.read_text(encoding="utf-8")
    else:
        raise UnknownNameError(name, packaged_recipe_names(), what="recipe or file")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{name}: not TOML: {error}") from None
    tasks = values.pop("tasks", {})
    if not isinstance(tasks, dict) or not all(isinstance(own, dict) for own in tasks.values()):
        raise ModelError(f"{name}: tasks: expected one table for each task, as [tasks.RTE]")
    for own, where in ((values, name), *((own, f"{name}: [tasks.{task}]") for task, own in tasks.items())):
        for key, value in own.items():
            _check(key, value, where)
    return Recipe(path.stem, values, tasks)


def _check(key: str, value: object, where: str) -> None:
    """Raise ModelError for an unknown setting, or a value of another type or below its range."""
    defaults = FineTuning()._asdict()
    if key not in defaults:
        near = closest(key, list(defaults))
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(defaults)}"
        raise ModelError(f"{where}: unknown setting {key!r}; {hint}")
    kind = type(defaults[key])
    number = kind in (int, float) and isinstance(value, (int, kind)) and not isinstance(value, bool)
    if not (number or type(value) is kind):
        expected = {bool: "true or false", str: "text", int: "a whole number", float: "a number"}[kind]
        raise ModelError(f"{where}: {key} is {value!r}; expected {expected}")
    least = 1 if key in ("epochs", "batch_size", "accumulate", "max_length") else 0
    if isinstance(value, (int, float)) and (value < least or (key == "learning_rate" and not value)):
        raise ModelError(f"{where}: {key} is {value!r}; expected {least or 'more than 0'} or more")
