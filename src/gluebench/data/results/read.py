"""Read results of other harnesses, join them by item, and give a scored table."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gluebench.data.errors import DataError
from gluebench.data.results import harnesses, tables
from gluebench.data.results.parts import NAMED, GoldAnswer, ItemScore, Settings, SystemScores, first_few
from gluebench.data.tsv import decode_text
from gluebench.scoring.table import ScoredTable, Unit

Source = str | os.PathLike[str]
IN_FOLDER = (
    "samples_*.jsonl", "*.eval", "per_instance_stats.json", "*_samples.jsonl", "results.json",
    "per_instance_details.json", "report.json", "*.json", "*.csv",
)  # fmt: skip
"""Patterns of the files of a folder; those of the first that fits any are read."""
KEYS_OF_PREDICTIONS = (*tables.ITEM_NAMES, "passage", "qas")
"""Keys of which one is in each line of a file of predictions or gold labels."""
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
    settings = Settings(metric, _gold(gold), dict(synonyms or {}))
    all_items = _ids(ids)

    parts: list[SystemScores] = []
    paths: list[Source] = []
    if isinstance(files, Mapping):
        for system, source in files.items():
            paths.append(source)
            parts += _rename_system(_read_source(source, settings), system, source)
    else:
        paths += [files] if isinstance(files, str | os.PathLike) else files
        for source in paths:
            parts += _read_source(source, settings)

    completed = [_add_unsolved(part, all_items) for part in _merge_parts(parts)]
    chosen = [_keep_categories(part, only or {}) for part in completed]
    scaled = [_divide_scores(part, scale) for part in chosen]
    joined = join(scaled, name=name or _table_name(paths), notes=settings.notes())
    if over == "items" or joined.unit == "tasks":
        return joined
    if len(set(joined.tasks or ())) < 2:
        raise DataError("the files are of one task; a table over tasks needs several")
    return joined.over_tasks()


def _read_source(source: Source, settings: Settings) -> list[SystemScores]:
    """The scores of a file, or of all files of results in a folder."""
    parts: list[SystemScores] = []
    for path in _paths(Path(source)):
        parts += read_file(path, settings)
    return parts


def _table_name(sources: Sequence[Source]) -> str:
    if len(sources) != 1:
        return f"{len(sources)} files"
    path = Path(sources[0])
    return tables.stem(path) or path.name


def _rename_system(parts: Sequence[SystemScores], system: str, source: Source) -> list[SystemScores]:
    if len({part.system for part in parts}) > 1:
        raise DataError(f"{source} has several systems, so it cannot be named {system}; expected one system")
    return [part._replace(system=system) for part in parts]


def _paths(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    for pattern in IN_FOLDER:
        paths = [path for path in sorted(source.rglob(pattern)) if _has_results(path, source)]
        if paths:
            return paths
    raise DataError(f"{source}: no file of results in this folder; expected {KNOWN}")


def _has_results(path: Path, folder: Path) -> bool:
    """Whether a file below a folder has results, rather than a description or results with other settings."""
    return path.name not in NOT_RESULTS and EXPERIMENTS not in path.relative_to(folder).parts


# ---------------------------------------------------------------- one file


def read_file(path: Path, settings: Settings) -> list[SystemScores]:
    """The scores of one file, whatever its format. Raises DataError, OSError."""
    suffix = path.suffix
    if suffix == ".gz":
        suffix = path.with_suffix("").suffix

    content: Any
    if suffix == ".eval":
        content = harnesses.inspect_archive(path)
    elif suffix == ".jsonl":
        content = json_lines(path)
    elif suffix == ".json":
        content = _json(path, _data(path))
    else:
        return list(tables.read_scored(tables.read_text_table(path, _data(path)), settings))

    reader, expected = _recognize_format(path, content)
    try:
        return list(reader(path, content, settings))
    except (TypeError, AttributeError, KeyError, IndexError) as error:
        raise DataError(
            f"{path}: a value is of another kind than in its format; expected {expected}"
        ) from error


def _recognize_format(path: Path, content: Any) -> harnesses.Format:
    """The format by the keys of an object, or of the first of a list. Raises DataError."""
    of_list = isinstance(content, list)
    first = content
    known = harnesses.OF_OBJECTS
    if of_list:
        known = harnesses.OF_LISTS
        first = content[0] if content else None
    keys = first.keys() if isinstance(first, Mapping) else set[str]()
    for key, known_format in known.items():
        if key in keys:
            return known_format

    if not of_list and keys and all(map(_is_issue, first.values())):
        return harnesses.ISSUES
    if keys & {"lm_eval_version", "n-samples"}:
        raise DataError(
            f"{path}: averages of lm-evaluation-harness, without items; expected the samples_*.jsonl "
            "beside it (lm_eval --log_samples)"
        )
    if of_list and not keys.isdisjoint(KEYS_OF_PREDICTIONS):
        return harnesses.Format(tables.read_predictions, "the keys idx and label, or SuperGLUE's nested ones")
    raise DataError(f"{path}: its format is not known; expected {KNOWN}")


def _is_issue(report: Any) -> bool:
    """Whether it is SWE-bench's report of one issue."""
    return isinstance(report, dict) and "resolved" in report


