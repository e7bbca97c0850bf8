"""The submissions of a dry run, made and graded in the grader's process. Independent of Django."""

import zipfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from statistics import median
from typing import Any

from gluebench.benchmark import Task
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.scoring import Gold, grade
from gluebench.submission import Column, check, write_submission

UNKNOWN = "no such label"


def rehearse(labels: Gold, graded: Gold, folder: Path) -> dict[str, Values]:
    """Make "perfect", "majority" and "broken" of all labels, and grade them on those that count.

    The files are written to a private folder, which the caller deletes. Each result has "check", "score",
    "tasks" and "expected": whether it came out as it must. Of the perfect one no cell is quoted.
    """
    benchmark = labels.benchmark
    columns = {}
    majority_columns = {}
    for name, column in labels.columns.items():
        columns[name] = _perfect(column, _task(labels, name))
        majority_columns[name] = _majority(columns[name])
    write_submission(folder / "perfect.zip", columns, benchmark)
    write_submission(folder / "majority.zip", majority_columns, benchmark)
    _break(folder / "majority.zip", folder / "broken.zip")

    perfect = _grade_file(folder / "perfect.zip", graded)
    for problem in perfect["check"]["problems"]:
        problem["value"] = None
    majority = _grade_file(folder / "majority.zip", graded)
    majority["expected"] = majority["check"]["verdict"] == "valid"
    broken = _grade_file(folder / "broken.zip", graded)
    broken["expected"] = broken["check"]["verdict"] == "invalid"

    best = _score_value(perfect)
    if best is None:
        perfect["expected"] = False
    elif benchmark.loss:  # against people's shares, its best value is above 0: their disagreement
        perfect["expected"] = best >= _score_value(majority)
    else:
        perfect["expected"] = best == 1.0
    return {"perfect": perfect, "majority": majority, "broken": broken}


def _score_value(result: Values) -> Any:
    """The value of the score of a result; None without a score."""
    return (result["score"] or {}).get("value")


def _task(gold: Gold, file: str) -> Task:
    return gold.benchmark.task(gold.benchmark.file(file).task)


def _perfect(column: Column, task: Task) -> Column:
    """The labels as a system would predict them: one of several answers, sure probabilities, a ranking."""
    cells: tuple[Any, ...]
    match task.form:
        case "probabilities":
            cells = tuple(_certain(word, task) for word in column.words())
        case "text":
            cells = tuple(answers[0] for answers in column.cells)
        case "ranking":
            cells = tuple(_best_first(cell) for cell in column.cells)
        case _:
            return column
    return replace(column, labels=(), values=cells)


def _certain(word: str, task: Task) -> tuple[float, ...]:
    """Probabilities of the task's words: 1 of this one."""
    return tuple(float(word == other) for other in task.vocabulary)


def _best_first(gains: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """The names that have a gain, the highest first; of equal ones in their order."""
    ordered = sorted(gains, key=lambda pair: -pair[1])
    return tuple(name for name, gain in ordered if gain)


def _majority(column: Column) -> Column:
    """The most frequent answer in every row; of numbers the median."""
    values = column.values
    rows = len(values)
    if not isinstance(values, bytes | tuple):
        return replace(column, values=type(values)("d", [median(values)]) * rows)
    [(usual, _)] = Counter(values).most_common(1)
    if isinstance(values, bytes):
        return replace(column, values=bytes([usual]) * rows)
    return replace(column, values=tuple(repeat(usual, rows)))


def _break(source: Path, target: Path) -> None:
    """A copy whose first file has an unknown label in its first row, and lacks its last row."""
    with zipfile.ZipFile(source) as valid, zipfile.ZipFile(target, "w") as broken:
        for number, name in enumerate(valid.namelist()):
            lines = valid.read(name).splitlines(keepends=True)
            if number == 0:
                lines = lines[:-1]
                if len(lines) > 1 and b"\t" in lines[1]:
                    lines[1] = lines[1].rpartition(b"\t")[0] + f"\t{UNKNOWN}\n".encode()
            broken.writestr(name, b"".join(lines))


def _grade_file(path: Path, gold: Gold) -> Values:
    submission = check(path, gold.benchmark)
    result: Facts = {}
    if submission.verdict != "invalid":
        result = grade(submission, gold).as_dict()
    return {
        "check": submission.as_dict() | {"source": ""},
        "score": result.get("score"),
        "tasks": {name: task["score"] for name, task in result.get("tasks", {}).items()},
        "warnings": list(result.get("warnings", ())),
    }
