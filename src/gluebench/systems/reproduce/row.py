"""A row of Table 4: its settings, its numbers in Tables 4, 5 and 6, and the files it needs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.lookup import find
from gluebench.systems.devices import PRECISIONS, Precision
from gluebench.systems.probe.settings import Preset as ProbePreset
from gluebench.systems.probe.settings import ProbeSettings, preset_called
from gluebench.systems.training.settings import BiLstmSpec, Changes, Settings, parse_changes

TableName = Literal["table4", "table5", "table6"]
AVERAGE = "Avg"
"""Column of Tables 4 and 6 that averages the others."""
TABLES: Mapping[TableName, str] = {
    "table4": "Table 4: test",
    "table5": "Table 5: diagnostic set, R3",
    "table6": "Table 6: dev",
}
"""Titles of the tables."""
FULL = ("paper", "released")
"""Presets of the paper's size: as its text says, and as its released code ran, which the recipes hold."""
DEFAULT = "small"
_FILES = resources.files("gluebench.systems.reproduce")


class PrintedScores(NamedTuple):
    """The numbers of one row of a table, times 100 as printed."""

    average: float | None
    """None in Table 5."""
    columns: Mapping[str, tuple[float, ...]]
    """Task to its numbers, one per metric; in Table 5, phenomenon or "All" to its single number."""

    def numbers(self) -> dict[str, tuple[float, ...]]:
        """Column to its numbers, the average first."""
        numbers: dict[str, tuple[float, ...]] = {}
        if self.average is not None:
            numbers[AVERAGE] = (self.average,)
        numbers.update(self.columns)
        return numbers


