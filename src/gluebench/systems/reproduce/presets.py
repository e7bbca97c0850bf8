"""A row at a size: its own file for `paper`, and what `presets.toml` makes smaller for `small` and `tiny`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Literal

from gluebench.benchmark import UnknownNameError
from gluebench.systems.probe.settings import Preset as ProbePreset
from gluebench.systems.probe.settings import preset_called
from gluebench.systems.reproduce.row import Row
from gluebench.systems.training.settings import Settings, settings_from

PAPER = "paper"
DEFAULT = "small"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what a row's runs come to, but for the data and the files it reads."""

    row: Row
    preset: str
    seeds: tuple[int, ...]
    best: Literal["task", "run"]
    """Whether each task has its own best run, or one run is the best of all (section 6)."""
    model: Mapping[str, Any]
    """Of a BiLSTM; empty for a frozen encoder."""
    settings: Settings | None
    auxiliary: tuple[str, ...]
    encoder: Mapping[str, Any]
    """Of a frozen encoder; empty for a BiLSTM."""
    probe: ProbePreset | None

    @property
    def own_vectors(self) -> bool:
        """Whether, without a file of word vectors, some are trained on the data at hand."""
        source = self.model.get("words") or self.encoder["reader"]
        return self.preset != PAPER and source in ("glove", "cbow")

    def as_dict(self) -> dict[str, Any]:
        """What must be the same for a saved run to be this recipe's, JSON-ready; seeds are not of it."""
        return {
            "row": self.row.name,
            "preset": self.preset,
            "model": dict(self.model),
            "settings": self.settings.as_dict() if self.settings else {},
            "auxiliary": list(self.auxiliary),
            "encoder": dict(self.encoder),
            "probe": asdict(self.probe) if self.probe else {},
        }


@cache
def presets() -> Mapping[str, Mapping[str, Any]]:
    """Name to what it changes, smallest first."""
    file = resources.files("gluebench.systems.reproduce") / "presets.toml"
    return tomllib.loads(file.read_text("utf-8"))


def recipe(row: Row, preset: str = DEFAULT, *, seeds: Sequence[int] = ()) -> Recipe:
    """A row at a size, with other seeds where some are given. Raises UnknownNameError for a preset."""
    if preset not in presets():
        raise UnknownNameError(preset, [*presets()], what="preset of the rows")
    changes = presets()[preset]
    return Recipe(
        row=row,
        preset=preset,
        seeds=tuple(seeds or changes.get("seeds", row.runs["seeds"])),
        best=row.runs["best"],
        model={**row.model, **changes.get("model", {})} if row.model else {},
        settings=_settings(row, changes),
        auxiliary=tuple(changes.get("auxiliary", row.auxiliary)),
        encoder={**row.encoder, **changes.get("encoder", {})} if row.encoder else {},
        probe=_probe(preset_called(row.probe), changes.get("probe", {})) if row.probe else None,
    )


def _settings(row: Row, changes: Mapping[str, Any]) -> Settings | None:
    """0 updates between checks stand in the files for one pass over the data."""
    if row.settings is None:
        return None
    values = {**row.settings, **changes.get("settings", {})}
    return settings_from(values | {"check_every": values["check_every"] or None})


def _probe(preset: ProbePreset, changes: Mapping[str, Any]) -> ProbePreset:
    """The preset with other limits, for every task."""
    own = {name: value for name, value in changes.items() if not name.startswith("relatedness_")}
    if "penalties" in own:
        own["penalties"] = tuple(own["penalties"])
    related = {name.removeprefix("relatedness_"): value for name, value in changes.items() if name not in own}
    every = {
        name: replace(settings, **own, relatedness=replace(settings.relatedness, **related))
        for name, settings in {"": preset.settings, **preset.tasks}.items()
    }
    return replace(preset, settings=every.pop(""), tasks=every)
