"""Build a benchmark from an organizer's uploads: what the grader's process does. Independent of Django.

The uploads may hold labels, so the web process stores them unread in the folder "in", and this writes to
"out" what it then stores: "labels" for the grader, and the numbered files that anybody may download.
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gluebench.analysis.lint import lint_task, read_splits
from gluebench.benchmark import ManifestError, load_benchmark
from gluebench.benchmark.tables import csv_lines
from gluebench.data import DataError
from gluebench.data.organize import Choices, make_plan, write_plan
from gluebench.data.organize.plan import summary
from gluebench.data.sources.unpack import unpack
from gluebench.leaderboard.apps.benchmarks.contents import prepare
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.keeping.folder import SiteError, make_private
from gluebench.scoring import GoldError

IN, OUT, LABELS, TABLES, MANIFEST = "in", "out", "labels", "tables", "_manifest.toml"


def build(job: Facts) -> Values:
    """Build in the job's "folder"; what was detected and linted, or "problems", each a line.

    The job's "manifest" and "gold" are the paths of an existing benchmark's, for what was not uploaded.
    """
    folder = Path(job["folder"])
    make_private(folder / OUT)
    try:
        return _built(folder, job)
    except (DataError, SiteError, ManifestError, GoldError) as error:
        places = (f"{folder / IN}/", f"{folder / OUT}/", f"{folder}/")
        lines = str(error).splitlines()
        for place in places:
            lines = [line.replace(place, "") for line in lines]
        return {"problems": lines}


def _built(folder: Path, job: Facts) -> Values:
    given, made = folder / IN, folder / OUT
    tasks: dict[str, list[tuple[str, str, str]]] = {}
    gold: Path | None
    data: Path | None
    if (given / TABLES).is_dir():
        plan = make_plan(
            [*_sources(given, made)], job["name"], _choices({**job["choices"], "title": job["title"]})
        )
        if bare := [task.name for task in plan.tasks if not task.labeled]:
            raise SiteError(
                f"The test rows of {', '.join(bare)} have no labels; a board needs them to grade."
            )
        write_plan(plan, made)
        tasks = {task.name: [*summary(task)] for task in plan.tasks}
        manifest, gold, data = made / f"{plan.name}.toml", made / "gold", made / "data"
    else:
        manifest = given / MANIFEST if (given / MANIFEST).exists() else Path(job["manifest"])
        _require_local(manifest, given)
        gold, data = _unpacked(given, made, "gold"), _unpacked(given, made, "data")
    gold = Path(job["gold"]) if gold is None else gold.rename(made / LABELS)
    ready = prepare(str(manifest), gold, data)
    for number, file in enumerate(ready.files):
        (made / str(number)).write_bytes(file.data)
    return {
        "name": ready.name,
        "title": ready.title,
        "manifest": ready.manifest.text,
        "parents": ready.manifest.parents,
        "files": [{**file._asdict(), "data": None, "size": len(file.data)} for file in ready.files],
        "has_examples": ready.has_examples,
        "tasks": tasks,
        "lint": _lint(manifest, data, gold),
    }


def _choices(values: Facts) -> Choices:
    return Choices(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})  # type: ignore[arg-type]


def _sources(given: Path, made: Path) -> Iterator[Path]:
    """The folders of tables: what was uploaded as files, and each zip unpacked; JSON becomes CSV."""
    for number, archive in enumerate(sorted((given / TABLES).glob("*.zip"))):
        yield _tabulated(unpack(archive, made / f"unpacked-{number}"))
        archive.unlink()
    if any((given / TABLES).iterdir()):
        yield _tabulated(given / TABLES)


def _tabulated(folder: Path) -> Path:
    for path in sorted((*folder.rglob("*.json"), *folder.rglob("*.jsonl"))):
        rows = _objects(path)
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.with_suffix(".csv").open("x", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(names, [[_cell(row.get(name)) for name in names] for row in rows]))
        path.unlink()
    return folder


def _objects(path: Path) -> list[Values]:
    """The rows of a JSON list or of JSON lines. Raises DataError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = (
            json.loads(text)
            if path.suffix == ".json"
            else map(json.loads, filter(str.strip, text.split("\n")))
        )
        rows = list(rows)
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: not JSON that can be read ({error})") from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise DataError(f'{path}: expected objects, as in [{{"text": "…", "label": "yes"}}] or one a line')
    if path.with_suffix(".csv").exists():
        raise DataError(f"{path}: there is {path.stem}.csv as well; expected one file for a split")
    return rows


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _unpacked(given: Path, made: Path, name: str) -> Path | None:
    """The folder that was uploaded as a zip of that name; None if it was not."""
    archive = given / f"{name}.zip"
    return unpack(archive, made / name) if archive.exists() else None


def _require_local(manifest: Path, given: Path) -> None:
    """Raise SiteError for an uploaded manifest that extends a file other than those uploaded with it."""
    path, seen = manifest, set[Path]()
    while path.parent == given and path not in seen:
        seen.add(path)
        try:
            parent = tomllib.loads(path.read_text(encoding="utf-8-sig"))["benchmark"]["extends"]
        except (ValueError, KeyError, TypeError):
            return  # reading the benchmark reports what is wrong, with its line
        if not isinstance(parent, str) or not ("/" in parent or parent.endswith(".toml")):
            return
        path = given / parent.removeprefix("./")
        if path.parent != given or not path.is_file():
            raise SiteError(f'extends = "{parent}": upload that file too, and write "./" and its name.')


def _lint(manifest: Path, data: Path | None, gold: Path) -> dict[str, list[Values]]:
    """For each task, its findings, errors first; nothing without data."""
    if data is None:
        return {}
    benchmark = load_benchmark(manifest)
    lints = [
        lint_task(benchmark.task(name), splits) for name, splits in read_splits(data, benchmark, gold).items()
    ]
    return {lint.task: [finding._asdict() for finding in lint.findings] for lint in lints}