@dataclass(frozen=True, slots=True)
class Row:
    """One row: how its systems are made and trained, and its numbers in the three tables."""

    name: str
    order: int
    title: str
    """As printed; a title in both of the first two sections belongs to two rows."""
    section: str
    """Its heading in Table 4."""
    training: Literal["single-task", "multi-task", "frozen"]
    about: str
    """A one-sentence description."""
    needs: tuple[str, ...]
    """Names of published files, as in `files.toml`."""
    seeds: tuple[int, ...]
    best: Literal["task", "run"]
    """Whether the best run is chosen for each task or once for all tasks (section 6)."""
    printed: Mapping[TableName, PrintedScores]
    majority: tuple[str, ...]
    """Tasks that Table 4, but not Tables 5 and 6, answers by their majority class."""
    notes: tuple[str, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    """Task to the row whose runs give this row's number, if this row has no runs of the task."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Options of a BiLSTM; empty for a frozen encoder."""
    settings: Settings | None = None
    """Trainer settings of a BiLSTM."""
    auxiliary: tuple[str, ...] = ()
    """Data that multi-task training has beside the tasks."""
    encoder: Mapping[str, Any] = field(default_factory=dict)
    """Options of a frozen encoder; empty for a BiLSTM."""
    probe: ProbePreset | None = None
    """Settings of a frozen encoder's classifiers."""
    preset: str = "released"
    precision: Precision = "fp32"
    """Of training, or of a frozen encoder's vectors."""
    changes: tuple[str, ...] = ()
    """Settings of a BiLSTM, as "NAME=VALUE", in which it differs from its preset."""

    @property
    def full_title(self) -> str:
        """The title, with its section if needed: "single-task +ELMo"."""
        return self.title if self.training == "frozen" else f"{self.training} {self.title}"

    @property
    def own_vectors(self) -> bool:
        """Whether word vectors are trained on the data if no file of them is given."""
        source = self.model.get("words") or self.encoder["reader"]
        return self.preset not in FULL and source in ("glove", "cbow")

    def at(
        self,
        preset: str = DEFAULT,
        *,
        seeds: Sequence[int] = (),
        precision: str | None = None,
        changes: Sequence[str] = (),
    ) -> Row:
        """Return the row with a preset's sizes, and seeds, precision or changed settings if given.

        Raises UnknownNameError, and ValueError for a change that the row cannot have.
        """
        if preset not in presets():
            raise UnknownNameError(preset, list(presets()), what="preset of the rows")
        chosen = precision or self.precision
        if chosen not in PRECISIONS:
            raise UnknownNameError(chosen, PRECISIONS, what="precision")
        values = presets()[preset]
        own = self._parse_changes(changes)
        row = replace(
            self,
            preset=preset,
            seeds=tuple(seeds or values.get("seeds", self.seeds)),
            precision=chosen,  # type: ignore[arg-type]
            auxiliary=tuple(values.get("auxiliary", self.auxiliary)),
            changes=tuple(changes),
        )
        if self.model:
            row = replace(row, model={**self.model, **values.get("model", {}), **own.body})
        if self.settings:
            settings = {**_settings(values), "precision": chosen, **own.settings}
            row = replace(row, settings=replace(self.settings, **settings))
        if self.encoder:
            row = replace(row, encoder={**self.encoder, **values.get("encoder", {})})
        if self.probe:
            row = replace(row, probe=_probe(self.probe, values.get("probe", {})))
        return row

    def _parse_changes(self, changes: Sequence[str]) -> Changes:
        """Parse changed settings as `gluebench train` does. Raises ValueError."""
        if changes and self.settings is None:
            raise ValueError(f"{self.name} is a frozen encoder and has no settings of training to change")
        own = parse_changes(changes, BiLstmSpec)
        for name in own.body:
            if name not in self.model:
                raise ValueError(
                    f"{name} is no setting of {self.name}; of its model: {', '.join(self.model)}"
                )
        BiLstmSpec(**own.body)  # raises ValueError for an impossible value
        return own

    def identity(self) -> dict[str, Any]:
        """Return the settings that identify a saved run of this row, ready for JSON, without seeds."""
        return {
            "row": self.name,
            "preset": self.preset,
            "model": dict(self.model),
            "settings": asdict(self.settings) if self.settings else {},
            "auxiliary": list(self.auxiliary),
            "encoder": dict(self.encoder),
            "probe": asdict(self.probe) if self.probe else {},
            "precision": self.precision,
        }


@cache
def rows() -> tuple[Row, ...]:
    """All rows in the order of Table 4."""
    files = [file for file in (_FILES / "recipes").iterdir() if file.name.endswith(".toml")]
    parsed = [_parse_row(tomllib.loads(file.read_text("utf-8"))) for file in files]
    return tuple(sorted(parsed, key=lambda row: row.order))


def row_called(name: str) -> Row:
    """The row of that name. Raises UnknownNameError."""
    return find(name, rows(), what="row")


@cache
def presets() -> Mapping[str, Mapping[str, Any]]:
    """Map each preset to the values it changes, smallest preset first."""
    return tomllib.loads((_FILES / "presets.toml").read_text("utf-8"))


def _parse_row(values: dict[str, Any]) -> Row:
    parts: Mapping[TableName, str] = {"table4": "test", "table5": "diagnostic", "table6": "dev"}
    printed = {table: values.pop(part) for table, part in parts.items()}
    majority = printed["table4"].pop("majority")
    runs = values.pop("runs")
    shares = values.pop("shares", {"row": "", "tasks": ()})
    for name in ("needs", "notes"):
        values[name] = tuple(values.get(name, ()))
    if "settings" in values:
        values["settings"] = Settings(**_settings(values))
    if "probe" in values:
        values["probe"] = preset_called(values["probe"]["preset"])
    if "auxiliary" in values:
        values["auxiliary"] = tuple(values["auxiliary"]["tasks"])
    return Row(
        **values,
        seeds=tuple(runs["seeds"]),
        best=runs["best"],
        printed={table: _parse_printed(numbers) for table, numbers in printed.items()},
        majority=tuple(majority),
        owners=dict.fromkeys(shares["tasks"], shares["row"]),
    )


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Read trainer settings; in a file, `check_every = 0` means one check per pass over the data."""
    own = dict(values.get("settings", {}))
    if own.get("check_every") == 0:
        own["check_every"] = None
    return own


def _parse_printed(numbers: dict[str, Any]) -> PrintedScores:
    average = numbers.pop(AVERAGE, None)
    columns = {}
    for name, value in numbers.items():
        values = value if isinstance(value, list) else [value]
        columns[name] = tuple(map(float, values))
    return PrintedScores(average, columns)


def _probe(preset: ProbePreset, changes: Mapping[str, Any]) -> ProbePreset:
    """The preset with other limits, for every task."""
    own: dict[str, Any] = {}
    of_relatedness: dict[str, Any] = {}
    for name, value in changes.items():
        if name.startswith("relatedness_"):
            of_relatedness[name.removeprefix("relatedness_")] = value
        else:
            own[name] = value
    if "penalties" in own:
        own["penalties"] = tuple(own["penalties"])

    def change(settings: ProbeSettings) -> ProbeSettings:
        relatedness = replace(settings.relatedness, **of_relatedness)
        return replace(settings, **own, relatedness=relatedness)

    tasks = {name: change(settings) for name, settings in preset.tasks.items()}
    return replace(preset, settings=change(preset.settings), tasks=tasks)


class Record(NamedTuple):
    """One printed number."""

    table: TableName
    row: str
    column: str
    place: int
    """Which of the column's numbers: 0, or 1 for a task's second metric."""
    value: float


def records(table: TableName) -> Iterator[Record]:
    """Every number of a table, row by row, the average first."""
    for row in rows():
        for column, numbers in row.printed[table].numbers().items():
            for place, value in enumerate(numbers):
                yield Record(table, row.name, column, place, value)


class MissingFilesError(ValueError):
    """A row cannot be run here, for the `reasons` given."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = tuple(reasons)


class NeededFiles(NamedTuple):
    """Published files that go together."""

    title: str
    files: tuple[str, ...]
    address: str
    license: str
    option: str
    """Command-line option that gives their location."""


class Files(NamedTuple):
    """Paths of the user's copies of the published files."""

    vectors: Path | None = None
    """A file of word vectors, GloVe's or one in its format."""
    weights: Path | None = None
    """A folder with files under their published names."""

    def weight(self, name: str) -> Path:
        """The path of a file of weights. Raises MissingFilesError."""
        if self.weights is None:
            raise MissingFilesError([f"{name} is needed; give --weights DIR"])
        return self.weights / name

    def sizes(self, needs: Sequence[str]) -> dict[str, int]:
        """Return name to size of the files that a row reads; this identifies them in any folder."""
        paths = []
        for need in needs:
            if need != "glove":
                paths += [self.weight(name) for name in needed_files()[need].files]
        if "glove" in needs and self.vectors is not None:
            paths.append(self.vectors)
        return {path.name: path.stat().st_size for path in paths}


@cache
def needed_files() -> Mapping[str, NeededFiles]:
    """Map the names in a row's `needs` to their files."""
    named = tomllib.loads((_FILES / "files.toml").read_text("utf-8"))
    return {name: NeededFiles(**own | {"files": tuple(own["files"])}) for name, own in named.items()}


def check_files(row: Row, files: Files) -> None:
    """Check that the files a row needs exist. Raises MissingFilesError with a line for each missing group."""
    reasons = []
    for name in row.needs:
        needed = needed_files()[name]
        absent = list(needed.files)
        if name == "glove" and (files.vectors or row.own_vectors):
            absent = []
        elif name != "glove" and files.weights is not None:
            absent = [file for file in needed.files if not (files.weights / file).is_file()]
        if absent:
            reasons.append(
                f"needs {', '.join(absent)} ({needed.title}) from {needed.address} "
                f"under {needed.license}; give {needed.option}"
            )
    if reasons:
        raise MissingFilesError(reasons)
