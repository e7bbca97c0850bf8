"""Read results of other harnesses, join them by item, and give a scored table."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from gluebench.data.errors import DataError
from gluebench.data.results import harnesses, tables
from gluebench.data.results.parts import NAMED, Answer, Part, Row, Settings, first_few
from gluebench.data.tsv import decoded
from gluebench.scoring.table import ScoredTable, Unit

Source = str | os.PathLike[str]
IN_FOLDER = (
    "samples_*.jsonl", "*.eval", "per_instance_stats.json", "*_samples.jsonl", "results.json",
    "per_instance_details.json", "report.json", "*.json", "*.csv",
)  # fmt: skip
"""Patterns of the files of a folder; those of the first that fits any are read."""
NOT_RESULTS = ("model_meta.json", "run_meta.json")
EXPERIMENTS = "experiments"
"""Folder, beside the results of a model of MTEB, of its results with other settings."""
KNOWN = (
    "samples_*.jsonl of lm-evaluation-harness, .json or .eval of inspect_ai, per_instance_stats.json of "
    "HELM, results.json or report.json of SWE-bench, a task's .json of MTEB, Every Eval Ever, predictions in "
    "JSON lines or CSV with gold labels, or a CSV, TSV or Parquet table of items x systems"
)


def read_results(
    files: Source | Sequence[Source] | Mapping[str, Source],
    *,
    metric: str | None = None,
    only: Mapping[str, str] | None = None,
    gold: Source | None = None,
    ids: Source | None = None,
    synonyms: Mapping[str, str] | None = None,
    over: Unit = "items",
    scale: float = 1.0,
    name: str = "",
) -> ScoredTable:
    """Read results of other harnesses, and join them by item into one scored table.

    `files` are paths of files or folders, or a mapping of system name to path. The format of each is
    recognized by its content. Items match by id and text, by text alone where ids differ, never by
    position; `notes` of the table count and name what does not match.

    `metric` chooses one of several metrics, and `only` maps category columns to the category to keep.
    `gold` is a file of gold labels, for files of predictions; `synonyms` maps a predicted label to the one
    that it counts as. `ids` lists all items, for results that name only the solved ones. With
    `over="tasks"` the rows are tasks, with mean scores. Scores are divided by `scale`.

    Raises DataError for a file that cannot be read or no item in common, UnknownNameError for an unknown
    metric, and OSError.
    """
    listed = [files] if isinstance(files, str | os.PathLike) else files
    sources = listed if isinstance(listed, Mapping) else {str(at): path for at, path in enumerate(listed)}
    settings = Settings(metric, None if gold is None else _gold(Path(gold)), dict(synonyms or {}))
    everything = None if ids is None else _ids(Path(ids))
    parts: list[Part] = []
    for system, source in sources.items():
        of_source = [part for path in _paths(Path(source)) for part in read_file(path, settings)]
        parts += _renamed(of_source, system, source) if isinstance(files, Mapping) else of_source
    parts = [_completed(part, everything) for part in _merged(parts)]
    parts = [_scaled(_kept(part, only or {}), scale) for part in parts]
    joined = join(parts, name=name or _name(sources.values()), notes=settings.notes())
    if over == "items" or joined.unit == "tasks":
        return joined
    if len({*(joined.tasks or [])}) < 2:
        raise DataError("the files are of one task; a table over tasks needs several")
    return joined.over_tasks()


def _name(sources: Iterable[Source]) -> str:
    paths = [Path(source) for source in sources]
    return tables.stem(paths[0]) or paths[0].name if len(paths) == 1 else f"{len(paths)} files"


def _renamed(parts: Sequence[Part], system: str, source: Source) -> list[Part]:
    if len({part.system for part in parts}) > 1:
        raise DataError(f"{source} has several systems, so it cannot be named {system}; expected one system")
    return [part._replace(system=system) for part in parts]


def _paths(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    for pattern in IN_FOLDER:
        paths = sorted(
            path
            for path in source.rglob(pattern)
            if path.name not in NOT_RESULTS and EXPERIMENTS not in path.relative_to(source).parts
        )
        if paths:
            return paths
    raise DataError(f"{source}: no file of results in this folder; expected {KNOWN}")


# ---------------------------------------------------------------- one file


def read_file(path: Path, settings: Settings) -> list[Part]:
    """The scores of one file, whatever its format. Raises DataError, OSError."""
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix not in (".eval", ".json", ".jsonl"):
        return list(tables.scored_sheet(tables.read_sheet(path, _data(path)), settings))
    if suffix == ".eval":
        content: Any = harnesses.inspect_archive(path)
    else:
        content = json_lines(path) if suffix == ".jsonl" else _json(path, _data(path))
    reader, expected = _recognized(path, content)
    try:
        return list(reader(path, content, settings))
    except (TypeError, AttributeError, KeyError, IndexError) as error:
        raise DataError(
            f"{path}: a value is of another kind than in its format; expected {expected}"
        ) from error


def _recognized(path: Path, content: Any) -> harnesses.Format:
    """The format by the keys of an object, or of the first of a list. Raises DataError."""
    of_list = isinstance(content, list)
    first = content[0] if of_list and content else content
    keys = first.keys() if isinstance(first, Mapping) else set[str]()
    known = harnesses.OF_LISTS if of_list else harnesses.OF_OBJECTS
    if key := next((key for key in known if key in keys), None):
        return known[key]
    if not of_list and keys and all(isinstance(each, dict) and "resolved" in each for each in first.values()):
        return harnesses.ISSUES
    if keys & {"lm_eval_version", "n-samples"}:
        raise DataError(
            f"{path}: averages of lm-evaluation-harness, without items; expected the samples_*.jsonl "
            "beside it (lm_eval --log_samples)"
        )
    if of_list and keys & {*tables.ITEM_NAMES, "passage", "qas"}:
        return harnesses.Format(tables.predicted_lines, "the keys idx and label, or SuperGLUE's nested ones")
    raise DataError(f"{path}: its format is not known; expected {KNOWN}")


def _data(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: damaged; expected a gzip file ({error})") from None


def _json(path: Path, text: bytes, *, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        at = f"{path}:{line}" if line else f"{path}"
        raise DataError(f"{at}: not JSON ({error})") from None


def json_lines(path: Path) -> list[Mapping[str, Any]]:
    """The objects of a file, one on each line. Raises DataError for anything else, or an empty file."""
    lines = [
        _json(path, line, line=number)
        for number, line in enumerate(_data(path).splitlines(), 1)
        if line.strip()
    ]
    if not lines or not all(isinstance(line, Mapping) for line in lines):
        raise DataError(f"{path}: expected a JSON object on each line, and at least one")
    return lines


def _ids(path: Path) -> frozenset[str]:
    """All items: a JSON list or keys, objects with an instance_id on each line, or a name on each line."""
    if path.suffix == ".json":
        listed = _json(path, _data(path))
        listed = list(listed) if isinstance(listed, dict) else listed
    elif path.suffix == ".jsonl":
        listed = [line.get("instance_id", line.get("id")) for line in json_lines(path)]
    else:
        listed = [line.strip() for line in decoded(path, _data(path)).splitlines()]
    ids = frozenset(str(name) for name in listed if name) if isinstance(listed, list) else frozenset()
    if not ids:
        raise DataError(f"{path}: expected the ids of all items, one on each line or as a JSON list")
    return ids


def _gold(path: Path) -> Mapping[str, Mapping[str, Answer]]:
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return {"": tables.gold_of_lines(path, json_lines(path))}
    return tables.gold_of_sheet(tables.read_sheet(path, _data(path)))


# ---------------------------------------------------------------- several files


def _merged(parts: Sequence[Part]) -> list[Part]:
    """One part for each system and task; of rows that several records have, the newest record's are taken."""
    merged: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        merged.setdefault((part.system, part.task), []).append(part)
    return [of_one[0] if len(of_one) == 1 else _joined(of_one) for of_one in merged.values()]


