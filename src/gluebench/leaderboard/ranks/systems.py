"""Which systems are ranked and compared, and what that rests on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from gluebench.benchmark import Benchmark as Record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions import feedback
from gluebench.leaderboard.submissions.models import Submission
from gluebench.version import __version__

MOST = 100
"""Systems whose ranks are computed, the first ones of the board: pairs grow with the square."""
MAJORITY = "Majority class"
"""The published reference that lets a board take a task to be answered with its most frequent label."""


def ranked_systems(benchmark: Benchmark) -> list[Submission]:
    """The first of the board's complete systems whose files are kept, best first.

    What the Ladder shows of a submission is not its score, so there is nothing to compare such ones by.
    """
    rows = Submission.objects.public().filter(benchmark=benchmark, value__isnull=False).exclude(file="")
    rows = rows.select_related("benchmark").defer("report", "problems")
    return [row for row in rows.order_by("-value", "submitted", "pk")[:MOST] if not feedback.climbs(row)]


def task_scores(submission: Submission) -> dict[str, float]:
    """Its task scores as shown: what is ranked, so that no order reveals what rounding hides."""
    tasks = (submission.scores or {}).get("tasks", {})
    return {name: task["score"]["value"] for name, task in tasks.items() if task["score"]}


def hidden(benchmark: Benchmark) -> str:
    """Why the board's policy lets no system be compared; empty where it does."""
    if benchmark.policy.feedback != "ladder" or benchmark.revealed is not None:
        return ""
    return (
        "This benchmark shows a score only when it clearly beats the best of the same people. What it shows "
        "is not each system's own score, and comparing systems would reveal the rows that are held back."
    )


def comparable(submission: Submission) -> bool:
    """Whether it is on the board with the score that its predictions have."""
    return submission.is_listed and bool(submission.file) and not feedback.climbs(submission)


def stamp_of(benchmark: Benchmark, systems: Iterable[Submission]) -> str:
    """A digest of what a result is computed from."""
    part = feedback.part_of(benchmark)
    rows: list[Any] = [
        [row.key, row.value, row.finished.isoformat() if row.finished else ""] for row in systems
    ]
    basis = [__version__, benchmark.gold_digest, benchmark.manifest, benchmark.policy.smallest_category]
    return hashlib.sha256(json.dumps([basis, part, rows]).encode()).hexdigest()


def majority_tasks(record: Record) -> list[str]:
    """The scored tasks that may be taken to be answered with the most frequent label, as the paper's WNLI."""
    return [
        task.name
        for task in record.scored
        if task.words and any(reference.name == MAJORITY for reference in task.references)
    ]
