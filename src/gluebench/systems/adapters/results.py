"""The results of one task on disk: written whole or not at all, and read back with care."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from gluebench.benchmark import Benchmark, Role
from gluebench.data import DataError
from gluebench.submission import Column
from gluebench.systems.run import Answered, PredictionError, column
from gluebench.systems.units import Key

SCHEMA = "gluebench.run-task/1"


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a system said of every test file that one task's model answers."""

    task: str
    answers: Mapping[Key, Answered]
    data: Mapping[str, str]
    """ "<task>/<split>" to the digest of its file."""
    seconds: float
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What the system has to say of it: tokens, cost, unparsed answers."""


def write_whole(path: Path, values: Mapping[str, Any]) -> None:
    """Write JSON in such a way that a kill or a full disk leaves what was there before."""
    partial = path.with_name(path.name + ".part")
    with partial.open("w", encoding="utf-8") as file:
        json.dump(values, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def write_result(path: Path, result: TaskResult) -> None:
    """Write the result of one task."""
    files = [
        {
            "role": key.role,
            "file": key.file,
            "values": found.column.words() if found.column.labels else list(found.column.numbers),
            "indices": None if found.column.indices is None else list(found.column.indices),
            "unanswered": list(found.unanswered),
        }
        for key, found in result.answers.items()
    ]
    told = {"data": dict(result.data), "seconds": result.seconds, "notes": dict(result.notes)}
    write_whole(path, {"schema": SCHEMA, "task": result.task, **told, "files": files})


def read_result(path: Path, benchmark: Benchmark) -> TaskResult | None:
    """The result that stands there; None where there is none. Raises DataError for a damaged file."""
    try:
        values = json.loads(path.read_bytes())
        if values["schema"] != SCHEMA:
            raise ValueError(f"its schema is {values['schema']!r}, expected {SCHEMA!r}")
        answers = dict(_answered(each, benchmark) for each in values["files"])
        return TaskResult(values["task"], answers, values["data"], values["seconds"], values["notes"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, LookupError, PredictionError) as error:
        raise DataError(
            [f"{path}: not the results of a task ({error}); remove the file to do the task again"]
        ) from None


def _answered(values: Mapping[str, Any], benchmark: Benchmark) -> tuple[Key, Answered]:
    file = benchmark.file(values["file"])
    role = cast(Role, values["role"])
    indices = None if values["indices"] is None else array("q", values["indices"])
    found: Column = column(benchmark.task(file.task), values["values"], indices=indices)
    if len(found) != file.size(role):
        raise ValueError(f"{file.name} has {len(found)} {role} predictions, expected {file.size(role)}")
    return Key(role, file.name), Answered(found, tuple(values["unanswered"]))
