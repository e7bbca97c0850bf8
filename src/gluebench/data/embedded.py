"""The embedded benchmark as prepared data: built into a folder of its own, then prepared like any other."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from gluebench.benchmark import Task, load_benchmark
from gluebench.data.dataset import Origin
from gluebench.data.errors import DataError
from gluebench.data.get import Getter, Got
from gluebench.data.sample import GOLD, SEED, build
from gluebench.data.sources.release import load_release

NAME = "sample"


def get_sample(tasks: Sequence[Task], to: Path) -> list[Got]:
    """Prepare tasks of the sample benchmark in `<to>/sample`, beside them the gold folders of all of it."""
    benchmark = load_benchmark(NAME)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, NAME)
        build(made)
        getter = Getter(benchmark, load_release(benchmark), to)
        found = getter.from_folder(tasks, made, Origin("sample", f"gluebench.data.sample, seed {SEED}"))
        for gold in GOLD.values():
            _replace(made / gold, to / NAME / gold)
    return found


def _replace(made: Path, place: Path) -> None:
    """Put a folder in another's place. Raises DataError where that holds anything else."""
    names = {file.name for file in made.iterdir()}
    strange = sorted({file.name for file in place.iterdir()} - names) if place.exists() else []
    if strange:
        raise DataError(
            [f"{place}: holds {strange[0]}, which is not the sample's; expected a folder of its own"]
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as scratch:
        new = Path(scratch, "new")
        new.mkdir()
        for name in names:
            (new / name).write_bytes((made / name).read_bytes())
        if place.exists():
            place.rename(Path(scratch, "old"))
        new.rename(place)