def _joined(parts: Sequence[Part]) -> Part:
    """The rows of all parts of one system on one task. Raises DataError if they cannot be parts of one."""
    system, task = parts[0].system, parts[0].task
    joined: dict[str, Row] = {}
    repeated: set[str] = set()
    for part in sorted(parts, key=lambda part: part.time or ""):
        shared = joined.keys() & part.rows.keys()
        if part.time is None or (shared and not part.time):
            which = f" ({first_few(sorted(shared))})" * bool(shared)
            raise DataError(
                f"{system}{f' on {task}' if task else ''} is in two files{which}; name the systems "
                "(NAME=FILE), or give one file, or the folder of one revision, of each"
            )
        repeated |= {item for item in shared if joined[item] != part.rows[item]}
        joined |= part.rows
    notes = [note for part in parts for note in part.notes]
    if repeated:
        notes.append(
            f"{system}: records differ on {len(repeated):,} tasks, of which the newest record is read: "
            f"{first_few(sorted(repeated))}"
        )
    return parts[0]._replace(rows=joined, notes=notes, solved_only=any(part.solved_only for part in parts))


def _completed(part: Part, everything: frozenset[str] | None) -> Part:
    """With the unsolved items that its files may lack. Raises DataError if no unsolved item is known."""
    if not part.solved_only:
        return part
    if everything is None:
        if all(row.score for row in part.rows.values()):
            raise DataError(
                f"{part.system}: names only the resolved issues; expected the list of all ids too "
                "(--ids FILE, one on each line, or a per_instance_details.json; ids=...)"
            )
        note = f"{part.system}: issues without a report are left out; to count them as unresolved, give --ids"
        return part._replace(notes=[*part.notes, note])
    if strange := sorted(part.rows.keys() - everything):
        raise DataError(
            f"{part.system}: {len(strange)} resolved ids are not in the list of all: {first_few(strange)}"
        )
    rows = {name: part.rows.get(name) or harnesses.issue(name, False) for name in sorted(everything)}
    return part._replace(rows=rows)


