"""What a caller gives as a system: a submission, or predictions from Python, or several runs of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluebench.scoring import Gold
from gluebench.submission import Submission
from gluebench.submission.values import submission_of

Predictions = Mapping[str, Any]
"""Task or test file to its predictions: an array, a list, a Series, a DataFrame."""
Run = Submission | Predictions


def submission_from(run: Run, gold: Gold) -> Submission:
    """The submission of one run."""
    return run if isinstance(run, Submission) else submission_of(run, gold.benchmark, role=gold.role)


def submissions_from(system: Run | Sequence[Run], gold: Gold) -> list[Submission]:
    """The submission of each run; a system that is given as one submission has one run."""
    runs = [system] if isinstance(system, Submission | Mapping) else system
    return [submission_from(run, gold) for run in runs]
