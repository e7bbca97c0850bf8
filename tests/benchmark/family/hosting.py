"""Host a task by a manifest alone: write its files, check and rewrite the submission, grade it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gluebench import Report, check, grade, load_benchmark, read_gold, write_submission

Files = Mapping[str, str]


def host(folder: Path, manifest: str, submission: Files, gold: Files) -> Report:
    """The report on the submission; it is valid, and stays the same when it is written and read again."""
    path = folder / "shared-task.toml"
    path.write_text('[benchmark]\nname = "shared-task"\n' + manifest, encoding="utf-8")
    benchmark = load_benchmark(path)
    for name, files in (("submission", submission), ("gold", gold)):
        (folder / name).mkdir()
        for member, text in files.items():
            (folder / name / member).write_bytes(text.encode())
    checked = check(folder / "submission", benchmark)
    assert checked.verdict == "valid", checked.problems
    write_submission(folder / "again.zip", checked.predictions, benchmark)
    assert check(folder / "again.zip", benchmark).predictions == checked.predictions
    return grade(checked, read_gold(folder / "gold", benchmark))


def values(report: Report) -> dict[str, dict[str, float]]:
    """Task to metric to value."""
    return {
        task: {name: score.value for name, score in scores.metrics.items()}
        for task, scores in report.tasks.items()
    }


def table(header: Sequence[str], *columns: Iterable[Any], separator: str = ",") -> str:
    """A CSV or TSV file of some columns; without a header if it is empty."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerows([header] * bool(header))
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()