def _kept(part: Part, only: Mapping[str, str]) -> Part:
    rows = part.rows
    for column, category in only.items():
        known = dict.fromkeys(row.categories.get(column, "") for row in rows.values())
        rows = {item: row for item, row in rows.items() if row.categories.get(column) == category}
        if not any(known):
            columns = dict.fromkeys(name for row in part.rows.values() for name in row.categories)
            expected = f"expected one of {first_few(columns)}" if columns else f"leave out --only {column}"
            raise DataError(f"{part.system}: the log has no column {column}; {expected}")
        if not rows:
            raise DataError(
                f"{part.system}: no item has {column}={category}; expected one of "
                f"{first_few(filter(None, known))}"
            )
    return part._replace(rows=rows)


def _scaled(part: Part, scale: float) -> Part:
    if scale == 1.0:
        return part
    return part._replace(
        rows={item: row._replace(score=row.score / scale) for item, row in part.rows.items()}
    )


def join(parts: Sequence[Part], *, name: str, notes: Iterable[str] = ()) -> ScoredTable:
    """The table of the items that all systems have, task by task, with the notes on what was left out.

    Raises DataError if there are no such items.
    """
    systems = list(dict.fromkeys(part.system for part in parts))
    notes = [*notes, *(note for part in parts for note in part.notes)]
    if len({part.unit for part in parts}) > 1:
        raise DataError("some files have items and others only scores of tasks; expected one kind")
    named, by_task = {part.task for part in parts if part.task}, dict[str, dict[str, Part]]()
    for part in parts:  # a file that does not name its task is of the only one that others name
        task = part.task or (next(iter(named)) if len(named) == 1 else "")
        by_task.setdefault(task, {})[part.system] = part
    columns: list[tuple[str, str, list[Row]]] = []
    for task, of_task in by_task.items():
        if lacking := [system for system in systems if system not in of_task]:
            notes.append(f"{task or 'the task without a name'} is left out: {first_few(lacking)} lacks it")
            continue
        matched, left_out = _matched([of_task[system] for system in systems])
        notes += left_out
        columns += [(task, item, rows) for item, rows in matched.items()]
    if not columns:
        raise DataError(["no item is in the files of all systems", *notes])
    table = _table(columns, systems, name)
    reach, item = max(
        pair for scores in table.scores.values() for pair in zip(scores, table.items, strict=True)
    )
    if reach > 1.0:
        notes.append(
            f"scores reach {reach:g} ({item}) and are shown x 100; if they are percentages, divide them: "
            "--scale 100"
        )
    return replace(table, unit=parts[0].unit, notes=tuple(_grouped(notes)))


