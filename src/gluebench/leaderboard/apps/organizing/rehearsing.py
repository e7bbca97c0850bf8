"""The submissions of a dry run, made and graded in the grader's process. Independent of Django."""

import zipfile
from collections import Counter
from dataclasses import replace
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
    perfect = {name: _perfect(column, _task(labels, name)) for name, column in labels.columns.items()}
    write_submission(folder / "perfect.zip", perfect, benchmark)
    majority = {name: _majority(column) for name, column in perfect.items()}
    write_submission(folder / "majority.zip", majority, benchmark)
    _break(folder / "majority.zip", folder / "broken.zip")
    results = {name: _graded(folder / f"{name}.zip", graded) for name in ("perfect", "majority", "broken")}
    for problem in results["perfect"]["check"]["problems"]:
        problem["value"] = None
    best, usual = ((results[name]["score"] or {}).get("value") for name in ("perfect", "majority"))
    # A loss against people's shares has a best value above 0: their disagreement.
    results["perfect"]["expected"] = best is not None and (best >= usual if benchmark.loss else best == 1.0)
    results["majority"]["expected"] = results["majority"]["check"]["verdict"] == "valid"
    results["broken"]["expected"] = results["broken"]["check"]["verdict"] == "invalid"
    return results


def _task(gold: Gold, file: str) -> Task:
    return gold.benchmark.task(gold.benchmark.file(file).task)


def _perfect(column: Column, task: Task) -> Column:
    """The labels as a system would predict them: one of several answers, sure probabilities, a ranking."""
    cells: tuple[Any, ...]
    match task.form:
        case "probabilities":
            cells = tuple(tuple(float(word == own) for own in task.vocabulary) for word in column.words())
        case "text":
            cells = tuple(answers[0] for answers in column.cells)
        case "ranking":
            gains = (sorted(cell, key=lambda pair: -pair[1]) for cell in column.cells)
            cells = tuple(tuple(name for name, gain in cell if gain) for cell in gains)
        case _:
            return column
    return replace(column, labels=(), values=cells)


def _majority(column: Column) -> Column:
    """The most frequent answer in every row; of numbers the median."""
    values = column.values
    if isinstance(values, bytes):
        return replace(column, values=bytes([Counter(values).most_common(1)[0][0]]) * len(values))
    if isinstance(values, tuple):
        return replace(column, values=(Counter(values).most_common(1)[0][0],) * len(values))
    return replace(column, values=type(values)("d", [median(values)]) * len(values))


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


def _graded(path: Path, gold: Gold) -> Values:
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
