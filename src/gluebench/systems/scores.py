"""Scores that a command keeps beside its results, for tables of several systems (`gluebench results`)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark.atomic import write_json
from gluebench.data.errors import DataError, expect_schema, parsing
from gluebench.scoring import Report, Score, Spread, Summary
from gluebench.version import __version__

SCHEMA = "gluebench.scores/1"
FILE = "scores.json"
AVERAGE = "average"
"""Stands for a task where the macro-average is meant."""
Figures = Mapping[str, float]
"""`value`, and where known `low`, `high` (95 % interval) and `deviation` (of the runs), as fractions;
`loss` is true for negated losses."""


class Scores(NamedTuple):
    """The scores of one system on the splits of one role."""

    name: str
    tasks: Mapping[str, Mapping[str, Figures]]
    """Task to its metrics."""
    runs: int = 1
    seconds: float | None = None
    command: str = ""

    @classmethod
    def of(
        cls, name: str, source: Report | Summary, seconds: float | None = None, command: str = ""
    ) -> Scores:
        """The scores in the report of one run, or the means in the summary of several."""
        runs = 1 if isinstance(source, Report) else source.runs
        tasks: dict[str, Mapping[str, Figures]] = {}
        for task, metrics in _scores_by_task(source).items():
            figures: dict[str, Figures] = {}
            for metric, score in metrics.items():
                # A summary has the mean of a task's metrics among these, as "score".
                if score and metric != "score":
                    figures[metric] = _figures(score)
            if figures:
                tasks[task] = figures
        if seconds is not None:
            seconds = round(seconds, 1)
        return cls(name, tasks, runs, seconds, command)


def _scores_by_task(source: Report | Summary) -> dict[str, Mapping[str, Score | Spread | None]]:
    """The scores of each task by metric, then of diagnostic sets, and the average."""
    scores_by_task: dict[str, Mapping[str, Score | Spread | None]] = {}
    if isinstance(source, Report):
        for task, scores in source.tasks.items():
            scores_by_task[task] = scores.metrics
        for task, report in source.diagnostics.items():
            if report:
                scores_by_task[task] = {"overall": report.overall}
    else:
        for task, spreads in source.tasks.items():
            scores_by_task[task] = spreads
        for task, spread in source.diagnostics.items():
            scores_by_task[task] = {"overall": spread}
    scores_by_task[AVERAGE] = {AVERAGE: source.score}
    return scores_by_task


def _figures(score: Score | Spread) -> Figures:
    value = score.mean if isinstance(score, Spread) else score.value
    figures = {"value": value, "low": score.low, "high": score.high, "loss": score.loss}
    figures["deviation"] = score.deviation if isinstance(score, Spread) else None
    return {name: figure for name, figure in figures.items() if figure is not None}


def write_scores(path: Path, benchmark: str, split: str, systems: Sequence[Scores]) -> None:
    """Write the scores of systems on one split as one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"schema": SCHEMA, "gluebench": __version__, "benchmark": benchmark, "split": split}
    write_json(path, {**about, "systems": [system._asdict() for system in systems]})


def keep_scores(path: Path, name: str, report: Report, *, seconds: float, command: str = "") -> None:
    """Write one system's scores beside its results, for `gluebench results`."""
    write_scores(path, report.benchmark, report.split, [Scores.of(name, report, seconds, command)])


def read_scores(paths: Iterable[Path], benchmark: str, split: str) -> list[Scores]:
    """The systems of all files of scores at or below these paths, those of one benchmark and split.

    Raises DataError for a damaged file, or if there is none.
    """
    systems: list[Scores] = []
    places = list(paths)
    for path in chain.from_iterable(map(_files, places)):
        with parsing(path, "a file of scores", "run its command again"):
            values = json.loads(path.read_text(encoding="utf-8"))
            expect_schema(values, SCHEMA)
            if (values["benchmark"], values["split"]) == (benchmark, split):
                systems += (Scores(**system) for system in values["systems"])
    if not systems:
        where = ", ".join(map(str, places))
        what = f"no {FILE} of {benchmark}'s {split} split in it"
        raise DataError(f"{where}: {what}; run, probe, train, sweep and reproduce leave one")
    return systems


def _files(place: Path) -> Iterator[Path]:
    """A file itself, or those of a folder; the runs of a sweep are in the sweep's own file."""
    if not place.is_dir():
        yield place
    elif (place / FILE).is_file():
        yield place / FILE
    else:
        yield from sorted(place.glob("scores*.json"))
        for folder in sorted(path for path in place.iterdir() if path.is_dir()):
            yield from _files(folder)


def published_scores() -> Sequence[Mapping[str, Any]]:
    """Published dev scores of GLUE: `name`, `source` and `scores`, the last as they were printed."""
    text = resources.files("gluebench.systems").joinpath("published.toml").read_text("utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["systems"]
    return rows
