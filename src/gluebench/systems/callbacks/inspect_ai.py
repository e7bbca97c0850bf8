"""A hook of inspect_ai: when a task ends, its scores with intervals, and a table for comparisons.

inspect_ai finds it by the entry point in pyproject.toml where both are installed. It does nothing unless
the environment variable GLUEBENCH_SCORES names a folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from inspect_ai.hooks import Hooks, TaskEnd, hooks

from gluebench.data import DataError
from gluebench.data.results import read_results, write_table
from gluebench.scoring import grade
from gluebench.scoring.report import score_words

VARIABLE = "GLUEBENCH_SCORES"


@hooks(name="gluebench", description="Scores with 95 % intervals when a task ends, and a table to compare")
class ScoresHook(Hooks):  # type: ignore[misc]
    """Write the items of each task's log as a scored table, and print the score with its interval."""

    def enabled(self) -> bool:
        """Whether a folder for the tables is named."""
        return bool(os.environ.get(VARIABLE))

    async def on_task_end(self, data: TaskEnd) -> None:
        """Read the log that was just written; a log that cannot be read is said and stops nothing."""
        for line in table_of_log(data.log.location, Path(os.environ[VARIABLE])):
            print(f"gluebench: {line}")


def table_of_log(location: str, folder: Path) -> Iterator[str]:
    """Write the scored table of a log into a folder, and yield what there is to say."""
    if "://" in location.removeprefix("file://"):
        yield f"{location}: not on this machine; copy it, then: gluebench read LOG --out scores.csv"
        return
    log = Path(location.removeprefix("file://"))
    try:
        table = read_results(log)
    except (DataError, OSError) as error:
        yield f"no scores: {error}"
        return
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{log.stem}.csv"
    write_table(table, target)
    for system in table.scores:
        report = grade(system, table)
        for name, task in report.tasks.items():
            for score in task.metrics.values():
                yield f"{name}, {system}: {score_words(score)}, {score.n} items, in {target}"
    yield from table.notes
