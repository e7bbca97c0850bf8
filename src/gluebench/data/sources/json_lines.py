"""Reading a file of JSON objects, one per line, as SuperGLUE's AX-b has them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from gluebench.benchmark import Task
from gluebench.data.arrays import strings
from gluebench.data.dataset import LABEL
from gluebench.data.errors import refuse
from gluebench.data.sources.columns import Shaper, index_text, label_text, plan
from gluebench.data.sources.release import TaskRelease
from gluebench.data.tsv import text_lines

HUB_INDEX = "idx"
MERGED = "merged_label"
"""Column of labels that merge some of the task's (`TaskRelease.merged_labels`)."""


def from_json_lines(path: Path, task: Task, release: TaskRelease, notes: list[str]) -> pa.RecordBatch:
    """The objects of a file, one per line, with columns by key. Raises DataError with every wrong line."""
    rows: list[dict[str, str]] = []
    places: list[int] = []
    problems: list[str] = []
    for number, line in enumerate(text_lines(path, path.read_bytes()), 1):
        try:
            row = json.loads(line)
            rows.append({key: str(value) for key, value in row.items()})
            places.append(number)
        except (ValueError, AttributeError, RecursionError):
            problems.append(f"{path}:{number}: not a JSON object; expected one on each line")
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = {row.get(LABEL, "") for row in rows}
    if not values <= set(task.words) and values <= set(release.merged_labels):
        rows = [{MERGED if key == LABEL else key: value for key, value in row.items()} for row in rows]
        names[names.index(LABEL)] = MERGED
        known = f"only {' or '.join(sorted(values))}, kept as the column {MERGED}"
        notes.append(f"{path.name}: its labels are {known}; grading needs {', '.join(task.words)}")
    columns = plan(names, task, release, where=str(path), index=HUB_INDEX)
    for name in (names[at] for at in columns.inputs):
        problems += [
            f"{path}:{place}: no {name} is there; expected text"
            for place, row in zip(places, rows, strict=True)
            if name not in row
        ]
    shaper = Shaper(columns, task, release, index_text, label_text(task), problems)
    batch = shaper.batch([strings([row.get(name, "") for row in rows]) for name in names], f"{path}:", places)
    refuse(problems)
    return batch
