"""Build a benchmark from an organizer's uploads: what the grader's process does. Independent of Django.

The uploads may hold labels, so the web process stores them unread in the folder "in", and this writes to
"out" what it then stores: "labels" for the grader, and the numbered files that anybody may download.
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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

IN = "in"
OUT = "out"
LABELS = "labels"
TABLES = "tables"
MANIFEST = "_manifest.toml"


class BenchmarkParts(NamedTuple):
    """What a benchmark is made of."""

    manifest: Path
    gold: Path | None
    """None where nothing was uploaded: the labels of the existing benchmark stay."""
    data: Path | None
    tasks: dict[str, list[tuple[str, str, str]]]
    """For each task that was made of tables, what was detected in them."""


def build(job: Facts) -> Values:
    """Build in the job's "folder"; what was detected and linted, or "problems", each a line.

    The job's "manifest" and "gold" are the paths of an existing benchmark's, for what was not uploaded.
    """
    folder = Path(job["folder"])
    make_private(folder / OUT)
    try:
        return _build_in(folder, job)
    except (DataError, SiteError, ManifestError, GoldError) as error:
        text = str(error)
        for place in (folder / IN, folder / OUT, folder):  # paths of the site say nothing to the organizer
            text = text.replace(f"{place}/", "")
        return {"problems": text.splitlines()}


def _build_in(folder: Path, job: Facts) -> Values:
    given = folder / IN
    made = folder / OUT
    if (given / TABLES).is_dir():
        parts = _build_from_tables(given, made, job)
    else:
        manifest = given / MANIFEST
        if not manifest.exists():
            manifest = Path(job["manifest"])
        _require_local(manifest, given)
        gold = _unpack_upload(given, made, "gold")
        parts = BenchmarkParts(manifest, gold, _unpack_upload(given, made, "data"), {})

    if parts.gold is None:  # a new benchmark has its own
        labels = Path(job["gold"])
    else:
        labels = parts.gold.rename(made / LABELS)
    ready = prepare(str(parts.manifest), labels, parts.data)
    files = []
    for number, file in enumerate(ready.files):
        (made / str(number)).write_bytes(file.data)
        files.append({**file._asdict(), "data": None, "size": len(file.data)})
    return {
        "name": ready.name,
        "title": ready.title,
        "manifest": ready.manifest.text,
        "parents": ready.manifest.parents,
        "files": files,
        "has_examples": ready.has_examples,
        "tasks": parts.tasks,
        "lint": _lint(parts.manifest, parts.data, labels),
    }


def _build_from_tables(given: Path, made: Path, job: Facts) -> BenchmarkParts:
    """Write the manifest, the labels and the data of uploaded tables. Raises DataError, SiteError."""
    plan = make_plan(list(_sources(given, made)), job["name"], _choices(job))
    bare = [task.name for task in plan.tasks if not task.labeled]
    if bare:
        raise SiteError(f"The test rows of {', '.join(bare)} have no labels; a board needs them to grade.")
    write_plan(plan, made)
    tasks = {task.name: list(summary(task)) for task in plan.tasks}
    return BenchmarkParts(made / f"{plan.name}.toml", made / "gold", made / "data", tasks)


def _choices(job: Facts) -> Choices:
    """The job's choices, whose JSON has lists for tuples."""
    values: dict[str, Any] = {}
    for name, value in job["choices"].items():
        values[name] = tuple(value) if isinstance(value, list) else value
    values["title"] = job["title"]
    return Choices(**values)


def _sources(given: Path, made: Path) -> Iterator[Path]:
    """The folders of tables: what was uploaded as files, and each zip unpacked; JSON becomes CSV."""
    for number, archive in enumerate(sorted((given / TABLES).glob("*.zip"))):
        yield _convert_json_to_csv(unpack(archive, made / f"unpacked-{number}"))
        archive.unlink()
    if any((given / TABLES).iterdir()):
        yield _convert_json_to_csv(given / TABLES)


def _convert_json_to_csv(folder: Path) -> Path:
    paths = list(folder.rglob("*.json")) + list(folder.rglob("*.jsonl"))
    for path in sorted(paths):
        rows = _objects(path)
        names: dict[str, None] = {}  # each once, in order
        for row in rows:
            names |= dict.fromkeys(row)
        table = []
        for row in rows:
            table.append([_csv_cell(row.get(name)) for name in names])
        with path.with_suffix(".csv").open("x", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(list(names), table))
        path.unlink()
    return folder


def _objects(path: Path) -> list[Values]:
    """The rows of a JSON list or of JSON lines. Raises DataError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json":
            rows = list(json.loads(text))
        else:
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: not JSON that can be read ({error})") from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise DataError(f'{path}: expected objects, as in [{{"text": "…", "label": "yes"}}] or one a line')
    if path.with_suffix(".csv").exists():
        raise DataError(f"{path}: there is {path.stem}.csv as well; expected one file for a split")
    return rows


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value)


def _unpack_upload(given: Path, made: Path, name: str) -> Path | None:
    """The folder that was uploaded as a zip of that name; None if it was not."""
    archive = given / f"{name}.zip"
    if not archive.exists():
        return None
    return unpack(archive, made / name)


def _require_local(manifest: Path, given: Path) -> None:
    """Raise SiteError for an uploaded manifest that extends a file other than those uploaded with it."""
    path = manifest
    seen: set[Path] = set()
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
    findings = {}
    for name, splits in read_splits(data, benchmark, gold).items():
        lint = lint_task(benchmark.task(name), splits)
        findings[lint.task] = [finding._asdict() for finding in lint.findings]
    return findings