def _data(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: damaged; expected a gzip file ({error})") from None


def _json(path: Path, text: bytes, *, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f"{path}:{line}" if line else f"{path}"
        raise DataError(f"{place}: not JSON ({error})") from None


def json_lines(path: Path) -> list[Mapping[str, Any]]:
    """The objects of a file, one on each line. Raises DataError for anything else, or an empty file."""
    objects = []
    for number, line in enumerate(_data(path).splitlines(), 1):
        if line.strip():
            objects.append(_json(path, line, line=number))
    if not objects or not all(isinstance(content, Mapping) for content in objects):
        raise DataError(f"{path}: expected a JSON object on each line, and at least one")
    return objects


def _ids(file: Source | None) -> frozenset[str] | None:
    """All items: a JSON list or keys, objects with an instance_id on each line, or a name on each line."""
    if file is None:
        return None
    path = Path(file)
    if path.suffix == ".json":
        listed = _json(path, _data(path))
        if not isinstance(listed, list | dict):
            listed = ()
    elif path.suffix == ".jsonl":
        listed = [line.get("instance_id", line.get("id")) for line in json_lines(path)]
    else:
        listed = [line.strip() for line in decode_text(path, _data(path)).splitlines()]
    ids = frozenset(str(name) for name in listed if name)
    if not ids:
        raise DataError(f"{path}: expected the ids of all items, one on each line or as a JSON list")
    return ids


def _gold(file: Source | None) -> Mapping[str, Mapping[str, GoldAnswer]] | None:
    """Column to item to gold labels; a file of JSON lines has one column, without a name."""
    if file is None:
        return None
    path = Path(file)
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return {"": tables.gold_of_lines(path, json_lines(path))}
    return tables.gold_of_table(tables.read_text_table(path, _data(path)))


# ---------------------------------------------------------------- several files


def _merge_parts(parts: Sequence[SystemScores]) -> list[SystemScores]:
    """One part for each system and task; of rows that several records have, the newest record's are taken."""
    records: dict[tuple[str, str], list[SystemScores]] = {}
    for part in parts:
        records.setdefault((part.system, part.task), []).append(part)
    merged = []
    for of_task in records.values():
        merged.append(of_task[0] if len(of_task) == 1 else _join_records(of_task))
    return merged


def _join_records(parts: Sequence[SystemScores]) -> SystemScores:
    """The rows of all parts of one system on one task. Raises DataError if they cannot be parts of one."""
    system = parts[0].system
    joined: dict[str, ItemScore] = {}
    repeated: set[str] = set()
    notes: list[str] = []
    for part in sorted(parts, key=lambda part: part.time or ""):
        shared = joined.keys() & part.rows.keys()
        if part.time is None or (shared and not part.time):
            subject = f"{system} on {part.task}" if part.task else system
            which = f" ({first_few(sorted(shared))})" if shared else ""
            raise DataError(
                f"{subject} is in two files{which}; name the systems "
                "(NAME=FILE), or give one file, or the folder of one revision, of each"
            )
        repeated |= {item for item in shared if joined[item] != part.rows[item]}
        joined |= part.rows
    for part in parts:
        notes += part.notes
    if repeated:
        notes.append(
            f"{system}: records differ on {len(repeated):,} tasks, of which the newest record is read: "
            f"{first_few(sorted(repeated))}"
        )
    return parts[0]._replace(rows=joined, notes=notes, solved_only=any(part.solved_only for part in parts))


def _add_unsolved(part: SystemScores, all_items: frozenset[str] | None) -> SystemScores:
    """With the unsolved items that its files may lack. Raises DataError if no unsolved item is known."""
    if not part.solved_only:
        return part
    if all_items is None:
        if all(row.score for row in part.rows.values()):
            raise DataError(
                f"{part.system}: names only the resolved issues; expected the list of all ids too "
                "(--ids FILE, one on each line, or a per_instance_details.json; ids=...)"
            )
        note = f"{part.system}: issues without a report are left out; to count them as unresolved, give --ids"
        return part._replace(notes=list(part.notes) + [note])
    strange = sorted(part.rows.keys() - all_items)
    if strange:
        raise DataError(
            f"{part.system}: {len(strange)} resolved ids are not in the list of all: {first_few(strange)}"
        )
    rows = {}
    for item in sorted(all_items):
        rows[item] = part.rows.get(item) or harnesses.issue(item, False)
    return part._replace(rows=rows)


def _keep_categories(part: SystemScores, only: Mapping[str, str]) -> SystemScores:
    """Only the rows of one category in each of these columns. Raises DataError if no row is left."""
    rows = part.rows
    for column, category in only.items():
        known = dict.fromkeys(row.categories.get(column, "") for row in rows.values())
        rows = {item: row for item, row in rows.items() if row.categories.get(column) == category}
        if not any(known):
            columns: dict[str, None] = {}
            for row in part.rows.values():
                columns |= dict.fromkeys(row.categories)
            expected = f"expected one of {first_few(columns)}" if columns else f"leave out --only {column}"
            raise DataError(f"{part.system}: the log has no column {column}; {expected}")
        if not rows:
            raise DataError(
                f"{part.system}: no item has {column}={category}; expected one of "
                f"{first_few(filter(None, known))}"
            )
    return part._replace(rows=rows)


def _divide_scores(part: SystemScores, scale: float) -> SystemScores:
    if scale == 1.0:
        return part
    rows = {item: row._replace(score=row.score / scale) for item, row in part.rows.items()}
    return part._replace(rows=rows)


def join(parts: Sequence[SystemScores], *, name: str, notes: Iterable[str] = ()) -> ScoredTable:
    """The table of the items that all systems have, task by task, with the notes on what was left out.

    Raises DataError if there are no such items.
    """
    systems = list(dict.fromkeys(part.system for part in parts))
    notes = list(notes)
    for part in parts:
        notes += part.notes
    if len({part.unit for part in parts}) > 1:
        raise DataError("some files have items and others only scores of tasks; expected one kind")

    columns: list[tuple[str, str, list[ItemScore]]] = []
    for task, of_task in _by_task(parts).items():
        lacking = [system for system in systems if system not in of_task]
        if lacking:
            notes.append(f"{task or 'the task without a name'} is left out: {first_few(lacking)} lacks it")
            continue
        matched, left_out = _match_items([of_task[system] for system in systems])
        notes += left_out
        columns += [(task, item, rows) for item, rows in matched.items()]
    if not columns:
        raise DataError(["no item is in the files of all systems"] + notes)

    table = _table(columns, systems, name)
    highest, item = max(max(zip(scores, table.items, strict=True)) for scores in table.scores.values())
    if highest > 1.0:
        notes.append(
            f"scores reach {highest:g} ({item}) and are shown x 100; if they are percentages, divide them: "
            "--scale 100"
        )
    return replace(table, unit=parts[0].unit, notes=tuple(_group_notes(notes)))


def _by_task(parts: Sequence[SystemScores]) -> dict[str, dict[str, SystemScores]]:
    """Task to system to its scores; a file without a task is of the only one that other files name."""
    named = {part.task for part in parts if part.task}
    only_task = min(named) if len(named) == 1 else ""
    by_task: dict[str, dict[str, SystemScores]] = {}
    for part in parts:
        by_task.setdefault(part.task or only_task, {})[part.system] = part
    return by_task


def _group_notes(notes: Iterable[str]) -> Iterator[str]:
    """The notes, of which a text that is about more than a few files or systems comes once."""
    subjects: dict[str, list[str]] = {}
    for note in notes:
        subject, colon, text = note.partition(": ")
        subjects.setdefault(colon + text, []).append(subject)
    for text, of_text in subjects.items():
        if len(of_text) > NAMED:
            yield f"{first_few(of_text)} ({len(of_text):,} alike){text}"
        else:
            for subject in of_text:
                yield subject + text


def _match_items(parts: Sequence[SystemScores]) -> tuple[dict[str, list[ItemScore]], list[str]]:
    """Item to its row in every part, named as in the first, and notes on the items that some part lacks."""
    with_text = all(all(row.text for row in part.rows.values()) for part in parts)
    repeated = _repeated_texts(parts)

    def key(item: str, row: ItemScore) -> tuple[str, str]:
        """The text where it names one item in every part; else id and text, or the id alone."""
        if not with_text:
            return (item, "")
        return (item if row.text in repeated else "", row.text)

    first = parts[0]
    items_of_parts = [{key(item, row): item for item, row in part.rows.items()} for part in parts]
    items_of_first = items_of_parts[0]
    shared_keys = set(items_of_first).intersection(*items_of_parts)
    matched: dict[str, list[ItemScore]] = {}
    renamed = 0
    for item_key, item in items_of_first.items():
        if item_key not in shared_keys:
            continue
        names = [items[item_key] for items in items_of_parts]
        matched[item] = [part.rows[name] for part, name in zip(parts, names, strict=True)]
        renamed += any(name != item for name in names)

    all_items: dict[tuple[str, str], str] = {}
    for items in items_of_parts:
        all_items |= items
    same = "the same text" if first.unit == "items" else "the same revision and subsets"
    notes = []
    for part, items in zip(parts, items_of_parts, strict=True):
        where = f"{part.system}, {part.task}" if part.task else part.system
        left_out = [item for item_key, item in items.items() if item_key not in shared_keys]
        lacking = [item for item_key, item in all_items.items() if item_key not in items]
        if with_text and left_out:
            notes.append(
                f"{where}: {len(left_out):,} of {len(items):,} {part.unit} are not in all files with {same}, "
                f"left out: {first_few(left_out)}"
            )
        elif lacking and not with_text:
            notes.append(
                f"{where}: no score for {len(lacking):,} of {len(all_items):,} {part.unit}, left out for "
                f"all systems: {first_few(lacking)}"
            )
    if renamed:
        notes.append(f"{renamed:,} items have other ids in other files; they are matched by their text")
    return matched, notes


def _repeated_texts(parts: Sequence[SystemScores]) -> set[str]:
    """The texts that several items of one part have."""
    repeated: set[str] = set()
    for part in parts:
        counts = Counter(row.text for row in part.rows.values())
        repeated.update(text for text, count in counts.items() if count > 1)
    return repeated


def _table(
    columns: Sequence[tuple[str, str, list[ItemScore]]], systems: Sequence[str], name: str
) -> ScoredTable:
    """The table of these items: task, item and the row of each system."""
    tasks = []
    clusters = []
    categories_of_items: list[dict[str, str]] = []
    for task, _, rows in columns:
        tasks.append(task)
        clusters.append(next((row.cluster for row in rows if row.cluster), ""))
        categories: dict[str, str] = {}
        for row in reversed(rows):  # so that what the first system's file says holds
            categories |= row.categories
        categories_of_items.append(categories)
    if any(clusters):
        clusters = [
            cluster or f"item {item}" for cluster, (_, item, _) in zip(clusters, columns, strict=True)
        ]

    scores = {}
    for at, system in enumerate(systems):
        scores[system] = tuple(rows[at].score for _, _, rows in columns)
    return ScoredTable(
        name,
        tuple(item for _, item, _ in columns),
        scores,
        tuple(tasks) if any(tasks) else None,
        tuple(clusters) if any(clusters) else None,
        _varying_categories(categories_of_items),
    )


def _varying_categories(categories_of_items: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Column to the category of each item, for the columns in which items differ."""
    names: dict[str, None] = {}
    for categories in categories_of_items:
        names |= dict.fromkeys(categories)
    columns = {}
    for name in names:
        values = tuple(categories.get(name, "-") for categories in categories_of_items)
        if len(set(values)) > 1:
            columns[name] = values
    return columns