def _grouped(notes: Iterable[str]) -> Iterator[str]:
    """The notes, of which a text that is about more than a few files or systems comes once."""
    subjects: dict[str, list[str]] = {}
    for note in notes:
        subject, colon, text = note.partition(": ")
        subjects.setdefault(colon + text, []).append(subject)
    for text, of_text in subjects.items():
        if len(of_text) > NAMED:
            yield f"{first_few(of_text)} ({len(of_text):,} alike){text}"
        else:
            yield from (subject + text for subject in of_text)


def _matched(parts: Sequence[Part]) -> tuple[dict[str, list[Row]], list[str]]:
    """Item to its row in every part, named as in the first, and notes on the items that some part lacks."""
    with_text = all(row.text for part in parts for row in part.rows.values())
    repeated = {
        text
        for part in parts
        for text, count in Counter(row.text for row in part.rows.values()).items()
        if count > 1
    }

    def key(item: str, row: Row) -> tuple[str, str]:
        """The text where it names one item in every part; else id and text, or the id alone."""
        if not with_text:
            return (item, "")
        return (item if row.text in repeated else "", row.text)

    keyed = [{key(item, row): (item, row) for item, row in part.rows.items()} for part in parts]
    common = [at for at in keyed[0] if all(at in other for other in keyed)]
    notes, kept = [], set(common)
    same = "the same text" if parts[0].unit == "items" else "the same revision and subsets"
    everything = {at: item for items in keyed for at, (item, _) in items.items()}
    for part, items in zip(parts, keyed, strict=True):
        where = f"{part.system}, {part.task}" if part.task else part.system
        rest = [item for at, (item, _) in items.items() if at not in kept]
        lacking = [item for at, item in everything.items() if at not in items]
        if with_text and rest:
            notes.append(
                f"{where}: {len(rest):,} of {len(items):,} {part.unit} are not in all files with {same}, "
                f"left out: {first_few(rest)}"
            )
        elif lacking and not with_text:
            notes.append(
                f"{where}: no score for {len(lacking):,} of {len(everything):,} {part.unit}, left out for "
                f"all systems: {first_few(lacking)}"
            )
    renamed = sum(any(items[at][0] != keyed[0][at][0] for items in keyed) for at in common)
    if renamed:
        notes.append(f"{renamed:,} items have other ids in other files; they are matched by their text")
    return {keyed[0][at][0]: [items[at][1] for items in keyed] for at in common}, notes


def _table(columns: Sequence[tuple[str, str, list[Row]]], systems: Sequence[str], name: str) -> ScoredTable:
    tasks = tuple(task for task, _, _ in columns)
    clusters = tuple(next((row.cluster for row in rows if row.cluster), "") for _, _, rows in columns)
    merged = [
        dict(chain.from_iterable(row.categories.items() for row in rows[::-1])) for _, _, rows in columns
    ]
    names = dict.fromkeys(column for categories in merged for column in categories)
    categories = {column: tuple(of_item.get(column, "-") for of_item in merged) for column in names}
    return ScoredTable(
        name,
        tuple(item for _, item, _ in columns),
        {system: tuple(rows[at].score for _, _, rows in columns) for at, system in enumerate(systems)},
        tasks if any(tasks) else None,
        tuple(own or f"item {item}" for own, (_, item, _) in zip(clusters, columns, strict=True))
        if any(clusters)
        else None,
        {column: values for column, values in categories.items() if len({*values}) > 1},
    )
