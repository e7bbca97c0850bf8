"""The course of a run: its checks, the weights it kept, its learning rate, and when it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from gluebench.systems.training.checkpoint import TaskOutcome
from gluebench.systems.training.evaluation import TaskScore
from gluebench.systems.training.settings import Settings

WEIGHTS = "best-"
"""Prefix of the names of weight files."""
FORMAT = ".safetensors"
"""Their suffix."""


def no_improvement(scores: Sequence[float], after: int = 5) -> bool:
    """The textbook rule: the best score is followed by `after` checks, none of them better."""
    best = max(range(len(scores)), key=lambda check: scores[check], default=0)
    return len(scores) - 1 - best >= after


def single_dip(scores: Sequence[float], after: int = 5) -> bool:
    """The released code's rule: the last score is at most each of the `after` before it.

    It holds from check `after` + 2 on, one check later than the comparison needs. One deep dip ends a run
    that was still improving, and a slow decline from a plateau that stays above older scores does not.
    """
    if len(scores) < after + 2:
        return False
    before_last = scores[-1 - after : -1]
    return scores[-1] <= min(before_last)


def reason_to_stop(scores: Sequence[float], learning_rate: float, settings: Settings) -> str | None:
    """Why a run ends after these checks, in words; None while it goes on.

    `learning_rate` is the one after the last check.
    """
    if learning_rate < settings.minimum_learning_rate:
        return f"learning rate below {settings.minimum_learning_rate:g}"
    if settings.stop_rule == "textbook" and no_improvement(scores, settings.stop_after):
        return f"{settings.stop_after} checks without improvement"
    if settings.stop_rule == "original" and single_dip(scores, settings.stop_after):
        return f"a check no better than any of the {settings.stop_after} before it"
    if len(scores) >= settings.max_checks:
        return f"{settings.max_checks} checks"
    return None


@dataclass(slots=True)
class Progress:
    """The course of a run up to its last update."""

    began: str
    update: int = 0
    seconds: float = 0.0
    stopped: str | None = None
    """Why the run has ended; None while it goes on."""
    updates: dict[str, int] = field(default_factory=dict)
    """Task to its updates since the last check."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """A row of `log.csv` for each check."""
    times: list[dict[str, Any]] = field(default_factory=list)
    kept: dict[str, TaskOutcome] = field(default_factory=dict)
    """Task to its outcome with the weights kept for it."""

    @classmethod
    def resume(cls, values: Mapping[str, Any]) -> Progress:
        """The progress whose fields, as plain values, were saved."""
        kept = {name: TaskOutcome(**entry) for name, entry in values["kept"].items()}
        return cls(**{**values, "kept": kept})

    def add_check(
        self,
        scores: Mapping[str, TaskScore],
        losses: Mapping[str, float],
        *,
        average: float,
        improved: bool,
        rate: float,
    ) -> None:
        """Add the rows of a check; `rate` is the learning rate up to it."""
        row: dict[str, Any] = {
            "check": len(self.rows) + 1,
            "update": self.update,
            "learning_rate": rate,
            "macro": average,
            "improved": int(improved),
        }
        for name, task_score in scores.items():
            row[f"{name} score"] = task_score.score
            row |= {f"{name} {metric}": value for metric, value in task_score.metrics.items()}
            row |= {f"{name} loss": losses.get(name), f"{name} updates": self.updates.get(name, 0)}
        self.rows.append(row)
        self.times.append({"check": row["check"], "update": self.update, "seconds": round(self.seconds, 3)})
        self.updates = {}

    def averages(self) -> list[float]:
        """The macro-average of each check."""
        return [row["macro"] for row in self.rows]

    def keep(self, scores: Mapping[str, TaskScore], *, improved: bool, best: str) -> list[str]:
        """Record the tasks whose best weights are the current ones; return the files to save these in.

        With `best` "macro" these are all tasks if the average improved, with "task" each by its own score,
        with "last" all of them if the run has ended.
        """
        check = len(self.rows)
        files = []
        for name, task_score in scores.items():
            if best == "macro":
                better = improved
                file = f"{WEIGHTS}{check}{FORMAT}"
            elif best == "last":
                better = self.stopped is not None
                file = f"{WEIGHTS}{check}{FORMAT}"
            else:
                better = name not in self.kept or task_score.score > self.kept[name].score
                file = f"{WEIGHTS}{quote(name, safe='')}-{check}{FORMAT}"
            if better:
                self.kept[name] = TaskOutcome(
                    task_score.score, dict(task_score.metrics), check, file, task_score.constant
                )
                files.append(file)
        return sorted(set(files))
